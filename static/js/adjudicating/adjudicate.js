// The page Adjudicate: shows the evidence, and keeps a key that was pressed for one dispute from deciding the next.
(() => {
  const room = () => document.getElementById("dispute-room");
  const form = () => document.getElementById("decision");
  const drafts = new Drafts();

  // Scrolls only a text with its own scroll bar, because on a phone the question must stay visible.
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
    // Remove the focus; otherwise htmx would move it to the field of the same name in the next dispute.
    if (room().contains(document.activeElement)) document.activeElement.blur();
  });

  // Drops the keys that were meant for the replaced dispute.
  document.addEventListener("htmx:after:swap", () => {
    tellKeys("settle");
    showLit();
    drafts.restore(form());
  });
  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    if (ctx.sourceElement.id === "decision" && ctx.response.status < 400) drafts.forget(ctx.sourceElement);
  });
  document.addEventListener("htmx:finally:request", () => tellKeys("go"));

  // Reload after Back, because the stored page shows the dispute without its decision.
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  showLit();
  drafts.restore(form());
})();
