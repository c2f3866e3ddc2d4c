// One item to answer in the SEE form: a reference unit, or a criterion of the summary.
class Item {
  static all(see) { return [...see.querySelectorAll("[data-item]")].map((element) => new Item(element, see)); }

  constructor(element, see) {
    this.element = element;
    this.reading = see.dataset.reading;
    // The criteria of the summary, in order.
    this.comparisons = see.dataset.comparisons.trim().split(" ");
    this.kind = element.dataset.item;
    this.id = element.dataset.id;
    this.name = element.dataset.name;
    this.text = element.querySelector(".t").textContent.trim();
    this.typed = element.querySelector("input[type=number]");
    this.note = element.querySelector("[name=note]");
    this.radios = [...element.querySelectorAll("input[type=radio]")];
    this.boxes = [...element.querySelectorAll("[name=marks]")];
    // The same for all comparisons of a summary if it is asked once for them.
    this.key = [this.kind, this.kind === "unit" ? this.reading : this.comparisons[0], this.id].join(" ");
    // The version in the loaded page.
    this.version = Number(element.dataset.version);
  }

  get #number() {
    const chosen = this.typed?.value ?? this.radios.find((radio) => radio.checked)?.value ?? "";
    return chosen === "" ? null : Number(chosen);
  }

  get marks() { return this.boxes.filter((box) => box.checked).map((box) => Number(box.value)); }

  get value() {
    if (this.kind === "rating") return { value: this.#number };
    return { percent: this.#number, marks: this.marks, note: this.note.value };
  }

  set value({ percent, value, marks, note }) {
    const number = String(percent ?? value ?? "");
    for (const radio of this.radios) radio.checked = radio.value === number;
    if (this.typed) this.typed.value = number;
    if (this.kind !== "unit") return;
    for (const box of this.boxes) box.checked = marks.includes(Number(box.value));
    this.note.value = note ?? "";
  }

  get isAnswered() { return this.#number !== null; }

  // True if it can be answered now.
  get isOpen() {
    const isShut = ["shut", "rule"].includes(this.element.dataset.gate);
    return !isShut && !this.element.closest("details:not([open])");
  }

  act(value) {
    const name = this.kind === "unit" ? "unit" : "criterion";
    return { kind: this.kind, reading: this.reading, [name]: this.id, ...value };
  }

  // True if it is asked before the reference is shown.
  get isBefore() { return this.element.dataset.asked === "before"; }

  // True if it is about the summary units that are marked nowhere.
  get isOfUnmarked() { return this.element.dataset.reads === "unmarked"; }
  get #isPercent() { return this.kind === "unit" || "percentScale" in this.element.dataset; }

  // True if the protocol's rule answers it: no summary unit is unmarked.
  get #isByRule() { return this.element.dataset.gate === "rule"; }

  // Its present answer as text for screen readers.
  get words() {
    if (this.#isByRule) return "0 percent by rule";
    if (!this.isAnswered) return this.#isPercent ? "no percent" : "no answer";
    return this.#isPercent ? `${this.#number} percent` : this.#chosen;
  }

  get #chosen() {
    const label = this.radios.find((radio) => radio.checked)?.closest("label");
    return label?.querySelector("span").textContent.trim() ?? "";
  }

  show() {
    const output = this.element.querySelector("output");
    if (!this.#isPercent) output.textContent = this.#chosen || "·";
    else if (this.#isByRule) output.textContent = "0 % by rule";
    else output.textContent = this.isAnswered ? `${this.#number} %` : "·";
    output.classList.toggle("none", !this.isAnswered || this.#isByRule);
  }

  // The note beside it: a possible mistake, or the reason why it was not saved.
  warn(message, { isRefused = false } = {}) {
    const slip = this.element.querySelector("[data-slip]");
    slip.classList.toggle("refused", isRefused);
    slip.replaceChildren();
    if (!message) return;
    const sign = make("span", { ariaHidden: "true" }, isRefused ? "✕" : "⚠︎");
    slip.append(sign, ` ${isRefused ? "Not saved: " : ""}${message}`);
  }
}
