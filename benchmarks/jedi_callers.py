"""Callers of Python functions: `call_chain` at depth 1 against jedi, on the installed standard library.

A function counts if jedi finds two or more references to it inside its own package. Who calls it is asked of jedi
call by call: wherever in the package a function of its name is called, `goto` says which definition that is. (The
references themselves are no answer: they are made for renaming, and take in every method that shares a call with
this one.) Both sides are reduced to the set of definitions that call the function; they agree if the sets are equal.
Edges that only a name or an overriding method suggests are left out on our side, since `goto` has neither. A
sample is fixed by its seed: functions in the order of a digest of seed and place.

    python benchmarks/jedi_callers.py [--sample 200] [--seed first,second…] [--show]
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jedi  # type: ignore[import-untyped]
from jedi.inference.gradual import typeshed  # type: ignore[import-untyped]

from toolwire.codemap.codemap import Codemap
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace

SAMPLE = 200
LEAST_REFERENCES = 2
LEFT_OUT = frozenset({"site-packages", "test", "tests", "__pycache__", "lib-dynload", "turtledemo", "idle_test"})
BUILD_SECONDS = 120.0

Place = tuple[str, int]
"""A file and the line of the definition around a call; 0 is the file's top level."""


@dataclass(frozen=True)
class Function:
    path: str
    line: int
    column: int
    name: str
    qualified: str

    @property
    def package(self) -> str:
        return self.path.partition("/")[0]

    @property
    def full_name(self) -> str:
        module = self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return f"{module}.{self.qualified}"


@dataclass(frozen=True)
class Verdict:
    function: Function
    jedi: frozenset[Place]
    ours: frozenset[Place]

    @property
    def agree(self) -> bool:
        return self.jedi == self.ours


def copy_library(target: Path) -> None:
    """The packages of the standard library, without their tests and without what is installed beside them."""
    source = Path(os.__file__).parent
    shutil.copytree(source, target, ignore=_ignored, dirs_exist_ok=True)


def _ignored(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name in LEFT_OUT or not (name.endswith(".py") or Path(folder, name).is_dir())}


def show_source_not_stubs(root: Path, folder: Path) -> None:
    """jedi carries stubs of the standard library and prefers them to its source, and a stub has no private method.
    The packages in question are taken out of its stubs, so that it reads what we read."""
    packages = {init.parent.name for init in root.glob("*/__init__.py")}
    shutil.copytree(typeshed.TYPESHED_PATH / "stdlib", folder / "stdlib", ignore=_only_at(folder, packages))
    (folder / "stubs").mkdir()
    typeshed.TYPESHED_PATH = folder


def _only_at(folder: Path, packages: set[str]) -> Callable[[str, list[str]], set[str]]:
    top = str(typeshed.TYPESHED_PATH / "stdlib")
    return lambda place, names: packages.intersection(names) if place == top else set()


def functions(root: Path, seed: str = "") -> list[Function]:
    found: list[Function] = []
    for init in sorted(root.glob("*/__init__.py")):
        for file in sorted(init.parent.rglob("*.py")):
            found.extend(_functions_of(file, file.relative_to(root).as_posix()))
    return sorted(
        found, key=lambda one: hashlib.sha256(f"{seed}{one.path}:{one.qualified}:{one.line}".encode()).digest()
    )


def _functions_of(file: Path, path: str) -> Iterator[Function]:
    text = _text(file)
    lines = text.split("\n")
    tree = _tree(file)

    def walk(node: ast.AST, above: str) -> Iterator[Function]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                column = lines[child.lineno - 1].find(child.name, child.col_offset + 3)
                if not child.name.startswith("__") and column >= 0:
                    yield Function(path, child.lineno, column, child.name, f"{above}{child.name}")
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, f"{above}{child.name}.")
            elif isinstance(child, ast.If | ast.Try):
                yield from walk(child, above)

    if tree is not None:
        yield from walk(tree, "")


@lru_cache(maxsize=4096)
def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


@lru_cache(maxsize=4096)
def _tree(file: Path) -> ast.Module | None:
    try:
        return ast.parse(_text(file))
    except (SyntaxError, ValueError):
        return None


@dataclass(frozen=True)
class CallSite:
    name: str
    line: int
    column: int
    """In bytes."""
    around: int
    """Line of the definition around it."""


@lru_cache(maxsize=4096)
def _calls(file: Path) -> tuple[CallSite, ...]:
    """Every call of a named function, decorators included."""
    found: list[CallSite] = []

    def note(function: ast.expr, around: int) -> None:
        if isinstance(function, ast.Name):
            found.append(CallSite(function.id, function.lineno, function.col_offset, around))
        elif isinstance(function, ast.Attribute) and function.end_lineno and function.end_col_offset:
            column = function.end_col_offset - len(function.attr.encode())
            found.append(CallSite(function.attr, function.end_lineno, column, around))

    def walk(node: ast.AST, around: int) -> None:
        inner = around
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                note(decorator, around)
                walk(decorator, around)
            inner = node.lineno
        elif isinstance(node, ast.Call):
            note(node.func, around)
        for child in ast.iter_child_nodes(node):
            if child not in getattr(node, "decorator_list", ()):
                walk(child, inner)

    tree = _tree(file)
    if tree is not None:
        walk(tree, 0)
    return tuple(found)


@lru_cache(maxsize=4096)
def _renamed(file: Path) -> dict[str, str]:
    """Names given by `import … as` → the names they stand for."""
    tree = _tree(file)
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)) if tree else ()
    return {alias.asname: alias.name for node in imports for alias in node.names if alias.asname}


class Oracle:
    def __init__(self, root: Path, codemap: Codemap) -> None:
        self._root = root
        self._codemap = codemap

    def verdict(self, function: Function) -> Verdict | None:
        """None if the function does not qualify."""
        if not self._mentioned(function) or self._references(function) < LEAST_REFERENCES:
            return None
        return Verdict(function, self._callers(function), self._ours(function))

    def _mentioned(self, function: Function) -> bool:
        word = re.compile(rf"\b{re.escape(function.name)}\b")
        left = LEAST_REFERENCES + 1
        for file in (self._root / function.package).rglob("*.py"):
            left -= len(word.findall(_text(file)))
            if left <= 0:
                return True
        return False

    def _project(self, function: Function) -> jedi.Project:
        return jedi.Project(self._root / function.package, sys_path=[str(self._root)], smart_sys_path=False)

    def _references(self, function: Function) -> int:
        script = jedi.Script(path=self._root / function.path, project=self._project(function))
        found = script.get_references(function.line, function.column, include_builtins=False)
        inside = self._root / function.package
        return sum(
            1
            for name in found
            if name.module_path and not name.is_definition() and inside in name.module_path.parents
        )

    def _callers(self, function: Function) -> frozenset[Place]:
        """Definitions with a call that jedi takes to this very function."""
        found: set[Place] = set()
        for file in sorted((self._root / function.package).rglob("*.py")):
            path = file.relative_to(self._root).as_posix()
            renamed = _renamed(file)
            sites = [site for site in _calls(file) if function.name in (site.name, renamed.get(site.name))]
            script = jedi.Script(path=file, project=self._project(function)) if sites else None
            for site in sites:
                if (
                    script is not None
                    and (path, site.around) not in found
                    and self._reaches(script, file, site, function)
                ):
                    found.add((path, site.around))
        return frozenset(found)

    def _reaches(self, script: jedi.Script, file: Path, site: CallSite, function: Function) -> bool:
        line = _text(file).split("\n")[site.line - 1]
        column = len(line.encode()[: site.column].decode("utf-8", "replace"))  # ast counts bytes, jedi characters
        targets = script.goto(site.line, column, follow_imports=True)
        return any(self._is(one, function) for one in targets)

    def _is(self, found: jedi.api.classes.Name, function: Function) -> bool:
        """jedi may stop at the stub it has of a library's function; the full name says that it is the same one."""
        if found.module_path and found.module_path.suffix == ".pyi":
            return bool(found.full_name == function.full_name)
        return bool(found.module_path == self._root / function.path and found.line == function.line)

    def _ours(self, function: Function) -> frozenset[Place]:
        symbols = [one for one in self._codemap.functions(function.name) if one.path == function.path]
        found: set[Place] = set()
        for symbol in (one for one in symbols if one.line == function.line):
            for edge in self._codemap.edges(symbol, "callers"):
                if edge.certainty != "name only" and edge.via != "override":
                    line = 0 if edge.caller.kind == "file" else edge.caller.line
                    found.add((edge.caller.path, line))
        return frozenset(place for place in found if place[0].partition("/")[0] == function.package)


def judge(root: Path, state: Path, sample: int, seed: str = "") -> list[Verdict]:
    """Verdicts on the first `sample` functions that qualify."""
    verdicts: list[Verdict] = []
    with Workspace(root, state=state) as workspace, Codemap(workspace, Settings()) as codemap:
        if not codemap.wait(BUILD_SECONDS):
            raise TimeoutError("the index was not built in time")
        oracle = Oracle(root, codemap)
        for function in functions(root, seed):
            if len(verdicts) >= sample:
                break
            verdict = oracle.verdict(function)
            if verdict is not None:
                verdicts.append(verdict)
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--show", action="store_true", help="print every disagreement")
    parser.add_argument("--seed", default="", help="which sample; several with commas between; default: the first")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "lib").resolve()
        copy_library(root)
        show_source_not_stubs(root, Path(folder, "typeshed"))
        for seed in options.seed.split(","):
            started = time.monotonic()
            verdicts = judge(root, Path(folder, "state"), options.sample, seed)
            tell(verdicts, seed, time.monotonic() - started, show=options.show)
    return 0


def tell(verdicts: list[Verdict], seed: str, seconds: float, *, show: bool) -> None:
    agreeing = sum(verdict.agree for verdict in verdicts)
    for verdict in verdicts:
        if not verdict.agree and show:
            print(f"{verdict.function.path}:{verdict.function.line} {verdict.function.qualified}")
            print(f"    only jedi: {sorted(verdict.jedi - verdict.ours)}")
            print(f"    only ours: {sorted(verdict.ours - verdict.jedi)}")
    share = agreeing / len(verdicts) if verdicts else 0.0
    which = f"sample {seed}: " if seed else ""
    print(f"{which}callers at depth 1 agree with jedi on {agreeing} of {len(verdicts)} functions", end=" ")
    print(f"({share:.1%}), {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
