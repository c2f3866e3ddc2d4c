// The SEE form: shows one item with its marks in the summary, saves acts at once, and undoes acts in the whole set.
(() => {
  const see = () => document.getElementById("see");
  if (!see()) return;

  const AHEAD_MS = 250;
  const PAUSE_MS = 1_000;
  const OURS = { see: true };
  const { assignment, of: person, actsUrl: url, closed } = see().dataset;
  const isClosed = closed !== undefined;
  const areSideBySide = matchMedia("(min-width: 761px)");
  const pages = new Pages();
  const steps = new Steps(pages);
  const time = new ActiveTime();
  const acts = isClosed ? null : new Acts({ assignment, person, url });
  const keeping = acts && new Keeping(acts, settle);
  // For each item: the value given since the page was loaded, and the version under which the server saved it.
  const said = new Map();
  const refused = new Set();
  // For each act in the set, the value that it replaced; the newest act is last.
  const undone = [];
  let before = new Map();
  let items = [];
  let summaries = new Summaries(see());
  let inHand = null;
  let isTurning = false;
  let ahead = 0;

  const find = (selector) => document.querySelector(selector);
  const here = () => see().dataset.reading;
  const stage = () => see().dataset.stage;
  const itemOf = (element) => items.find((item) => item.element === element?.closest?.("[data-item]"));
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const say = (text) => (find("#said").textContent = text);
  const units = () => items.filter((item) => item.kind === "unit");
  const mainItems = () => (stage() === "before" ? items : units());
  const isOpenItem = (item) => item.isOpen && !item.isAnswered;

  function setUp() {
    items = Item.all(see());
    summaries = new Summaries(see());
    before = new Map();
    for (const item of items) {
      const newest = said.get(item.key);
      const value = acts?.waiting(item.key)?.act ?? (newest?.version >= item.version ? newest.value : null);
      if (value) item.value = value;
      before.set(item.key, item.value);
    }
    showGates();
    for (const item of items) item.show();
    showChips();
    showCount();
    showSaving();
    const asked = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    take(itemOf(asked) ?? items.find(isOpenItem) ?? items[0] ?? null);
    fetchAheadSoon();
  }

  function take(item, { focus = false } = {}) {
    inHand = item;
    if (!item) return showSummaries();
    time.turnTo(item.key);
    for (const other of items) {
      other.element.classList.toggle("now", other === item);
      other.element.ariaCurrent = other === item ? "true" : null;
    }
    showSummaries();
    if (focus) item.element.querySelector("[data-take]").focus({ preventScroll: true });
    item.element.scrollIntoView({ block: "nearest" });
    if (areSideBySide.matches) summaries.scrollToShown();
  }

  function showSummaries() {
    summaries.show({
      marked: inHand?.kind === "unit" ? inHand.marks : [],
      lit: inHand?.isOfUnmarked ? unmarked() : [],
    });
  }

  const showChips = () => summaries.showChips(units().map((unit) => unit.marks));

  // Returns the summary units that are not marked here or in another comparison of the same summary.
  function unmarked() {
    const elsewhere = see().dataset.elsewhere.split(" ").map(Number);
    const marked = new Set([...elsewhere, ...units().flatMap((unit) => unit.marks)]);
    return summaries.numbers.filter((number) => !marked.has(number));
  }

  // Opens the questions that follow the reference units once every unit has a percent.
  function showGates() {
    if (isClosed) return;
    const others = items[0]?.comparisons.filter((each) => each !== here()) ?? [];
    const isJudged = units().every((unit) => unit.isAnswered) && others.every((each) => steps.is(each, "judged"));
    for (const item of items.filter(({ kind, isBefore }) => kind === "rating" && !isBefore)) {
      let gate = item.isAnswered ? "done" : "open";
      if (!isJudged) gate = "shut";
      else if (item.isOfUnmarked && !unmarked().length) gate = "rule";
      item.element.dataset.gate = gate;
      item.element.querySelector("fieldset").disabled = gate === "shut" || gate === "rule";
      item.show();
    }
  }

  const isDoneHere = () => stage() !== "before" && !items.some(isOpenItem) && units().every((unit) => unit.isAnswered);

  function showCount() {
    const count = find("[data-answered-count]");
    if (count) count.textContent = mainItems().filter((item) => item.isAnswered).length;
    steps.show(here());
    if (!isClosed) steps.showAhead(here(), isDoneHere());
  }

  function showAll(item) {
    showGates();
    item.show();
    showChips();
    showCount();
    showSummaries();
    showUndo();
  }

  function save(item, { isUndo = false } = {}) {
    const was = before.get(item.key);
    const now = item.value;
    // Send an unchanged value again only if it was refused.
    if (same(was, now) && !refused.delete(item.key)) return;
    if (!acts || acts.needsPerson) {
      item.value = was;
      return;
    }
    before.set(item.key, now);
    item.warn("");
    if (!isUndo) undone.push({ reading: here(), key: item.key, name: item.name, was, isBefore: item.isBefore });
    said.set(item.key, { value: now, version: said.get(item.key)?.version });
    acts.push({
      key: item.key,
      version: item.version,
      label: `Summary ${see().dataset.summaryNumber}: ${item.text}`,
      act: { ...item.act(now), ms: time.take(item.key) },
    });
    // Other comparisons of this summary show the answer too, so fetched pages of them are outdated.
    if (item.comparisons.length > 1) pages.forget();
    steps.begin(here());
    showAll(item);
  }

  // Moves to the next item without an answer. Without one, the focus stays on this item.
  function moveOn(item) {
    const place = items.indexOf(item);
    const next = [...items.slice(place + 1), ...items.slice(0, place)].find(isOpenItem);
    if (next) take(next, { focus: true });
    else if (stage() !== "before") item.element.querySelector("[data-take]").focus({ preventScroll: true });
  }

  acts?.addEventListener("saved", ({ detail: { done, gates, slips, lease_until: until } }) => {
    showLease(until);
    for (const [reading, gate] of Object.entries(gates)) steps.heed(reading, gate);
    for (const [entry, result] of done) heedResult(entry, result);
    for (const item of units()) if (item.id in slips && !acts.waiting(item.key)) item.warn(slips[item.id]);
    showCount();
    tellSaved(done, slips);
    showModel();
  });

  function heedResult(entry, { status, code, message, version }) {
    const newest = said.get(entry.key);
    if (status === 200 && newest) newest.version = version;
    if (status === 200 || code === "newer") return;
    said.delete(entry.key);
    const item = items.find(({ key }) => key === entry.key);
    if (!item) notice(`${entry.label}: a change was not saved. ${message}`);
    else if (!acts.waiting(entry.key)) {
      item.warn(message, { isRefused: true });
      refused.add(entry.key);
    }
  }

  // Resolves a conflict: sends the assessor's value again, or shows the server's newer value.
  function settle(entry, isMine) {
    acts.choose(entry, { isMine });
    const item = items.find(({ key }) => key === entry.key);
    if (isMine) return;
    const { theirs: value, version } = entry.newer;
    said.set(entry.key, { value, version });
    if (!item) return;
    item.value = value;
    before.set(item.key, item.value);
    showAll(item);
  }

  // Loads the reference after the server has saved the last answer of the first stage.
  function showModel() {
    const isAnswered = stage() === "before" && items.every((item) => item.isAnswered);
    if (isAnswered && acts && !acts.pending && !isTurning) turn(here());
  }
  for (const sign of ["online", "focus"]) addEventListener(sign, showModel);

  function tellSaved(done, slips) {
    const missed = done.find(([, { status }]) => status !== 200);
    if (missed) return say(`Not saved: ${missed[1].message}`);
    const item = items.find(({ key }) => key === done.at(-1)[0].key);
    if (!item || acts.pending) return;
    const slip = slips[item.id] ? ` ${slips[item.id]}` : "";
    const after = inHand && inHand !== item ? ` ${inHand.name}.` : "";
    say(`${item.name}, ${item.words}, saved.${slip}${after}${isDoneHere() ? " This summary is complete." : ""}`);
  }

  let wasFailing = false;

  function showSaving() {
    if (!acts) return;
    see().inert = acts.needsPerson;
    see().classList.toggle("away", acts.needsPerson);
    document.body.classList.toggle("stranger", acts.state === "hidden");
    for (const item of items) {
      const waiting = acts.waiting(item.key);
      item.element.classList.toggle("unsaved", Boolean(waiting?.newer || (waiting && acts.isFailing)));
    }
    keeping.show();
    showUndo();
    const standing = acts.pending ? (acts.isFailing || acts.conflicts.length ? "failed" : "busy") : "done";
    tellSaving(standing);
    const fails = acts.isFailing && acts.pending > 0;
    if (fails && !wasFailing) say(`Not saved yet: ${acts.pending}. It is kept in this browser and goes out by itself.`);
    wasFailing = fails;
    if (acts.state === "idle") fetchAheadSoon();
  }
  acts?.addEventListener("change", showSaving);

  addEventListener("beforeunload", (event) => {
    if (acts && !acts.isKept && acts.pending) event.preventDefault();
  });

  // Returns true if an act cannot be undone: it opened the reference, or its item is no longer asked.
  function isFinal({ reading, key, was, isBefore }) {
    if (!steps.numberOf(reading)) return true;
    if (isBefore && was.value === null && steps.is(reading, "read")) return true;
    return reading === here() && !items.some((item) => item.key === key);
  }

  // Returns the last act that can be undone now; null if there is none.
  function lastStep() {
    if (!acts || acts.needsPerson) return null;
    while (undone.length && isFinal(undone.at(-1))) undone.pop();
    const step = undone.at(-1);
    return step && (step.reading === here() || !acts.isFailing) ? step : null;
  }

  function showUndo() {
    const button = find("[data-undo]");
    if (!button) return;
    const step = lastStep();
    button.disabled = !step;
    const summary = step && step.reading !== here() && steps.numberOf(step.reading);
    button.querySelector("[data-undo-what]").textContent = step ? ` ${summary ? `summary ${summary}, ` : ""}${step.name.toLowerCase()}` : "";
  }

  async function undo() {
    const step = lastStep();
    if (!step || isTurning) return;
    if (step.reading !== here() && !(await turn(step.reading))) return;
    const item = items.find((each) => each.key === step.key);
    if (!item) return showUndo();
    undone.pop();
    const fold = item.element.closest("details");
    if (fold) fold.open = true;
    item.value = step.was;
    take(item, { focus: true });
    save(item, { isUndo: true });
    showUndo();
  }

  // Moving between summaries

  async function turn(id, { isHistory = false } = {}) {
    if (isTurning || !id) return false;
    isTurning = true;
    tellKeys("hold");
    const isAnew = id === here();
    if (isAnew || !pages.has(id)) await acts?.settled();
    const page = await pages.bring(id);
    if (page) {
      pages.show(page);
      // Mark the history entries as ours, because htmx would load the whole page on returning to one of its own.
      if (!isHistory && !isAnew) {
        history.replaceState(OURS, "", location.href);
        history.pushState(OURS, "", pages.address(id));
      }
      setUp();
      arrive();
    } else {
      notice("That summary cannot be shown now. You may be offline or signed out, or it has changed: reload the page.");
    }
    isTurning = false;
    tellKeys(page && isAnew ? "settle" : "go");
    return Boolean(page);
  }

  function arrive() {
    scrollTo(0, 0);
    for (const panel of see().querySelectorAll(".panel")) panel.scrollTop = 0;
    take(inHand, { focus: true });
    say(find("#heading").textContent.replace("Judge s", "S"));
  }

  function fetchAheadSoon() {
    clearTimeout(ahead);
    ahead = setTimeout(() => {
      const next = find("[data-way]:not([hidden])")?.dataset.turn;
      if (next && next !== here() && !acts?.pending) pages.fetchAhead(next);
    }, AHEAD_MS);
  }

  addEventListener("popstate", async () => {
    const id = location.pathname.split("/").at(-2);
    if (id === here()) return;
    const from = pages.address(here());
    if (!(await turn(id, { isHistory: true }))) history.pushState(OURS, "", from);
  });

  document.addEventListener("click", (event) => {
    const { target } = event;
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const way = target.closest("a[data-turn]");
    if (way && isPlain) {
      event.preventDefault();
      turn(way.dataset.turn);
    }
    if (target.closest("[data-take]")) event.preventDefault();
    if (target.closest("[data-undo]")) undo();
    const stepBy = target.closest("[data-step-by]");
    if (stepBy) walk(Number(stepBy.dataset.stepBy));
    const row = target.closest(".unit-row");
    if (row) take(itemOf(row), { focus: true });
    if (isClosed) return;
    const summary = target.closest("[data-summary]");
    if (summary) toggle(Number(summary.dataset.summary));
    if (target.matches("[data-item] input[type=radio]")) choose(event);
    if (target.matches("[data-percent]")) fill(target);
  });

  // Moves on after a click or a key of the form, but not after arrow keys, which choose at every step.
  function choose(event) {
    const item = itemOf(event.target);
    save(item);
    if (!event.isTrusted || event.detail > 0) moveOn(item);
  }

  function fill(button) {
    const item = itemOf(button);
    item.typed.value = button.dataset.percent;
    save(item);
    moveOn(item);
  }

  function walk(by) {
    const open = items.filter((item) => !item.element.closest("details:not([open])"));
    const next = open[open.indexOf(inHand) + by];
    if (next) take(next, { focus: true });
  }

  function toggle(number) {
    if (inHand?.kind !== "unit") return say("Select a reference unit first, then mark summary units for it.");
    const box = inHand.boxes.find((mark) => Number(mark.value) === number);
    if (!box) return;
    box.checked = !box.checked;
    save(inHand);
  }

  see().parentElement.addEventListener("change", (event) => {
    const item = itemOf(event.target);
    if (item && event.target.reportValidity()) save(item);
  });

  // A note is saved at every pause of typing, so that it is not lost with the page.
  let writing = 0;
  const saveNote = () => {
    clearTimeout(writing);
    const item = itemOf(document.activeElement);
    if (item?.note && item.note === document.activeElement && item.note.checkValidity()) save(item);
  };
  see().parentElement.addEventListener("input", (event) => {
    clearTimeout(writing);
    if (event.target.name === "note") writing = setTimeout(saveNote, PAUSE_MS);
  });
  // Capture the event, so that this runs before unsaved acts are sent.
  addEventListener("pagehide", saveNote, { capture: true });

  see().parentElement.addEventListener("submit", (event) => {
    event.preventDefault();
    const item = itemOf(document.activeElement) ?? itemOf(event.target);
    if (!item || !event.target.reportValidity()) return;
    save(item);
    if (item.typed === document.activeElement && item.isAnswered) moveOn(item);
  });

  see().parentElement.addEventListener("focusin", (event) => {
    const item = itemOf(event.target);
    if (item && item !== inHand) take(item);
  });

  // The first digit of a typed percent moves the focus to the field.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^Digit\d$/.test(event.code) || isClosed || isTurning) return;
    if (!inHand?.typed || event.target.matches?.("input:not([type=radio]):not([type=checkbox])") || find(".sheet:popover-open")) return;
    inHand.typed.focus();
    inHand.typed.select();
  });

  setUp();
  acts?.send();
})();
