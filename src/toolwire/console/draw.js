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
    return el("div", { class: "table", tabindex: "0", role: "group", "aria-label": "table" }, el("table", {}, head, body));
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
  #settled = 0;
  #tail = null;
  #tailBlock = null;
  #dirty = false;

  constructor() {
    this.node = el("div", { class: "prose" });
  }

  append(piece) {
    this.text += piece;
    this.#dirty = true;
  }

  /** Draw what has come since the last time. */
  flush() {
    if (!this.#dirty) return;
    this.#dirty = false;
    const rest = this.text.slice(this.#settled);
    const blocks = parse(rest);
    if (!blocks.length) return;
    if (this.#growsCode(blocks)) return;
    this.#tail?.remove();
    const nodes = blocks.map(draw);
    this.node.append(...nodes);
    this.#tail = nodes.at(-1);
    this.#tailBlock = blocks.at(-1);
    this.#settled += offsetOf(rest, this.#tailBlock.line);
  }

  /** No more will come: draw all of it once, as if it had come in one piece. */
  finish() {
    this.flush();
    if (!this.#settled) return;
    this.node.replaceChildren(...parse(this.text).map(draw));
  }

  /** Long code grows in place: drawing it anew for every piece would make it flicker and lose the selection. */
  #growsCode(blocks) {
    const [first] = blocks;
    const before = this.#tailBlock;
    if (blocks.length > 1 || first.type !== "code" || before?.type !== "code") return false;
    if (first.line !== 0 || first.language !== before.language || !first.text.startsWith(before.text)) return false;
    const body = this.#tail.querySelector("pre > code");
    const more = first.text.slice(before.text.length);
    if (body.firstChild) body.firstChild.appendData(more);
    else body.append(more);
    this.#tailBlock = first;
    return true;
  }
}

function offsetOf(text, line) {
  let at = 0;
  for (let i = 0; i < line; i += 1) at = text.indexOf("\n", at) + 1;
  return at;
}
