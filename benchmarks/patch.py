"""How long a patch of a 10,000-line file takes, as a ratio to npm's `diff` on the same two texts (aim: below 1).

Both take turns after a warm-up, so that what else the machine does meets both; the ratio is the median of the pairs.
Node's start is not counted.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from toolwire.tools.patch import unified

LINES = 10_000
EDITS = (1, 10, 100, 1000, 3000)
PAIRS = 5
NODE_HOME = Path(__file__).parents[1] / ".cache" / "node" / "diff"

_PEER = """
const diff = require(process.argv[1]);
const lines = require('readline').createInterface({input: process.stdin});
lines.on('line', (line) => {
  const [old, changed] = JSON.parse(line);
  const start = process.hrtime.bigint();
  diff.structuredPatch('f', 'f', old, changed, '', '', {context: 3});
  console.log(Number(process.hrtime.bigint() - start) / 1e9);
});
"""


def main() -> int:
    if shutil.which("node") is None or shutil.which("npm") is None:
        print("patch: node and npm are not installed, nothing to compare with")
        return 0
    print(f"patch of a {LINES:,}-line file, ratio to npm diff (aim: below 1)")
    with subprocess.Popen(
        ["node", "-e", _PEER, str(_package())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as peer:
        for edits in EDITS:
            pair = _pair(edits)
            _ours(*pair)
            _theirs(peer, pair)
            times = [(_ours(*pair), _theirs(peer, pair)) for _ in range(PAIRS)]
            ours, theirs = (statistics.median(side) * 1000 for side in zip(*times, strict=True))
            ratio = statistics.median(one / other for one, other in times)
            print(f"  {edits:>5} edits: {ratio:5.2f}   ({ours:.1f} ms against {theirs:.1f} ms)")
    return 0


def _package() -> Path:
    place = NODE_HOME / "node_modules" / "diff"
    if not place.is_dir():
        NODE_HOME.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix", str(NODE_HOME)]
        subprocess.run([*install, "diff@9"], check=True, timeout=120)
    return place


def _pair(edits: int) -> tuple[str, str]:
    """A text that looks like source (some lines recur, most do not) and an edited copy."""
    chance = random.Random(edits)
    common = ["", "}", "    return result"]
    old = [chance.choice(common) if chance.random() < 0.3 else f"line {number}" for number in range(LINES)]
    new = list(old)
    for _ in range(edits):
        place = chance.randrange(len(new))
        new[place : place + chance.choice([0, 1, 1])] = [f"new {chance.random()}"] * chance.choice([0, 1, 1, 2])
    return "\n".join(old) + "\n", "\n".join(new) + "\n"


def _ours(old: str, new: str) -> float:
    start = time.perf_counter()
    unified(old, new)
    return time.perf_counter() - start


def _theirs(peer: subprocess.Popen[str], pair: tuple[str, str]) -> float:
    assert peer.stdin is not None
    assert peer.stdout is not None
    peer.stdin.write(json.dumps(pair) + "\n")
    peer.stdin.flush()
    return float(peer.stdout.readline())


if __name__ == "__main__":
    sys.exit(main())
