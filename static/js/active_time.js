// Measures the time that a person spends on each item, without long pauses and without time in hidden tabs.
class ActiveTime {
  static #IDLE_MS = 60_000;
  static #SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchmove", "focusin"];

  #spent = new Map();
  #on = "";
  #last = performance.now();
  #wasHidden = document.hidden;

  constructor() {
    for (const sign of ActiveTime.#SIGNS) {
      addEventListener(sign, () => this.#count(), { capture: true, passive: true });
    }
    document.addEventListener("visibilitychange", () => {
      this.#count();
      this.#wasHidden = document.hidden;
    });
  }

  get isActive() { return !document.hidden && performance.now() - this.#last <= ActiveTime.#IDLE_MS; }

  // Counts the time for this item from now on.
  turnTo(key) {
    this.#count();
    this.#on = key;
  }

  // Returns the milliseconds spent on this item since the last call.
  take(key) {
    this.#count();
    const spent = this.#spent.get(key) ?? 0;
    this.#spent.delete(key);
    return Math.round(spent);
  }

  #count() {
    const now = performance.now();
    const gap = now - this.#last;
    this.#last = now;
    if (this.#wasHidden || gap > ActiveTime.#IDLE_MS) return;
    this.#spent.set(this.#on, (this.#spent.get(this.#on) ?? 0) + gap);
  }
}
