// A menu of the top bar closes by Escape, which returns the focus to its name, and by a click elsewhere.
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
