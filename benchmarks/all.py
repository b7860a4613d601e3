"""Every benchmark, one after another: `make bench`. Each prints ratios against a peer or limit of the same run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCHMARKS = ("gateway", "store", "grep", "patch", "codemap", "idempotent")


def main() -> int:
    failed = 0
    for name in BENCHMARKS:
        print(f"\n== {name} " + "=" * (74 - len(name)), flush=True)
        failed |= subprocess.run([sys.executable, HERE / f"{name}.py"], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
