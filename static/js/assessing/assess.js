// The SEE form: one thing in progress, its marks lit in the peer summary, every act kept at once and on its way, undo
// across the set, and one summary after the other without a new page.
(() => {
  const see = () => document.getElementById("see");
  if (!see()) return;

  const AHEAD_MS = 250;
  const ALIVE_MS = 60_000;
  const RECENT_MS = 5_000;
  const PAUSE_MS = 1_000;
  const OURS = { see: true };
  const { isClosed, ...assignment } = read(see());
  const areSideBySide = matchMedia("(min-width: 761px)");
  const pages = new Pages();
  const steps = new Steps(pages);
  const time = new ActiveTime();
  const queue = isClosed ? null : new ActQueue(assignment);
  const keeping = queue && new Keeping(queue, pages);
  // What was said since the page was loaded, or had not been saved by then; pages may be older than that.
  let said = queue ? [...queue.acts] : [];
  let before = new Map();
  let items = [];
  let peers = new Peers(see());
  let inHand = null;
  let isReady = false;
  let isTurning = false;
  let isSetComplete = "setComplete" in see().dataset;
  let lastContact = performance.now();
  let ahead = 0;

  function read(page) {
    const { assignment, of, pen, seq, actsUrl, penUrl, aliveUrl, homeUrl, closed } = page.dataset;
    const urls = { acts: actsUrl, pen: penUrl, alive: aliveUrl, home: homeUrl };
    return { assignment, person: of, pen, seq: Number(seq), urls, isClosed: closed !== undefined };
  }

  const find = (selector) => document.querySelector(selector);
  const here = () => see().dataset.reading;
  const stage = () => see().dataset.stage;
  const itemOf = (element) => items.find((item) => item.element === element?.closest?.("[data-item]"));
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const say = (text) => (find("#said").textContent = text);
  const mainItems = () => items.filter((item) => item.kind === (stage() === "quality" ? "quality" : "unit"));
  const units = () => items.filter((item) => item.kind === "unit");
  const unmarkedItem = () => items.find((item) => item.kind === "unmarked");
  const isOpenItem = (item) => item.isOpen && !item.isAnswered;

  // A page comes up

  function setUp() {
    items = Item.all(see());
    peers = new Peers(see());
    before = new Map();
    for (const item of items) {
      const act = said.findLast((each) => item.isAbout(each));
      if (act) item.value = act;
      before.set(item.key, item.value);
    }
    showUnmarked();
    for (const item of items) item.show();
    showChips();
    showCount();
    showQueue();
    const asked = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    take(itemOf(asked) ?? items.find(isOpenItem) ?? items[0] ?? null);
    clearTimeout(ahead);
    ahead = setTimeout(fetchAhead, AHEAD_MS);
  }

  // Showing

  function take(item, { focus = false } = {}) {
    inHand = item;
    if (!item) return showPeers();
    time.turnTo(item.key);
    for (const other of items) {
      other.element.classList.toggle("now", other === item);
      if (other === item) other.element.setAttribute("aria-current", "true");
      else other.element.removeAttribute("aria-current");
    }
    showPeers();
    if (focus) item.element.querySelector("[data-take]").focus({ preventScroll: true });
    item.element.scrollIntoView({ block: "nearest" });
    if (areSideBySide.matches) peers.scrollToShown();
  }

  function showPeers() {
    peers.show({
      marked: inHand?.kind === "unit" ? inHand.marks : [],
      lit: inHand?.kind === "unmarked" ? unmarked() : [],
    });
  }

  const showChips = () => peers.showChips(units().map((unit) => unit.marks));

  // Peer units that are marked neither here nor in another comparison of the same peer summary.
  function unmarked() {
    const elsewhere = unmarkedItem()?.element.dataset.elsewhere.split(" ").map(Number) ?? [];
    const marked = new Set([...elsewhere, ...units().flatMap((unit) => unit.marks)]);
    return peers.numbers.filter((number) => !marked.has(number));
  }

  const WHY = {
    shut: "Available once every model unit of this peer has a percent.",
    rule: "All peer units are marked, so there is nothing to answer.",
  };

  function showUnmarked() {
    const item = unmarkedItem();
    if (!item || isClosed) return;
    const others = item.comparisons.filter((each) => each !== here());
    const isJudged = units().every((unit) => unit.isAnswered) && others.every((each) => steps.isJudged(each));
    let gate = item.isAnswered ? "done" : "open";
    if (!isJudged) gate = "shut";
    else if (!unmarked().length) gate = "rule";
    item.element.dataset.gate = gate;
    item.element.querySelector("fieldset").disabled = gate === "shut" || gate === "rule";
    item.element.querySelector("[data-why]").textContent = WHY[gate] ?? "";
    item.show();
  }

  const isDoneHere = () => stage() !== "quality" && !items.some(isOpenItem) && units().every((unit) => unit.isAnswered);

  function showCount() {
    const count = find("[data-answered-count]");
    if (count) count.textContent = mainItems().filter((item) => item.isAnswered).length;
    showAhead();
  }

  function showAhead() {
    steps.show(here());
    if (!isClosed) steps.showAhead({ here: here(), isDoneHere: isDoneHere(), isSetComplete });
  }

  // Saving

  function save(item, { isUndo = false } = {}) {
    const was = before.get(item.key);
    const now = item.value;
    if (same(was, now)) return;
    if (!queue || queue.needsPerson) {
      item.value = was;
      return;
    }
    before.set(item.key, now);
    item.warn("");
    if (!isUndo) queue.remember({ reading: here(), key: item.key, name: item.name, was });
    const { seq, ...act } = queue.push({ ...item.act(now), ms: time.take(item.key), was: item.act(was) });
    said = [...said.filter((each) => !item.isAbout(each)), { ...act, seq }];
    pages.outdate(here());
    steps.begin(here());
    showUnmarked();
    item.show();
    showChips();
    showCount();
    showPeers();
    showUndo();
  }

  // To the next thing that has no answer yet; where all have one, nowhere.
  function moveOn(item) {
    const place = items.indexOf(item);
    const next = [...items.slice(place + 1), ...items.slice(0, place)].find(isOpenItem);
    if (next) take(next, { focus: true });
    else if (stage() !== "quality") item.element.querySelector("[data-take]").focus({ preventScroll: true });
  }

  queue?.addEventListener("saved", ({ detail: { acts, answer } }) => {
    lastContact = performance.now();
    for (const [reading, gates] of Object.entries(answer.gates)) steps.heed(reading, gates);
    isSetComplete = answer.set.is_complete;
    for (const result of answer.results) heedResult(acts.find((act) => act.seq === result.seq), result);
    for (const item of units()) {
      if (item.id in answer.slips && !isWaiting(item)) item.warn(answer.slips[item.id]);
    }
    showAhead();
    tellSaved(acts.at(-1), answer);
    if (answer.gates[here()]?.quality === "done") showModel();
  });

  // Saved before another form went on, which may have said otherwise since: the server knows what stands.
  queue?.addEventListener("heard", ({ detail: { acts } }) => {
    const numbers = new Set(acts.map((act) => act.seq));
    said = said.filter((each) => !numbers.has(each.seq));
    turn(here(), { isAnew: true });
  });

  // The model summary is told only after the last answer was saved, so it may be late.
  function showModel() {
    const isAnswered = stage() === "quality" && items.every((item) => item.isAnswered);
    if (isAnswered && queue && !queue.pending && !isTurning) turn(here(), { isAnew: true });
  }
  addEventListener("online", showModel);
  addEventListener("focus", showModel);

  function heedResult(act, { status, message, seq }) {
    if (!act || status !== "refused") return;
    said = said.filter((each) => each.seq !== seq);
    const item = items.find((each) => each.isAbout(act));
    if (!item) {
      const peer = steps.numberOf(act.reading);
      notice(`${peer ? `Peer ${peer}: a` : "A"} change was not saved. ${message}`);
    }
    if (!item || isWaiting(item)) return;
    item.warn(message, { isRefused: true });
    // It may be said again.
    before.set(item.key, item.valueOf(act.was));
  }

  function tellSaved(act, answer) {
    const item = items.find((each) => each.isAbout(act));
    const refused = answer.results.find((result) => result.status === "refused");
    if (refused) return say(`Not saved: ${refused.message}`);
    if (!item || queue.pending) return;
    const slip = answer.slips[item.id] ? ` ${answer.slips[item.id]}` : "";
    const after = inHand && inHand !== item ? ` ${inHand.name}.` : "";
    const end = isDoneHere() ? " This summary is complete." : "";
    say(`${item.name}, ${item.words}, saved.${slip}${after}${end}`);
  }

  // How saving stands

  const isWaiting = (item) => queue.acts.some((act) => item.isAbout(act));

  function showQueue() {
    if (!queue) return;
    see().inert = queue.needsPerson;
    see().classList.toggle("away", queue.needsPerson);
    document.body.classList.toggle("stranger", queue.state === "stranger");
    for (const item of items) item.element.classList.toggle("unsaved", queue.isFailing && isWaiting(item));
    keeping.showSaved({ isReady });
    showUndo();
    const standing = queue.pending ? (queue.isFailing ? "failed" : "busy") : "done";
    document.dispatchEvent(new CustomEvent("saving", { detail: standing }));
  }

  let wasFailing = false;
  queue?.addEventListener("change", () => {
    showQueue();
    const fails = queue.isFailing && queue.pending > 0;
    if (fails && !wasFailing) say(`Not saved yet: ${queue.pending}. It is kept in this browser and goes out by itself.`);
    wasFailing = fails;
    if (queue.state === "idle") {
      clearTimeout(ahead);
      ahead = setTimeout(fetchAhead, AHEAD_MS);
    }
  });
  queue?.addEventListener("state", ({ detail }) => keeping.show(detail));

  addEventListener("beforeunload", (event) => {
    if (queue && !queue.isKept && queue.pending) event.preventDefault();
  });

  // Somebody at it keeps what was pulled, and learns that it goes on elsewhere.
  async function keepAlive() {
    lastContact = performance.now();
    const pen = await queue.ping();
    if (pen?.lease_until) Lease.renew(pen.lease_until);
  }

  if (queue) {
    setInterval(() => {
      if (time.isActive && performance.now() - lastContact >= ALIVE_MS) keepAlive();
    }, RECENT_MS);
    addEventListener("focus", () => performance.now() - lastContact >= RECENT_MS && keepAlive());
  }

  // Undo

  // An answer that opened the model summary can be changed, but not taken back; and what is asked no more is gone.
  function isFinal({ reading, key, was }) {
    if (!steps.numberOf(reading)) return true;
    if (was.answer === null && steps.isRead(reading)) return true;
    return reading === here() && !items.some((item) => item.key === key);
  }

  // The last act, where it can be taken back now: nothing is offered that would be refused.
  function lastStep() {
    if (!queue || queue.needsPerson) return null;
    queue.dropSteps(isFinal);
    const step = queue.lastStep;
    const isAtHand = !step || step.reading === here() || pages.has(step.reading) || !queue.isFailing;
    return isAtHand ? step : null;
  }

  function showUndo() {
    const button = find("[data-undo]");
    if (!button) return;
    const step = lastStep();
    button.disabled = !step;
    const peer = step && step.reading !== here() && steps.numberOf(step.reading);
    button.querySelector("[data-undo-what]").textContent = step ? ` ${peer ? `peer ${peer}, ` : ""}${step.name.toLowerCase()}` : "";
  }

  async function undo() {
    const step = lastStep();
    if (!step || isTurning) return;
    if (step.reading !== here() && !(await turn(step.reading))) return;
    const item = items.find((each) => each.key === step.key);
    if (!item) return showUndo();
    queue.forgetStep();
    const fold = item.element.closest("details");
    if (fold) fold.open = true;
    item.value = step.was;
    take(item, { focus: true });
    save(item, { isUndo: true });
    showUndo();
  }

  // From one summary to another

  async function turn(id, { isHistory = false, isAnew = false } = {}) {
    if (isTurning || !id) return false;
    isTurning = true;
    holdKeys("hold");
    const from = here();
    const isUp = await bringUp(id, { isAnew });
    if (isUp) {
      pages.show(id, from);
      if (!isHistory && id !== from) goDown(id);
      setUp();
      if (id !== from || isAnew) arrive();
    }
    isTurning = false;
    holdKeys(isUp && isAnew ? "settle" : "go");
    return isUp;
  }

  // The entries are marked as ours: htmx would fetch and swap the whole page when one of its own comes back.
  function goDown(id) {
    history.replaceState(OURS, "", location.href);
    history.pushState(OURS, "", pages.address(id));
  }

  async function bringUp(id, { isAnew }) {
    if (!isAnew && pages.isFresh(id)) return true;
    await queue?.settled();
    const found = await pages.fetch(id);
    if (found === "here" || (!isAnew && pages.has(id))) return true;
    if (found === "signed-out") queue?.ping();
    else notice(found === "gone" ? "This summary is no longer in the set." : "The server is unreachable, so that summary cannot be shown yet.");
    return false;
  }

  function arrive() {
    scrollTo(0, 0);
    for (const panel of see().querySelectorAll(".panel")) panel.scrollTop = 0;
    take(inHand, { focus: true });
    say(find("#heading").textContent.replace("Judge p", "P"));
  }

  const holdKeys = (detail) => document.dispatchEvent(new CustomEvent("keys", { detail }));

  // Once for each page, and again when all is answered here: then nothing changes it before its turn.
  function fetchAhead() {
    const next = find("[data-way]:not([hidden])")?.dataset.turn;
    if (!next || next === here() || pages.isFresh(next) || queue?.pending || queue?.needsPerson) return;
    if (!pages.has(next) || isDoneHere()) pages.fetch(next);
  }

  addEventListener("popstate", async () => {
    const id = location.pathname.split("/").at(-2);
    if (id === here()) return;
    const from = pages.address(here());
    if (!(await turn(id, { isHistory: true }))) history.pushState(OURS, "", from);
  });

  // Hands

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
    const peer = target.closest("[data-peer]");
    if (peer) toggle(Number(peer.dataset.peer));
    if (target.matches("[data-item] input[type=radio]")) choose(event);
    if (target.matches("[data-percent]")) fill(target);
  });

  // A key of the form, or a pointer, has chosen; arrows within the radios choose at every step.
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
    if (inHand?.kind !== "unit") return say("Select a model unit first, then mark peer units for it.");
    const box = inHand.boxes.find((mark) => Number(mark.value) === number);
    if (!box) return;
    box.checked = !box.checked;
    save(inHand);
  }

  see().parentElement.addEventListener("change", (event) => {
    const item = itemOf(event.target);
    if (item && event.target.reportValidity()) save(item);
  });

  // A note is saved at every pause, so that none is lost with the page.
  let writing = 0;
  const saveNote = () => {
    clearTimeout(writing);
    const item = itemOf(document.activeElement);
    if (item?.note && item.note === document.activeElement && item.note.checkValidity()) save(item);
  };
  see().parentElement.addEventListener("input", (event) => {
    if (event.target.name !== "note") return;
    clearTimeout(writing);
    writing = setTimeout(saveNote, PAUSE_MS);
  });
  // Captured, so that it comes before the queue sends what is left.
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

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input:not([type=radio]):not([type=checkbox])")) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && peers.walk(event.target, by)) event.preventDefault();
    const digit = /^Digit(\d)$/.exec(event.code)?.[1];
    if (!digit || isClosed || isTurning || find(".sheet:popover-open")) return;
    if (event.shiftKey) chooseAndStay(digit);
    else if (inHand?.typed) inHand.typed.focus(), inHand.typed.select();
  });

  function chooseAndStay(digit) {
    const radio = inHand?.radios.find((each) => each.dataset.key?.split(" ").includes(digit) && !each.matches(":disabled"));
    if (!radio) return;
    radio.checked = true;
    save(inHand);
  }

  setUp();
  queue?.open().then(() => {
    isReady = true;
    keeping.showSaved({ isReady });
  });
})();
