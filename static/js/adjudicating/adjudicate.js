// Adjudicate: evidence is in view, and keys that were pressed for one dispute never settle the next.
(() => {
  const room = () => document.getElementById("dispute-room");
  const form = () => document.getElementById("decision");
  const drafts = new Drafts();

  // Only if the text scrolls by itself: on a phone the question stays on top.
  function showLit() {
    const text = room()?.querySelector(".text");
    const lit = text?.querySelector("mark.lit.shared") ?? text?.querySelector("mark.lit");
    if (text) scrollWithin(text, lit);
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.id !== "own-percent" || event.isComposing) return;
    event.preventDefault();
    document.getElementById("typed").click();
  });

  document.addEventListener("htmx:before:request", (event) => {
    if (!event.detail.ctx.sourceElement.closest("#dispute-room")) return;
    tellKeys("hold");
    // Otherwise htmx moves the focus to the field of the same name in the next dispute, which would receive the keys.
    if (room().contains(document.activeElement)) document.activeElement.blur();
  });

  // Keys pressed meanwhile were meant for the earlier screen; if nothing new came, they are pressed now.
  document.addEventListener("htmx:after:swap", () => {
    tellKeys("settle");
    showLit();
    drafts.restore(form());
  });
  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    if (ctx.sourceElement.id === "decision" && ctx.response.status < 400) drafts.forget(ctx.sourceElement);
  });
  document.addEventListener("htmx:finally:request", () => tellKeys("go"));

  // Back must not show a dispute as it was before its decision.
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  showLit();
  drafts.restore(form());
})();
