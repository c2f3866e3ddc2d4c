// Shows the state of saving in the top bar, and above the form the problems that a person must solve.
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

  // `choose` is called when the assessor has decided a conflict: with the entry, and true to keep their own value.
  constructor(acts, choose) {
    this.#acts = acts;
    this.#choose = choose;
  }

  show() {
    this.#showSaved();
    const { state, message, pending, conflicts } = this.#acts;
    // Change the box only if its content changes, because screen readers announce every change.
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
    // Show no state before the first answer.
    else if (isBusy || this.#saved.textContent || document.querySelector("[data-item]:not([data-version='0'])")) {
      this.#saved.textContent = isBusy ? "Saving…" : "Saved";
    }
  }

  #state() {
    const { state, message, pending } = this.#acts;
    const count = pending ? ` ${pending} change${pending === 1 ? " is" : "s are"} not saved yet.` : "";
    const { signIn, work } = this.#box.dataset;
    const ways = [make("a", { className: "btn", href: work }, "My work")];
    if (state === "signed-out") ways[0] = make("a", { className: "btn", href: signIn, target: "_blank" }, "Sign in in a new tab");
    if (state === "over") ways.push(Keeping.#button("Discard changes", () => this.#acts.discard()));
    return [make("p", {}, (Keeping.#SAID[state] ?? message) + count), make("p", { className: "actions" }, ...ways)];
  }

  #both(conflicts) {
    const words = "These answers were changed in another window or on another device. Which do you want to keep?";
    const heads = ["Item", "There", "Here"].map((name) => make("th", { scope: "col" }, name));
    const rows = conflicts.map((entry) => {
      const theirs = this.#offer(entry, entry.newer.theirs, "Keep that", false);
      return make("tr", {}, make("td", {}, entry.label), theirs, this.#offer(entry, entry.act, "Keep this", true));
    });
    const head = make("thead", {}, make("tr", {}, ...heads));
    return [make("p", {}, words), make("table", { className: "both" }, head, make("tbody", {}, ...rows))];
  }

  #offer(entry, value, name, isMine) {
    return make("td", {}, make("p", {}, this.#words(value)), Keeping.#button(name, () => this.#choose(entry, isMine)));
  }

  #words({ percent, value, marks, note }) {
    const number = percent ?? value ?? null;
    const parts = [number === null ? "no answer" : percent === undefined ? `answer ${number}` : `${number} %`];
    const { letters } = this.#box.dataset;
    if (marks) parts.push(marks.length ? `marked: ${marks.map((mark) => letters[mark - 1] ?? mark).join(", ")}` : "nothing marked");
    if (note) parts.push(`“${note}”`);
    return parts.join(" · ");
  }

  static #button(text, act) {
    const button = make("button", { type: "button", className: "btn quiet" }, text);
    button.addEventListener("click", act);
    return button;
  }
}
