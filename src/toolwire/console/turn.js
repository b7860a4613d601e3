// One turn on the page: a question, and along the wire below it the text, calls and errors of its answer.

import { ApprovalCard, requestIn } from "./approval.js";
import { CallGroup } from "./callgroup.js";
import { copyButton, el } from "./dom.js";
import { GrowingText } from "./draw.js";
import { count, duration } from "./words.js";

const OUTCOMES = {
  completed: "Done",
  failed: "Failed",
  cancelled: "Stopped",
  overridden: "Replaced by a newer question",
  timed_out: "Took too long",
};

const UNANSWERED = ["failed", "cancelled", "timed_out"];

export class Turn {
  /** `unsent`, `asked`, `running` or one of the outcomes. */
  state = "asked";
  #run = null;
  #runs = [];
  #calls = new Map();
  #approvals = new Map();
  #group = null;
  #problem = null;
  #began = 0;

  constructor(question, state = "asked") {
    this.question = question;
    this.answer = el("div", { class: "answer" });
    this.foot = el("p", { class: "turn-foot" });
    this.node = el(
      "article",
      { class: "turn" },
      question === null ? null : el("h2", { class: "ask", dir: "auto" }, question),
      this.answer,
      this.foot,
    );
    this.become(state);
  }

  get ended() {
    return this.state in OUTCOMES;
  }

  /** Nothing said, and no call without an outcome. */
  get idle() {
    return !this.#runs.length && !this.#waits() && [...this.#calls.values()].every(({ card }) => card.state !== "running");
  }

  get text() {
    return this.#runs.map((run) => run.text).join("\n\n");
  }

  become(state, at = 0) {
    this.state = this.node.dataset.state = state;
    if (state === "unsent") this.foot.textContent = "Waiting for the connection…";
    else if (state === "asked") this.foot.textContent = "Waiting its turn…";
    else if (state === "running") {
      this.#began = at;
      this.#work();
    }
  }

  say(piece, final) {
    if (!this.#run) {
      if (!piece) return;
      this.#group = null;
      this.#run = new GrowingText();
      this.#runs.push(this.#run);
      this.answer.append(this.#run.node);
    }
    this.#run.append(piece);
    if (final) this.#endRun();
  }

  call(message, when) {
    if (this.#calls.has(message.call_id)) return;
    this.#endRun();
    if (!this.#group) {
      this.#group = new CallGroup();
      this.answer.append(this.#group.node);
    }
    this.#calls.set(message.call_id, { card: this.#group.add(message, when), group: this.#group });
  }

  /** Gives whether the call is one of this turn's. */
  settle(message, when) {
    const call = this.#calls.get(message.call_id);
    if (call?.card.state === "running") {
      call.card.settle(message, when);
      call.group.update();
    }
    return Boolean(call);
  }

  /** A person is asked, here; gives the card, or null if it is there already. */
  approve(message, on) {
    if (this.#approvals.has(message.approval_id)) return null;
    this.#endRun();
    this.#group = null;
    const settled = (card) => {
      this.#work();
      on.settled(card);
    };
    const card = new ApprovalCard(requestIn(message), { ...on, settled });
    this.#approvals.set(message.approval_id, card);
    this.answer.append(card.node);
    this.#work();
    return card;
  }

  fail(text) {
    if (this.#problem?.textContent === text) return; // a connection cut between two messages gets the first again
    this.#endRun();
    this.#group = null;
    this.#problem = el("p", { class: "problem", dir: "auto" }, text);
    this.answer.append(this.#problem);
  }

  /** The time it took is told if the gateway says it, or if we have seen the turn from its start. */
  end({ outcome, code, ms }, { live, at }, again = null) {
    this.#endRun();
    for (const { card, group } of this.#calls.values()) {
      card.abandon();
      group.update();
    }
    this.become(outcome in OUTCOMES ? outcome : "completed");
    if (code === "STOPPED") this.#problem?.remove(); // it was asked for: the last line says it
    const facts = [OUTCOMES[this.state]];
    if (this.#calls.size) facts.push(count(this.#calls.size, "tool call"));
    const took = ms || (live ? at - this.#began : 0);
    if (took) facts.push(duration(took));
    this.foot.replaceChildren(facts.join(" · "));
    if (this.text) this.foot.append(copyButton(() => this.text, "Copy answer"));
    if (again && this.question !== null && UNANSWERED.includes(this.state)) {
      const ask = () => again(this.question);
      this.foot.append(el("button", { type: "button", class: "copy", onclick: ask }, "Ask again"));
    }
  }

  flush() {
    this.#run?.flush();
  }

  #waits() {
    return [...this.#approvals.values()].some((card) => card.pending);
  }

  #work() {
    if (this.state === "running") this.foot.textContent = this.#waits() ? "Waiting for approval…" : "Working…";
  }

  #endRun() {
    this.#run?.finish();
    this.#run = null;
  }
}
