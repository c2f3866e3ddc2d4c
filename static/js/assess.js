// The SEE form: one unit in hand, its marks lit in the peer, every act saved at once, and undo.
(() => {
  const see = document.querySelector("[data-see]");
  if (!see || !see.querySelector("[data-unit]")) return;

  const RETRY_MS = 4000;
  const isClosed = "closed" in see.dataset;
  const units = [...see.querySelectorAll("[data-unit]")];
  const peers = [...see.querySelectorAll("[data-peer]")];
  const saved = document.getElementById("saved");
  const undoButton = document.querySelector("[data-undo]");
  const client = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
  const undone = [];
  const latest = new Map();
  const failed = new Set();
  let seq = 0;
  let inHand = units.find((unit) => unit.classList.contains("now")) ?? units[0];

  const form = (unit) => unit.querySelector("form");
  const numberOf = (unit) => units.indexOf(unit) + 1;
  const marksOf = (unit) => [...unit.querySelectorAll("[name=marks]")];
  const typed = (unit) => unit.querySelector("input[type=number][name=percent]");

  // Read from the controls: FormData leaves out those of a closed set, which are disabled.
  function state(unit) {
    const percent = unit.querySelector("[name=percent]:checked") ?? typed(unit);
    const marks = marksOf(unit).filter((mark) => mark.checked);
    const note = unit.querySelector("[name=note]");
    return { percent: percent?.value ?? "", marks: marks.map((mark) => mark.value), note: note?.value ?? "" };
  }

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const before = new Map(units.map((unit) => [unit, state(unit)]));

  // Showing

  function showPeers() {
    const marked = new Set(state(inHand).marks);
    for (const peer of peers) peer.setAttribute("aria-pressed", String(marked.has(peer.dataset.peer)));
  }

  function showChips() {
    for (const peer of peers) {
      const numbers = units.filter((unit) => state(unit).marks.includes(peer.dataset.peer)).map(numberOf);
      peer.querySelector("[data-chips]").replaceChildren(...numbers.map(chip));
    }
  }

  function chip(number) {
    const made = document.createElement("span");
    const words = document.createElement("span");
    made.className = "chip";
    words.className = "sr";
    words.textContent = "marked for unit ";
    made.append(words, String(number));
    return made;
  }

  function showPercent(unit) {
    const { percent } = state(unit);
    const shown = unit.querySelector("output");
    shown.textContent = percent === "" ? "·" : `${percent} %`;
    shown.classList.toggle("none", percent === "");
  }

  function take(unit, { focus = false } = {}) {
    inHand = unit;
    for (const other of units) {
      other.classList.toggle("now", other === unit);
      if (other === unit) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    }
    showPeers();
    if (focus) unit.querySelector("[data-take]").focus({ preventScroll: true });
    unit.scrollIntoView({ block: "nearest" });
  }

  // Saving: an act goes out at once, in order; one that fails goes out again under its own number. A unit is
  // saved once the server has said so of the latest act on it, whatever became of the others.

  function save(unit, { isUndo = false } = {}) {
    const earlier = before.get(unit);
    const now = state(unit);
    if (same(earlier, now)) return;
    if (!isUndo) undone.push([unit, earlier]);
    before.set(unit, now);
    if (undoButton) undoButton.disabled = undone.length === 0;
    showPercent(unit);
    showChips();
    if (unit === inHand) showPeers();
    const target = form(unit);
    target.elements.client_id.value = client;
    target.elements.seq.value = String(++seq);
    latest.set(unit, target.elements.seq.value);
    failed.delete(unit);
    unit.classList.add("unsaved");
    send(unit);
    showSaving();
  }

  const send = (unit) => form(unit).dispatchEvent(new CustomEvent("act"));
  const isUnsaved = (unit) => unit.classList.contains("unsaved");

  function showSaving() {
    const isBusy = units.some((unit) => isUnsaved(unit) && !failed.has(unit));
    saved.classList.toggle("waiting", failed.size > 0);
    saved.classList.toggle("busy", failed.size === 0 && isBusy);
    if (failed.size > 0) saved.textContent = "Not saved yet";
    else if (isBusy) saved.textContent = "Saving…";
    document.dispatchEvent(new CustomEvent("saving", { detail: failed.size ? "failed" : isBusy ? "busy" : "done" }));
  }

  see.addEventListener("htmx:finally:request", (event) => {
    const unit = event.target.closest("[data-unit]");
    const { request, response } = event.detail.ctx;
    // An act that a later one on the same unit has followed says nothing of whether that one is saved.
    if (!unit || request.body.get("seq") !== latest.get(unit)) return showSaving();
    if (response?.status === 200) {
      failed.delete(unit);
      unit.classList.remove("unsaved");
    } else {
      failed.add(unit);
      if (mayPass(response?.status)) again(unit, latest.get(unit));
    }
    showSaving();
  });

  // No connection, a server in trouble, or nobody signed in any more (403 without the cookies): that passes.
  // Anything else is a reason, told in the notice, for which the same act would be refused again.
  const mayPass = (status) => status === undefined || status >= 500 || status === 401 || status === 403;

  function again(unit, number) {
    setTimeout(() => isUnsaved(unit) && latest.get(unit) === number && send(unit), RETRY_MS);
  }

  addEventListener("beforeunload", (event) => {
    if (units.some(isUnsaved)) event.preventDefault();
  });

  // Acting

  function restore(unit, earlier) {
    for (const box of marksOf(unit)) box.checked = earlier.marks.includes(box.value);
    for (const radio of unit.querySelectorAll("input[type=radio]")) radio.checked = radio.value === earlier.percent;
    if (typed(unit)) typed(unit).value = earlier.percent;
    form(unit).elements.note.value = earlier.note;
  }

  undoButton?.addEventListener("click", () => {
    const last = undone.pop();
    if (!last) return;
    const [unit, earlier] = last;
    restore(unit, earlier);
    take(unit);
    save(unit, { isUndo: true });
  });

  see.addEventListener("change", (event) => {
    const unit = event.target.closest("[data-unit]");
    if (unit && event.target.reportValidity()) save(unit);
  });

  see.addEventListener("submit", (event) => {
    event.preventDefault();
    const unit = event.target.closest("[data-unit]");
    if (unit && event.target.reportValidity()) save(unit);
  });

  see.addEventListener("focusin", (event) => {
    const unit = event.target.closest("[data-unit]");
    if (unit && unit !== inHand) take(unit);
  });

  see.addEventListener("click", (event) => {
    if (event.target.closest("[data-take]")) event.preventDefault();
    const row = event.target.closest(".unit-row");
    if (row) take(row.closest("[data-unit]"));
    const peer = event.target.closest("[data-peer]");
    if (peer && !isClosed) toggle(peer);
  });

  function toggle(peer) {
    const box = marksOf(inHand).find((mark) => mark.value === peer.dataset.peer);
    if (!box) return;
    box.checked = !box.checked;
    save(inHand);
  }

  for (const button of document.querySelectorAll("[data-unit-step]")) {
    button.addEventListener("click", () => {
      const next = units[units.indexOf(inHand) + Number(button.dataset.unitStep)];
      if (next) take(next, { focus: true });
    });
  }

  see.addEventListener("keydown", (event) => {
    const place = peers.indexOf(event.target.closest?.("[data-peer]"));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (place < 0 || !step) return;
    event.preventDefault();
    peers[place + step]?.focus();
  });

  if (location.hash) {
    const asked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (units.includes(asked)) take(asked);
  }
  take(inHand);
})();
