"""Verify an export with nothing but the file: every chain from beginning to head, every text by its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from toolwire.audit import signing
from toolwire.audit.export import FORMAT
from toolwire.audit.findings import Finding, Report
from toolwire.errors import ConfigError
from toolwire.seal.chain import LEDGER_GENESIS, digest_of, note_link, run_hash, session_genesis

LISTED = 20


class _Chain(NamedTuple):
    name: str
    hash: bytes
    last: int


class ExportCheck:
    """Reads the file once, line by line."""

    def __init__(self) -> None:
        self.checked = {"sessions": 0, "runs": 0, "redacted runs": 0, "notes": 0}
        self.remarks: list[str] = []
        self.signer = ""
        """The fingerprint of the key it is signed with."""
        self._digest = hashlib.sha256()
        self._line = 0
        self._sessions: dict[int, _Chain] = {}
        self._headed: set[int] = set()
        self._ledger = _Chain("the ledger", LEDGER_GENESIS, 0)
        self._ended = False
        self._readers: dict[str, Callable[[dict[str, Any]], Iterator[Finding]]] = {
            "toolwire_audit": self._title,
            "session": self._session,
            "run": self._run,
            "note": self._note,
            "ledger_head": self._ledger_head,
            "head": self._head,
            "end": self._end,
        }

    def run(self, lines: Iterable[bytes], signed_by: str = "") -> Report:
        """`signed_by`: a fingerprint that it must be signed with."""
        findings = [finding for line in lines for finding in self._read(line)]
        if not self._ended:
            findings.append(self._finding("the file is cut: its last line is missing"))
        for number in self._sessions.keys() - self._headed:
            findings.append(self._finding(f"the head of session {self._sessions[number].name!r} is missing"))
        if signed_by and self.signer != signed_by:
            findings.append(self._finding(f"it is signed by {self.signer or 'nobody'}, not by {signed_by}"))
        if self.checked["redacted runs"]:
            self.remarks.append(
                "redacted text is vouched for by whoever made the file; its digest is of what is in the store"
            )
        if not self.signer:
            self.remarks.append("the file is not signed: anybody could have made it")
        return Report(not findings, self.checked, findings[:LISTED], max(0, len(findings) - LISTED), self.remarks)

    def _read(self, line: bytes) -> Iterator[Finding]:
        self._line += 1
        if self._ended:
            yield self._finding("comes after the end")
            return
        try:
            ((kind, value),) = msgspec.json.decode(line, type=dict[str, dict[str, Any]]).items()
            reader = self._readers[kind]
            if (self._line == 1) != (kind == "toolwire_audit"):
                yield self._finding("is not where it belongs")
            yield from reader(value)
        except ConfigError:
            raise
        except (msgspec.DecodeError, KeyError, ValueError, TypeError, AttributeError, UnicodeError) as error:
            yield self._finding(f"can't be read: {type(error).__name__} {error}")
        self._digest.update(line)

    def _title(self, value: dict[str, Any]) -> Iterator[Finding]:
        if value["format"] != FORMAT:
            yield self._finding(f"has format {value['format']}, and this program knows {FORMAT}")

    def _session(self, value: dict[str, Any]) -> Iterator[Finding]:
        genesis = session_genesis(value["tenant"], value["name"], value["epoch"])
        if genesis.hex() != value["genesis"] or value["id"] in self._sessions:
            yield self._finding(f"session {value['name']!r} is not the one its chain began with")
        self._sessions[value["id"]] = _Chain(value["name"], genesis, 0)
        self.checked["sessions"] += 1

    def _run(self, value: dict[str, Any]) -> Iterator[Finding]:
        chain = self._sessions[value["session"]]
        first, last, digest = value["first"], value["last"], bytes.fromhex(value["sha256"])
        what = f"events {first} to {last} of session {chain.name!r}"
        self.checked["runs"] += 1
        if chain.last and first != chain.last + 1:
            yield self._finding(f"{what} do not follow event {chain.last}")
        if run_hash(chain.hash, first, last, digest).hex() != value["hash"]:
            yield self._finding(f"{what} do not fit the chain")
        if "stored" in value:
            if digest_of(value["stored"].encode()) != digest:
                yield self._finding(f"{what} are not what was stored")
        else:
            self.checked["redacted runs"] += 1
        self._sessions[value["session"]] = _Chain(chain.name, bytes.fromhex(value["hash"]), last)

    def _note(self, value: dict[str, Any]) -> Iterator[Finding]:
        number, subject = value["id"], bytes.fromhex(value["subject_sha256"])
        self.checked["notes"] += 1
        link = note_link(
            self._ledger.hash,
            number,
            value["at"],
            value["kind"],
            subject,
            value["trace"],
            value["sha256"],
            value["until"],
        )
        told = digest_of(value["subject"].encode()) == subject or "[redacted" in value["subject"]
        if number != self._ledger.last + 1 or link.hex() != value["hash"] or not told:
            yield self._finding(f"note {number} does not fit the ledger")
        self._ledger = _Chain("the ledger", bytes.fromhex(value["hash"]), number)

    def _ledger_head(self, value: dict[str, Any]) -> Iterator[Finding]:
        if value["count"] != self._ledger.last or (value["count"] and value["hash"] != self._ledger.hash.hex()):
            yield self._finding("the ledger does not end where its head says")

    def _head(self, value: dict[str, Any]) -> Iterator[Finding]:
        chain = self._sessions[value["session"]]
        self._headed.add(value["session"])
        if (value["count"], value["hash"]) != (chain.last, chain.hash.hex()):
            yield self._finding(f"session {chain.name!r} does not end where its head says")

    def _end(self, value: dict[str, Any]) -> Iterator[Finding]:
        self._ended = True
        if value["lines"] != self._line - 1 or value["sha256"] != self._digest.hexdigest():
            yield self._finding("the lines before it were changed")
        signature = value.get("signature")
        if signature is not None:
            if signature["method"] != signing.METHOD or not signing.signed_by(
                signature["public_key"], signature["signature"], self._digest.digest()
            ):
                yield self._finding("the signature is wrong")
            else:
                self.signer = signing.fingerprint(signature["public_key"])

    def _finding(self, problem: str) -> Finding:
        return Finding("export", f"line {self._line}", problem)
