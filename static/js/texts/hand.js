// A cursor on one of a page's items: keys and focus move it, and the page's own keys act on its item.
class Hand {
  static #TYPED = "input, textarea, select, [contenteditable]";

  at = -1;
  #items;

  // `items` are looked up each time. `keys` maps keys to actions; `press` wraps each action.
  constructor({ items, keys, press = (act) => act() }) {
    this.#items = items;
    const all = { j: () => this.take(this.at + 1), k: () => this.take(this.at - 1), ...keys };
    // Captured, so that it runs before keys.js, which would click elements on screen.
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in all)) return;
      if (event.target.matches?.(Hand.#TYPED) || document.querySelector(".sheet:popover-open")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      press(all[event.key]);
    }, { capture: true });
    document.addEventListener("focusin", ({ target }) => {
      const at = items().findIndex((item) => item.contains(target));
      if (at >= 0 && at !== this.at) this.take(at, { isFocused: false });
    });
  }

  get item() { return this.#items()[this.at]; }

  take(at, { isFocused = true } = {}) {
    const items = this.#items();
    if (!items.length) return;
    this.at = Math.max(0, Math.min(at, items.length - 1));
    for (const item of items) item.ariaCurrent = item === this.item ? "true" : null;
    this.item.dispatchEvent(new CustomEvent("taken", { bubbles: true }));
    if (isFocused) this.item.focus();
  }
}
