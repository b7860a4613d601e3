"""How long a patch of a 10,000-line file takes, as a ratio to npm's `diff` on the same two texts (aim: below 1).

Each side is measured in its own process after a warm-up, best of several runs; node's start is not counted.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from toolwire.tools.patch import unified

LINES = 10_000
EDITS = (1, 10, 100, 1000, 3000)
RUNS = 7
NODE_HOME = Path(__file__).parents[1] / ".cache" / "node" / "diff"

_SCRIPT = """
const diff = require(process.argv[1]);
const {pairs, runs} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const best = pairs.map(([old, changed]) => {
  let least = Infinity;
  for (let run = 0; run < runs; run++) {
    const start = process.hrtime.bigint();
    diff.structuredPatch('f', 'f', old, changed, '', '', {context: 3});
    least = Math.min(least, Number(process.hrtime.bigint() - start) / 1e9);
  }
  return least;
});
process.stdout.write(JSON.stringify(best));
"""


def main() -> int:
    if shutil.which("node") is None or shutil.which("npm") is None:
        print("patch: node and npm are not installed, nothing to compare with")
        return 0
    pairs = [_pair(count) for count in EDITS]
    theirs = _npm(pairs)
    print(f"patch of a {LINES:,}-line file, ratio to npm diff (aim: below 1)")
    for count, pair, other in zip(EDITS, pairs, theirs, strict=True):
        ours = _best(*pair)
        print(f"  {count:>5} edits: {ours / other:5.2f}   ({ours * 1000:.1f} ms against {other * 1000:.1f} ms)")
    return 0


def _pair(edits: int) -> tuple[str, str]:
    """A text that looks like source (some lines recur, most do not) and an edited copy."""
    chance = random.Random(edits)
    old = [
        chance.choice(["", "}", "    return result"]) if chance.random() < 0.3 else f"line {n}" for n in range(LINES)
    ]
    new = list(old)
    for _ in range(edits):
        place = chance.randrange(len(new))
        new[place : place + chance.choice([0, 1, 1])] = [f"new {chance.random()}"] * chance.choice([0, 1, 1, 2])
    return "\n".join(old) + "\n", "\n".join(new) + "\n"


def _best(old: str, new: str) -> float:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        unified(old, new)
        times.append(time.perf_counter() - start)
    return min(times)


def _npm(pairs: list[tuple[str, str]]) -> list[float]:
    place = NODE_HOME / "node_modules" / "diff"
    if not place.is_dir():
        NODE_HOME.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix", str(NODE_HOME)]
        subprocess.run([*install, "diff@9"], check=True, timeout=120)
    question = json.dumps({"pairs": pairs, "runs": RUNS})
    done = subprocess.run(
        ["node", "-e", _SCRIPT, str(place)], input=question, capture_output=True, text=True, check=True, timeout=300
    )
    best: list[float] = json.loads(done.stdout)
    return best


if __name__ == "__main__":
    sys.exit(main())
