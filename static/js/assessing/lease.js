// Until when a pulled set is kept for its person, in their own time: <span data-lease><time datetime="…">.
class Lease {
  static {
    Lease.show();
  }

  // `until` where work has moved the end.
  static show(until) {
    for (const time of document.querySelectorAll("[data-lease] time")) {
      time.dateTime = until ?? time.dateTime;
      time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    }
  }
}
