// The page Review: one key answers a claim and shows the next one. A strip shows the last answer.
(() => {
  const ALIVE_MS = 120_000;
  const LINE_PX = 40;
  // A double click takes less than this time, and a reader needs more before the next answer.
  const UNREAD_MS = 300;
  const find = (selector) => document.querySelector(selector);
  const room = () => document.getElementById("claim-room");
  const time = new ActiveTime();
  const desk = new Desk((isLost) => (isLost ? notice("Not saved yet: the server cannot be reached. Trying again…") : hush()));
  const drafts = new Drafts();
  const leftOf = (page) => page.querySelector("[data-left]");
  // The fields that this page sent with each answer, by claim.
  const given = new Map();
  // The strips of earlier answers, newest last, for undo. One of these answers may not be saved yet.
  const earlier = [];
  const blank = find("#strip .line") ? null : find("#strip").cloneNode(true);
  // `coming` is the next claim while it is being fetched; `unfetched` is the notice if it cannot be fetched.
  let coming = null;
  let unfetched = null;
  let ahead = null;
  let isTurning = false;
  let isUndoing = false;
  let shownAt = performance.now();
  let undoneAt = -UNREAD_MS;
  // The number of remaining claims. The page counts, because a claim that is fetched ahead has no number.
  let left = leftOf(room())?.textContent ?? "";

  // Fetches the next claim and leases it. The request also records that the claim on screen is in view, and extends the
  // lease of that claim.
  function fetchAhead() {
    const { check, nextUrl } = room().dataset;
    // Wait until the answers are saved, because otherwise the server could return an answered claim again.
    const asked = desk.settled().then(() => desk.ask(nextUrl, { here: check ?? "" }));
    ahead = asked.then(understood, () => null);
  }

  function understood(reply) {
    if (reply.room) return reply.room;
    show(reply.notice);
    return null;
  }

  async function next() {
    const page = await ahead;
    if (page) return page;
    fetchAhead();
    return ahead;
  }

  // Shows a claim. After an undo, `then` is the claim that was on screen; `takenBack` has the undone answer.
  function turn(page, { then = null, takenBack = null } = {}) {
    room().replaceWith(page);
    unfetched?.remove();
    shownAt = then ? -UNREAD_MS : performance.now();
    showLeft(page);
    history.pushState(null, "", page.dataset.address);
    if (then) {
      if (leftOf(then)) leftOf(then).textContent = "";
      ahead = Promise.resolve(then);
      if (page.dataset.lookUrl) desk.ask(page.dataset.lookUrl, {}).catch(() => {});
    } else if (page.dataset.check) {
      fetchAhead();
    }
    setUp(takenBack);
    // Move the focus to the claim, so that screen readers read it.
    if (document.activeElement === document.body) find("#claim").focus({ preventScroll: true });
    tellKeys("go");
  }

  function showLeft(page) {
    const shown = leftOf(page);
    if (shown?.textContent) left = shown.textContent;
    else if (shown) shown.textContent = left;
  }

  function countDown(answered) {
    if (leftOf(answered)?.dataset.countsDown !== undefined && /^\d+$/.test(left)) left = String(Math.max(0, left - 1));
  }

  function setUp(takenBack = null) {
    document.getElementById("comments").replaceChildren();
    time.turnTo(room().dataset.check ?? "");
    drafts.restore(find("#answer"), takenBack);
    showFound();
  }

  async function answer(form, submitter) {
    if (isTurning) return;
    isTurning = true;
    tellKeys("hold");
    const answered = room();
    const fields = new FormData(form, submitter);
    fields.set("active_ms", time.take(answered.dataset.check));
    given.set(answered.dataset.check, fields);
    if (find("#strip .line")) earlier.push(find("#strip"));
    const sent = save(form.action, fields, { strip: showSaving(submitter.value), answered });
    coming = next();
    const page = await coming;
    isTurning = false;
    if (page) {
      countDown(answered);
      turn(page);
      if ("end" in page.dataset && (await sent)) tellEnd(page);
    } else if (await sent) {
      countDown(answered);
      unfetched = notice("Your answer is saved. The next claim cannot be fetched: press n to try again.");
    }
    // If there is a page, `turn` has already pressed the stored keys, and one of them may have answered again.
    if (!page) tellKeys("go");
  }

  // Fetch the last page again after the last answer is saved, because the page depends on this answer.
  async function tellEnd(page) {
    const told = await desk.ask(page.dataset.nextUrl, {}).then(understood, () => null);
    if (!told || !("end" in told.dataset) || room() !== page) return;
    page.replaceWith(told);
    if (document.activeElement === document.body) find("#claim").focus({ preventScroll: true });
  }

  // Changes the last answer while the next claim stays on screen.
  function change(form) {
    const before = find("#strip");
    const fields = new FormData(form);
    save(form.action, fields, { strip: showSaving(fields.get("label")), before });
  }

  // Returns true if the answer was saved. The server's strip, or `before` after a refusal, replaces `strip`.
  async function save(address, fields, { strip, answered = null, before = null }) {
    tellSaving("busy");
    const reply = await desk.send(address, fields);
    if (reply.strip) {
      drafts.forget(answered?.querySelector("#answer"));
      find("#notices [data-signed-out]")?.remove();
    }
    settle(strip, reply.strip ?? before);
    if (!reply.strip && reply.room) showProblem(reply.room, reply.room.querySelector(".conflict").cloneNode(true).childNodes);
    else if (!reply.strip && answered) showProblem(answered, unsaved(reply));
    else if (!reply.strip) show(reply.notice);
    desk.settled().then(() => desk.waiting || tellSaving(reply.strip ? "done" : "failed"));
    return Boolean(reply.strip);
  }

  function settle(strip, what) {
    const place = earlier.indexOf(strip);
    if (place >= 0) {
      earlier.splice(place, 1, ...(what ? [what] : []));
    } else if (what) strip.replaceWith(what);
    else showEarlier();
  }

  // Explains a refusal, which occurs if the person was signed out or is no longer a member.
  function unsaved({ status, notice }) {
    const not = make("p", {}, make("strong", {}, "Not saved."));
    if (status === 403 || status === 404) not.append(" Your roles in this project may have changed. Ask its owner.");
    return [not, ...notice.querySelectorAll(".notice > p")];
  }

  function showSaving(label) {
    const strip = document.getElementById("saving").content.firstElementChild.cloneNode(true);
    strip.querySelector("[data-said]").textContent = label;
    strip.id = "strip";
    find("#strip").replaceWith(strip);
    return strip;
  }

  // Shows the strip of an earlier answer, without its changes of scores.
  function showEarlier() {
    const strip = earlier.pop() ?? blank?.cloneNode(true);
    if (!strip) return find("#strip").replaceChildren();
    for (const old of strip.querySelectorAll(".moved, .differing, form.change")) old.remove();
    find("#strip").replaceWith(strip);
  }

  // Shows why an answer was refused, with its claim and a button that restores its fields.
  function showProblem(page, what) {
    const problem = document.getElementById("problem").content.cloneNode(true);
    const claim = make("p", { className: "of" }, page.querySelector("#claim").textContent);
    problem.querySelector("[data-what]").append(claim, ...what);
    const box = problem.firstElementChild;
    problem.querySelector("[data-return]").addEventListener("click", () => {
      box.remove();
      if (page !== room()) turn(page, { then: room() });
    });
    find("#problems").append(problem);
  }

  async function undo(form) {
    if (isUndoing) return;
    if (isTurning) return undoSoon();
    isTurning = isUndoing = true;
    const here = room();
    // On a claim's own page no answer was sent before, so restore the fields from its form.
    const filledIn = find("#answer") && new FormData(find("#answer"));
    tellKeys("hold");
    const reply = await desk.send(form.action, new FormData(form));
    isTurning = isUndoing = false;
    undoneAt = performance.now();
    if (!reply.room) {
      tellKeys("go");
      return show(reply.notice);
    }
    // If the person has answered this claim again in another window, undo concerns that answer.
    const own = reply.room.querySelector("form.undo");
    const isShown = !form.closest("#strip") && find("#strip .line");
    if (own && !isShown) find("#strip").replaceChildren();
    else if (!isShown) showEarlier();
    const { check } = reply.room.dataset;
    if (here.dataset.check === check) {
      here.replaceWith(reply.room);
      showLeft(reply.room);
      setUp(filledIn);
      tellKeys("go");
    } else turn(reply.room, { then: here, takenBack: given.get(check) });
  }

  // Waits until the answer is saved and the next claim has arrived, and then undoes the answer.
  async function undoSoon() {
    tellKeys("hold");
    await desk.settled();
    if (isTurning) await coming;
    const form = find("#strip form.undo");
    if (form) form.requestSubmit();
    else tellKeys("go");
  }

  async function skip() {
    if (isTurning) return;
    isTurning = true;
    tellKeys("hold");
    coming = next();
    const page = await coming;
    isTurning = false;
    if (page) return turn(page);
    unfetched = notice("The next claim cannot be fetched. Try again.");
    tellKeys("go");
  }

  const ACTS = {
    "#answer": (form, submitter) => submitter?.name === "label" && answer(form, submitter),
    "#next": skip,
    ".undo": undo,
    "#strip .change": change,
  };

  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    const selector = Object.keys(ACTS).find((each) => form.matches(each));
    if (!selector) return;
    event.preventDefault();
    ACTS[selector](form, submitter);
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-undo]")) undoSoon();
    // Ignore the second click of a double click, which would answer the next claim or undo an earlier answer.
    const since = event.target.closest("form.undo") ? undoneAt : shownAt;
    const isActing = event.detail > 0 && event.target.closest("form.undo, #answer .verdicts");
    if (isActing && performance.now() - since < UNREAD_MS) event.preventDefault();
  });

  const hush = () => find("#notices").replaceChildren();
  const show = (page) => find("#notices").replaceChildren(...page.childNodes);

  // Scrolls the text to the evidence. In a low window it also scrolls the page, so that the text is visible.
  function showFound() {
    const text = find("#claim-room .text");
    if (!text) return;
    const found = text.querySelector("mark") ?? text.querySelector("[data-found]") ?? text.querySelector(".passage");
    scrollWithin(text, found);
    const verdicts = find("#answer .verdicts");
    const isHidden = (found ?? text).getBoundingClientRect().top + LINE_PX > verdicts.getBoundingClientRect().top;
    if (isHidden && getComputedStyle(verdicts).position === "fixed") find("#claim-room .claim").scrollIntoView();
  }

  setInterval(() => {
    const { lookUrl } = room()?.dataset ?? {};
    if (lookUrl && time.isActive) desk.ask(lookUrl, {}).catch(() => {});
  }, ALIVE_MS);

  // Reload after Back, because the stored page lacks the person's answer.
  addEventListener("popstate", () => location.reload());
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  setUp();
  if (room().dataset.check) fetchAhead();
})();
