// How saving stands, in two words on top, and above the form what needs a person: signed out, over, or changed
// elsewhere, with both values to choose from.
class Keeping {
  static #SAID = {
    "signed-out": "You are signed out. Changes are kept in this browser and saved when you sign in again.",
    hidden: "This set is not there for the person who is signed in now, so the form is hidden. It returns when its assessor signs in again.",
  };
  static #REASON = { offline: " (offline)", "signed-out": " (signed out)" };

  #box = document.getElementById("keeping");
  #saved = document.getElementById("saved");
  #acts;
  #choose;
  #shown = "";

  // `choose` hears of each conflict that the assessor has decided: the entry, and whether their own value stays.
  constructor(acts, choose) {
    this.#acts = acts;
    this.#choose = choose;
  }

  show() {
    this.#showSaved();
    const { state, message, pending, conflicts } = this.#acts;
    // Told once, and not again with every act.
    const standing = JSON.stringify([state, message, this.#acts.isFailing && pending, conflicts]);
    if (standing === this.#shown) return;
    this.#shown = standing;
    const isTold = state in Keeping.#SAID || state === "over";
    this.#box.hidden = !isTold && !conflicts.length;
    this.#box.replaceChildren();
    if (isTold) this.#box.append(...this.#state());
    if (conflicts.length && state !== "hidden") this.#box.append(...this.#both(conflicts));
    if (!this.#box.hidden) this.#box.scrollIntoView({ block: "nearest" });
  }

  #showSaved() {
    const { pending, state, isFailing, conflicts } = this.#acts;
    const isBad = pending > 0 && (isFailing || conflicts.length > 0);
    const isBusy = pending > 0 && !isBad;
    this.#saved.classList.toggle("waiting", isBad);
    this.#saved.classList.toggle("none", !isBad && state === "offline");
    this.#saved.classList.toggle("busy", isBusy);
    if (isBad) this.#saved.textContent = `Not saved yet: ${pending}${Keeping.#REASON[state] ?? ""}`;
    else if (state === "offline") this.#saved.textContent = "Offline";
    else this.#saved.textContent = isBusy ? "Saving…" : "Saved";
  }

  #state() {
    const { state, message, pending } = this.#acts;
    const count = pending ? ` ${pending} change${pending === 1 ? " is" : "s are"} not saved yet.` : "";
    const words = Keeping.#make("p", (Keeping.#SAID[state] ?? message) + count);
    const ways = Keeping.#make("p", "", "actions");
    if (state === "signed-out") ways.append(this.#link("Sign in in a new tab", this.#box.dataset.signIn, "_blank"));
    else ways.append(this.#link("My work", this.#box.dataset.work));
    if (state === "over") ways.append(Keeping.#button("Discard changes", () => this.#acts.discard()));
    return [words, ways];
  }

  #both(conflicts) {
    const words = "These answers were changed in another window or on another device. Which do you want to keep?";
    const table = Keeping.#make("table", "", "both");
    const head = table.createTHead().insertRow();
    for (const name of ["Item", "There", "Here"]) {
      const cell = Keeping.#make("th", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const entry of conflicts) {
      const row = body.insertRow();
      row.insertCell().textContent = entry.label;
      this.#offer(row, entry, entry.newer.theirs, "Keep that", false);
      this.#offer(row, entry, entry.act, "Keep this", true);
    }
    return [Keeping.#make("p", words), table];
  }

  #offer(row, entry, value, name, isMine) {
    const cell = row.insertCell();
    cell.append(Keeping.#make("p", this.#words(value)));
    cell.append(Keeping.#button(name, () => this.#choose(entry, isMine)));
  }

  #words({ percent, value, marks, note }) {
    const number = percent ?? value ?? null;
    const parts = [number === null ? "no answer" : percent === undefined ? `answer ${number}` : `${number} %`];
    const { letters } = this.#box.dataset;
    if (marks) parts.push(marks.length ? `marked: ${marks.map((mark) => letters[mark - 1] ?? mark).join(", ")}` : "nothing marked");
    if (note) parts.push(`“${note}”`);
    return parts.join(" · ");
  }

  #link(text, href, target = "") {
    return Object.assign(Keeping.#make("a", text, "btn"), { href, target });
  }

  static #button(text, act) {
    const button = Object.assign(Keeping.#make("button", text, "btn quiet"), { type: "button" });
    button.addEventListener("click", act);
    return button;
  }

  static #make(name, textContent, className = "") {
    return Object.assign(document.createElement(name), { textContent, className });
  }
}
