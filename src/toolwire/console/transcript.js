// The conversation: messages of document 5 in, turns on the page. Turns are answered in the order they were asked in,
// so what comes belongs to the first one that has not ended.

import { el } from "./dom.js";
import { Turn } from "./turn.js";

const SPOKEN = 600;
/** Errors that are about a message just sent, not about the connection or a turn. */
const REFUSAL = /^(QUEUE_FULL|MESSAGE_TOO_LARGE|INVALID_REQUEST|PROJECT_NOT_FOUND): /;
const KNOWN_ROLES = { assistant: "Assistant", system: "System", tool: "Tool" };

export class Transcript {
  #turns = [];
  #open = [];
  #unsent = [];
  #approvals = new Map();

  /**
   * `changed` is told when a turn begins or ends, `refused` of a question that was not taken; `announce` gets what a
   * screen reader should say; `unauthorized` is called when an answer needs a token; `again` asks a
   * question once more.
   */
  constructor(node, { changed, refused, announce, unauthorized, again }) {
    this.node = node;
    this.changed = changed;
    this.refused = refused;
    this.announce = announce;
    this.unauthorized = unauthorized;
    this.again = again;
  }

  get empty() {
    return this.#turns.length === 0 && this.#unsent.length === 0;
  }

  get running() {
    return this.#open.length > 0;
  }

  get title() {
    return [...this.#turns, ...this.#unsent].find((turn) => turn.question !== null)?.question ?? "";
  }

  /** Another session is shown. */
  clear() {
    this.#unsent = [];
    this.reread();
  }

  /** The same session, read again from its start: what was not sent yet stays. */
  reread() {
    this.#turns = [];
    this.#open = [];
    this.#approvals.clear();
    this.node.replaceChildren(...this.#unsent.map((turn) => turn.node));
    this.changed(null);
  }

  /** Show a question before the gateway has it. */
  ask(question) {
    const turn = new Turn(question, "unsent");
    this.#unsent.push(turn);
    this.node.append(turn.node);
    this.changed(null);
  }

  /** A message of the gateway: `at` is when it came, `live` is false while history is replayed. */
  take(message, when) {
    this.#takers[message.type]?.(message, when);
  }

  flush() {
    this.#open[0]?.flush();
  }

  /** An error that belongs to no message: of the page itself, or of the connection. */
  problem(text) {
    this.#problem(text);
    this.announce(text);
  }

  #takers = {
    user_message: (message, when) => this.#asked(message, when),
    assistant_message: (message, when) => this.#current(when).say(message.token ?? "", message.is_final === true),
    tool_call: (message, when) => this.#current(when).call(message, when),
    tool_result: (message, when) => this.#settled(message, when),
    approval_request: (message, when) => this.#askedFor(message, when),
    approval_result: (message) => this.#approvals.get(message.approval_id)?.settle(message),
    error: (message, { live }) => {
      const text = message.content ?? "The gateway reported an error.";
      if (!this.#refused(text)) this.#problem(text);
      if (live) this.announce(`Error: ${text}`);
    },
    turn_ended: (message, when) => this.#ended(message, when),
  };

  #asked({ content, role = "user" }, when) {
    if (role !== "user") {
      this.node.append(el("p", { class: "note", dir: "auto" }, `${KNOWN_ROLES[role] ?? role}: ${content}`));
      return;
    }
    const index = this.#unsent.findIndex((turn) => turn.question === content);
    const turn = index >= 0 ? this.#unsent.splice(index, 1)[0] : new Turn(content);
    const before = this.#unsent[0]?.node ?? null;
    this.node.insertBefore(turn.node, before);
    this.#turns.push(turn);
    this.#open.push(turn);
    turn.become(this.#open.length === 1 ? "running" : "asked", when.at);
    this.changed(null);
  }

  #current(when) {
    if (!this.#open.length) this.#begin(new Turn(null), when);
    return this.#open[0];
  }

  /** Something came that nobody here asked for: still show it. */
  #begin(turn, when) {
    this.#turns.push(turn);
    this.#open.push(turn);
    turn.become("running", when.at);
    this.node.insertBefore(turn.node, this.#unsent[0]?.node ?? null);
    this.changed(null);
  }

  #settled(message, when) {
    const turn = this.#turns.findLast((known) => known.settle(message, when));
    // A call of a client's own belongs to no turn, so no word of the gateway will end what we made for it.
    const alone = turn?.question === null && turn.idle && !turn.ended;
    if (alone) this.#ended({ outcome: "completed" }, { ...when, live: false });
  }

  #askedFor(message, when) {
    if (this.#approvals.has(message.approval_id)) return;
    const live = when.live;
    const settled = (card) => {
      if (alone) alone.end({ outcome: "completed" }, { live: false });
      if (live) this.announce(`${card.request.tool} ${card.told}`);
    };
    // A program's call is of no turn, and no word of the gateway will end what we make for it.
    const alone = this.#open.length ? null : this.#alone(when);
    const card = (alone ?? this.#open[0]).approve(message, { settled, unauthorized: this.unauthorized });
    this.#approvals.set(message.approval_id, card);
    if (live && card.pending) this.announce(`Approval needed: ${message.tool_name}, ${message.risk} risk.`);
  }

  /** A turn beside the others: what comes next is not its own. */
  #alone(when) {
    const turn = new Turn(null);
    this.#turns.push(turn);
    turn.become("running", when.at);
    this.node.insertBefore(turn.node, this.#unsent[0]?.node ?? null);
    this.changed(null);
    return turn;
  }

  /** A question the gateway did not take, if that is what an error is about. */
  #refused(text) {
    const turn = REFUSAL.test(text) ? this.#unsent.pop() : undefined;
    if (!turn) return false;
    turn.fail(text);
    turn.end({ outcome: "failed" }, { live: false }, this.again);
    this.#turns.push(turn);
    this.refused(turn.question);
    return true;
  }

  #ended(message, when) {
    const turn = this.#open.shift();
    turn?.end(message, when, this.again);
    this.#open[0]?.become("running", when.at);
    if (turn && when.live) this.announce(spoken(turn));
    this.changed(turn && when.live ? turn : null);
  }

  #problem(text) {
    const turn = this.#open[0];
    const before = this.#unsent[0]?.node ?? null;
    const last = before ? before.previousElementSibling : this.node.lastElementChild;
    if (turn) turn.fail(text);
    else if (last?.className !== "problem" || last.textContent !== text) {
      this.node.insertBefore(el("p", { class: "problem", dir: "auto" }, text), before);
    }
  }
}

function spoken(turn) {
  const how = turn.state === "completed" ? "Answer" : `Answer ${turn.state}`;
  return `${how}: ${turn.text.slice(0, SPOKEN)}`;
}
