// A tool call as a card on the wire: what was asked, how it goes, what came back.

import { copyButton, el } from "./dom.js";
import { duration } from "./words.js";

const PREVIEW = 3000;
const BRIEF = 120;

export class CallCard {
  state = "running";

  /** `when.live` is false for a call that is only being replayed: the time it took is then not ours to measure. */
  constructor(message, when) {
    this.tool = message.tool_name;
    this.began = when;
    this.status = el("span", { class: "call-status" }, "running");
    this.outcome = el("div", { class: "call-outcome" });
    this.node = el(
      "details",
      { class: "call", data: { state: "running", call: message.call_id } },
      el(
        "summary",
        {},
        el("span", { class: "call-tool" }, this.tool),
        el("span", { class: "call-brief", dir: "ltr" }, brief(message.arguments)),
        this.status,
      ),
      el("div", { class: "call-body" }, section("Arguments", json(message.arguments)), this.outcome),
    );
  }

  settle(message, when) {
    const failed = message.error !== undefined && message.error !== null;
    this.#become(failed ? "failed" : "ok");
    const took = typeof message.ms === "number" ? message.ms : this.began.live ? when.at - this.began.at : null;
    const time = took === null ? "" : duration(took);
    this.status.textContent = failed ? ["failed", time].filter(Boolean).join(" · ") : time || "done";
    const shown = failed ? section("Error", text(message.error)) : section(...resultOf(message.result));
    this.outcome.replaceChildren(shown);
  }

  /** The turn has ended and this call never had an outcome. */
  abandon() {
    if (this.state !== "running") return;
    this.#become("abandoned");
    this.status.textContent = "no answer";
  }

  #become(state) {
    this.state = this.node.dataset.state = state;
  }
}

/** The arguments on one line. */
function brief(args) {
  const parts = Object.entries(args ?? {}).map(([name, value]) => {
    const plain = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}: ${plain}`;
  });
  const line = parts.join("   ").replace(/\s*\n\s*/g, " ⏎ ");
  return line.length > BRIEF ? `${line.slice(0, BRIEF)}…` : line;
}

/** What people want to see of a result: its text if it has one, all of it otherwise. */
function resultOf(result) {
  if (typeof result === "string") return ["Result", result];
  if (result && typeof result.content === "string" && result.content) return ["Result", result.content];
  return ["Result", json(result)];
}

function section(title, body) {
  const pre = el("pre", { tabindex: "0", dir: "auto" }, body.slice(0, PREVIEW));
  const heading = el("div", { class: "call-heading" }, el("span", {}, title), copyButton(body));
  const parts = [heading, pre];
  if (body.length > PREVIEW) {
    const size = body.length.toLocaleString("en");
    const rest = el("button", { type: "button", class: "quiet" }, `Show all ${size} characters`);
    rest.addEventListener("click", () => {
      pre.textContent = body;
      rest.remove();
      pre.focus();
    });
    parts.push(rest);
  }
  return el("section", {}, ...parts);
}

function text(value) {
  return typeof value === "string" ? value : json(value);
}

function json(value) {
  return JSON.stringify(value ?? null, null, 2);
}
