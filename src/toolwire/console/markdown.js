// Markdown as a tree of plain objects: headings, paragraphs, lists, quotes, fenced code, tables, rules.
// Only parses; draw.js makes nodes of it. HTML in the text is text.

import { parseInline } from "./inline.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]+)(.*)|[ \t]*)$/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const TASK = /^\[([ xX])\][ \t]+/;
const DEEPEST = 8;

/** The blocks of a text. Each has `line`, the number of the line it begins at. */
export function parse(text) {
  return blocksOf(text.split("\n"), 0);
}

function blocksOf(lines, depth) {
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [block, next] = blockAt(lines, at, depth);
    block.line = at;
    blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines, at, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return code(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [{ type: "heading", level: heading[1].length, inline: parseInline(heading[2] ?? "") }, at + 1];
  if (RULE.test(line)) return [{ type: "rule" }, at + 1];
  if (depth < DEEPEST) {
    if (QUOTE.test(line)) return quote(lines, at, depth);
    const item = ITEM.exec(line);
    if (item) return list(lines, at, item, depth);
  }
  if (line.includes("|") && isTableRule(lines[at + 1], line)) return table(lines, at);
  return paragraph(lines, at, depth);
}

function code(lines, at, fence) {
  const mark = fence[1];
  const indent = /^ */.exec(lines[at])[0].length;
  const close = new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}[ \\t]*$`);
  const body = [];
  let next = at + 1;
  while (next < lines.length && !close.test(lines[next])) {
    body.push(indent ? lines[next].replace(new RegExp(`^ {0,${indent}}`), "") : lines[next]);
    next += 1;
  }
  const language = fence[2].trim().split(/\s+/)[0];
  // Growing: whatever follows, as long as it is no fence, only adds to it.
  const growing = next >= lines.length && next > at + 1 && indent === 0;
  return [{ type: "code", language, text: body.join("\n"), growing }, next + 1];
}

function quote(lines, at, depth) {
  const body = [];
  let next = at;
  while (next < lines.length && QUOTE.test(lines[next])) body.push(lines[next++].replace(QUOTE, ""));
  return [{ type: "quote", blocks: blocksOf(body, depth + 1) }, next];
}

function list(lines, at, first, depth) {
  const kind = first[2].at(-1);
  const ordered = /\d/.test(first[2]);
  const items = [];
  let next = at;
  let loose = false;
  while (next < lines.length) {
    const mark = ITEM.exec(lines[next]);
    if (!mark || mark[2].at(-1) !== kind || RULE.test(lines[next])) break;
    const [body, after, blankInside] = itemBody(lines, next, mark);
    items.push(item(body, depth));
    loose ||= blankInside;
    next = after;
    const more = skipBlank(lines, next);
    if (more > next && ITEM.exec(lines[more] ?? "")?.[2].at(-1) === kind) {
      loose = true;
      next = more;
    }
  }
  return [{ type: "list", ordered, start: ordered ? parseInt(first[2], 10) : 1, loose, items }, next];
}

/** The lines of one item without its indentation, where it ends, and whether a blank line separates its parts. */
function itemBody(lines, at, mark) {
  const gap = mark[3] ?? " ";
  const width = mark[1].length + mark[2].length + (gap.length > 4 ? 1 : gap.replace("\t", " ").length);
  const body = [mark[4] ?? ""];
  let next = at + 1;
  let blank = false;
  while (next < lines.length) {
    const line = lines[next];
    if (!line.trim()) {
      const more = skipBlank(lines, next);
      if (more >= lines.length || indentOf(lines[more]) < width) break;
      blank = true;
      body.push("");
      next = more;
      continue;
    }
    if (indentOf(line) >= width) body.push(line.slice(width));
    else if (goesOn(line, body)) body.push(line.trimStart());
    else break;
    next += 1;
  }
  return [body, next, blank];
}

/** Whether a line without indentation still belongs to the paragraph an item ends with. */
function goesOn(line, body) {
  return body.at(-1).trim() !== "" && !ITEM.test(line) && !beginsBlock(line) && !openFence(body);
}

function item(body, depth) {
  const task = TASK.exec(body[0]);
  if (task) body[0] = body[0].slice(task[0].length);
  return { task: task ? task[1] !== " " : null, blocks: blocksOf(body, depth + 1) };
}

function table(lines, at) {
  const align = cells(lines[at + 1]).map((cell) => {
    const [left, right] = [cell.startsWith(":"), cell.endsWith(":")];
    return left && right ? "center" : right ? "right" : left ? "left" : "";
  });
  const row = (line) => align.map((_, column) => parseInline(cells(line)[column] ?? ""));
  const rows = [];
  let next = at + 2;
  while (next < lines.length && lines[next].trim() && lines[next].includes("|")) rows.push(row(lines[next++]));
  return [{ type: "table", align, head: row(lines[at]), rows }, next];
}

function isTableRule(rule, head) {
  return rule !== undefined && TABLE_RULE.test(rule) && cells(rule).length === cells(head).length;
}

function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function paragraph(lines, at, depth) {
  const body = [];
  let next = at;
  while (next < lines.length && lines[next].trim()) {
    if (next > at && (beginsBlock(lines[next], depth) || isTableStart(lines, next))) break;
    body.push(lines[next++]);
  }
  const text = body.map((line) => line.trimStart()).join("\n").trimEnd();
  return [{ type: "paragraph", inline: parseInline(text) }, next];
}

/** Whether a line ends the paragraph before it. A number other than 1 does not: prose has lines that begin so. */
function beginsBlock(line, depth = 0) {
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line)) return true;
  if (depth >= DEEPEST) return false;
  const mark = ITEM.exec(line);
  const list = Boolean(mark?.[4]) && (!/\d/.test(mark[2]) || parseInt(mark[2], 10) === 1);
  return list || QUOTE.test(line);
}

function isTableStart(lines, at) {
  return lines[at].includes("|") && isTableRule(lines[at + 1], lines[at]);
}

function openFence(body) {
  let open = null;
  for (const line of body) {
    const fence = FENCE.exec(line);
    if (!open && fence) open = fence[1];
    else if (open && line.trim().startsWith(open)) open = null;
  }
  return open !== null;
}

function skipBlank(lines, at) {
  while (at < lines.length && !lines[at].trim()) at += 1;
  return at;
}

function indentOf(line) {
  return /^[ \t]*/.exec(line)[0].replaceAll("\t", "    ").length;
}
