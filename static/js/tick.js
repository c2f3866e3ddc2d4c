// The buttons of templates/_tick_all.html tick all boxes of their fieldset, or none.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-tick]");
  if (!button) return;
  const boxes = button.closest("fieldset").querySelectorAll('input[type="checkbox"]');
  for (const box of boxes) box.checked = button.dataset.tick === "all";
  boxes[0]?.dispatchEvent(new Event("change", { bubbles: true }));
});
