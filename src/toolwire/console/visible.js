// Text a person decides about. Characters that can't be seen, or that turn the text around them, are shown by their
// number: what is approved must be what is read.

import { el } from "./dom.js";

// Controls but tab and newline, what changes direction, marks of no width, what is not assigned; then letters that are
// blank, and what picks another form of the character before it.
const UNSEEN = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]/gu;

/** Nodes for a text. */
export function visible(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > from) nodes.push(text.slice(from, found.index));
    nodes.push(el("span", { class: "unseen-mark" }, named(found[0])));
    from = found.index + found[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

function named(character) {
  return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
