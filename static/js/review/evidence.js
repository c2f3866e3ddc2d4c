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
    const number = field.value.trim();
    if (!number) return field.blur();
    const pick = pickOf(Number.parseInt(number, 10));
    field.setCustomValidity(pick ? "" : `There is no unit ${number} here.`);
    if (!pick) return field.reportValidity();
    pick.checked = !pick.checked;
    pick.closest(".passage").scrollIntoView({ block: "nearest" });
    field.value = "";
  }

  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-evidence]")) event.target.setCustomValidity("");
  });

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
    event.target.closest("[data-drop]")?.closest(".quote").remove();
    if (!event.target.closest("[data-take-selection]")) return;
    for (const each of selected()) add(each);
    getSelection().removeAllRanges();
  });

  function add({ unit, start, end, words }) {
    // Offsets count characters as the server does, not halves of them.
    const text = room().querySelector(`[data-unit="${CSS.escape(unit)}"]`).textContent;
    const value = `${unit}:${characters(text, start)}:${characters(text, end)}`;
    const place = document.getElementById("picked");
    if (place.querySelector(`input[value="${value}"]`)) return;
    const quote = document.createElement("span");
    quote.className = "quote";
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "quote", value });
    const shown = Object.assign(document.createElement("q"), { dir: "auto", textContent: words });
    const drop = Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: "×" });
    drop.dataset.drop = "";
    drop.setAttribute("aria-label", "Leave this passage out");
    quote.append(field, shown, " ", drop);
    place.append(quote);
    const pick = pickOf(unit);
    if (pick) pick.checked = true;
  }
})();
