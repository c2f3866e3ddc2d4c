// Escape, or a click elsewhere, closes a menu of the top bar. If the focus is in the menu, it moves to the menu's name.
for (const sign of ["keydown", "click"]) {
  document.addEventListener(sign, ({ key, target }) => {
    if (sign === "keydown" && key !== "Escape") return;
    for (const menu of document.querySelectorAll(".drop[open]")) {
      if (sign === "click" && menu.contains(target)) continue;
      menu.open = false;
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    }
  });
}
