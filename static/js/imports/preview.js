// The preview says that it is being made again, until it is that of the last choice.
(() => {
  const told = (isBusy) => document.getElementById("preview")?.setAttribute("aria-busy", String(isBusy));

  document.addEventListener("htmx:before:request", () => told(true));
  document.addEventListener("htmx:finally:request", () => told(false));
})();
