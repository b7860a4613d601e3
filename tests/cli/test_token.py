"""`toolwire token`: make, list, revoke."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.processes import Here
from toolwire.server.callers import Callers


def test_a_token_is_made_listed_and_revoked(here: Here, tmp_path: Path) -> None:
    file = str(tmp_path / "tokens")
    made = here("token", "create", "alice", "--role", "editor", "--tenant", "acme", "--expires", "2h", "--file", file)
    secret = made.stdout.strip()
    assert made.returncode == 0
    assert "only its hash" in made.stderr
    found = Callers(Path(file)).identify(secret)
    assert found is not None
    assert (found.name, found.tenant, found.role) == ("alice", "acme", "editor")
    listed = here("token", "list", "--file", file, "--json")
    line = json.loads(listed.stdout)
    assert (line["name"], line["expired"], line["plain"]) == ("alice", False, False)
    assert secret not in listed.stdout
    assert here("token", "revoke", "alice", "--file", file).returncode == 0
    assert Path(file).read_text() == ""


def test_the_safe_default_is_a_viewer_for_a_while(here: Here, tmp_path: Path) -> None:
    file = str(tmp_path / "tokens")
    made = json.loads(here("token", "create", "bob", "--file", file, "--json").stdout)
    assert made["role"] == "viewer"
    assert made["expires"] is not None


@pytest.mark.parametrize(
    "words",
    [
        ("create", "a b"),
        ("create", "a", "--expires", "soon"),
        ("create", "a", "--role", "root"),
        ("revoke", "nobody"),
        ("list", "--file", "/nowhere/at/all"),
    ],
)
def test_what_makes_no_sense_is_refused(here: Here, tmp_path: Path, words: tuple[str, ...]) -> None:
    file = () if "--file" in words else ("--file", str(tmp_path / "tokens"))
    refused = here("token", *words, *file)
    assert refused.returncode == 2
    assert refused.stderr
