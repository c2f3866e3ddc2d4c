// Choosing evidence by keyboard: a person types the number of a unit.
(() => {
  const picks = () => [...document.querySelectorAll("#claim-room .pick input")];
  const pickIn = ({ value }) => picks().find((pick) => pick.value === value.trim().replace(/^0+/, ""));
  const unknown = () => document.querySelector("#problems [data-unknown-unit]");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.("[data-evidence]")) return typed(event);
    if (event.key === "Enter" && event.target.matches?.("#answer select, #answer input")) return event.target.blur();
  });

  // Return or space marks the unit with the typed number, or removes its mark. Return leaves an empty field.
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

  // Leaving the field marks the unit too, so that a person can answer without pressing Return first.
  function leave(field) {
    if (!field?.value.trim()) return;
    const pick = pickIn(field);
    if (pick) mark(pick, true);
    else sayUnknown(field);
    field.value = "";
  }

  function mark(pick, isMarked) {
    pick.checked = isMarked;
    pick.dispatchEvent(new Event("change", { bubbles: true }));
    pick.closest(".passage").scrollIntoView({ block: "nearest" });
  }

  // Show the error above the page, where it stays when the next claim appears: it must not delay the answer.
  function sayUnknown(field) {
    unknown()?.remove();
    const of = document.getElementById("claim").textContent;
    const words = `There is no unit ${field.value.trim()}: nothing was added to the evidence for “${of}”.`;
    const box = make("div", { className: "notice error" }, make("p", { dir: "auto" }, words));
    box.dataset.unknownUnit = "";
    document.getElementById("problems").prepend(box);
  }

  document.addEventListener("focusout", ({ target }) => target.matches?.("[data-evidence]") && leave(target));
  document.addEventListener("submit", () => leave(document.querySelector("#claim-room [data-evidence]")), { capture: true });
  document.addEventListener("input", ({ target }) => target.matches("[data-evidence]") && unknown()?.remove());

  // Capture Escape before keys.js leaves the field, because leaving the field would show the error again.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !unknown()) return;
    unknown().remove();
    if (event.target.matches?.("[data-evidence]")) event.target.value = "";
  }, { capture: true });
})();
