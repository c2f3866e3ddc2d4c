// Review: what was found lies in view, and evidence is picked without a mouse.
(() => {
  const numbers = () => [...document.querySelectorAll("#claim-room .pick input")];

  // Only where the text scrolls by itself: on a phone the claim stays on top.
  function showFound() {
    const text = document.querySelector("#claim-room .text");
    const found = text?.querySelector("mark") ?? text?.querySelector("[data-found]");
    if (!found || text.scrollHeight <= text.clientHeight || getComputedStyle(text).overflowY === "visible") return;
    const { top, bottom } = found.getBoundingClientRect();
    const box = text.getBoundingClientRect();
    if (top < box.top || bottom > box.bottom) text.scrollTop += top - box.top - box.height / 3;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const picks = numbers();
    const place = picks.indexOf(event.target);
    if (event.key === "e" && event.target === document.body) {
      const first = document.querySelector("#claim-room [data-found] .pick input") ?? picks[0];
      first?.focus();
      event.preventDefault();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (place < 0 || !step) return;
    event.preventDefault();
    picks[place + step]?.focus();
  });

  document.addEventListener("htmx:after:swap", showFound);
  showFound();
})();
