// The peer units of the page that is up: which are marked for the unit in progress, which are lit because they are
// marked nowhere, and for which model units each of them is marked.
class Peers {
  #all;

  constructor(see) {
    this.#all = [...see.querySelectorAll("[data-peer]")];
  }

  get numbers() {
    return this.#all.map((peer) => Number(peer.dataset.peer));
  }

  show({ marked, lit }) {
    for (const peer of this.#all) {
      const number = Number(peer.dataset.peer);
      peer.setAttribute("aria-pressed", String(marked.includes(number)));
      peer.classList.toggle("lit", lit.includes(number));
    }
  }

  // The marks of each model unit, in the order of the units.
  showChips(marks) {
    for (const peer of this.#all) {
      const number = Number(peer.dataset.peer);
      const chips = marks.flatMap((marked, place) => (marked.includes(number) ? Peers.#chip(place + 1) : []));
      peer.querySelector("[data-chips]").replaceChildren(...chips);
    }
  }

  scrollToShown() {
    this.#all.find((peer) => peer.matches("[aria-pressed=true], .lit"))?.scrollIntoView({ block: "nearest" });
  }

  // From one that has the focus to the one before or after it. Tells whether there was one in focus.
  walk(target, by) {
    const place = this.#all.indexOf(target.closest?.("[data-peer]"));
    if (place >= 0) this.#all[place + by]?.focus();
    return place >= 0;
  }

  static #chip(number) {
    const made = document.createElement("span");
    const words = document.createElement("span");
    made.className = "chip";
    words.className = "sr";
    words.textContent = "marked for unit ";
    made.append(words, String(number));
    return made;
  }
}
