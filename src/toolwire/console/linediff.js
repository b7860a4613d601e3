// Two texts, line by line: what goes, what comes, what stays.

const LARGEST = 400_000;

/** `[[mark, line]]`, where the mark is "-", "+" or " ". */
export function lineDiff(before, after) {
  const [old, now] = [lines(before), lines(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  return [
    ...old.slice(0, head).map((line) => [" ", line]),
    ...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map((line) => [" ", line]),
  ];
}

function lines(text) {
  return text === "" ? [] : text.split("\n");
}

function middle(old, now) {
  if (old.length * now.length > LARGEST) return [...mark("-", old), ...mark("+", now)];
  const common = table(old, now);
  const found = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      found.push([" ", old[i]]);
      i += 1;
      j += 1;
    } else if (common[i + 1][j] >= common[i][j + 1]) found.push(["-", old[i++]]);
    else found.push(["+", now[j++]]);
  }
  return [...found, ...mark("-", old.slice(i)), ...mark("+", now.slice(j))];
}

/** `table[i][j]`: the length of the longest common run of lines of what begins at i and at j. */
function table(old, now) {
  const found = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      found[i][j] = old[i] === now[j] ? found[i + 1][j + 1] + 1 : Math.max(found[i + 1][j], found[i][j + 1]);
    }
  }
  return found;
}

function mark(sign, list) {
  return list.map((line) => [sign, line]);
}
