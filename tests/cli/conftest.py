from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.processes import Here, Place


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    return Here(capsys)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, str]]:
    """A place and the URL of a gateway that runs there, for tests that don't disturb one another."""
    place = Place(tmp_path_factory.mktemp("shared"))
    with place.gateway() as (_, url):
        yield place, url
