"""Every language's fixture against its labels: each call, the definitions it reaches, and how sure that is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.patience import PATIENCE
from toolwire.codemap.codemap import Codemap
from toolwire.codemap.library import Page, Ref
from toolwire.codemap.views import symbol
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace

FIXTURES = Path(__file__).parent / "fixtures"
LANGUAGES = sorted(folder.name for folder in FIXTURES.iterdir())


@pytest.fixture(params=LANGUAGES)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, Codemap]]:
    root = FIXTURES / request.param
    with Workspace(root, state=tmp_path) as workspace, Codemap(workspace, Settings()) as codemap:
        assert codemap.wait(PATIENCE)
        yield root, codemap


def labels(root: Path) -> set[str]:
    return set(json.loads((root / "expected.json").read_text())["calls"])


def test_every_call_reaches_the_definitions_it_is_labelled_with(project: tuple[Path, Codemap]) -> None:
    root, codemap = project
    assert set(calls(codemap)) == labels(root)


def test_callers_and_callees_are_the_same_edges_seen_from_both_ends(project: tuple[Path, Codemap]) -> None:
    _, codemap = project
    graph = codemap.graph()
    down, up = set(), set()
    for page in pages(codemap):
        for at in range(-1, len(page.definitions)):
            ref = Ref(page.id, at)
            down |= {(edge.caller.ref, edge.callee.ref, edge.certainty, edge.sites) for edge in graph.callees(ref)}
            up |= {(edge.caller.ref, edge.callee.ref, edge.certainty, edge.sites) for edge in graph.callers(ref)}
    assert up == down
    assert down


def calls(codemap: Codemap) -> Iterator[str]:
    graph = codemap.graph()
    for page in pages(codemap):
        for call in page.sheet.calls:
            caller = symbol(page, call.scope)
            title = "" if caller.kind == "file" else caller.title
            for reached in graph.resolver.call(page, call):
                other = graph.library.page(reached.ref.file)
                assert other is not None
                callee = symbol(other, reached.ref.at)
                sure = reached.sure.words + (", override" if reached.via == "override" else "")
                yield f"{page.path}:{call.line} {title} -> {callee.title} {callee.path}:{callee.line} [{sure}]"


def pages(codemap: Codemap) -> Iterator[Page]:
    graph = codemap.graph()
    for path in codemap.paths():
        page = graph.library.page_at(path)
        assert page is not None
        yield page
