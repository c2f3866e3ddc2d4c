// A text and its units: a cursor on one unit, another before one of its words, and keys for the forms beside them.
// The forms do the work; this script fills them in and sends them. Keys pressed while one is being sent wait.
(() => {
  const said = document.querySelector("#said");
  let isBusy = false;
  let waiting = [];
  let cursor = 0;

  const units = () => [...document.querySelectorAll("#units [data-unit]")];
  const words = (unit) => [...(unit?.querySelectorAll("[data-text] [data-at]") ?? [])];
  const tell = (text) => (said.textContent = text);
  const hand = new Hand({
    items: units,
    keys: {
      m: () => hand.item?.querySelector("[data-join]")?.requestSubmit(),
      s: split,
      ArrowRight: () => step(1),
      ArrowLeft: () => step(-1),
    },
    press,
  });
  document.addEventListener("taken", () => setCursor(0));

  // 0 is no cursor: nothing before the first word can be split off.
  function setCursor(place, { isTold = false } = {}) {
    for (const word of document.querySelectorAll("#units .cursor")) word.classList.remove("cursor");
    const found = words(hand.item);
    cursor = found.length ? Math.max(0, Math.min(place, found.length - 1)) : 0;
    if (!cursor) return;
    found[cursor].classList.add("cursor");
    hand.item.querySelector("[data-split] select").value = found[cursor].dataset.at;
    if (isTold) tell(`before “${found[cursor].textContent}”`);
  }

  function split() {
    if (cursor) hand.item.querySelector("[data-split]").requestSubmit();
    else tell("Move the cursor into the unit first.");
  }

  // Arrows move the cursor in their direction on screen, for both directions of text.
  function step(by) {
    const text = hand.item?.querySelector("[data-text]");
    if (!text) return;
    const isLeftwards = getComputedStyle(text).direction === "rtl";
    setCursor(cursor + (isLeftwards ? -by : by), { isTold: true });
  }

  function press(act) {
    if (isBusy) waiting.push(act);
    else act();
  }

  // A click into the text splits there; a finger is less exact, so it sets the cursor and shows the form.
  document.addEventListener("click", (event) => {
    const unit = event.target.closest?.("#units [data-unit]");
    if (!unit || isBusy) return;
    const place = units().indexOf(unit);
    if (!event.target.closest("[data-text]")) {
      if (!event.target.closest("form, details")) hand.take(place);
      return;
    }
    if (String(getSelection())) return;
    const at = wordAt(unit, event);
    hand.take(place);
    setCursor(at, { isTold: true });
    if (!cursor) return;
    if (event.pointerType === "mouse") split();
    else unit.querySelector("details:has([data-split])").open = true;
  });

  // The word before which the click fell: the clicked one, or the next one if it fell past the middle.
  function wordAt(unit, { clientX, clientY }) {
    const caret = document.caretPositionFromPoint?.(clientX, clientY);
    const range = caret ? null : document.caretRangeFromPoint?.(clientX, clientY);
    const node = caret?.offsetNode ?? range?.startContainer;
    if (!node) return -1;
    const found = words(unit);
    const hit = found.findIndex((word) => word.contains(node));
    if (hit >= 0) return hit + ((caret?.offset ?? range.startOffset) > node.length / 2 ? 1 : 0);
    return found.findIndex((word) => node.compareDocumentPosition(word) & Node.DOCUMENT_POSITION_FOLLOWING);
  }

  // A form is sent once; a second press would be about units that are gone, so it is dropped.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-act]") || !isBusy) return;
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
      const acts = waiting;
      waiting = [];
      // The first one may send something again: the others wait for it in turn.
      acts.forEach(press);
    });
  });

  document.addEventListener("htmx:after:swap", () => {
    const room = document.querySelector("#units");
    hand.take(Number(room.dataset.hand) - 1);
    if (room.dataset.said) tell(`${room.dataset.said} ${units().length} units.`);
  });

  hand.take(Number(document.querySelector("#units").dataset.hand) - 1, { isFocused: false });
  const wanted = units().findIndex((unit) => `#${unit.id}` === location.hash);
  if (wanted >= 0) hand.take(wanted);
})();
