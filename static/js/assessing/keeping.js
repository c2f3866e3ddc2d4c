// What is to be said when acts do not go out, and the ways on: signed out, opened elsewhere, contradicted, closed.
class Keeping {
  static #SAID = {
    "signed-out": "You are signed out. Changes are kept in this browser and saved when you sign in again.",
    "other-tab": "This set was opened in another tab of this browser. Continue there.",
    elsewhere: "This set was opened on another device or in another window. Continue there.",
    contradicted: "These items have different answers in two places. Which answers do you want to keep?",
    closed: "This set has been closed, so it can no longer be changed.",
    gone: "The server rejected these changes.",
    stranger: "Another person has signed in in this browser, so this form is hidden. It returns when you sign in again.",
  };
  static #UNSENT_OF_ANOTHER =
    "This browser has another person's unsaved work on this set. It is saved when they sign in here again.";
  static #REASON = { offline: " (offline)", "signed-out": " (signed out)" };

  #box = document.getElementById("keeping");
  #saved = document.getElementById("saved");
  #queue;
  #pages;

  constructor(queue, pages) {
    this.#queue = queue;
    this.#pages = pages;
  }

  show({ state, message, theirs }) {
    const isCalm = ["idle", "busy", "offline"].includes(state);
    this.#box.hidden = isCalm;
    this.#box.replaceChildren();
    if (isCalm) return;
    // The server's own words where the reason is known to it alone.
    const isTheirs = ["elsewhere", "unassigned", "gone"].includes(state) && message;
    this.#box.append(this.#words(isTheirs ? message : Keeping.#SAID[state]));
    const ways = this.#ways(state);
    this.#box.append(ways);
    if (state === "contradicted") this.#showBoth(theirs ?? [], ways);
    this.#box.scrollIntoView({ block: "nearest" });
  }

  // How saving stands, in two words.
  showSaved({ isReady }) {
    const { pending, state, isFailing } = this.#queue;
    const isBad = isFailing && pending > 0;
    const isBusy = !isFailing && pending > 0;
    this.#saved.classList.toggle("waiting", isBad);
    this.#saved.classList.toggle("none", !isBad && state === "offline");
    this.#saved.classList.toggle("busy", isBusy);
    if (isBad) this.#saved.textContent = `Not saved yet: ${pending}${Keeping.#REASON[state] ?? ""}`;
    else if (state === "offline") this.#saved.textContent = "Offline";
    else if (isBusy) this.#saved.textContent = "Saving…";
    else this.#saved.textContent = isReady ? "Saved" : "";
  }

  #words(text) {
    const waiting = this.#queue.pending;
    const told = document.createElement("p");
    told.textContent = text;
    if (this.#queue.state === "stranger") {
      if (waiting) told.textContent = Keeping.#UNSENT_OF_ANOTHER;
    } else if (waiting && this.#queue.state !== "contradicted") {
      told.append(` ${waiting} change${waiting === 1 ? " is" : "s are"} not saved yet.`);
    }
    return told;
  }

  #ways(state) {
    const ways = document.createElement("p");
    ways.className = "actions";
    switch (state) {
      case "signed-out":
        ways.append(this.#link("Sign in in a new tab", this.#box.dataset.signIn, "_blank"));
        break;
      case "other-tab":
        ways.append(this.#button("Continue here", () => location.reload()));
        break;
      case "elsewhere":
        ways.append(this.#button("Continue here", () => this.#goOn({ isMine: true })));
        break;
      case "contradicted":
        ways.append(this.#button("Keep mine", () => this.#goOn({ isMine: true })));
        ways.append(this.#button("Keep the others", () => this.#goOn({ isMine: false }), "quiet"));
        break;
      case "closed":
        ways.append(this.#button("Show the closed set", () => this.#goOn({ isMine: false })));
        break;
      case "gone":
        ways.append(this.#button("Reload the page", () => location.reload()));
        if (this.#queue.pending) ways.append(this.#button("Discard changes", () => this.#goOn({ isMine: false }), "quiet"));
        break;
      default:
        ways.append(this.#link("My work", this.#box.dataset.work, ""));
    }
    return ways;
  }

  // Whichever way, what stands on the server by then is shown.
  async #goOn({ isMine }) {
    for (const button of this.#box.querySelectorAll("button")) button.disabled = true;
    if (!isMine) this.#queue.yieldToOthers();
    else if (this.#queue.pending) await this.#queue.insist();
    await this.#queue.settled();
    if (this.#queue.isKept || !this.#queue.pending) location.reload();
  }

  async #showBoth(theirs, ways) {
    const mine = this.#queue.acts;
    const places = new Set(theirs.map((their) => their.reading));
    await Promise.all([...places].map((id) => this.#pages.bring(id)));
    const rows = theirs
      .map((their) => ({ their, own: mine.findLast((act) => ActQueue.isSamePlace(act, their)) }))
      .filter(({ their, own }) => own && !ActQueue.isSame(own, their));
    const table = document.createElement("table");
    table.className = "both";
    table.createTHead().append(this.#row("th", ["Item", "There", "Here"]));
    const body = table.createTBody();
    for (const { their, own } of rows) body.append(this.#row("td", [this.#name(their), this.#said(their), this.#said(own)]));
    if (ways.isConnected) ways.before(table);
  }

  #row(kind, texts) {
    const row = document.createElement("tr");
    for (const text of texts) {
      const cell = document.createElement(kind);
      if (kind === "th") cell.scope = "col";
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  }

  #name(act) {
    const number = this.#pages.peerNumber(act.reading);
    return number ? `Peer ${number}: ${this.#asked(act)}` : this.#asked(act);
  }

  #asked(act) {
    if (act.kind === "unmarked") return "Unmarked peer units";
    const element = act.kind === "unit" ? `unit-${act.unit}` : `question-${act.question}`;
    return this.#pages.textOf(act.reading, element) || (act.kind === "unit" ? "A model unit" : "A quality question");
  }

  #said(act) {
    const number = act.kind === "quality" ? act.answer : act.percent;
    const parts = [number === null || number === undefined ? "no answer" : act.kind === "quality" ? `answer ${number}` : `${number} %`];
    const marks = act.marks?.map((number) => this.#pages.peerName(act.reading, number));
    if (act.kind === "unit") parts.push(marks?.length ? `marked: ${marks.join(", ")}` : "nothing marked");
    if (act.note) parts.push(`“${act.note}”`);
    return parts.join(" · ");
  }

  #button(text, act, look = "") {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `btn ${look}`.trim();
    button.textContent = text;
    button.addEventListener("click", act);
    return button;
  }

  #link(text, address, target) {
    const link = document.createElement("a");
    link.className = "btn";
    link.href = address;
    link.textContent = text;
    if (target) link.target = target;
    return link;
  }
}
