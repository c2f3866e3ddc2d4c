// The pages of the summaries of a set, put in each other's place without a new load. The next one is fetched ahead of
// its turn, so that it comes at once, and also while the server is away.
class Pages {
  static #PARTS = ["trail", "heading", "see", "bar"];
  static #TIMEOUT_MS = 15_000;

  #ahead = { id: "" };

  address(id) {
    return new URL(`../${id}/`, location.href).pathname;
  }

  async fetchAhead(id) {
    if (this.#ahead.id === id) return;
    const ahead = (this.#ahead = { id });
    Object.assign(ahead, await this.#fetch(id));
    if (!ahead.page && this.#ahead === ahead) this.forget();
  }

  // What was fetched ahead may show less, or more, than is true now.
  forget() {
    this.#ahead = { id: "" };
  }

  has(id) {
    return this.#ahead.id === id && Boolean(this.#ahead.page);
  }

  // The `page`, or the `problem`: "signed-out", "gone" or "offline".
  async bring(id) {
    return this.has(id) ? this.#ahead : this.#fetch(id);
  }

  async #fetch(id) {
    try {
      const response = await fetch(this.address(id), { signal: AbortSignal.timeout(Pages.#TIMEOUT_MS) });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (response.status >= 500) return { problem: "offline" };
      if (page.getElementById("see")) return { page };
      return { problem: response.redirected || response.status === 401 ? "signed-out" : "gone" };
    } catch {
      return { problem: "offline" };
    }
  }

  show(page) {
    for (const part of Pages.#PARTS) document.getElementById(part).replaceWith(page.getElementById(part));
    document.title = page.title;
    this.forget();
  }
}
