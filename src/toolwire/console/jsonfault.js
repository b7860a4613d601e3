// What is wrong with arguments written as JSON: where, and in words.

/** Empty if nothing is. */
export function faultIn(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `Not JSON: ${placed(error.message, text)}`;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "Arguments are a JSON object: { … }";
  const inexact = find(value, (one) => Number.isInteger(one) && !Number.isSafeInteger(one));
  return inexact ? `${inexact}: a browser can't keep a number of this size exactly` : "";
}

/** Browsers say where in different ways, and some only by counting characters. */
function placed(message, text) {
  const plain = message.replace(/^JSON\.parse: /, "");
  const position = /\bposition (\d+)/.exec(plain);
  if (!position || /\bline \d+/.test(plain)) return plain;
  const before = text.slice(0, Number(position[1])).split("\n");
  return `${plain} (line ${before.length} column ${before.at(-1).length + 1})`;
}

/** The dotted place of the first number that fits. */
function find(value, fits, place = "arguments") {
  if (typeof value === "number") return fits(value) ? place : "";
  if (value === null || typeof value !== "object") return "";
  for (const [name, part] of Object.entries(value)) {
    const found = find(part, fits, `${place}.${name}`);
    if (found) return found;
  }
  return "";
}
