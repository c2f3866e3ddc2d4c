// Shows in local time when a queued set's lease ends: <span data-lease><time datetime="…">. `until` is its new end.
function showLease(until) {
  for (const time of document.querySelectorAll("[data-lease] time")) {
    time.dateTime = until ?? time.dateTime;
    time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  }
}
showLease();
