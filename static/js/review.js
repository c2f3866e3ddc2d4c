// Review: what was found lies in view, evidence is picked without a mouse, and the last answer wins.
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

  // A slip put right at once waits for the first answer to be saved, and then follows it: what was on screen
  // when it was pressed was one's own doing. Where the first met somebody else's answer, that is looked at first.
  let saving = null;

  document.addEventListener("htmx:before:request", (event) => {
    const { sourceElement, request } = event.detail.ctx;
    if (!sourceElement.closest("#claim-room")) return;
    const seen = document.querySelector("#answer [name=seen]");
    if (sourceElement.id === "answer" && request.body.get("seen") !== seen.value) {
      if (!("follow" in seen.dataset)) return event.preventDefault();
      request.body.set("seen", seen.dataset.follow);
    }
    saving = sourceElement;
    tell("busy");
  });

  document.addEventListener("htmx:finally:request", (event) => {
    const { sourceElement, response } = event.detail.ctx;
    if (sourceElement !== saving) return;
    saving = null;
    const outcome = response?.status === 200 ? "done" : "failed";
    // One that waited goes out right after this.
    setTimeout(() => saving || tell(outcome));
  });

  const tell = (detail) => document.dispatchEvent(new CustomEvent("saving", { detail }));

  // Back must not bring back a page on which one's answer is missing.
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  document.addEventListener("htmx:after:swap", showFound);
  showFound();
})();
