// The console: puts its parts together. One session is shown at a time; its name is in the address, so that a reload,
// a bookmark and the back button lead to it.

import { clients } from "./clients.js";
import { Composer } from "./composer.js";
import { byId, el } from "./dom.js";
import { Follow } from "./follow.js";
import { FrameQueue } from "./frames.js";
import * as gateway from "./gateway.js";
import { Link } from "./link.js";
import { addressOf, drawSessions } from "./sessions.js";
import { ConnectionStatus, drawAbout } from "./status.js";
import { askForToken } from "./token.js";
import { Transcript } from "./transcript.js";
import { Waiting } from "./waiting.js";

const REFRESH = 10_000;
/** Pages beside the chat: the word in the address, and the title. */
const PAGES = { connect: "Connect a client", approvals: "Waiting for approval" };

class Console {
  about = null;
  /** The connection of the session that is shown; null while nothing was asked in it. */
  link = null;
  session = "";
  #met = Promise.resolve();
  #known = [];
  /** Number of the last event there was when the session was opened: up to it, events are replayed. */
  #history = 0;
  #asking = null;
  #waitingFor = 0;
  #looked = new Set();

  constructor() {
    this.transcript = new Transcript(byId("transcript"), {
      changed: (ended) => this.#changed(ended),
      refused: (question) => this.link?.confirm(question),
      announce: (text) => (byId("announcer").textContent = text),
      unauthorized: () => this.#authorize(),
      again: (question) => this.#say(question),
    });
    this.waiting = new Waiting({
      changed: (views) => this.#wait(views),
      unauthorized: () => this.#authorize(),
      promptOf: (name) => this.#known.find((session) => session.name === name)?.last_prompt.trim() || name,
    });
    this.follow = new Follow(byId("scroller"), byId("transcript"), byId("to-end"));
    this.queue = new FrameQueue(
      ([message, when]) => this.transcript.take(message, when),
      () => this.#flush(),
    );
    this.status = new ConnectionStatus(() => this.link?.retryNow());
    this.composer = new Composer(byId("composer"), (text) => this.#say(text));
    this.#listen();
  }

  start() {
    // A question may be asked before the gateway has said what it is: the session is there from the beginning.
    this.#met = this.refresh();
    this.#route();
    this.#met.then(() => this.waiting.start());
    setInterval(() => document.hidden || this.refresh(), REFRESH);
  }

  /** Look again at what is running and at the sessions there are. */
  async refresh() {
    try {
      this.#meet(await gateway.about());
      this.#known = await gateway.sessions();
      this.#list();
    } catch (error) {
      if (error instanceof gateway.Unauthorized) await this.#authorize();
      else this.#unreachable(error);
    }
  }

  #list() {
    const shown = drawSessions(byId("sessions"), this.#known, this.session);
    byId("no-sessions").hidden = shown > 0;
    this.waiting.redraw();
  }

  // Sessions ---------------------------------------------------------------------------------------------------

  #route() {
    const [, view, name = ""] = location.hash.split("/");
    this.#menu(false);
    byId("chat").hidden = view in PAGES;
    for (const page of Object.keys(PAGES)) byId(page).hidden = page !== view;
    byId("connect-link").setAttribute("aria-current", view === "connect" ? "page" : "false");
    if (view in PAGES) this.#showPage(view, nameIn(name));
    else this.#show(view === "s" ? nameIn(name) : "");
  }

  #showPage(view, name) {
    for (const back of document.querySelectorAll("a.back")) {
      back.href = this.transcript.empty ? "#/" : addressOf(this.session);
    }
    this.#title();
    byId(view).focus();
    if (view === "approvals") this.#met.then(() => this.waiting.open(name));
  }

  async #show(name) {
    const unused = this.session && this.transcript.empty && !this.link;
    if (name ? name === this.session : unused) {
      this.#changed(null);
      this.composer.focus();
      return;
    }
    this.#leave();
    this.session = name || freshName();
    this.transcript.clear();
    this.#list();
    this.composer.focus();
    if (!name) return;
    await this.#met;
    const began = await this.#projectOf(name);
    if (this.session !== name || this.link) return;
    const known = this.about?.projects.includes(began);
    const project = known ? began : (this.about?.default_project ?? "");
    if (began && project && !known) {
      this.transcript.problem(`This session began in the project ${began}, which this gateway does not have. What you ask now is about ${project}.`);
    }
    this.#history = this.#known.find((session) => session.name === name)?.last ?? 0;
    this.#pickProject(project);
    this.#open();
  }

  #leave() {
    this.link?.close();
    this.link = null;
    this.queue.clear();
    this.status.show("closed");
    this.follow.to("start");
  }

  /** A session goes on in the project it began in; empty if that is not known. */
  async #projectOf(name) {
    try {
      return (await gateway.events(name, 0, 20)).find((event) => event.kind === "turn_asked")?.project ?? "";
    } catch {
      return ""; // the connection that follows reports what is wrong
    }
  }

  #open() {
    const link = new Link(this.session, byId("project").value, !this.#projectless, {
      message: (message) => this.#heard(link, message),
      state: (state, wait) => link === this.link && this.#linked(state, wait),
      restart: () => this.transcript.reread(),
      unauthorized: () => this.#authorize(),
      error: (text) => this.transcript.problem(text),
    });
    this.link = link;
    link.open();
  }

  #linked(state, wait) {
    this.status.show(state, wait);
    if (state === "open") this.waiting.refresh();
  }

  #heard(link, message) {
    if (link !== this.link) return;
    if (message.type === "user_message") {
      link.confirm(message.content);
      if (this.#isUnlisted(this.session)) this.refresh();
    }
    if (message.type.startsWith?.("approval_")) this.waiting.refresh();
    const seq = Number(String(message.seq).split(".")[1] ?? Infinity);
    this.queue.push([message, { live: seq > this.#history, at: performance.now() }]);
  }

  // Talking ----------------------------------------------------------------------------------------------------

  #say(text) {
    this.transcript.ask(text);
    this.follow.to("start");
    if (!this.link) {
      this.#history = 0;
      history.replaceState(null, "", addressOf(this.session));
      this.#open();
    }
    this.link.say(text);
  }

  async #stop() {
    if (!this.transcript.running) return;
    byId("stop").disabled = true;
    try {
      await gateway.stop(this.session);
    } catch (error) {
      this.transcript.problem(`It could not be stopped: ${error.message}`);
    }
    byId("stop").disabled = false;
  }

  #flush() {
    this.transcript.flush();
    this.follow.settle();
  }

  #changed(ended) {
    const { empty, running, title } = this.transcript;
    const named = location.hash.startsWith("#/s/");
    byId("welcome").hidden = !empty || named || this.#projectless;
    byId("projectless").hidden = !empty || named || !this.#projectless;
    byId("empty-session").hidden = !(empty && named && this.#isNew());
    byId("empty-session-name").textContent = this.session;
    byId("stop").hidden = !running;
    byId("title").textContent = title || "New session";
    this.#title();
    if (ended) this.refresh();
  }

  /** Somebody in another tab should see that they are asked for. */
  #title() {
    const page = PAGES[location.hash.split("/")[1]];
    const { running, title } = this.transcript;
    const what = page ?? `${running ? "● " : ""}${title.slice(0, 60) || "New session"}`;
    document.title = `${this.#waitingFor ? `(${this.#waitingFor}) ` : ""}${what} · Toolwire`;
  }

  #wait(views) {
    this.#waitingFor = views.length;
    this.#title();
    if (views.some(({ session }) => this.#isUnlisted(session))) this.refresh();
  }

  get #projectless() {
    return this.about?.projects.length === 0;
  }

  /** Whether a session has come up since the list was read; each is asked about once. */
  #isUnlisted(name) {
    if (this.#looked.has(name) || this.#known.some((session) => session.name === name && session.turns > 0)) return false;
    this.#looked.add(name);
    return true;
  }

  /** Whether the gateway knows nothing of this session. */
  #isNew() {
    return this.about !== null && !this.#known.some(({ name, last }) => name === this.session && last > 0);
  }

  // What is running --------------------------------------------------------------------------------------------

  #meet(about) {
    const first = this.about === null;
    this.about = about;
    drawAbout(about);
    byId("gateway-down").hidden = true;
    if (!first) return;
    const options = about.projects.map((name) => el("option", { value: name }, name));
    byId("project").replaceChildren(...options);
    byId("project-field").hidden = about.projects.length === 0;
    byId("project").disabled = about.projects.length < 2;
    byId("welcome-project").textContent = about.default_project || "this gateway";
    byId("clients").replaceChildren(...clients(about));
    this.#changed(null);
    byId("schemas").hidden = about.token_required; // a plain link can't carry a token
  }

  #pickProject(name) {
    if (name) byId("project").value = name;
    byId("welcome-project").textContent = byId("project").value || "this gateway";
  }

  #unreachable(error) {
    byId("gateway-down").textContent = `${error.message[0].toUpperCase()}${error.message.slice(1)}. Is it running?`;
    byId("gateway-down").hidden = ["waiting", "connecting"].includes(this.link?.state); // it has a bar of its own
  }

  /** Ask for the token once, however many parts of the page miss it. */
  #authorize() {
    this.#asking ??= askForToken().then(async (about) => {
      this.#asking = null;
      this.#meet(about);
      await this.refresh();
      if (this.link?.state === "closed") this.link.open();
    });
    return this.#asking;
  }

  // The page ---------------------------------------------------------------------------------------------------

  #listen() {
    addEventListener("hashchange", () => this.#route());
    addEventListener("online", () => this.link?.retryNow());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      this.link?.retryNow();
      this.queue.wake();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing || byId("token-dialog").open) return;
      if (document.body.dataset.menu === "open") this.#menu(false);
      else this.#stop();
    });
    byId("skip").addEventListener("click", (event) => {
      event.preventDefault(); // the address names the session, not a place on the page
      byId("question").focus();
    });
    byId("stop").addEventListener("click", () => this.#stop());
    byId("new-session").addEventListener("click", () => this.#fresh());
    byId("menu").addEventListener("click", () => this.#menu(document.body.dataset.menu !== "open"));
    byId("veil").addEventListener("click", () => this.#menu(false));
    byId("project").addEventListener("change", () => {
      this.#pickProject("");
      this.link?.useProject(byId("project").value);
    });
    for (const button of document.querySelectorAll("[data-ask]")) {
      button.addEventListener("click", () => this.#say(button.textContent));
    }
  }

  #fresh() {
    if (location.hash) location.hash = "";
    else this.#show("");
    this.#menu(false);
    this.refresh();
  }

  #menu(open) {
    document.body.dataset.menu = open ? "open" : "closed";
    byId("menu").setAttribute("aria-expanded", String(open));
  }
}

function nameIn(address) {
  try {
    return decodeURIComponent(address);
  } catch {
    return ""; // not an address this page has made
  }
}

function freshName() {
  const letters = "0123456789abcdefghjkmnpqrstvwxyz";
  const random = crypto.getRandomValues(new Uint8Array(12));
  return `console-${Array.from(random, (byte) => letters[byte % 32]).join("")}`;
}

new Console().start();
