// Evidence without a mouse: a unit's number is typed, the numbers are walked by arrows, words are selected.
(() => {
  const room = () => document.getElementById("claim-room");
  const picks = () => [...(room()?.querySelectorAll(".pick input") ?? [])];
  const pickOf = (number) => picks().find((pick) => pick.value === String(number));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.("[data-evidence]")) return typed(event);
    if (event.key === "Enter" && event.target.matches?.("#answer select, #answer input")) return event.target.blur();
    const all = picks();
    const place = all.indexOf(event.target);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (place < 0 || !step) return;
    event.preventDefault();
    all[place + step]?.focus();
  });

  // Return or a space marks the number, or takes the mark away; Return on nothing leaves the field.
  function typed(event) {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    const field = event.target;
    if (!field.value.trim()) return field.blur();
    const pick = pickIn(field);
    if (!pick) {
      sayUnknown(field);
      return field.select();
    }
    mark(pick, !pick.checked);
    field.value = "";
  }

  // A number that was typed and left counts: nobody who goes on to answer must press Return first.
  function leave(field) {
    if (!field?.value.trim()) return;
    const pick = pickIn(field);
    if (pick) mark(pick, true);
    else sayUnknown(field);
    field.value = "";
  }

  const pickIn = (field) => (/^\d+$/.test(field.value.trim()) ? pickOf(Number(field.value)) : undefined);

  function mark(pick, isMarked) {
    pick.checked = isMarked;
    pick.dispatchEvent(new Event("change", { bubbles: true }));
    pick.closest(".passage").scrollIntoView({ block: "nearest" });
  }

  // On top of the page, where it stays in view though the answer goes out and the next claim comes: what is no unit's
  // number must not hold up an answer.
  const unknown = () => document.querySelector("#problems [data-unknown-unit]");

  function sayUnknown(field) {
    unknown()?.remove();
    const box = Object.assign(document.createElement("div"), { className: "notice error" });
    box.dataset.unknownUnit = "";
    const of = document.getElementById("claim").textContent;
    const words = `There is no unit ${field.value.trim()}: nothing was added to the evidence for “${of}”.`;
    box.append(Object.assign(document.createElement("p"), { dir: "auto", textContent: words }));
    document.getElementById("problems").prepend(box);
  }

  document.addEventListener("focusout", (event) => event.target.matches?.("[data-evidence]") && leave(event.target));
  document.addEventListener("submit", () => leave(room()?.querySelector("[data-evidence]")), { capture: true });
  document.addEventListener("input", (event) => event.target.matches("[data-evidence]") && unknown()?.remove());

  // Before the key leaves the field, which would say it anew.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !unknown()) return;
    unknown().remove();
    if (event.target.matches?.("[data-evidence]")) event.target.value = "";
  }, { capture: true });

  // Words that are selected in the text

  function selected() {
    const selection = getSelection();
    const text = room()?.querySelector(".read");
    if (!selection || selection.isCollapsed || !selection.rangeCount || !text) return [];
    const range = selection.getRangeAt(0);
    return [...text.querySelectorAll("[data-unit]")]
      .filter((unit) => range.intersectsNode(unit))
      .map((unit) => cut(unit, range))
      .filter(({ start, end }) => end > start);
  }

  function cut(unit, range) {
    const within = document.createRange();
    within.selectNodeContents(unit);
    const length = within.toString().length;
    const isFrom = unit.contains(range.startContainer);
    const isTo = unit.contains(range.endContainer);
    const upTo = (node, offset) => {
      const before = document.createRange();
      before.setStart(unit, 0);
      before.setEnd(node, offset);
      return before.toString().length;
    };
    const start = isFrom ? upTo(range.startContainer, range.startOffset) : 0;
    const end = isTo ? upTo(range.endContainer, range.endOffset) : length;
    return { unit: unit.dataset.unit, start, end, words: unit.textContent.slice(start, end) };
  }

  const characters = (text, end) => [...text.slice(0, end)].length;

  document.addEventListener("selectionchange", () => {
    const take = room()?.querySelector("[data-take-selection]");
    if (take) take.hidden = selected().length === 0;
  });

  // A press on the button must not take the selection away before it is read.
  document.addEventListener("pointerdown", (event) => {
    if (event.target.closest("[data-take-selection]")) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const dropped = event.target.closest("[data-drop]")?.closest(".quote");
    const isTaken = event.target.closest("[data-take-selection]");
    if (!dropped && !isTaken) return;
    dropped?.remove();
    if (isTaken) {
      for (const each of selected()) take(each);
      getSelection().removeAllRanges();
    }
    document.getElementById("answer").dispatchEvent(new Event("change", { bubbles: true }));
  });

  // What was taken before, out of a draft. A unit that is not in view is told by its number.
  document.addEventListener("drafted", ({ detail }) => {
    document.getElementById("picked").replaceChildren();
    for (const [name, value] of detail) {
      if (name !== "quote") continue;
      const [unit, start, end] = value.split(":");
      const text = textOf(unit);
      add(value, text ? [...text].slice(start, end).join("") : `unit ${unit}`);
    }
  });

  const textOf = (unit) => room().querySelector(`[data-unit="${CSS.escape(unit)}"]`)?.textContent;

  function take({ unit, start, end, words }) {
    // Offsets count characters as the server does, not halves of them.
    const text = textOf(unit);
    add(`${unit}:${characters(text, start)}:${characters(text, end)}`, words);
    const pick = pickOf(unit);
    if (pick) pick.checked = true;
  }

  function add(value, words) {
    const place = document.getElementById("picked");
    if (place.querySelector(`input[value="${value}"]`)) return;
    const quote = document.createElement("span");
    quote.className = "quote";
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "quote", value });
    const shown = Object.assign(document.createElement("q"), { dir: "auto", textContent: words });
    const drop = Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: "×" });
    drop.dataset.drop = "";
    drop.setAttribute("aria-label", "Remove this passage");
    quote.append(field, shown, " ", drop);
    place.append(quote);
  }
})();
