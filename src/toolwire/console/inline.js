// What stands inside a paragraph: code, emphasis, links. Emphasis is matched with a stack of delimiters, so that
// its cost grows with the length of the text and not with the number of stars in it.

const SPECIAL = /[`*_~[!\\<h\n]/g;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const BARE_URL = /https?:\/\/[^\s<>"'`\]]+/y;
const ANGLE_URL = /<(https?:\/\/[^\s<>]+)>/y;
const WORD = /[\p{L}\p{N}]/u;
const LINK_LIMIT = 2000;

/** Nodes: {text}, {code}, {link, nodes}, {strong|emphasis|strike: nodes}, {break: true}. */
export function parseInline(text) {
  return emphasise(scan(text));
}

/** A link's address, if it is one a page may lead to. */
export function safeAddress(address) {
  try {
    const url = new URL(address);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

function scan(text) {
  const state = { text, parts: [], from: 0, missing: new Set(), lastLink: lastLink(text) };
  let at = 0;
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const found = SPECIAL.exec(text);
    if (!found) break;
    at = found.index;
    const taken = READERS[found[0]](state, at);
    if (taken) {
      if (at > state.from) state.parts.push({ text: text.slice(state.from, at) });
      state.parts.push(...taken.nodes);
      state.from = at = taken.end;
    } else {
      at += found[0] === "`" ? runLength(text, at) : 1;
    }
  }
  if (state.from < text.length) state.parts.push({ text: text.slice(state.from) });
  return state.parts;
}

/** Where the last link could begin: no use looking for one after that. */
function lastLink(text) {
  const end = text.lastIndexOf(")");
  return end < 0 ? -1 : text.lastIndexOf("](", end);
}

const READERS = {
  "\\": ({ text }, at) => {
    if (text[at + 1] === "\n") return { nodes: [{ break: true }], end: at + 2 };
    return ESCAPABLE.test(text[at + 1] ?? "") ? { nodes: [{ text: text[at + 1] }], end: at + 2 } : null;
  },
  "\n": ({ text }, at) => {
    const hard = text.slice(Math.max(0, at - 2), at) === "  ";
    return { nodes: [hard ? { break: true } : { text: "\n" }], end: at + 1 };
  },
  "`": (state, at) => {
    const length = runLength(state.text, at);
    const end = closingRun(state, at + length, length);
    if (end < 0) return null;
    const inner = state.text.slice(at + length, end).replaceAll("\n", " ");
    const padded = inner.length > 2 && inner.startsWith(" ") && inner.endsWith(" ") && inner.trim();
    return { nodes: [{ code: padded ? inner.slice(1, -1) : inner }], end: end + length };
  },
  "*": delimiter,
  _: delimiter,
  "~": (state, at) => (state.text.startsWith("~~", at) ? delimiter(state, at) : null),
  "[": (state, at) => link(state, at),
  // A picture would be fetched from elsewhere: its description, as a link, is what is shown.
  "!": (state, at) => (state.text[at + 1] === "[" ? link(state, at + 1) : null),
  "<": ({ text }, at) => {
    ANGLE_URL.lastIndex = at;
    const found = ANGLE_URL.exec(text);
    return found && safeAddress(found[1]) ? address(found[1], found[1], at + found[0].length) : null;
  },
  h: ({ text }, at) => {
    BARE_URL.lastIndex = at;
    const found = !WORD.test(text[at - 1] ?? "") && BARE_URL.exec(text);
    if (!found) return null;
    let url = found[0].replace(/[.,;:!?*_~]+$/, "");
    if (url.endsWith(")") && !url.includes("(")) url = url.slice(0, -1);
    return safeAddress(url) ? address(url, url, at + url.length) : null;
  },
};

function address(url, text, end) {
  return { nodes: [{ link: safeAddress(url), nodes: [{ text }] }], end };
}

function link(state, at) {
  const { text } = state;
  if (at > state.lastLink) return null;
  const middle = closingBracket(text, at);
  if (middle < 0 || text[middle + 1] !== "(") return null;
  const end = closingParenthesis(text, middle + 1);
  if (end < 0) return null;
  const target = text.slice(middle + 2, end).trim();
  const url = safeAddress(target.startsWith("<") ? target.slice(1).split(">")[0] : target.split(/\s/)[0]);
  const label = text.slice(at + 1, middle);
  const nodes = parseInline(label.includes("](") ? label.replaceAll("](", "]\\(") : label);
  // Anything but http(s) is not led to; its text stays readable.
  return { nodes: url ? [{ link: url, nodes: plain(nodes) }] : [{ text: label }], end: end + 1 };
}

/** A link inside a link makes no sense. */
function plain(nodes) {
  return nodes.flatMap((node) => (node.link ? node.nodes : [node]));
}

function closingBracket(text, at) {
  let depth = 0;
  for (let i = at; i < Math.min(text.length, at + LINK_LIMIT); i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "[") depth += 1;
    else if (text[i] === "]" && --depth === 0) return i;
  }
  return -1;
}

function closingParenthesis(text, at) {
  let depth = 0;
  for (let i = at; i < Math.min(text.length, at + LINK_LIMIT); i += 1) {
    if (text[i] === "\n") return -1;
    if (text[i] === "\\") i += 1;
    else if (text[i] === "(") depth += 1;
    else if (text[i] === ")" && --depth === 0) return i;
  }
  return -1;
}

function runLength(text, at) {
  let end = at;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

/** Where a run of exactly `length` backticks begins; a length that was not found once is not looked for again. */
function closingRun(state, from, length) {
  if (state.missing.has(length)) return -1;
  let at = state.text.indexOf("`", from);
  while (at >= 0) {
    const run = runLength(state.text, at);
    if (run === length) return at;
    at = state.text.indexOf("`", at + run);
  }
  state.missing.add(length);
  return -1;
}

function delimiter({ text }, at) {
  const mark = text[at];
  const length = mark === "~" ? 2 : runLength(text, at);
  const [before, after] = [text[at - 1] ?? " ", text[at + length] ?? " "];
  // Only white space decides, not punctuation: in Chinese, bold text often ends with a colon and no space follows.
  let opens = after.trim() !== "";
  let closes = before.trim() !== "";
  if (mark === "_") [opens, closes] = [opens && !WORD.test(before), closes && !WORD.test(after)];
  return { nodes: [{ mark, length, opens, closes, text: mark.repeat(length) }], end: at + length };
}

function emphasise(parts) {
  const out = [];
  const open = [];
  for (const part of parts) {
    if (!part.mark) {
      out.push(part);
      continue;
    }
    let left = part.length;
    while (part.closes && left > 0) {
      const index = open.findLastIndex((opener) => opener.mark === part.mark && fits(opener, left));
      if (index < 0) break;
      left -= close(out, open, index, left);
    }
    if (left === 0) continue;
    const rest = { text: part.mark.repeat(left) };
    out.push(rest);
    if (part.opens && open.length < 64) open.push({ mark: part.mark, length: left, node: rest });
  }
  return out;
}

function fits(opener, left) {
  return opener.mark !== "~" || (opener.length >= 2 && left >= 2);
}

/** Wrap what follows an opener; gives how many delimiter characters were used up. */
function close(out, open, index, left) {
  const opener = open[index];
  const used = opener.length >= 2 && left >= 2 ? 2 : 1;
  const place = out.lastIndexOf(opener.node);
  const inner = out.splice(place + 1);
  open.length = index + 1;
  opener.length -= used;
  opener.node.text = opener.mark.repeat(opener.length);
  if (opener.length === 0) {
    out.pop();
    open.pop();
  }
  const kind = opener.mark === "~" ? "strike" : used === 2 ? "strong" : "emphasis";
  out.push({ [kind]: inner });
  return used;
}
