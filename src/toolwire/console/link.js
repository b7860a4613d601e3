// The socket of one session (document 5, watching): connects, reconnects with backoff, goes on where it left off.

import * as gateway from "./gateway.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const REFUSED = 1008;
const LOST_CURSOR = /\bcursor\b/i;

/** States: `closed`, `connecting`, `open`, `waiting` (for the next attempt), `refused` (no use trying again). */
export class Link {
  state = "closed";
  cursor = "0";
  #socket = null;
  #timer = 0;
  #attempts = 0;
  #unsent = [];
  #unconfirmed = [];
  #fresh = true;

  /** `on`: message(object), state(name, ms until the next attempt), restart(), unauthorized(), error(text). */
  constructor(session, project, serverTools, on) {
    this.session = session;
    this.project = project;
    /** Whether the gateway is to run the tools: one without projects has nowhere to, and an IDE of the session does. */
    this.serverTools = serverTools;
    this.on = on;
  }

  open() {
    this.#connect();
  }

  /** Say something; it goes out as soon as there is a connection, and counts as said once the gateway mirrors it. */
  say(content) {
    this.#unsent.push(content);
    if (this.state === "open") this.#sendWaiting();
    else if (this.state === "closed" || this.state === "refused") this.#connect();
  }

  /** The gateway has mirrored a user message, so it is stored, or has refused it: no need to say it again. */
  confirm(content) {
    const index = this.#unconfirmed.indexOf(content);
    if (index >= 0) this.#unconfirmed.splice(index, 1);
  }

  /** Turns asked from now on are about another project. */
  useProject(project) {
    this.project = project;
    if (this.state === "closed") return;
    this.#drop();
    this.#connect();
  }

  retryNow() {
    if (this.state === "waiting") this.#connect();
  }

  close() {
    this.#drop();
    this.#become("closed");
  }

  #drop() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
  }

  #connect() {
    clearTimeout(this.#timer);
    this.#become("connecting");
    const attempt = (this.#socket = this.#make());
    if (!attempt) return;
    this.#fresh = true;
    attempt.onopen = () => this.#opened(attempt);
    attempt.onmessage = (event) => this.#heard(attempt, event.data);
    attempt.onclose = (event) => this.#lost(attempt, event);
  }

  #make() {
    const url = new URL(`/ws/${encodeURIComponent(this.session)}`, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    url.search = new URLSearchParams({
      watch: "1",
      last_event: this.cursor,
      ...(this.serverTools && { tools: "server" }),
      ...(this.project && { projectKey: this.project }),
    });
    const token = gateway.token.get();
    if (token && !gateway.sendable(token)) {
      this.#become("refused");
      this.on.error("This token has characters that a browser can't send with a WebSocket. Use letters and digits.");
      return null;
    }
    return new WebSocket(url, token ? ["bearer", token] : []);
  }

  async #opened(socket) {
    const certain = !this.#unconfirmed.length || (await this.#recoverUnconfirmed());
    if (socket !== this.#socket || socket.readyState !== WebSocket.OPEN) return;
    if (!certain) {
      socket.close(); // and try again: a question must neither be lost nor asked twice
      return;
    }
    this.#become("open");
    this.#sendWaiting();
  }

  /**
   * What was sent just before a connection broke may have arrived or not: ask, and say again only what did not. Gives
   * whether there was an answer.
   */
  async #recoverUnconfirmed() {
    const doubtful = this.#unconfirmed;
    this.#unconfirmed = [];
    try {
      const after = Number(this.cursor.split(".")[1] ?? 0);
      const asked = (await gateway.events(this.session, after, 5000)).filter((event) => event.kind === "turn_asked");
      for (const content of doubtful) {
        const found = asked.findIndex((event) => event.prompt === content);
        if (found >= 0) asked.splice(found, 1);
        (found >= 0 ? this.#unconfirmed : this.#unsent).push(content);
      }
      return true;
    } catch {
      this.#unconfirmed = doubtful;
      return false;
    }
  }

  #sendWaiting() {
    for (const content of this.#unsent.splice(0)) {
      this.#unconfirmed.push(content);
      this.#socket.send(JSON.stringify({ type: "user_message", content, role: "user" }));
    }
  }

  #heard(socket, data) {
    if (socket !== this.#socket) return;
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      this.on.error("The gateway sent something that is not JSON.");
      return;
    }
    if (message.type !== "error") this.#attempts = 0; // one that opens only to fail must not be hammered
    if (this.#isLost(message)) {
      this.#restart();
      return;
    }
    this.#fresh = false;
    if (typeof message.seq === "string") this.cursor = message.seq;
    this.on.message(message);
  }

  /** Whether the first message of a connection says that our cursor means nothing to this gateway. */
  #isLost(message) {
    if (!this.#fresh || this.cursor === "0") return false;
    const epoch = (cursor) => String(cursor).split(".")[0];
    if (typeof message.seq === "string" && epoch(message.seq) !== epoch(this.cursor)) return true;
    return message.type === "error" && LOST_CURSOR.test(message.content ?? "");
  }

  /** The log we have read is no longer the one that is kept: read it again from its start. */
  #restart() {
    this.cursor = "0";
    this.on.restart();
    this.#drop();
    this.#connect();
  }

  #lost(socket, event) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    if (event.code === REFUSED) {
      this.#become("refused");
      this.on.error(`The gateway refused this connection${event.reason ? ` (${event.reason})` : ""}.`);
      return;
    }
    const ceiling = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#attempts++);
    const wait = ceiling / 2 + (Math.random() * ceiling) / 2;
    this.#become("waiting", wait);
    this.#timer = setTimeout(() => this.#connect(), wait);
    this.#askWhy();
  }

  /** A browser can't read a refused handshake; an HTTP request tells whether the token is at fault. */
  async #askWhy() {
    try {
      await gateway.about();
    } catch (error) {
      if (error instanceof gateway.Unauthorized && this.state !== "closed") {
        this.close();
        this.on.unauthorized();
      }
    }
  }

  #become(state, wait = 0) {
    this.state = state;
    this.on.state(state, wait);
  }
}
