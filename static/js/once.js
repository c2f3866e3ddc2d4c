// Refuses the second of two equal submissions of a form with data-once within a second.
(() => {
  const MOMENT_MS = 1000;
  let last = { action: "", at: -MOMENT_MS };

  // Capture the event, so that this runs before htmx. Compare addresses, because htmx may have replaced the form.
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
