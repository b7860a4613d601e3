// What a person is asked to allow, as they can read it: a change of a file as a diff, anything else name by name. The
// exact arguments are one click away.

import { changeIn } from "./changes.js";
import { copyButton, el } from "./dom.js";
import { lineDiff } from "./linediff.js";
import { visible } from "./visible.js";
import { count } from "./words.js";

/** Lines of a diff, or characters of a value, that are shown before somebody asks for all of them. */
const LINES = 200;
const CHARACTERS = 6000;
const KINDS = { "-": "del", "+": "ins" };

export function asked(args) {
  const change = changeIn(args);
  return el(
    "div",
    { class: "asked" },
    ...(change ? changed(change) : [valuesOf(args)]),
    el("details", { class: "exact" }, el("summary", {}, "Exact arguments"), exact(args)),
  );
}

function changed({ path, edits, whole, rest }) {
  return [
    el("p", { class: "asked-path" }, el("code", { dir: "ltr" }, ...visible(path)), whole === null ? "" : " becomes, as a whole:"),
    ...edits.flatMap(({ before, after, all }) => diff(lineDiff(before, after), all)),
    ...(whole === null ? [] : diff(newText(whole), false)),
    Object.keys(rest).length ? valuesOf(rest) : null,
  ];
}

function diff(lines, all) {
  const pre = el("pre", { class: "diff", tabindex: "0", dir: "ltr", "aria-label": "The change" });
  const show = (some) => pre.replaceChildren(...some.map(([mark, line]) => row(mark, line)));
  show(lines.slice(0, LINES));
  const more = lines.length > LINES ? rest(`Show all ${count(lines.length, "line")}`, () => show(lines), pre) : null;
  return [pre, more, all ? el("p", { class: "hint" }, "At every place where the old text occurs.") : null];
}

/** That its last line has no end is worth a line, as in any patch. */
function newText(text) {
  const lines = text.split("\n");
  const ended = lines.at(-1) === "";
  const added = lines.slice(0, ended ? -1 : undefined).map((line) => ["+", line]);
  return ended ? added : [...added, ["\\", "No newline at end of file"]];
}

function row(mark, line) {
  return el(KINDS[mark] ?? "span", { class: "diff-line", data: { mark } }, `${mark} `, ...visible(line), "\n");
}

function valuesOf(args) {
  const names = Object.entries(args ?? {});
  if (!names.length) return el("p", { class: "hint" }, "No arguments.");
  return el("dl", { class: "values" }, ...names.flatMap(([name, value]) => [el("dt", {}, ...visible(name)), ...shown(value)]));
}

function shown(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (text === "") return [el("dd", { class: "hint" }, "empty")];
  const node = el(text.includes("\n") ? "pre" : "code", { dir: "auto" });
  const show = (some) => node.replaceChildren(...visible(some));
  show(text.slice(0, CHARACTERS));
  const long = text.length > CHARACTERS;
  const more = long ? rest(`Show all ${text.length.toLocaleString("en")} characters`, () => show(text), node) : null;
  return [el("dd", {}, node, more)];
}

function exact(args) {
  const text = JSON.stringify(args ?? null, null, 2);
  return el("div", {}, copyButton(text), el("pre", { tabindex: "0", dir: "ltr" }, ...visible(text)));
}

function rest(label, show, node) {
  const button = el("button", { type: "button", class: "quiet" }, label);
  button.addEventListener("click", () => {
    show();
    button.remove();
    node.tabIndex = 0;
    node.focus();
  });
  return button;
}
