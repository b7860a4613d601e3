from __future__ import annotations

from pathlib import Path

import pytest

from audit.recorded import Recorded, record


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Made once; not to be changed."""
    return record(tmp_path_factory.mktemp("recorded"))


@pytest.fixture
def recorded(original: Recorded, tmp_path: Path) -> Recorded:
    return original.copy(tmp_path / "copy")
