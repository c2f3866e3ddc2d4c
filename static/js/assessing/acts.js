// Stores each act of an assignment in this browser until the server has saved it.
// An act sets a value and names the version that it follows. The server therefore recognises an act that arrives a
// second time, and an act can be sent again until the server answers. At most one act on an item is in flight. If an
// act follows an older version, the assessor must choose one of the two values.
// Events: "change" when the waiting acts or the state change; "saved" when the server has answered, with the answer
// and `done`, a list of [entry, result].
class Acts extends EventTarget {
  static #PREFIX = "coverdict:acts:";
  static #BATCH = 200;
  static #RETRY_MS = [0, 500, 1000, 2000, 4000, 8000];
  static #TIMEOUT_MS = 20_000;
  // Browsers limit the bytes that they send from a page that is being left.
  static #MOST_LEAVING = 60_000;

  #prefix;
  #url;
  #entries;
  #versions = new Map();
  #failures = 0;
  #timer = 0;
  #isSending = false;

  // "idle", "busy", "offline", "signed-out", "hidden" (another person is signed in) or "over" (closed set).
  state = "idle";
  message = "";
  // True if this browser can store the waiting acts.
  isKept = true;

  constructor({ assignment, person, url }) {
    super();
    this.#prefix = `${Acts.#PREFIX}${person}:${assignment}:`;
    this.#url = url;
    this.#entries = this.#read();
    for (const sign of ["online", "focus"]) addEventListener(sign, () => this.send());
    addEventListener("pagehide", () => this.#leave());
  }

  get pending() { return this.#entries.length; }
  get conflicts() { return this.#entries.filter((entry) => entry.newer); }
  get needsPerson() { return ["hidden", "over"].includes(this.state); }

  // True if new acts cannot be sent now.
  get isFailing() { return !["idle", "busy"].includes(this.state); }

  // Returns the last act on an item that the server has not saved yet.
  waiting(key) { return this.#entries.findLast((entry) => entry.key === key); }

  // `version` is the version of the item in the page. An unsent act on the same item is replaced.
  push({ key, label, version, act }) {
    const before = this.#entries.findLast((entry) => entry.key === key && !entry.newer);
    const same = this.waiting(key);
    const follows = before ? before.act.follows + 1 : Math.max(version, this.versionOf(key));
    const entry =
      same && !same.isSent
        ? { ...same, newer: null, act: { ...act, follows: same.act.follows, ms: same.act.ms + act.ms } }
        : { id: Acts.#newId(), after: before?.id, key, label, act: { ...act, follows } };
    this.#entries = [...this.#entries.filter((each) => each.id !== entry.id), entry];
    this.#keep(entry);
    this.#sendSoon();
    this.#tell("change");
  }

  versionOf(key) { return this.#versions.get(key) ?? 0; }

  // Ends a conflict after the assessor has seen both values. `isMine` is true if the assessor keeps their own value.
  choose(entry, { isMine }) {
    const { newer, ...mine } = entry;
    this.#drop(entry);
    this.#heedVersion(entry.key, newer.version);
    if (isMine) this.push({ ...mine, version: newer.version });
    this.#tell("change");
  }

  discard() {
    for (const entry of this.#entries) this.#drop(entry);
    location.reload();
  }

  // Resolves when no act is waiting except those in conflicts, or when acts cannot be sent now.
  async settled() {
    while (this.#batch().length && !this.isFailing) {
      await new Promise((resolve) => this.addEventListener("change", resolve, { once: true }));
    }
  }

  async send() {
    const batch = this.#batch();
    if (this.#isSending || !batch.length || this.state === "over") return;
    this.#isSending = true;
    if (this.state === "idle") this.#setState("busy");
    const answer = await this.#post(batch);
    this.#isSending = false;
    if (answer.status === 200) this.#heedSaved(batch, answer.body);
    else this.#heedFailure(answer);
    if (this.#batch().length && !this.needsPerson) this.#sendSoon();
  }

  // Takes acts up to the second act on an item: that act needs the version from the server's answer to the first.
  #batch() {
    const free = this.#entries.filter((entry) => !entry.newer);
    const end = free.findIndex(({ key }, at) => free.findIndex((each) => each.key === key) < at);
    return free.slice(0, end < 0 ? Acts.#BATCH : Math.min(end, Acts.#BATCH));
  }

  #sendSoon() {
    clearTimeout(this.#timer);
    const pause = Acts.#RETRY_MS[Math.min(this.#failures, Acts.#RETRY_MS.length - 1)];
    this.#timer = setTimeout(() => this.send(), pause);
  }

  // Sends acts in flight again, too. The server saves each act once, whichever request arrives first.
  #leave() {
    const batch = this.#batch();
    if (batch.length && !this.needsPerson) this.#post(batch);
  }

  async #post(batch) {
    for (const entry of batch) {
      entry.isSent = true;
      this.#keep(entry);
    }
    const body = JSON.stringify({ acts: batch.map(({ act }) => act) });
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
        body,
        keepalive: body.length < Acts.#MOST_LEAVING,
        signal: AbortSignal.timeout(Acts.#TIMEOUT_MS),
      });
      const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
      return { status: response.status, body: isJson ? await response.json() : {} };
    } catch {
      return { status: 0, body: {} };
    }
  }

  #heedSaved(batch, answer) {
    this.#failures = 0;
    const done = batch.map((entry, at) => [entry, answer.results[at]]);
    for (const [entry, result] of done) this.#heedResult(entry, result);
    this.#setState(this.#batch().length ? "busy" : "idle");
    this.#tell("saved", { ...answer, done });
    this.#tell("change");
  }

  #heedResult(entry, { status, code, version, theirs }) {
    const isSaved = status === 200;
    if (isSaved) this.#heedVersion(entry.key, version);
    const next = this.#entries.find(({ after }) => after === entry.id);
    if (next) {
      next.act.follows = isSaved ? version : entry.act.follows;
      this.#keep(next);
    }
    // If a later act on the item is waiting, that act will get the conflict.
    if (code === "newer" && !next) {
      Object.assign(entry, { isSent: false, newer: { version, theirs } });
      this.#keep(entry);
    } else {
      this.#drop(entry);
    }
  }

  #heedVersion(key, version) { this.#versions.set(key, Math.max(version, this.versionOf(key))); }

  // No connection, a failing server and a signed-out person are temporary. All other failures need a person.
  #heedFailure({ status, body }) {
    this.#failures += 1;
    if (status === 401 || (status === 403 && !body.code)) this.#setState("signed-out");
    else if ([403, 404].includes(status)) this.#setState("hidden", body.message);
    else if (status >= 400 && status < 500 && body.code) this.#setState("over", body.message);
    else this.#setState("offline");
  }

  #setState(state, message = "") {
    this.state = state;
    this.message = message;
    this.#tell("change");
  }

  #keep(entry) {
    this.isKept = attempt(() => localStorage.setItem(this.#prefix + entry.id, JSON.stringify(entry))) !== null;
  }

  #drop(entry) {
    this.#entries = this.#entries.filter((each) => each.id !== entry.id);
    attempt(() => localStorage.removeItem(this.#prefix + entry.id));
  }

  #read() {
    const keys = attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix))) ?? [];
    return keys.sort().map((key) => JSON.parse(localStorage.getItem(key)));
  }

  // Makes ids that sort by the time at which they were made.
  static #newId() {
    const random = crypto.getRandomValues(new Uint32Array(1))[0];
    return `${Date.now()}-${Math.floor(performance.now()).toString().padStart(12, "0")}-${random}`;
  }

  #tell(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
