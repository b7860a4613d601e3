// A request for a person's word, as a card: what would be done, why it is asked, until when, and the answer.

import { asked } from "./asked.js";
import { changeIn } from "./changes.js";
import { el } from "./dom.js";
import * as gateway from "./gateway.js";
import { visible } from "./visible.js";
import { WordForm } from "./wordform.js";
import { left } from "./words.js";

const SOON = 60_000;
const BRIEF = 100;
const STALE = "APPROVAL_STALE";
const OUTCOMES = {
  approved: "approved",
  edited: "approved with other arguments",
  rejected: "rejected",
  expired: "expired, nobody answered",
  withdrawn: "withdrawn",
};

const ticking = new Set();
setInterval(() => {
  for (const card of ticking) card.tick();
}, 1000);

export class ApprovalCard {
  /** `pending`, or one of the outcomes. */
  state = "pending";

  /**
   * `request`: id, tool, arguments, digest, risk, why, askedBy, expires. `on`: settled(card), unauthorized(). `above`
   * is a node that stands over what is asked.
   */
  constructor(request, on = {}, above = null) {
    this.request = request;
    this.on = on;
    this.status = el("span", { class: "call-status", role: "timer" });
    this.form = new WordForm(request.tool, request.arguments, (word) => this.#give(word));
    this.problem = el("p", { class: "problem", role: "alert", dir: "auto", hidden: true });
    this.outcome = el("p", { class: "outcome", dir: "auto", hidden: true });
    this.node = el(
      "details",
      { class: "approval", open: true, data: { state: "pending", approval: request.id } },
      el(
        "summary",
        {},
        el("span", { class: "call-tool" }, ...visible(request.tool)),
        el("span", { class: "risk", data: { risk: request.risk } }, `${request.risk || "unknown"} risk`),
        el("span", { class: "call-brief", dir: "ltr" }, brief(request.arguments)),
        this.status,
      ),
      el(
        "div",
        { class: "approval-body", role: "group", "aria-label": `May ${request.tool} be called?` },
        above,
        el("p", { class: "hint" }, ...reason(request)),
        asked(request.arguments),
        this.problem,
        this.form.node,
        this.outcome,
      ),
    );
    ticking.add(this);
    this.tick(true);
  }

  get pending() {
    return this.state === "pending";
  }

  /** How it ended: here, elsewhere, or by its time running out. A second word changes nothing. */
  settle({ decision, reason = "", by = "" }) {
    if (!this.pending || !(decision in OUTCOMES)) return;
    this.state = this.node.dataset.state = decision;
    ticking.delete(this);
    const who = by ? ` by ${by}` : "";
    this.status.removeAttribute("role");
    this.status.textContent = `${OUTCOMES[decision].split(",")[0]}${who}`;
    this.told = `${OUTCOMES[decision]}${who}${reason ? `: ${reason}` : ""}`;
    const held = this.form.sending || this.node.contains(document.activeElement);
    const unfinished = this.form.open && !this.form.sending;
    this.form.node.remove();
    this.outcome.replaceChildren(...visible(`${this.told[0].toUpperCase()}${this.told.slice(1)}`));
    this.outcome.hidden = false;
    // It folds into one line, unless there is something left to read: a refusal, or an answer somebody was writing.
    this.node.open = unfinished || !this.problem.hidden;
    if (held) this.node.querySelector("summary").focus({ preventScroll: true });
    this.on.settled?.(this);
  }

  focus() {
    this.node.open = true;
    this.node.querySelector("summary").focus();
    this.node.scrollIntoView({ block: "nearest" });
  }

  tick(fresh = false) {
    if (!fresh && !this.node.isConnected) ticking.delete(this);
    const rest = this.request.expires - gateway.now();
    if (rest <= 0) {
      this.settle({ decision: "expired" });
      return;
    }
    this.status.textContent = `waits for you · ${left(rest)}`;
    this.node.toggleAttribute("data-soon", rest < SOON);
  }

  async #give(word) {
    this.#complain("");
    try {
      this.settle(outcomeOf(await gateway.answer(this.request.id, { ...word, digest: this.request.digest })));
    } catch (error) {
      await this.#failed(error);
    }
  }

  async #failed(error) {
    const faults = Object.entries(error.fields ?? {});
    if (faults.length) {
      this.form.fault(faults.map(([name, what]) => `${name}: ${what}`).join("\n"));
    } else if (error instanceof gateway.Unauthorized) {
      this.on.unauthorized?.();
    } else if (error instanceof gateway.Unreachable) {
      const unsure = "Whether your answer has arrived is not known; it counts once, so you can give it again.";
      this.#complain(`${error.message[0].toUpperCase()}${error.message.slice(1)}. ${unsure}`);
    } else {
      this.#complain(`${error.code ? `${error.code}: ` : ""}${error.message}`);
      if (error.code === STALE) await this.#catchUp();
    }
  }

  /** Somebody was quicker, or time was: show how it ended. */
  async #catchUp() {
    try {
      this.settle(outcomeOf(await gateway.approval(this.request.id)));
    } catch {
      // The refusal is on the card; how it ended will come with the next word of the gateway.
    }
  }

  #complain(text) {
    this.problem.replaceChildren(...visible(text));
    this.problem.hidden = !text;
  }
}

/** A request as HTTP gives it. */
export function requestOf(view) {
  const { id, tool, digest, risk, why } = view;
  return { id, tool, arguments: view.arguments, digest, risk, why, askedBy: view.asked_by, expires: view.expires_at };
}

/** A request as the socket gives it. */
export function requestIn(message) {
  const { digest, risk, why } = message;
  return {
    ...{ id: message.approval_id, tool: message.tool_name, arguments: message.arguments, digest, risk, why },
    ...{ askedBy: message.asked_by, expires: message.expires_at },
  };
}

export function outcomeOf(view) {
  return { decision: view.state, reason: view.reason, by: view.answered_by };
}

function reason({ why, askedBy }) {
  const parts = [];
  if (why) parts.push(`Asked because ${why}.`);
  if (askedBy) parts.push(`On behalf of ${askedBy}.`);
  return visible(parts.join(" "));
}

/** What it is about, on one line. */
function brief(args) {
  const about = changeIn(args)?.path ?? Object.values(args ?? {}).map((value) => plain(value)).join("   ");
  const line = about.replace(/\s+/g, " ");
  return line.length > BRIEF ? `${line.slice(0, BRIEF)}…` : line;
}

function plain(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
