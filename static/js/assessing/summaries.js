// Shows for each summary unit whether it is marked for the current reference unit or highlighted. Chips have the numbers
// of all reference units for which the summary unit is marked.
class Summaries {
  #all;

  constructor(see) {
    this.#all = [...see.querySelectorAll("[data-summary]")];
    this.numbers = this.#all.map((summary) => Number(summary.dataset.summary));
  }

  show({ marked, lit }) {
    for (const [at, number] of this.numbers.entries()) {
      this.#all[at].ariaPressed = String(marked.includes(number));
      this.#all[at].classList.toggle("lit", lit.includes(number));
    }
  }

  // Shows beside each summary unit the numbers of the reference units for which it is marked.
  showChips(marks) {
    for (const [at, number] of this.numbers.entries()) {
      const units = marks.flatMap((marked, place) => (marked.includes(number) ? place + 1 : []));
      const chips = units.map((unit) => make("span", { className: "chip" }, make("span", { className: "sr" }, "marked for unit "), unit));
      this.#all[at].querySelector("[data-chips]").replaceChildren(...chips);
    }
  }

  scrollToShown() {
    this.#all.find((summary) => summary.matches("[aria-pressed=true], .lit"))?.scrollIntoView({ block: "nearest" });
  }
}
