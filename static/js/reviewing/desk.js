// Sends forms one after the other and repeats each until the server replies with parts of a page.
class Desk {
  static #TIMEOUT_MS = 15_000;
  static #RETRY_MS = [1_000, 2_000, 5_000, 10_000, 30_000];

  #last = Promise.resolve();
  waiting = 0;
  #onWait;

  // `onWait(true)` is called if the server cannot be reached, and `onWait(false)` when it can be reached again.
  constructor(onWait) {
    this.#onWait = onWait;
    addEventListener("beforeunload", (event) => this.waiting && event.preventDefault());
  }

  // Sends a request that must not be lost, after all earlier ones, and repeats it while the server cannot be reached.
  send(address, fields) {
    this.waiting += 1;
    const sent = this.#last.then(() => this.#until(address, fields));
    this.#last = sent.catch(() => {}).finally(() => (this.waiting -= 1));
    return sent;
  }

  // Resolves when everything that was sent has arrived.
  settled() { return this.#last; }

  // Sends a request once; if it fails, the error is raised.
  async ask(address, fields) {
    const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
    body.delete("csrfmiddlewaretoken");
    const response = await fetch(address, {
      method: "POST",
      body,
      headers: { "HX-Request": "true", "X-CSRFToken": csrfToken() },
      // Send the request even if the person leaves the page.
      keepalive: true,
      signal: AbortSignal.timeout(Desk.#TIMEOUT_MS),
    });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return {
      status: response.status,
      room: page.getElementById("claim-room"),
      strip: page.getElementById("strip"),
      notice: page.body,
    };
  }

  async #until(address, fields) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const reply = await this.ask(address, fields);
        if (reply.status < 500) {
          if (attempt) this.#onWait(false);
          return reply;
        }
      } catch {
        // No connection, or no reply in time: treat it as an unavailable server.
      }
      this.#onWait(true);
      const pause = Desk.#RETRY_MS[Math.min(attempt, Desk.#RETRY_MS.length - 1)];
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
