// A form with data-once that is sent twice within a moment was sent twice by mistake.
(() => {
  const MOMENT_MS = 1000;
  let last = { action: "", at: -MOMENT_MS };

  // Captured, so that it runs before htmx, and stored by address: by then the form may be a new one.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!("once" in form.dataset)) return;
    if (form.action === last.action && event.timeStamp - last.at < MOMENT_MS) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else {
      last = { action: form.action, at: event.timeStamp };
    }
  }, { capture: true });
})();
