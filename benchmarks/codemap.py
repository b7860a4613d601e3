"""The codemap: building it against tree-sitter parsing alone, a changed file against the build, and questions.

The files are those of the installed standard library, copied side by side until there are 5,000. Parsing and
building are compared in processor time, so the ratio is per core and does not depend on how many there are.

    python benchmarks/codemap.py [--files 5000]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from tree_sitter import Parser

from toolwire.codemap.codemap import Codemap
from toolwire.codemap.grammar import grammar
from toolwire.codemap.languages import BY_NAME
from toolwire.codemap.views import Symbol
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace

FILES = 5000
CHANGES = 20
QUESTIONS = 200
BUILD_SECONDS = 900.0
LEFT_OUT = frozenset({"site-packages", "__pycache__", "lib-dynload"})


def corpus(target: Path, wanted: int) -> list[Path]:
    """The library's sources, copied as often as it takes; a copy is a project of its own beside the others."""
    library = Path(os.__file__).parent
    limit = Settings().codemap_file_bytes
    sources = [
        file
        for file in sorted(library.rglob("*.py"))
        if not LEFT_OUT.intersection(file.relative_to(library).parts) and file.stat().st_size <= limit
    ]
    made: list[Path] = []
    for number in count():
        for source in sources:
            if len(made) >= wanted:
                return made
            file = target / f"copy{number}" / source.relative_to(library)
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, file)
            made.append(file)
    return made


def processor_time() -> float:
    """Seconds of processor time of this process and of those it started and has waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def parse_alone(files: list[Path]) -> float:
    parser = Parser(grammar(BY_NAME["python"].name).compiled)
    sources = [file.read_bytes() for file in files]
    started = processor_time()
    for source in sources:
        parser.parse(source)
    return processor_time() - started


def sample(codemap: Codemap) -> list[Symbol]:
    """Functions in the order of a digest, so that the sample is the same every time."""
    names = {one.name for path in codemap.paths()[::25] for one in codemap.outline(path) if one.kind == "method"}
    chosen = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())[:QUESTIONS]
    return [codemap.functions(name)[0] for name in chosen]


def ask(codemap: Codemap, symbols: list[Symbol]) -> list[float]:
    """Milliseconds for each: callers and callees, one level."""
    times = []
    for symbol in symbols:
        started = time.perf_counter()
        codemap.callers(symbol)
        codemap.callees(symbol)
        times.append((time.perf_counter() - started) * 1000)
    return times


def change(workspace: Workspace, codemap: Codemap, files: list[Path]) -> list[float]:
    """Seconds from an edit to the answer that shows it."""
    times = []
    for number, file in enumerate(files[:: max(1, len(files) // CHANGES)][:CHANGES]):
        path = file.relative_to(workspace.root).as_posix()
        text = file.read_bytes() + f"\n\ndef freshly_written_{number}():\n    pass\n".encode()
        workspace.write_bytes(path, text)
        started = time.perf_counter()
        codemap.changed([path])
        found = codemap.functions(f"freshly_written_{number}")
        times.append(time.perf_counter() - started)
        assert [one.path for one in found] == [path]
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=FILES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        files = corpus(root, options.files)
        size = sum(file.stat().st_size for file in files) / 1e6
        print(f"codemap of {len(files):,} Python files ({size:.0f} MB), {os.cpu_count()} cores")
        parsing = parse_alone(files)
        with Workspace(root, state=Path(folder, "state")) as workspace:
            before, started = processor_time(), time.perf_counter()
            codemap = workspace.codemap
            if not codemap.wait(BUILD_SECONDS):
                raise TimeoutError("the index was not built in time")
            wall, building = time.perf_counter() - started, processor_time() - before
            report(
                "building to parsing alone, per core",
                building / parsing,
                "2.0",
                f"{building:.1f} s to {parsing:.1f} s",
            )
            print(f"  built in {wall:.1f} s")
            one = statistics.median(change(workspace, codemap, files))
            report("one changed file to the full build", one / wall, "0.01", f"{one * 1000:.0f} ms")
            symbols = sample(codemap)
            first = ask(codemap, symbols)
            warm = sorted(ask(codemap, symbols))
            middle, late = statistics.median(warm), warm[int(len(warm) * 0.95)]
            print(f"  {'call_chain, warm, p50':<46}{middle:8.2f} ms   (aim: under 10; p95 {late:.1f} ms)")
            print(f"  {'call_chain, asked for the first time, p50':<46}{statistics.median(first):8.2f} ms")
    return 0


def report(what: str, ratio: float, aim: str, detail: str) -> None:
    print(f"  {what:<46}{ratio:8.4f}      (aim: {aim} or less; {detail})", flush=True)


if __name__ == "__main__":
    sys.exit(main())
