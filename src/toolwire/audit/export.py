"""Write sessions to one file that can be verified elsewhere with nothing but the file (docs/audit.md, "Exports").

A line is a JSON object. Runs whose text holds a secret are written redacted, with the digest of what was stored; all
others are written as they are stored, so that their digest can be computed again. The last line covers all before it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from toolwire.audit import signing
from toolwire.audit.redact import redact, redact_value
from toolwire.seal.chain import SIZE, digest_of, session_genesis
from toolwire.store.sqlite_places import decode_runs

FORMAT = 1
_encode = msgspec.json.Encoder().encode


class Chosen(NamedTuple):
    """What goes into a file."""

    sessions: Collection[int] | None = None
    """Numbers; None: all."""
    events: Collection[tuple[int, int]] | None = None
    """(session, seq) whose text is written; None: all. Of the others there are digests."""


ALL = Chosen()


def export(
    db: sqlite3.Connection, out: BinaryIO, *, made: int, chosen: Chosen = ALL, key_file: Path | None = None
) -> int:
    """Write the file, signed if there is a key to sign with; the number of its lines.

    `db` is in a transaction, and has been verified.
    """
    digest = hashlib.sha256()
    lines = 0
    for value in _lines(db, made, chosen):
        line = _encode(value) + b"\n"
        digest.update(line)
        out.write(line)
        lines += 1
    end: dict[str, Any] = {"lines": lines, "sha256": digest.hexdigest()}
    if key_file is not None:
        public_key, signature = signing.sign(key_file, digest.digest())
        end["signature"] = {"method": signing.METHOD, "public_key": public_key, "signature": signature}
    out.write(_encode({"end": end}) + b"\n")
    return lines + 1


def _lines(db: sqlite3.Connection, made: int, chosen: Chosen) -> Iterator[dict[str, Any]]:
    (unsealed,) = db.execute("SELECT unsealed FROM meta").fetchone()
    yield {"toolwire_audit": {"format": FORMAT, "made": made}}
    heads: dict[int, tuple[int, str]] = {}
    for number, tenant, name, epoch in db.execute("SELECT number, tenant, name, epoch FROM sessions ORDER BY number"):
        if chosen.sessions is None or number in chosen.sessions:
            genesis = session_genesis(tenant, name, epoch).hex()
            heads[number] = (0, genesis)
            yield {"session": {"id": number, "tenant": tenant, "name": name, "epoch": epoch, "genesis": genesis}}
    for row, runs, body, chain in db.execute(
        "SELECT id, runs, body, chain FROM log WHERE id > ? ORDER BY id", (unsealed,)
    ):
        offset = 0
        for index, (session, first, last, size) in enumerate(decode_runs(runs)):
            run, offset = body[offset : offset + size], offset + size
            if session not in heads:
                continue
            link = chain[SIZE * (index + 1) : SIZE * (index + 2)].hex()
            heads[session] = (last, link)
            line = {"session": session, "row": row, "first": first, "last": last, "sha256": digest_of(run).hex()}
            yield {"run": {**line, **_text(run, _wanted(chosen, session)), "hash": link}}
    if chosen.sessions is None:
        yield from _ledger(db)
    for session, (count, link) in heads.items():
        yield {"head": {"session": session, "count": count, "hash": link}}


def _wanted(chosen: Chosen, session: int) -> Callable[[int], bool]:
    events = chosen.events
    return (lambda seq: True) if events is None else (lambda seq: (session, seq) in events)


def _text(run: bytes, wanted: Callable[[int], bool]) -> dict[str, Any]:
    """The text of a run: as it is stored, or else what may be shown of it."""
    events = msgspec.json.decode(run)
    shown = [redact_value(event) for event in events if wanted(event["seq"])]
    if shown == events:
        return {"stored": run.decode()}
    return {"redacted": shown} if shown else {}


def _ledger(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    question = "SELECT id, at, kind, subject, trace, digest, until, chain FROM notes ORDER BY id"
    number, link = 0, ""
    for number, at, kind, subject, trace, digest, until, chain in db.execute(question):
        link = chain.hex()
        about = {"subject": redact(subject), "subject_sha256": digest_of(subject.encode()).hex()}
        note = {"id": number, "at": at, "kind": kind, "trace": trace, "sha256": digest, "until": until}
        yield {"note": {**note, **about, "hash": link}}
    yield {"ledger_head": {"count": number, "hash": link}}
