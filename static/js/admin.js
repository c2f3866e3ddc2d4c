// Fields that are typed into are drawn by select2, which hides the field that has the name: theirs is put back.
document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
  const nameOf = (field) => field.getAttribute("aria-label") ?? field.labels[0]?.textContent.trim() ?? "";
  const drawn = (field) => field.nextElementSibling;

  for (const field of document.querySelectorAll("select.admin-autocomplete")) {
    for (const part of drawn(field)?.querySelectorAll("[role=combobox], [role=textbox], input") ?? []) {
      part.removeAttribute("aria-labelledby");
      part.setAttribute("aria-label", nameOf(field));
    }
  }

  window.django?.jQuery?.(document).on("select2:open", ({ target }) => {
    const box = drawn(target).querySelector("[role=combobox]");
    box.setAttribute("aria-controls", box.getAttribute("aria-owns"));
    document.querySelector(".select2-dropdown input")?.setAttribute("aria-label", `Find a ${nameOf(target)}`);
  });
}));
