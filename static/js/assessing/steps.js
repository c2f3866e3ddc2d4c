// Shows the state of each comparison of the set, and the link to the next step.
class Steps {
  #pages;
  #all = [...document.querySelectorAll("[data-step]")];

  constructor(pages) { this.#pages = pages; }
  #of(reading) { return this.#all.find((step) => step.dataset.step === reading); }

  // Returns the number of the comparison's summary; undefined if the comparison is no longer in the set.
  numberOf(reading) { return this.#of(reading)?.dataset.summaryNumber; }

  // `state` is "read" (earlier questions are answered, so the reference is shown) or "judged" (by percents).
  is(reading, state) { return state in (this.#of(reading)?.dataset ?? {}); }
  begin(reading) { this.#of(reading)?.classList.add("started"); }

  // Shows the state of a comparison that the server sent.
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

  // Shows one link: to closing the set, the next summary, another incomplete summary, or My work.
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
    way.querySelector("[data-open-number]").textContent = step.dataset.summaryNumber;
    return way;
  }
}
