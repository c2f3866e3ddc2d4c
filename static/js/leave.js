// A way out that is taken while something is still being saved waits for it, so that nothing is left behind.
// A page tells how its saving stands: document.dispatchEvent(new CustomEvent("saving", { detail })), where
// detail is "busy", "done" or "failed". Links with data-waits wait; one whose saving failed is not taken.
(() => {
  let isBusy = false;
  let wanted = "";

  document.addEventListener("saving", ({ detail }) => {
    isBusy = detail === "busy";
    if (isBusy || !wanted) return;
    const key = wanted;
    wanted = "";
    // Looked up now: what was saved may have changed where it leads.
    if (detail === "done") document.querySelector(`a[data-waits][data-key="${key}"]`)?.click();
  });

  document.addEventListener("click", (event) => {
    const way = event.target.closest("a[data-waits]");
    if (!way || !isBusy || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    wanted = way.dataset.key;
  });

  // Keys that come after it are meant for the page it leads to, and must not change this one.
  document.addEventListener("keydown", (event) => {
    if (!wanted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
})();
