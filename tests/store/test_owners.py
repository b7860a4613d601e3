"""Who is alive among the processes that share a store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.patience import PATIENCE
from toolwire.store.owners import Owner, owners_folder

LIVING = """
import sys
from pathlib import Path
from toolwire.store.owners import Owner
owner = Owner(Path(sys.argv[1]))
owner.start()
print(owner.name, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return owners_folder(tmp_path / "store.db")


@pytest.fixture
def me(folder: Path) -> Iterator[Owner]:
    owner = Owner(folder)
    owner.start()
    yield owner
    owner.close()


@pytest.fixture
def other(folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", LIVING, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_another_process_is_alive_until_it_is_killed(me: Owner, other: subprocess.Popen[str], folder: Path) -> None:
    assert other.stdout is not None
    name = other.stdout.readline().strip()
    assert me.alive(name)
    assert me.alive(name), "asking must not end it"
    other.kill()
    other.wait(PATIENCE)
    assert not me.alive(name)
    assert [file.name for file in folder.iterdir()] == [me.name]


def test_a_process_is_alive_to_itself_until_it_closes(me: Owner, folder: Path) -> None:
    second = Owner(folder)
    second.start()
    assert second.alive(me.name)
    assert me.alive(second.name)
    second.close()
    assert not me.alive(second.name)


def test_the_files_of_the_dead_are_swept_away(folder: Path) -> None:
    folder.mkdir()
    (folder / "abc123").touch()
    owner = Owner(folder)
    owner.start()
    assert [file.name for file in folder.iterdir()] == [owner.name]
    owner.close()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["", "..", "../store.db", "nobody"])
def test_a_name_that_is_none_of_ours_is_not_alive(me: Owner, name: str) -> None:
    assert not me.alive(name)


def test_a_store_in_memory_has_owners_too() -> None:
    owner = Owner(None)
    owner.start()
    assert Owner(None).alive(owner.name)
    owner.close()
    assert not Owner(None).alive(owner.name)
