// The pages of the summaries of a set, put in each other's place without a new load. Those that were open stay
// at hand with what was done in them; others are fetched, the next one ahead of its turn.
class Pages {
  static #PARTS = ["trail", "heading", "see", "bar"];
  static #MOST = 40;
  static #TIMEOUT_MS = 15_000;

  #kept = new Map();
  #changed = [];
  #underWay = new Map();

  address(id) {
    return new URL(`../${id}/`, location.href).pathname;
  }

  // Whether it is here and nothing that was done since can have changed what stands on it.
  isFresh(id) {
    return this.#kept.get(id)?.isStale === false;
  }

  has(id) {
    return this.#kept.has(id);
  }

  // Something was said in a comparison: pages of the same peer summary may show more, or less, from now on.
  outdate(reading) {
    this.#changed.push(reading);
    for (const page of this.#kept.values()) {
      if (page.comparisons.includes(reading)) page.isStale = true;
    }
  }

  // Fetch and keep a page. Tells "here", "signed-out", "gone" or "offline".
  fetch(id) {
    if (!this.#underWay.has(id)) {
      this.#underWay.set(id, this.#fetch(id).finally(() => this.#underWay.delete(id)));
    }
    return this.#underWay.get(id);
  }

  // Have a page here, as it was if it was.
  async bring(id) {
    if (!this.#see(id)) await this.fetch(id);
  }

  async #fetch(id) {
    const changed = this.#changed.length;
    try {
      const response = await fetch(this.address(id), { signal: AbortSignal.timeout(Pages.#TIMEOUT_MS) });
      const html = await response.text();
      const page = new DOMParser().parseFromString(html, "text/html");
      if (response.status >= 500) return "offline";
      if (!page.getElementById("see")) return response.redirected || response.status === 401 ? "signed-out" : "gone";
      this.#keep(id, page);
      const kept = this.#kept.get(id);
      kept.isStale = this.#changed.slice(changed).some((reading) => kept.comparisons.includes(reading));
      return "here";
    } catch {
      return "offline";
    }
  }

  // Put a page that is here in the place of the one that is open, which is kept.
  show(id, from) {
    const page = this.#kept.get(id);
    this.#keep(from, document);
    for (const part of Pages.#PARTS) document.getElementById(part).replaceWith(page.parts[part]);
    document.title = page.title;
    this.#kept.delete(id);
  }

  #keep(id, page) {
    const parts = Object.fromEntries(Pages.#PARTS.map((part) => [part, page.getElementById(part)]));
    this.#kept.delete(id);
    this.#kept.set(id, { parts, title: page.title, isStale: false, comparisons: Item.comparisons(parts.see) });
    for (const oldest of [...this.#kept.keys()].slice(0, -Pages.#MOST)) this.#kept.delete(oldest);
  }

  // The words of a unit or question on a page that is here; empty where it is not.
  textOf(id, element) {
    return this.#see(id)?.querySelector(`#${CSS.escape(element)} .t`)?.textContent.trim() ?? "";
  }

  // The number that the trail gives the peer summary of a page that is here; empty where it is not.
  peerNumber(id) {
    return this.#see(id)?.dataset.peerNumber ?? "";
  }

  // The letter by which a peer unit goes on a page that is here, else its number.
  peerName(id, number) {
    return this.#see(id)?.querySelector(`[data-peer="${number}"] .box`)?.dataset.name ?? String(number);
  }

  #see(id) {
    const open = document.getElementById("see");
    return open.dataset.reading === id ? open : this.#kept.get(id)?.parts.see;
  }
}
