// Everything that waits for a person's word, in whatever session: a few lines beside the sessions, and a page of cards.

import { ApprovalCard, outcomeOf, requestOf } from "./approval.js";
import { byId, el } from "./dom.js";
import * as gateway from "./gateway.js";
import { addressOf } from "./sessions.js";
import { count, left } from "./words.js";

const PACE = 2000;
const SLOW_PACE = 10_000;
const LINES = 5;

export class Waiting {
  #cards = new Map();
  #views = [];
  #timer = 0;
  #wanted = "";

  /** `on`: changed(what waits), unauthorized(), promptOf(session): what a session is about. */
  constructor(on) {
    this.on = on;
    this.list = byId("waiting-cards");
  }

  start() {
    document.addEventListener("visibilitychange", () => document.hidden || this.refresh());
    return this.refresh();
  }

  /** Look now, and again after a while. */
  async refresh() {
    clearTimeout(this.#timer);
    let pace = document.hidden ? SLOW_PACE : PACE;
    try {
      const views = await gateway.approvals();
      this.#draw(views);
    } catch {
      pace = SLOW_PACE; // whoever else talks to the gateway reports it; what is shown stays
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh(), pace);
  }

  /** What the sessions are about has become known. */
  redraw() {
    this.#drawLines();
  }

  /** The page of cards is opened, to look at one of them or at all. */
  open(id) {
    this.#forgetSettled();
    this.#wanted = id;
    this.#drawCards();
    this.refresh();
  }

  #draw(views) {
    this.#views = views;
    this.#drawLines();
    if (!byId("approvals").hidden) this.#drawCards();
    this.on.changed(views);
  }

  #drawCards() {
    for (const view of this.#views) if (!this.#cards.has(view.id)) this.#add(view);
    const waiting = new Set(this.#views.map((view) => view.id));
    for (const [id, card] of this.#cards) if (card.pending && !waiting.has(id)) this.#end(card);
    byId("none-waiting").hidden = this.#cards.size > 0;
    this.#focusWanted();
  }

  #add(view) {
    const session = el("a", { href: addressOf(view.session), dir: "auto" }, this.on.promptOf(view.session));
    const above = el("p", { class: "approval-session" }, "In the session ", session);
    const card = new ApprovalCard(requestOf(view), { settled: () => this.refresh(), unauthorized: this.on.unauthorized }, above);
    this.#cards.set(view.id, card);
    this.list.append(card.node);
  }

  /** It waits no longer: find out how it ended. */
  async #end(card) {
    try {
      card.settle(outcomeOf(await gateway.approval(card.request.id)));
    } catch {
      // Asked again with the next look.
    }
  }

  #forgetSettled() {
    for (const [id, card] of this.#cards) {
      if (card.pending) continue;
      card.node.remove();
      this.#cards.delete(id);
    }
  }

  #focusWanted() {
    const card = this.#cards.get(this.#wanted);
    if (!card) return;
    this.#wanted = "";
    card.focus();
  }

  #drawLines() {
    const views = this.#views;
    const list = byId("waiting");
    const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    list.replaceChildren(...views.slice(0, LINES).map((view) => this.#line(view)));
    if (views.length > LINES) {
      list.append(el("li", {}, el("a", { href: "#/approvals" }, `All ${views.length} that wait`)));
    }
    if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    byId("waiting-part").hidden = views.length === 0;
    byId("waiting-chip").hidden = views.length === 0;
    byId("waiting-chip").textContent = `${views.length} waiting`;
    byId("waiting-chip").setAttribute("aria-label", `${count(views.length, "call")} waiting for approval`);
  }

  #line(view) {
    const facts = `${left(view.expires_at - gateway.now())} · ${this.on.promptOf(view.session)}`;
    return el(
      "li",
      {},
      el(
        "a",
        { href: `#/approvals/${encodeURIComponent(view.id)}` },
        el("span", { class: "session-prompt" }, view.tool, el("b", { class: "risk", data: { risk: view.risk } }, `${view.risk} risk`)),
        el("span", { class: "session-facts", dir: "auto" }, facts),
      ),
    );
  }
}
