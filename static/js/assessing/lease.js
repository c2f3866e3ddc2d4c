// How long a pulled set is still kept for its person, in their own time: <span data-lease><time datetime="…">, and
// the minutes that are left beside it in data-left.
class Lease {
  static #TICK_MS = 15_000;
  static #MINUTE_MS = 60_000;

  static {
    setInterval(() => Lease.show(), Lease.#TICK_MS);
    Lease.show();
  }

  // Work has moved the end.
  static renew(until) {
    for (const time of document.querySelectorAll("[data-lease] time")) time.dateTime = until;
    Lease.show();
  }

  static show() {
    for (const place of document.querySelectorAll("[data-lease]")) {
      const time = place.querySelector("time");
      const until = new Date(time.dateTime);
      const minutes = Math.ceil((until - Date.now()) / Lease.#MINUTE_MS);
      time.textContent = until.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
      const left = place.querySelector("[data-left]");
      if (left) left.textContent = Lease.#words(minutes);
      place.classList.toggle("short", minutes <= 5);
    }
  }

  static #words(minutes) {
    if (minutes <= 0) return "expired: someone else may get it";
    return minutes === 1 ? "1 minute" : `${minutes} minutes`;
  }
}
