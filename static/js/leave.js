// Links with data-waits wait until everything is saved (tellSaving in shared.js). If saving fails, the page stays.
(() => {
  let isBusy = false;
  let wanted = null;

  document.addEventListener("saving", ({ detail }) => {
    isBusy = detail === "busy";
    if (isBusy || !wanted) return;
    const way = wanted;
    wanted = null;
    if (detail !== "done") return;
    // Saving may have given the link's key to another link, so find the link that has the key now.
    const { key } = way.dataset;
    const now = key && [...document.querySelectorAll(`a[data-key="${key}"]`)].find((each) => !each.hidden);
    (now || way).click();
  });

  document.addEventListener("click", (event) => {
    const way = event.target.closest("a[data-waits]");
    if (!way || !isBusy || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    wanted = way;
  });

  // While a link waits, ignore keys: they are meant for the next page and must not change this one.
  document.addEventListener("keydown", (event) => {
    if (!wanted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
})();
