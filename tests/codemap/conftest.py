"""Small projects written for one test, and their codemaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from toolwire.codemap.codemap import Codemap
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace

Project = Callable[..., tuple[Workspace, Codemap]]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Makes a workspace of the given files and its codemap, not yet started; both are closed afterwards."""
    with ExitStack() as stack:

        def make(files: Mapping[str, str | bytes], **settings: float) -> tuple[Workspace, Codemap]:
            root = tmp_path / "project"
            for path, text in files.items():
                file = root / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text if isinstance(text, bytes) else text.encode())
            chosen = replace(Settings(), **settings)  # type: ignore[arg-type]
            workspace = stack.enter_context(Workspace(root, state=tmp_path / "state", settings=chosen))
            return workspace, workspace.codemap

        yield make
