// Where one is in the set: how far each comparison is, and where the way on leads from here.
class Steps {
  #pages;
  #all = [...document.querySelectorAll("[data-step]")];

  constructor(pages) {
    this.#pages = pages;
  }

  #of(reading) {
    return this.#all.find((step) => step.dataset.step === reading);
  }

  // The number of its summary; none where it is not in the set any more.
  numberOf(reading) {
    return this.#of(reading)?.dataset.peerNumber;
  }

  // Whether it is "read" (what is asked before is answered, so its reference was shown) or "judged" (all percents).
  is(reading, state) {
    return state in (this.#of(reading)?.dataset ?? {});
  }

  begin(reading) {
    this.#of(reading)?.classList.add("started");
  }

  // What the server says of a comparison.
  heed(reading, { before, units, after }) {
    const step = this.#of(reading);
    if (!step) return;
    const isDone = before !== "open" && units === "done" && after !== "open";
    step.classList.toggle("done", isDone);
    step.classList.toggle("started", !isDone);
    step.toggleAttribute("data-judged", units === "done");
    step.toggleAttribute("data-read", before !== "open");
  }

  show(here) {
    for (const step of this.#all) step.classList.toggle("here", step.dataset.step === here);
    const done = this.#all.filter((step) => step.classList.contains("done")).length;
    document.querySelector("[data-steps]").setAttribute("aria-label", `${done} of ${this.#all.length} done in this set`);
  }

  // Of all ways on the one that fits: to close the set, to the next summary, to one that is still open, or out.
  showAhead(here, isDoneHere) {
    const isSetComplete = this.#all.every((step) => step.classList.contains("done"));
    const all = [...document.querySelectorAll("[data-way]")];
    const ways = Object.fromEntries(all.map((way) => [way.dataset.way, way]));
    const open = this.#all.find((step) => step.dataset.step !== here && !step.classList.contains("done"));
    let now = ways.work;
    if (isSetComplete && isDoneHere) now = ways.close;
    else if (ways.next) now = ways.next;
    else if (open) now = this.#pointTo(ways.open, open);
    for (const way of all) way.hidden = way !== now;
    now.classList.toggle("quiet", now === ways.work || (now !== ways.close && !isDoneHere));
  }

  #pointTo(way, step) {
    way.href = this.#pages.address(step.dataset.step);
    way.dataset.turn = step.dataset.step;
    way.querySelector("[data-open-number]").textContent = step.dataset.peerNumber;
    return way;
  }
}
