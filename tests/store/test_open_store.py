"""Which store a URL names, and where the default one lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolwire.errors import ConfigError
from toolwire.store import default_path, default_url, open_store
from toolwire.store.memory import MemoryStore
from toolwire.store.sqlite import SqliteStore


def test_memory_and_an_absolute_path_are_stores() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)
    assert isinstance(open_store("sqlite:////var/lib/toolwire.db"), SqliteStore)


@pytest.mark.parametrize("url", ["", "file.db", "sqlite:///relative.db", "sqlite://", "mysql://localhost/x"])
def test_anything_else_is_refused_and_told_what_there_is(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_store(url)
    assert refused.value.field == "store"
    assert "sqlite:///" in (refused.value.hint or "")
    assert "memory:" in (refused.value.hint or "")


def test_the_default_file_follows_the_platforms_convention(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    path = default_path()
    assert path.is_relative_to(tmp_path)
    assert path.name == "toolwire.db"
    assert isinstance(open_store(default_url()), SqliteStore)
    assert default_url() == f"sqlite:///{path}"
