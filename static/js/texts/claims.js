// The claims of a text: keys open the forms beside the claim under the cursor. The forms do the work.
(() => {
  const claims = [...document.querySelectorAll("[data-claim]")];
  const hand = new Hand({
    items: () => claims,
    keys: {
      r: () => open("r", hand.item),
      d: () => open("d", hand.item),
      a: () => open("a", hand.item?.closest(".unit") ?? document.querySelector("#claims")),
    },
  });

  function open(tool, place) {
    const details = place?.querySelector(`[data-tool="${tool}"]`);
    if (!details) return;
    details.open = true;
    const field = details.querySelector("textarea, button");
    field.focus();
    field.select?.();
  }

  // A claim is one line, so Enter sends it.
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key !== "Enter" || event.isComposing || !field.matches?.("#claims textarea")) return;
    event.preventDefault();
    field.form.requestSubmit();
  });

  // One form of a claim is open at a time.
  document.addEventListener("toggle", (event) => {
    const claim = event.target.closest?.("[data-claim]");
    if (!claim || !event.target.open) return;
    for (const other of claim.querySelectorAll("details[open]")) if (other !== event.target) other.open = false;
  }, { capture: true });

  const named = claims.findIndex((claim) => `#${claim.id}` === location.hash);
  if (named >= 0) hand.take(named);
})();
