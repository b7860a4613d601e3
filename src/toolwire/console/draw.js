// A Markdown tree as nodes, and text that grows piece by piece: only its last block is drawn again.

import { copyButton, el } from "./dom.js";
import { parse } from "./markdown.js";

/** Nodes of inline Markdown. */
function inline(nodes) {
  return nodes.map((node) => {
    if (node.text !== undefined) return node.text;
    if (node.code !== undefined) return el("code", { dir: "ltr" }, node.code);
    if (node.break) return el("br");
    if (node.strong) return el("strong", {}, ...inline(node.strong));
    if (node.emphasis) return el("em", {}, ...inline(node.emphasis));
    if (node.strike) return el("del", {}, ...inline(node.strike));
    return el("a", { href: node.link, target: "_blank", rel: "noopener noreferrer" }, ...inline(node.nodes));
  });
}

const DRAW = {
  // The page has its own h1 and h2; an answer's headings come below them.
  heading: (block) => el(`h${Math.min(6, block.level + 2)}`, { dir: "auto" }, ...inline(block.inline)),
  paragraph: (block) => el("p", { dir: "auto" }, ...inline(block.inline)),
  rule: () => el("hr"),
  quote: (block) => el("blockquote", { dir: "auto" }, ...block.blocks.map(draw)),
  code: (block) => {
    const body = el("code", {}, block.text);
    return el(
      "figure",
      { class: "code", dir: "ltr" },
      el("figcaption", {}, el("span", {}, block.language || "text"), copyButton(() => body.textContent)),
      el("pre", { tabindex: "0", "aria-label": `${block.language || "text"} code` }, body),
    );
  },
  list: (block) => {
    const items = block.items.map((item) => drawItem(item, block.loose));
    return el(block.ordered ? "ol" : "ul", { dir: "auto", start: block.start === 1 ? null : block.start }, ...items);
  },
  table: (block) => {
    const cell = (tag) => (nodes, column) =>
      el(tag, { dir: "auto", class: block.align[column] || null }, ...inline(nodes));
    const row = (tag) => (cells) => el("tr", {}, ...cells.map(cell(tag)));
    const head = el("thead", {}, row("th")(block.head));
    const body = el("tbody", {}, ...block.rows.map(row("td")));
    const scrolls = { class: "table", tabindex: "0", role: "group", "aria-label": "table" };
    return el("div", scrolls, el("table", {}, head, body));
  },
};

/** The node of one block. */
export function draw(block) {
  return DRAW[block.type](block);
}

function drawItem(item, loose) {
  const tick = item.task === null ? [] : [el("span", { class: "task" }, item.task ? "☑ " : "☐ ")];
  const parts = item.blocks.flatMap((block) =>
    block.type === "paragraph" && !loose ? inline(block.inline) : [draw(block)],
  );
  return el("li", {}, ...tick, ...parts);
}

/** Markdown that is still being written. */
export class GrowingText {
  text = "";
  #drawn = 0;
  /** Where the last block begins: what stands before it can't change any more. */
  #settled = 0;
  /** The blocks that are drawn, a node each. */
  #blocks = [];

  constructor() {
    this.node = el("div", { class: "prose" });
  }

  append(piece) {
    this.text += piece;
  }

  /** Draw what has come since the last time. */
  flush() {
    if (this.#drawn === this.text.length) return;
    const fresh = this.text.slice(this.#drawn);
    this.#drawn = this.text.length;
    if (this.#growsCode(fresh)) return;
    const rest = this.text.slice(this.#settled);
    const blocks = parse(rest);
    if (!blocks.length) return;
    this.#replaceFrom(this.#blocks.length - 1, blocks);
    this.#settled += offsetOf(rest, blocks.at(-1).line);
  }

  /** No more will come: make it what the whole text is, where reading it in pieces has come to something else. */
  finish() {
    this.flush();
    const blocks = parse(this.text);
    const same = blocks.findIndex((block, index) => keyOf(block) !== keyOf(this.#blocks[index]));
    if (same >= 0 || blocks.length < this.#blocks.length) {
      const from = same >= 0 ? same : blocks.length;
      this.#replaceFrom(from, blocks.slice(from));
    }
  }

  #replaceFrom(index, blocks) {
    const from = Math.max(0, index);
    while (this.node.children.length > from) this.node.lastElementChild.remove();
    this.#blocks.length = from;
    this.#blocks.push(...blocks);
    this.node.append(...blocks.map(draw));
  }

  /** Code that goes on grows in place: drawing it anew for every piece would be slow and lose the selection. */
  #growsCode(fresh) {
    const block = this.#blocks.at(-1);
    if (block?.type !== "code" || !block.growing) return false;
    const line = block.text.slice(block.text.lastIndexOf("\n") + 1) + fresh;
    if (line.includes("```") || line.includes("~~~")) return false; // perhaps its end
    block.text += fresh;
    const body = this.node.lastElementChild.querySelector("pre > code");
    if (body.firstChild) body.firstChild.appendData(fresh);
    else body.append(fresh);
    return true;
  }
}

function keyOf(block) {
  return JSON.stringify(block, (name, value) => (name === "line" || name === "growing" ? undefined : value));
}

function offsetOf(text, line) {
  let at = 0;
  for (let i = 0; i < line; i += 1) at = text.indexOf("\n", at) + 1;
  return at;
}
