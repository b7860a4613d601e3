// What a call would change, read from its arguments by their shape: any tool that writes like ours is shown like ours.

const PATHS = ["path", "file_path", "relativePath", "notebook_path"];
const PAIRS = [
  ["old_string", "new_string"],
  ["searchContent", "replaceContent"],
  ["search_content", "replace_content"],
];
const WHOLE = ["content", "new_source"];

/**
 * `{path, edits: [{before, after, all}], whole, rest}`: `whole`, if not null, is all of the new text; `rest` are the
 * arguments that are in none of the others. Null if this is not a change of a file.
 */
export function changeIn(args) {
  const path = PATHS.find((name) => typeof args?.[name] === "string");
  if (!path) return null;
  const several = Array.isArray(args.edits) && args.edits.length ? args.edits.map(pairIn) : [];
  if (several.length && several.every(Boolean)) {
    return { path: args[path], edits: several, whole: null, rest: without(args, path, "edits") };
  }
  const names = namesIn(args);
  if (names) {
    return { path: args[path], edits: [pairIn(args)], whole: null, rest: without(args, path, ...names) };
  }
  const whole = WHOLE.find((name) => typeof args[name] === "string");
  if (!whole) return null;
  return { path: args[path], edits: [], whole: args[whole], rest: without(args, path, whole) };
}

function namesIn(value) {
  const isText = (name) => typeof value?.[name] === "string";
  // Without a text to look for, the new one makes a file.
  return PAIRS.find(([before, after]) => isText(after) && (isText(before) || value[before] == null));
}

function pairIn(value) {
  const names = namesIn(value);
  if (!names) return null;
  return { before: value[names[0]] ?? "", after: value[names[1]], all: value.replace_all === true };
}

function without(args, ...names) {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}
