// Shows the end of a queued set's lease in the person's own time: <span data-lease><time datetime="…">;
// `until` is the new end after work has moved it.
function showLease(until) {
  for (const time of document.querySelectorAll("[data-lease] time")) {
    time.dateTime = until ?? time.dateTime;
    time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  }
}
showLease();
