// Review: an answer is one key. The next claim, fetched ahead, is on screen at once; what the judge had said of the one
// before comes in the strip above it. Undo brings that one back; an answer that was refused can be gone back to.
(() => {
  const ALIVE_MS = 120_000;
  const find = (selector) => document.querySelector(selector);
  const room = () => document.getElementById("claim-room");
  const tell = (detail) => document.dispatchEvent(new CustomEvent("saving", { detail }));
  const keys = (detail) => document.dispatchEvent(new CustomEvent("keys", { detail }));
  const time = new ActiveTime();
  const desk = new Desk((isLost) => (isLost ? say("Not saved yet: the server cannot be reached. Trying again…") : hush()));
  let ahead = null;
  let isTurning = false;

  // The next claim

  // Tells the server also that the claim in view is in view, and keeps both for this reader.
  function fetchAhead() {
    const { check, nextUrl } = room().dataset;
    // An answer that is still on its way would be handed out again.
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

  // Put a claim in the place of the one in view. What was ahead is kept for afterwards where something comes back.
  // Digits of a burst must not answer a claim that nobody has read yet; one that comes back has been read.
  function turn(page, { then = null } = {}) {
    room().replaceWith(page);
    history.pushState(null, "", page.dataset.address);
    if (then) {
      ahead = Promise.resolve(then);
      if (page.dataset.lookUrl) desk.ask(page.dataset.lookUrl, {}).catch(() => {});
    } else if (page.dataset.check) {
      fetchAhead();
    }
    setUp();
    // So that it is read out; keys work wherever the focus is.
    if (document.activeElement === document.body) find("#claim").focus({ preventScroll: true });
    keys(then ? "go" : "settle");
  }

  function setUp() {
    document.getElementById("comments").replaceChildren();
    time.turnTo(room().dataset.check ?? "");
    showFound();
  }

  // Answering

  async function answer(form, submitter) {
    if (isTurning) return;
    isTurning = true;
    const answered = room();
    const fields = new FormData(form, submitter);
    fields.set("active_ms", time.take(answered.dataset.check));
    showSaving(submitter.value);
    const sent = save(form.action, fields);
    const page = await next();
    isTurning = false;
    if (page) turn(page);
    else {
      await sent;
      say("Your answer is saved. The next claim cannot be fetched: press n to try again.");
    }
  }

  async function save(address, fields) {
    tell("busy");
    const reply = await desk.send(address, fields);
    if (reply.strip) find("#strip").replaceWith(reply.strip);
    else if (reply.room) showProblem(reply.room);
    else show(reply.notice);
    desk.settled().then(() => desk.isBusy || tell(reply.strip ? "done" : "failed"));
  }

  function showSaving(label) {
    const strip = document.getElementById("saving").content.firstElementChild.cloneNode(true);
    strip.querySelector("[data-said]").textContent = label;
    strip.id = "strip";
    find("#strip").replaceWith(strip);
  }

  // The answer met another one, or made no sense: what was filled in waits in its room.
  function showProblem(page) {
    const problem = document.getElementById("problem").content.cloneNode(true);
    const what = page.querySelector(".conflict");
    const claim = Object.assign(document.createElement("p"), { className: "of" });
    claim.textContent = page.querySelector("#claim").textContent;
    problem.querySelector("[data-what]").append(claim, ...what.cloneNode(true).childNodes);
    const box = problem.firstElementChild;
    problem.querySelector("[data-return]").addEventListener("click", () => {
      box.remove();
      turn(page, { then: room() });
    });
    find("#strip").replaceChildren();
    find("#problems").append(problem);
  }

  // Taking back

  async function undo(form) {
    if (isTurning) return;
    isTurning = true;
    const here = room();
    keys("hold");
    const reply = await desk.send(form.action, new FormData(form));
    isTurning = false;
    if (!reply.room) {
      keys("go");
      return show(reply.notice);
    }
    find("#strip").replaceChildren();
    if (here.dataset.check === reply.room.dataset.check) {
      here.replaceWith(reply.room);
      setUp();
      keys("go");
    } else turn(reply.room, { then: here });
  }

  // Pressed while the answer is still on its way: taken back when it has arrived.
  async function undoSoon() {
    keys("hold");
    await desk.settled();
    const form = find("#strip form.undo");
    if (form) form.requestSubmit();
    else keys("go");
  }

  async function reveal(form, submitter) {
    const reply = await desk.ask(submitter.formAction, new FormData(form, submitter)).catch(() => null);
    if (!reply) return say("The server cannot be reached. Try again.");
    if (!reply.room) return show(reply.notice);
    room().replaceWith(reply.room);
    setUp();
  }

  async function skip() {
    if (isTurning) return;
    isTurning = true;
    const page = await next();
    isTurning = false;
    if (page) turn(page);
    else say("The next claim cannot be fetched. Try again.");
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.id === "answer") {
      event.preventDefault();
      if (event.submitter?.hasAttribute("data-reveal")) reveal(form, event.submitter);
      else if (event.submitter?.name === "label") answer(form, event.submitter);
    } else if (form.id === "next") {
      event.preventDefault();
      skip();
    } else if (form.matches(".undo")) {
      event.preventDefault();
      undo(form);
    } else if (form.matches("#strip .change")) {
      event.preventDefault();
      save(form.action, new FormData(form));
    }
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-undo]")) undoSoon();
  });

  // Saying

  function say(words) {
    const box = Object.assign(document.createElement("div"), { className: "notice error" });
    box.append(Object.assign(document.createElement("p"), { textContent: words }));
    document.getElementById("notices").replaceChildren(box);
  }

  const hush = () => document.getElementById("notices").replaceChildren();

  function show(notice) {
    document.getElementById("notices").replaceChildren(...notice.childNodes);
  }

  // Only where the text scrolls by itself: on a phone the claim stays on top.
  function showFound() {
    const text = document.querySelector("#claim-room .text");
    const found = text?.querySelector("mark") ?? text?.querySelector("[data-found]");
    if (!found || text.scrollHeight <= text.clientHeight || getComputedStyle(text).overflowY === "visible") return;
    const { top, bottom } = found.getBoundingClientRect();
    const box = text.getBoundingClientRect();
    if (top < box.top || bottom > box.bottom) text.scrollTop += top - box.top - box.height / 3;
  }

  setInterval(() => {
    const { lookUrl } = room()?.dataset ?? {};
    if (lookUrl && time.isActive) desk.ask(lookUrl, {}).catch(() => {});
  }, ALIVE_MS);

  // Back must not bring back a page on which one's answer is missing.
  addEventListener("popstate", () => location.reload());
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  setUp();
  if (room().dataset.check) fetchAhead();
})();
