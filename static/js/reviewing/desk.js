// Sends forms one after the other, each until it arrives; a reply is a claim's room, a strip or a notice.
class Desk {
  static #TIMEOUT_MS = 15_000;
  static #RETRY_MS = [1_000, 2_000, 5_000, 10_000, 30_000];

  #last = Promise.resolve();
  waiting = 0;
  #onWait;

  // `onWait(isLost)` is told when something cannot be sent for now, and when it can again.
  constructor(onWait) {
    this.#onWait = onWait;
    addEventListener("beforeunload", (event) => this.waiting && event.preventDefault());
  }

  // What must not be lost: in order, and again and again while the server cannot be reached.
  send(address, fields) {
    this.waiting += 1;
    const sent = this.#last.then(() => this.#until(address, fields));
    this.#last = sent.catch(() => {}).finally(() => (this.waiting -= 1));
    return sent;
  }

  // Resolves once what was sent has arrived.
  settled() {
    return this.#last;
  }

  // What may be asked again: one try.
  async ask(address, fields) {
    const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
    body.delete("csrfmiddlewaretoken");
    const response = await fetch(address, {
      method: "POST",
      body,
      headers: { "HX-Request": "true", "X-CSRFToken": csrfToken() },
      // An answer goes out even when its page is left.
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
        // No connection, or no answer in time: the same as a server that cannot.
      }
      this.#onWait(true);
      const pause = Desk.#RETRY_MS[Math.min(attempt, Desk.#RETRY_MS.length - 1)];
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
