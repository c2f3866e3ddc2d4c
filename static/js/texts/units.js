// A text and its units: a hand on one unit, a cursor before one of its words, and keys for the forms beside them.
// The forms do the work; this only fills them in and sends them. What is pressed while one is on its way waits.
(() => {
  const TYPED = "input, textarea, select, [contenteditable]";
  const said = document.querySelector("#said");
  let isBusy = false;
  let waiting = [];
  let hand = 0;
  let cursor = 0;

  const units = () => [...document.querySelectorAll("#units [data-unit]")];
  const words = (unit) => [...(unit?.querySelectorAll("[data-text] [data-at]") ?? [])];
  const inHand = () => units()[hand];
  const tell = (text) => (said.textContent = text);

  function take(place, { isFocused = true } = {}) {
    const all = units();
    if (!all.length) return;
    hand = Math.max(0, Math.min(place, all.length - 1));
    all.forEach((unit, at) => at === hand ? unit.setAttribute("aria-current", "true") : unit.removeAttribute("aria-current"));
    setCursor(0);
    if (isFocused) all[hand].focus();
  }

  // 0 is no cursor: there is nothing before the first word to split from.
  function setCursor(place, { isTold = false } = {}) {
    for (const word of document.querySelectorAll("#units .cursor")) word.classList.remove("cursor");
    const found = words(inHand());
    cursor = found.length ? Math.max(0, Math.min(place, found.length - 1)) : 0;
    if (!cursor) return;
    found[cursor].classList.add("cursor");
    const choice = inHand().querySelector("[data-split] select");
    choice.value = found[cursor].dataset.at;
    if (isTold) tell(`before “${found[cursor].textContent}”`);
  }

  function split() {
    if (cursor) inHand().querySelector("[data-split]").requestSubmit();
    else tell("Move the cursor into the unit first.");
  }

  const keys = {
    j: () => take(hand + 1),
    k: () => take(hand - 1),
    m: () => inHand()?.querySelector("[data-join]")?.requestSubmit(),
    s: split,
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
  };

  // The arrow points where the cursor goes on screen, whichever way the text runs.
  function step(by) {
    const text = inHand()?.querySelector("[data-text]");
    if (!text) return;
    const isLeftwards = getComputedStyle(text).direction === "rtl";
    setCursor(cursor + (isLeftwards ? -by : by), { isTold: true });
  }

  // Captured, so that a key waits here before keys.js would press what is on screen.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    if (event.target.matches?.(TYPED) || document.querySelector(".sheet:popover-open")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    press(event.key);
  }, { capture: true });

  function press(key) {
    if (isBusy) waiting.push(key);
    else keys[key]();
  }

  // A click into the text splits there; a finger is less exact, so it sets the cursor and shows the form.
  document.addEventListener("click", (event) => {
    const unit = event.target.closest?.("#units [data-unit]");
    if (!unit || isBusy) return;
    const place = units().indexOf(unit);
    const text = event.target.closest("[data-text]");
    if (!text) {
      if (!event.target.closest("form, details")) take(place);
      return;
    }
    if (String(getSelection())) return;
    const at = wordAt(unit, event);
    take(place);
    setCursor(at, { isTold: true });
    if (!cursor) return;
    if (event.pointerType === "mouse") split();
    else unit.querySelector("details:has([data-split])").open = true;
  });

  // The word before which the click fell: the one that was hit, or the next one past its middle.
  function wordAt(unit, event) {
    const found = words(unit);
    const hit = event.target.closest("[data-at]");
    if (hit) return found.indexOf(hit) + (isPastMiddle(hit, event) ? 1 : 0);
    const caret = caretAt(event);
    return found.findIndex((word) => caret && (caret.compareDocumentPosition(word) & Node.DOCUMENT_POSITION_FOLLOWING));
  }

  function isPastMiddle(word, event) {
    const boxes = [...word.getClientRects()];
    const box = boxes.find((each) => event.clientY >= each.top && event.clientY <= each.bottom) ?? boxes[0];
    const share = (event.clientX - box.left) / box.width;
    return (getComputedStyle(word).direction === "rtl" ? 1 - share : share) > 0.5;
  }

  function caretAt({ clientX, clientY }) {
    return document.caretPositionFromPoint?.(clientX, clientY)?.offsetNode
      ?? document.caretRangeFromPoint?.(clientX, clientY)?.startContainer;
  }

  document.addEventListener("focusin", (event) => {
    const place = units().indexOf(event.target.closest?.("#units [data-unit]"));
    if (place >= 0 && place !== hand) take(place, { isFocused: false });
  });

  // A form is sent once; what is pressed twice on it waits and then is about units that are gone, so it is dropped.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-act]")) return;
    if (!isBusy) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  document.addEventListener("htmx:before:request", (event) => {
    if (event.detail.ctx.sourceElement.matches?.("[data-act]")) isBusy = true;
  });

  document.addEventListener("htmx:finally:request", (event) => {
    if (!event.detail.ctx.sourceElement.matches?.("[data-act]")) return;
    setTimeout(() => {
      isBusy = false;
      const [key, ...rest] = waiting;
      waiting = [];
      if (key) press(key);
      // The first may have sent something again: the others wait for it in turn.
      rest.forEach(press);
    });
  });

  document.addEventListener("htmx:after:swap", () => {
    const room = document.querySelector("#units");
    take(Number(room.dataset.hand) - 1);
    if (room.dataset.said) tell(`${room.dataset.said} ${units().length} units.`);
  });

  take(Number(document.querySelector("#units").dataset.hand) - 1, { isFocused: false });
  const wanted = document.querySelector(location.hash.startsWith("#unit-") ? location.hash : "#none");
  if (wanted) take(units().indexOf(wanted));
})();
