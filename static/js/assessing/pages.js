// Shows the summaries of a set without page loads. The next summary is fetched ahead, so it is available offline.
class Pages {
  static #PARTS = ["trail", "heading", "see", "bar"];
  static #TIMEOUT_MS = 15_000;

  #ahead = { id: "", page: null };

  address(id) { return new URL(`../${id}/`, location.href).pathname; }

  async fetchAhead(id) {
    if (this.#ahead.id === id) return;
    const ahead = (this.#ahead = { id, page: null });
    ahead.page = await this.#fetch(id);
    if (!ahead.page && this.#ahead === ahead) this.forget();
  }

  // Forgets the page that was fetched ahead, because it may be outdated.
  forget() { this.#ahead = { id: "", page: null }; }
  has(id) { return this.#ahead.id === id && this.#ahead.page !== null; }

  // Returns the page; null if it cannot be fetched.
  async bring(id) { return this.has(id) ? this.#ahead.page : this.#fetch(id); }

  async #fetch(id) {
    try {
      const response = await fetch(this.address(id), { signal: AbortSignal.timeout(Pages.#TIMEOUT_MS) });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      return response.ok && page.getElementById("see") ? page : null;
    } catch {
      return null;
    }
  }

  show(page) {
    for (const part of Pages.#PARTS) document.getElementById(part).replaceWith(page.getElementById(part));
    document.title = page.title;
    this.forget();
  }
}
