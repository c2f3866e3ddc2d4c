// A menu of the bar on top closes by Escape, which leads back to its name, and by a click elsewhere.
(() => {
  const OPEN = ".drop[open]";

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll(OPEN)) {
      menu.open = false;
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    }
  });

  document.addEventListener("click", ({ target }) => {
    for (const menu of document.querySelectorAll(OPEN)) if (!menu.contains(target)) menu.open = false;
  });
})();
