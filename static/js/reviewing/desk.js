// Sends forms one after the other, each until it arrives; a reply is the part of a claim, a strip or a notice.
class Desk {
  static #TIMEOUT_MS = 15_000;
  static #RETRY_MS = [1_000, 2_000, 5_000, 10_000, 30_000];

  #last = Promise.resolve();
  waiting = 0;
  #onWait;

  // `onWait(isLost)` is called when something cannot be sent now, and when it can be sent again.
  constructor(onWait) {
    this.#onWait = onWait;
    addEventListener("beforeunload", (event) => this.waiting && event.preventDefault());
  }

  // Sends what must not be lost, in order, repeatedly while the server cannot be reached.
  send(address, fields) {
    this.waiting += 1;
    const sent = this.#last.then(() => this.#until(address, fields));
    this.#last = sent.catch(() => {}).finally(() => (this.waiting -= 1));
    return sent;
  }

  // Resolves when everything sent has arrived.
  settled() { return this.#last; }

  // Sends a request that may be repeated later: one attempt.
  async ask(address, fields) {
    const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
    body.delete("csrfmiddlewaretoken");
    const response = await fetch(address, {
      method: "POST",
      body,
      headers: { "HX-Request": "true", "X-CSRFToken": csrfToken() },
      // An answer is sent even if its page is left.
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
        // No connection or no reply in time: treated as a server that is unavailable.
      }
      this.#onWait(true);
      const pause = Desk.#RETRY_MS[Math.min(attempt, Desk.#RETRY_MS.length - 1)];
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
