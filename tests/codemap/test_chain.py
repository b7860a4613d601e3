"""Call chains: walked to the depth asked for, cycles cut and marked, limits kept and told."""

from __future__ import annotations

import pytest

from codemap.conftest import Project
from toolwire.codemap.codemap import Codemap
from toolwire.codemap.views import Node
from toolwire.errors import ToolError

LADDER = "\n\n".join([*(f"def step{n}():\n    step{n + 1}()" for n in range(6)), "def step6():\n    pass"])
RING = "def a():\n    b()\n\n\ndef b():\n    c()\n\n\ndef c():\n    a()\n\n\ndef d():\n    d()\n"


def titles(node: Node) -> list[str]:
    """The first line of descent."""
    found = []
    while node.children:
        node = node.children[0]
        found.append(node.symbol.title)
    return found


def chain(codemap: Codemap, name: str, direction: str, depth: int) -> Node:
    (target,) = codemap.functions(name)
    return (codemap.callers if direction == "callers" else codemap.callees)(target, depth)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_as_many_levels_are_walked_as_were_asked_for(project: Project, depth: int) -> None:
    _, codemap = project({"ladder.py": LADDER})
    assert titles(chain(codemap, "step0", "callees", depth)) == [f"step{n}" for n in range(1, depth + 1)]
    assert titles(chain(codemap, "step6", "callers", depth)) == [f"step{6 - n}" for n in range(1, depth + 1)]


def test_a_cycle_is_cut_where_it_closes_and_marked(project: Project) -> None:
    _, codemap = project({"ring.py": RING})
    node = chain(codemap, "a", "callees", 10)
    assert titles(node) == ["b", "c", "a"]
    last = node.children[0].children[0].children[0]
    assert last.cycle
    assert not node.children[0].cycle


def test_a_function_that_calls_itself_is_a_cycle_of_one(project: Project) -> None:
    _, codemap = project({"ring.py": RING})
    (child,) = chain(codemap, "d", "callers", 3).children
    assert child.cycle
    assert child.symbol.title == "d"


def test_depth_has_a_limit(project: Project) -> None:
    _, codemap = project({"ladder.py": LADDER}, chain_depth=3)
    assert titles(chain(codemap, "step0", "callees", 99)) == ["step1", "step2", "step3"]


def test_a_chain_that_is_too_large_is_cut_and_says_so(project: Project) -> None:
    many = "def target():\n    pass\n" + "".join(f"\n\ndef user{n}():\n    target()\n" for n in range(30))
    _, codemap = project({"many.py": many}, chain_nodes=10)
    node = chain(codemap, "target", "callers", 1)
    assert len(node.children) == 10
    assert node.cut


def test_guesses_by_name_are_limited_counted_and_not_followed(project: Project) -> None:
    guesses = "class A:\n    def go(self):\n        pass\n"
    guesses += "".join(f"\n\ndef user{n}(thing):\n    thing.go()\n" for n in range(8)) + "\n\nuser0(1)\n"
    _, codemap = project({"guess.py": guesses}, chain_guesses=3)
    node = chain(codemap, "go", "callers", 2)
    assert [child.certainty for child in node.children] == ["name only"] * 3
    assert node.left_out == 5
    assert all(not child.children for child in node.children)


def test_calls_at_the_top_of_a_file_have_the_file_as_their_caller(project: Project) -> None:
    _, codemap = project({"top.py": "def target():\n    pass\n\n\ntarget()\n"})
    (child,) = chain(codemap, "target", "callers", 1).children
    assert (child.symbol.kind, child.symbol.path) == ("file", "top.py")
    assert [site.line for site in child.sites] == [5]


def test_a_walk_ends_when_it_is_told_to(project: Project) -> None:
    _, codemap = project({"ladder.py": LADDER})
    (target,) = codemap.functions("step0")

    def stop() -> None:
        raise ToolError("stopped")

    with pytest.raises(ToolError):
        codemap.callees(target, 5, stop)
