// On the list of one's own sets: what was said in a set and was still on its way when its page was left goes out
// from here. What does not is told before the set is closed, for closing it submits what the server has.
(() => {
  const PREFIX = "coverdict:acts:";
  const MOST = 200;
  const TIMEOUT_MS = 20_000;

  const PERSON = document.body.dataset.person;

  // What was said in the set and waits here, by whom.
  function kept(assignment) {
    try {
      return Object.keys(localStorage)
        .filter((key) => key.startsWith(PREFIX) && key.endsWith(`:${assignment}`))
        .map((key) => ({ key, ...JSON.parse(localStorage.getItem(key)) }))
        .filter(({ acts }) => acts.length);
    } catch {
      return [];
    }
  }

  const isOwn = ({ key }, assignment) => key === `${PREFIX}${PERSON}:${assignment}`;

  // What the server made of the acts, each under its own number; null where it took none of them.
  async function send(assignment, { client, acts }) {
    try {
      const answer = await fetch(new URL(`sets/${assignment}/acts/`, location.href), {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
        body: JSON.stringify({ client, acts: acts.slice(0, MOST).map(({ was, ...act }) => act) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return answer.status === 200 ? await answer.json() : null;
    } catch {
      return null;
    }
  }

  // How many acts still wait.
  function forget(key, saved) {
    const kept = JSON.parse(localStorage.getItem(key));
    const acts = kept.acts.filter((act) => act.seq > saved);
    localStorage.setItem(key, JSON.stringify({ ...kept, acts }));
    return acts.length;
  }

  function say(panel, ...words) {
    const box = document.createElement("p");
    box.className = "notice warning";
    box.append(...words);
    const foot = panel.querySelector(".foot");
    if (foot) foot.before(box);
    else panel.append(box);
  }

  function linkTo(panel) {
    const link = document.createElement("a");
    link.href = panel.querySelector("a").href;
    link.textContent = "Open the set";
    return link;
  }

  function tellRefused(panel, refused) {
    const count = refused.length === 1 ? "1 change was" : `${refused.length} changes were`;
    const reasons = [...new Set(refused.map(({ message }) => message))].join(" ");
    say(panel, `${count} refused and not saved: ${reasons} `, linkTo(panel));
  }

  function tellOwn(panel, count) {
    const changes = count === 1 ? "1 change is" : `${count} changes are`;
    say(panel, `${changes} kept in this browser and not saved yet. `, linkTo(panel));
  }

  async function deliver(panel, assignment) {
    const left = kept(assignment);
    if (left.some((one) => !isOwn(one, assignment))) {
      say(panel, "This browser has another person's unsaved work on this set. It is saved when they sign in here again.");
    }
    const own = left.find((one) => isOwn(one, assignment));
    const close = panel.querySelector("form[action$='/close/'] button");
    // Also where a browser remembers it across a reload.
    if (close) close.disabled = Boolean(own);
    if (!own) return;
    const answer = await send(assignment, own);
    if (!answer) return tellOwn(panel, own.acts.length);
    const waiting = forget(own.key, answer.saved);
    const refused = answer.results.filter(({ status }) => status === "refused");
    // The figures on this page may be from before.
    if (!refused.length) return location.reload();
    tellRefused(panel, refused);
    if (waiting) tellOwn(panel, waiting);
    else if (close) close.disabled = false;
  }

  for (const panel of document.querySelectorAll("[data-assignment]")) deliver(panel, panel.dataset.assignment);
})();
