// The claims of a text: a hand on one of them, and keys that open the forms beside it. The forms do the work.
(() => {
  const TYPED = "input, textarea, select, [contenteditable]";
  const claims = [...document.querySelectorAll("[data-claim]")];
  let hand = -1;

  function take(place) {
    if (!claims.length) return;
    hand = Math.max(0, Math.min(place, claims.length - 1));
    claims.forEach((claim, at) => at === hand ? claim.setAttribute("aria-current", "true") : claim.removeAttribute("aria-current"));
    claims[hand].focus();
  }

  function open(tool, place) {
    const details = place?.querySelector(`[data-tool="${tool}"]`);
    if (!details) return;
    details.open = true;
    const field = details.querySelector("textarea, button");
    field.focus();
    field.select?.();
  }

  const inHand = () => claims[hand];
  const unit = () => inHand()?.closest(".unit") ?? document.querySelector("#claims");

  const keys = {
    j: () => take(hand + 1),
    k: () => take(hand - 1),
    r: () => open("r", inHand()),
    d: () => open("d", inHand()),
    a: () => open("a", unit()),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    if (event.target.matches?.(TYPED) || document.querySelector(".sheet:popover-open")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    keys[event.key]();
  }, { capture: true });

  // A claim is one line, so that Enter sends it.
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key !== "Enter" || event.isComposing || !field.matches?.("#claims textarea")) return;
    event.preventDefault();
    field.form.requestSubmit();
  });

  // One form of a claim is open at a time, and the first field has the hand.
  document.addEventListener("toggle", (event) => {
    const claim = event.target.closest?.("[data-claim]");
    if (!claim || !event.target.open) return;
    for (const other of claim.querySelectorAll("details[open]")) if (other !== event.target) other.open = false;
  }, { capture: true });

  document.addEventListener("focusin", (event) => {
    const at = claims.indexOf(event.target.closest?.("[data-claim]"));
    if (at < 0 || at === hand) return;
    hand = at;
    claims.forEach((claim, place) => place === hand ? claim.setAttribute("aria-current", "true") : claim.removeAttribute("aria-current"));
  });

  const named = claims.findIndex((claim) => `#${claim.id}` === location.hash);
  if (named >= 0) take(named);
})();
