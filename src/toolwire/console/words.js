// Durations, times and counts as people read them.

export function duration(ms) {
  if (ms < 1) return "under 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** Time that is left: "9 min left", and by the second in the last two minutes. */
export function left(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return seconds > 120 ? `${Math.floor(seconds / 60)} min left` : `${seconds} s left`;
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

const STEPS = [
  [60_000, 1000, "second"],
  [3_600_000, 60_000, "minute"],
  [86_400_000, 3_600_000, "hour"],
  [2_592_000_000, 86_400_000, "day"],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** How long ago `at` (milliseconds) was; a date once that is more than a month. */
export function ago(at, now = Date.now()) {
  const past = Math.max(0, now - at);
  if (past < 10_000) return "just now";
  for (const [below, unit, name] of STEPS) {
    if (past < below) return relative.format(-Math.floor(past / unit), name);
  }
  return new Date(at).toLocaleDateString();
}
