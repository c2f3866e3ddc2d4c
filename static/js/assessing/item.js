// An item to answer in the SEE form: a reference unit, or a criterion of the summary.
class Item {
  static all(see) { return [...see.querySelectorAll("[data-item]")].map((element) => new Item(element, see)); }

  constructor(element, see) {
    this.element = element;
    this.reading = see.dataset.reading;
    // The comparisons of the summary with its references, in order.
    this.comparisons = see.dataset.comparisons.trim().split(" ");
    this.kind = element.dataset.item;
    this.id = element.dataset.id;
    this.name = element.dataset.name;
    this.text = element.querySelector(".t").textContent.trim();
    this.typed = element.querySelector("input[type=number]");
    this.note = element.querySelector("[name=note]");
    this.radios = [...element.querySelectorAll("input[type=radio]")];
    this.boxes = [...element.querySelectorAll("[name=marks]")];
    // A criterion is asked once for all comparisons of a summary, so its key names the first comparison.
    this.key = [this.kind, this.kind === "unit" ? this.reading : this.comparisons[0], this.id].join(" ");
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

  // True if the item can be answered now.
  get isOpen() {
    const isShut = ["shut", "rule"].includes(this.element.dataset.gate);
    return !isShut && !this.element.closest("details:not([open])");
  }

  act(value) {
    const name = this.kind === "unit" ? "unit" : "criterion";
    return { kind: this.kind, reading: this.reading, [name]: this.id, ...value };
  }

  // True if the criterion is asked before the reference is shown.
  get isBefore() { return this.element.dataset.asked === "before"; }

  // True if the criterion is about the summary units that are not marked for any reference unit.
  get isOfUnmarked() { return this.element.dataset.reads === "unmarked"; }
  get #isPercent() { return this.kind === "unit" || "percentScale" in this.element.dataset; }

  // True if a rule answers the criterion, because every summary unit is marked.
  get #isByRule() { return this.element.dataset.gate === "rule"; }

  // The answer as text for screen readers.
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

  // Shows a message beside the item: a possible mistake, or the reason why the answer was not saved.
  warn(message, { isRefused = false } = {}) {
    const slip = this.element.querySelector("[data-slip]");
    slip.classList.toggle("refused", isRefused);
    slip.replaceChildren();
    if (!message) return;
    const sign = make("span", { ariaHidden: "true" }, isRefused ? "✕" : "⚠︎");
    slip.append(sign, ` ${isRefused ? "Not saved: " : ""}${message}`);
  }
}
