// Until when a set from the queue is kept for its person, in their own time: <span data-lease><time datetime="…">;
// `until` where work has moved the end.
function showLease(until) {
  for (const time of document.querySelectorAll("[data-lease] time")) {
    time.dateTime = until ?? time.dateTime;
    time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  }
}
showLease();
