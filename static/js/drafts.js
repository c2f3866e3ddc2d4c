// Stores unsent fields of forms with data-draft in this browser, per person, and restores them with the form. Without
// storage, a draft lasts as long as the page.
class Drafts {
  static #PREFIX = "coverdict:draft:";
  static #FORGET_MS = 30 * 24 * 60 * 60 * 1000;
  static #FIELDS = "input:not([type=hidden]), select, textarea";

  #person = document.body.dataset.person;

  constructor() {
    attempt(() => {
      for (const key of Object.keys(localStorage).filter((each) => each.startsWith(Drafts.#PREFIX))) {
        // A draft without a time is removed too.
        const at = attempt(() => JSON.parse(localStorage.getItem(key)).at);
        if (!(at > Date.now() - Drafts.#FORGET_MS)) localStorage.removeItem(key);
      }
    });
    for (const kind of ["input", "change"]) {
      document.addEventListener(kind, ({ target }) => {
        const form = target.form ?? target.closest?.("form");
        if (form?.dataset.draft) this.#keep(form);
      });
    }
  }

  // `sent` has fields that were sent and then undone; they become the draft.
  restore(form, sent = null) {
    if (form?.dataset.draft && sent) this.#keep(form, sent);
    const values = form?.dataset.draft && this.#read(form.dataset.draft);
    if (!values) return;
    for (const field of Drafts.#fieldsOf(form)) {
      const kept = values.filter(([name]) => name === field.name).map(([, value]) => value);
      if (field.type === "checkbox") field.checked = kept.includes(field.value);
      else field.value = kept[0] ?? "";
    }
  }

  forget(form) {
    if (form?.dataset.draft) attempt(() => localStorage.removeItem(this.#key(form.dataset.draft)));
  }

  // Store only fields that a person can edit, and no token.
  #keep(form, fields = new FormData(form)) {
    const names = new Set(Drafts.#fieldsOf(form).map((field) => field.name));
    const values = [...fields].filter(([name]) => names.has(name));
    attempt(() => localStorage.setItem(this.#key(form.dataset.draft), JSON.stringify({ values, at: Date.now() })));
  }

  #read(name) {
    const kept = attempt(() => JSON.parse(localStorage.getItem(this.#key(name))));
    return Array.isArray(kept?.values) ? kept.values : null;
  }

  #key(name) { return `${Drafts.#PREFIX}${this.#person}:${name}`; }
  static #fieldsOf(form) { return [...form.elements].filter((field) => field.name && field.matches(Drafts.#FIELDS)); }
}
