// Calls that follow one another. A few are shown as they are; many fold into one line that counts them.

import { CallCard } from "./callcard.js";
import { el } from "./dom.js";
import { count } from "./words.js";

const FEW = 4;

export class CallGroup {
  #cards = [];

  constructor() {
    this.title = el("span", { class: "calls-title" });
    this.tools = el("span", { class: "call-brief", dir: "ltr" });
    this.status = el("span", { class: "call-status" });
    this.list = el("div", { class: "calls-list" });
    this.node = el(
      "details",
      { class: "calls", open: true, data: { state: "running" } },
      el("summary", {}, this.title, this.tools, this.status),
      this.list,
    );
  }

  add(message, when) {
    const card = new CallCard(message, when);
    this.#cards.push(card);
    this.list.append(card.node);
    if (this.#cards.length === FEW + 1) this.#fold();
    this.update();
    return card;
  }

  /** Some of the calls may have had their outcome. */
  update() {
    if (this.#cards.length <= FEW) return;
    const tally = (state) => this.#cards.filter((card) => card.state === state).length;
    const [running, failed] = [tally("running"), tally("failed")];
    this.node.dataset.state = running ? "running" : failed ? "failed" : "ok";
    this.title.textContent = count(this.#cards.length, "tool call");
    this.tools.textContent = toolsOf(this.#cards);
    const done = running ? `${this.#cards.length - running} done` : "done";
    this.status.textContent = failed ? `${done}, ${failed} failed` : done;
  }

  /** What somebody is reading stays open. */
  #fold() {
    this.node.dataset.many = "";
    this.node.open = this.#cards.some((card) => card.node.open);
  }
}

function toolsOf(cards) {
  const times = new Map();
  for (const { tool } of cards) times.set(tool, (times.get(tool) ?? 0) + 1);
  return [...times].map(([tool, number]) => (number > 1 ? `${tool} ×${number}` : tool)).join("   ");
}
