// The page My work: sends the acts that a set's page left unsaved, because closing a set submits saved answers only.
(() => {
  function say(panel, text) {
    const link = make("a", { href: panel.querySelector("a").href }, "Open the set");
    const box = make("p", { className: "notice warning" }, `${text} `, link);
    const foot = panel.querySelector(".foot");
    if (foot) foot.before(box);
    else panel.append(box);
  }

  async function deliver(panel) {
    const { assignment } = panel.dataset;
    const url = new URL(`sets/${assignment}/acts/`, location.href);
    const acts = new Acts({ assignment, person: document.body.dataset.person, url });
    const close = panel.querySelector("form[action$='/close/'] button");
    // Set the button in any case, because a browser may restore its state after a reload.
    if (close) close.disabled = acts.pending > 0;
    if (!acts.pending) return;
    const refused = new Set();
    acts.addEventListener("saved", ({ detail: { done } }) => {
      for (const [, { status, code, message }] of done) if (status !== 200 && code !== "newer") refused.add(message);
    });
    acts.send();
    await acts.settled();
    // Reload the page, because its figures do not include the answers that were just saved.
    if (!acts.pending && !refused.size) return location.reload();
    if (refused.size) say(panel, `What you changed last was refused and not saved: ${[...refused].join(" ")}`);
    const count = acts.pending === 1 ? "1 change is" : `${acts.pending} changes are`;
    if (acts.pending) say(panel, `${count} kept in this browser and not saved yet.`);
    else if (close) close.disabled = false;
  }

  for (const panel of document.querySelectorAll("[data-assignment]")) deliver(panel);
})();
