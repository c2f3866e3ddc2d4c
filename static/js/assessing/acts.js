// The acts of one assignment on their way to the server: kept in the browser until the server has them, sent in
// order, each under its own number. They outlive a reload, a lost connection and a new sign-in.
//
// An act sets a value, so it may arrive twice. Of several open forms only one writes: in one browser a lock
// passes to the newest tab, with everything unsent; between devices the server gives the pen to the newest form
// and tells the older one.
//
// Events: "change" (what waits, or the state, is another), "state" (detail: what the server said), "saved"
// (detail: the acts and the answer), "heard" (detail: acts that the server had before another form went on, which may
// have said otherwise since), "unkept" (this browser keeps nothing).
class ActQueue extends EventTarget {
  static #PREFIX = "coverdict:acts:";
  // As many as the server takes at once.
  static #BATCH = 200;
  static #MOST_UNDO = 200;
  static #RETRY_MS = [500, 1000, 2000, 4000, 8000];
  static #TIMEOUT_MS = 20_000;
  // What a browser lets through from a page that is being left.
  static #MOST_LEAVING = 60_000;
  static #FORGET_MS = 14 * 24 * 3600 * 1000;

  #key;
  #person;
  #urls;
  #kept;
  #pen;
  #failures = 0;
  #timer = 0;
  #taking = null;
  #isSending = false;
  #isHeld = false;
  #isKept = true;

  // "idle", "busy", "offline", "signed-out", or one that needs a person: "elsewhere" (another device or window
  // goes on with the set), "other-tab", "contradicted" (both said something), "closed", "unassigned", "gone",
  // "stranger" (another person is signed in; ends by itself when the person of these acts is back).
  state = "idle";

  constructor({ assignment, person, urls, pen, seq }) {
    super();
    this.#key = `${ActQueue.#PREFIX}${person}:${assignment}`;
    this.#person = person;
    this.#urls = urls;
    this.#pen = pen;
    this.#kept = this.#read() ?? { client: ActQueue.#newClient(), seq: 0, acts: [], undo: [] };
    this.#write();
    if (this.#kept.client === pen) this.#hear(seq);
    addEventListener("online", () => this.#wake());
    addEventListener("focus", () => this.#wake());
    addEventListener("visibilitychange", () => document.hidden || this.#wake());
    addEventListener("pagehide", () => this.#sendLeaving());
    // Of sets that were closed long ago nothing is left to send or to undo.
    forgetOld(ActQueue.#PREFIX, ({ acts, at }) => !acts.length && at < Date.now() - ActQueue.#FORGET_MS);
  }

  // What is not saved yet, oldest first. Each has `was`: the value before it, which the server is not told.
  get acts() {
    return this.#kept.acts;
  }

  get pending() {
    return this.#kept.acts.length;
  }

  // Whether what waits survives the page.
  get isKept() {
    return this.#isKept;
  }

  get needsPerson() {
    return !["idle", "busy", "offline", "signed-out"].includes(this.state);
  }

  // Whether what is said now does not go out at once.
  get isFailing() {
    return !["idle", "busy"].includes(this.state);
  }

  // Take the assignment over from other tabs, then from other devices, and send what was left.
  async open() {
    await this.#hold();
    await this.#takePen();
    this.#sendSoon(0);
  }

  // The act with its number.
  push(act) {
    this.#refresh();
    this.#kept.seq += 1;
    const numbered = { ...act, seq: this.#kept.seq };
    this.#kept.acts.push(numbered);
    this.#write();
    this.#sendSoon(0);
    this.#tell("change");
    return numbered;
  }

  // Undo: what each act on any summary of the set replaced, newest last

  remember(step) {
    this.#kept.undo.push(step);
    this.#kept.undo.splice(0, this.#kept.undo.length - ActQueue.#MOST_UNDO);
    this.#write();
  }

  get lastStep() {
    return this.#kept.undo.at(-1) ?? null;
  }

  forgetStep() {
    this.#kept.undo.pop();
    this.#write();
  }

  // Newest first, as long as they are of this kind.
  dropSteps(isOfKind) {
    const { undo } = this.#kept;
    const kept = undo.findLastIndex((step) => !isOfKind(step)) + 1;
    if (kept === undo.length) return;
    undo.length = kept;
    this.#write();
  }

  // After a conflict

  // Go on here with what was said here.
  async insist() {
    await this.#hold();
    this.#startAnew(this.#kept.acts);
    this.#setState("busy");
    await this.#takePen({ isDecided: true });
    await this.#send();
  }

  // Drop what was said here.
  yieldToOthers() {
    this.#startAnew([]);
  }

  // The person is at it though nothing is said; the answer tells the lease.
  async ping() {
    if (this.needsPerson || this.pending) return null;
    const answer = await this.#post(this.#urls.alive, { client: this.#kept.client });
    if (answer.status !== 200) await this.#heed(answer);
    else if (answer.body.pen && answer.body.pen !== this.#kept.client) this.#conflict("elsewhere", answer.body);
    else if (!this.pending) this.#setState("idle");
    return answer.status === 200 ? answer.body : null;
  }

  // Resolves when nothing waits any more, or it is clear that it does not go out now.
  settled() {
    const isSettled = () => this.pending === 0 || !["idle", "busy"].includes(this.state);
    if (isSettled()) return Promise.resolve();
    return new Promise((resolve) => {
      const look = () => {
        if (!isSettled()) return;
        this.removeEventListener("change", look);
        resolve();
      };
      this.addEventListener("change", look);
    });
  }

  // One tab of this browser at a time

  async #hold() {
    if (!navigator.locks) {
      // Without locks two tabs could use the same numbers: each load is a form of its own.
      this.#startAnew(this.#kept.acts);
      this.#isHeld = true;
      return;
    }
    await new Promise((held) => {
      navigator.locks
        .request(this.#key, { steal: true }, () => {
          this.#isHeld = true;
          held();
          return new Promise(() => {});
        })
        .catch(() => {
          this.#isHeld = false;
          this.#setState("other-tab", {});
        });
    });
    this.#refresh();
  }

  // Once at a time, since an answer that comes late would set the numbers back. `isDecided` tells that the person has
  // seen what was said elsewhere.
  #takePen({ isDecided = false } = {}) {
    this.#taking ??= this.#goForPen(isDecided).finally(() => (this.#taking = null));
    return this.#taking;
  }

  // The pen is given to the form that was opened last, so another one in between is no reason to give up.
  async #goForPen(isDecided) {
    for (let attempt = 0; attempt < 3 && this.#pen !== this.#kept.client; attempt += 1) {
      // However often it is tried: what waits here may have been said differently there since.
      if (!isDecided && this.pending && this.#isOthers && !(await this.#mayFollow())) return;
      const answer = await this.#post(this.#urls.pen, { client: this.#kept.client, seen: this.#pen });
      if (!this.#isHeld) return;
      if (answer.status === 200) {
        this.#pen = this.#kept.client;
        this.#hear(answer.body.seq);
      } else if (answer.status === 409 && answer.body.code === "elsewhere") {
        this.#pen = answer.body.pen;
      } else {
        return this.#heed(answer);
      }
    }
  }

  get #isOthers() {
    return this.#pen !== "" && this.#pen !== this.#kept.client;
  }

  // Whether what waits here may go out after what was said elsewhere; where it contradicts that, a person is asked.
  async #mayFollow() {
    const answer = await this.#postActs(this.#batch());
    // Another tab has it by now, and asks for itself.
    if (!this.#isHeld) return false;
    const { status, body } = answer;
    const isElsewhere = status === 409 && body.code === "elsewhere";
    const heard = isElsewhere ? this.#dropHeard(body) : [];
    if (status === 200) heard.push(...this.#dropUpTo(body.saved));
    if (status !== 200 && (!isElsewhere || this.#contradicts(body.theirs))) {
      await this.#heed(answer);
      return false;
    }
    if (isElsewhere) this.#pen = body.pen;
    this.#startAnew(this.#kept.acts);
    if (heard.length) this.#tell("heard", { acts: heard });
    return true;
  }

  // What the server has heard must not go out anew, above what was said elsewhere after it.
  #dropHeard({ yours }) {
    return yours?.length ? this.#dropUpTo(yours[0].seq - 1) : [];
  }

  #dropUpTo(seq) {
    const heard = this.#kept.acts.filter((act) => act.seq <= seq);
    this.#kept.acts = this.#kept.acts.filter((act) => act.seq > seq);
    this.#write();
    return heard;
  }

  // Whether somebody gave another answer since this one was given.
  #contradicts(theirs) {
    return (theirs ?? []).some((their) => {
      const mine = this.#kept.acts.filter((act) => ActQueue.isSamePlace(act, their));
      return mine.length > 0 && !ActQueue.isSame(mine.at(-1), their) && !ActQueue.isSame(mine[0].was, their);
    });
  }

  static isSamePlace(one, other) {
    return ["kind", "reading", "unit", "question"].every((name) => one[name] === other[name]);
  }

  static isSame(one, other) {
    const value = (act) =>
      JSON.stringify([act?.percent ?? null, act?.answer ?? null, [...(act?.marks ?? [])].sort(), act?.note?.trim() ?? ""]);
    return value(one) === value(other);
  }

  // Sending

  #batch() {
    return this.#kept.acts.slice(0, ActQueue.#BATCH);
  }

  #postActs(acts) {
    const told = acts.map(({ was, ...act }) => act);
    return this.#post(this.#urls.acts, { client: this.#kept.client, acts: told });
  }

  #sendSoon(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), delay);
  }

  async #send() {
    if (this.#isSending || this.needsPerson || !this.#isHeld || !this.pending) return;
    this.#isSending = true;
    if (this.state === "idle") this.#setState("busy");
    if (this.#pen !== this.#kept.client) await this.#takePen();
    if (!this.needsPerson && this.#pen === this.#kept.client) await this.#sendBatch();
    this.#isSending = false;
    if (this.pending && !this.needsPerson) this.#sendSoon(this.#pause());
    else if (!this.pending && !this.needsPerson) this.#setState("idle");
  }

  async #sendBatch() {
    const acts = this.#batch();
    if (!acts.length) return;
    const answer = await this.#postActs(acts);
    // Another tab has it by now, and sends whatever the server had not heard.
    if (!this.#isHeld) return;
    if (answer.status !== 200) return this.#heed(answer);
    this.#failures = 0;
    this.#refresh();
    this.#kept.acts = this.#kept.acts.filter((act) => act.seq > answer.body.saved);
    this.#write();
    this.#setState(this.pending ? "busy" : "idle");
    this.#tell("saved", { acts, answer: answer.body });
    this.#tell("change");
  }

  // With what is under way already: whichever of the two comes first, each act is saved once.
  #sendLeaving() {
    if (!this.pending || this.needsPerson || !this.#isHeld || this.#pen !== this.#kept.client) return;
    this.#postActs(this.#batch());
  }

  async #post(url, body) {
    const text = JSON.stringify(body);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
        body: text,
        keepalive: text.length < ActQueue.#MOST_LEAVING,
        signal: AbortSignal.timeout(ActQueue.#TIMEOUT_MS),
      });
      const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
      return { status: response.status, body: isJson ? await response.json() : {} };
    } catch {
      return { status: 0, body: {} };
    }
  }

  // No connection, a server in trouble, or nobody signed in any more: that passes. The rest needs a person.
  async #heed({ status, body }) {
    this.#failures += 1;
    if (status === 409 && body.code === "gap") this.#fillGap(body);
    else if (status === 409 && body.code === "elsewhere") this.#heedAnother(body);
    else if (status === 409 && ["closed", "unassigned"].includes(body.code)) this.#conflict(body.code, body);
    else if (status === 401 || (status === 403 && !body.code)) this.#setState("signed-out");
    else if ([403, 404].includes(status)) await this.#heedAbsence(body);
    else if ([400, 413, 422].includes(status)) this.#conflict("gone", body);
    else this.#setState("offline");
  }

  #heedAnother(body) {
    this.#dropHeard(body);
    this.#conflict(this.#contradicts(body.theirs) ? "contradicted" : "elsewhere", body);
  }

  // What is not there for whoever asks may be there for the person of these acts.
  async #heedAbsence(body) {
    const who = await this.#whoIsThere();
    if (who === null) this.#setState("offline");
    else if (who === "") this.#setState("signed-out");
    else if (who !== this.#person) this.#setState("stranger");
    else this.#conflict("gone", body);
  }

  // The name of whoever is signed in in this browser now; empty for nobody, null where it cannot be told.
  async #whoIsThere() {
    try {
      const answer = await fetch(this.#urls.home, { signal: AbortSignal.timeout(ActQueue.#TIMEOUT_MS) });
      if (answer.status >= 500) return null;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      return page.body.dataset.person ?? "";
    } catch {
      return null;
    }
  }

  // Try at once; another person's page waits until its own is back.
  async #wake() {
    if (this.state === "stranger" && (await this.#whoIsThere()) === this.#person) {
      this.#failures = 0;
      this.#setState(this.pending ? "busy" : "idle", {});
    }
    this.#sendSoon(0);
  }

  // The server lacks acts that it once had. What is still here can be said again; what is not needs a person.
  #fillGap(body) {
    if (this.#kept.acts[0]?.seq > body.expected) this.#conflict("contradicted", body);
  }

  #conflict(state, body) {
    if (body.pen) this.#pen = body.pen;
    this.#setState(state, body);
  }

  #pause() {
    if (!this.#failures) return 0;
    return ActQueue.#RETRY_MS[Math.min(this.#failures, ActQueue.#RETRY_MS.length) - 1];
  }

  // Numbers

  // The server has heard all up to this number; what is left follows it without a hole.
  #hear(seq) {
    const acts = this.#kept.acts.filter((act) => act.seq > seq);
    this.#kept.acts = acts.map((act, place) => ({ ...act, seq: seq + place + 1 }));
    this.#kept.seq = seq + acts.length;
    this.#write();
  }

  #startAnew(acts) {
    this.#kept = { client: ActQueue.#newClient(), seq: 0, acts, undo: [] };
    this.#hear(0);
  }

  static #newClient() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // Keeping

  // The tab that this one took over from may have been in the middle of an act.
  #refresh() {
    const kept = this.#read();
    if (kept?.client === this.#kept.client && kept.seq >= this.#kept.seq) this.#kept = kept;
  }

  #read() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.#key));
      if (kept?.client && Array.isArray(kept.acts) && Array.isArray(kept.undo)) return kept;
    } catch {
      // Something else stands there, or nothing may be kept here: then it lives as long as the page.
    }
    return null;
  }

  #write() {
    try {
      localStorage.setItem(this.#key, JSON.stringify({ ...this.#kept, at: Date.now() }));
      this.#isKept = true;
    } catch {
      this.#isKept = false;
      this.#tell("unkept");
    }
  }

  #setState(state, detail) {
    if (this.state === state && !detail) return;
    this.state = state;
    this.#tell("state", { state, ...detail });
    this.#tell("change");
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
