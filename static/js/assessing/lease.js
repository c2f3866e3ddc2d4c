// Until when a pulled set is kept for its person, in their own time: <span data-lease><time datetime="…">.
class Lease {
  static {
    Lease.show();
  }

  // Work has moved the end.
  static renew(until) {
    for (const time of document.querySelectorAll("[data-lease] time")) time.dateTime = until;
    Lease.show();
  }

  static show() {
    for (const time of document.querySelectorAll("[data-lease] time")) {
      time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    }
  }
}
