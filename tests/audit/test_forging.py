"""Somebody who knows the scheme but not the key: hashes can be computed anew, seals can't."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from hashlib import sha256

import pytest

from audit.recorded import Recorded
from toolwire.seal.chain import SIZE, note_hash, run_hash, session_genesis
from toolwire.store.ledger import Note, last_note, write_notes


def without_late_heads(recorded: Recorded, row: int) -> None:
    """Heads that lag are no finding, so a forger would cut them back."""
    lines = recorded.heads.read_bytes().splitlines(keepends=True)
    recorded.heads.write_bytes(b"".join([lines[0], *(line for line in lines[1:] if int(line.split()[0]) < row)]))


def rewritten(recorded: Recorded, session: str, old: bytes, new: bytes) -> int:
    """Change a session's events, and every hash of its chain after that, as the scheme has them; the first row."""
    first = 0
    with closing(sqlite3.connect(recorded.store, isolation_level=None)) as db:
        number, *identity = db.execute(
            "SELECT number, tenant, name, epoch FROM sessions WHERE name = ?", (session,)
        ).fetchone()
        before = session_genesis(*identity)
        for row, runs, body, chain in db.execute("SELECT id, runs, body, chain FROM log ORDER BY id").fetchall():
            offset, parts, hashes, listed = 0, [], [chain[:SIZE]], json.loads(runs)
            for index, run in enumerate(listed):
                part, offset = body[offset : offset + run[3]], offset + run[3]
                link = chain[SIZE * (index + 1) : SIZE * (index + 2)]
                if run[0] == number:
                    first = first or (row if old in part else 0)
                    part = part.replace(old, new)
                    run[3] = len(part)
                    link = before = run_hash(before, run[1], run[2], sha256(part).digest())
                parts.append(part)
                hashes.append(link)
            db.execute(
                "UPDATE log SET runs = ?, body = ?, chain = ? WHERE id = ?",
                (json.dumps(listed, separators=(",", ":")), b"".join(parts), b"".join(hashes), row),
            )
    return first


@pytest.mark.parametrize("new", [b"what is in b.txt?", b"what was never in a.txt?"])
def test_a_chain_computed_anew_does_not_get_its_seals(recorded: Recorded, new: bytes) -> None:
    row = rewritten(recorded, "alpha", b"what is in a.txt?", new)
    recorded.change("UPDATE messages SET text = replace(text, 'what is in a.txt?', 'what is in b.txt?')")
    without_late_heads(recorded, row)
    assert any(finding.startswith(f"log: row {row}: its seal does not fit") for finding in recorded.found())


def test_a_note_that_fits_the_ledger_is_not_sealed(recorded: Recorded) -> None:
    with closing(sqlite3.connect(recorded.store, isolation_level=None)) as db:
        write_notes(db, [Note(1, "response", "[]", "t", "d", 0)], *last_note(db))
    assert any("is not sealed" in finding for finding in recorded.found())


def test_a_ledger_computed_anew_does_not_get_its_seals(recorded: Recorded) -> None:
    with closing(sqlite3.connect(recorded.store, isolation_level=None)) as db:
        before = db.execute("SELECT chain FROM notes ORDER BY id DESC LIMIT 1 OFFSET 1").fetchone()[0]
        number, *values, _ = db.execute(
            "SELECT id, at, kind, subject, trace, digest, until, chain FROM notes ORDER BY id DESC LIMIT 1"
        ).fetchone()
        values[3] = "another trace"
        db.execute(
            "UPDATE notes SET trace = ?, chain = ? WHERE id = ?",
            (values[3], note_hash(before, number, *values), number),
        )
    assert any("its seal does not fit" in finding for finding in recorded.found())


def test_another_key_does_not_fit(recorded: Recorded) -> None:
    key = recorded.folder / "store.db-audit-key"
    key.write_text("00" * 32)
    assert "sealed with another key" in recorded.first_broken()
    key.write_text("not a key")
    assert "is not an audit key" in recorded.first_broken()
    key.unlink()
    assert "can't be read" in recorded.first_broken()


def test_the_key_is_readable_by_nobody_else(recorded: Recorded) -> None:
    for name in ("store.db-audit-key", "store.db-audit-heads"):
        assert (recorded.folder / name).stat().st_mode & 0o777 == 0o600
    assert recorded.inverses.with_name("undo.sqlite-audit-key").stat().st_mode & 0o777 == 0o600
