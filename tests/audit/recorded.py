"""A record made by a running gateway: turns, calls under keys, writes with inverses, execution logs."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

from support.patience import PATIENCE
from support.running import running, script, steps
from toolwire.audit.verify import Verification
from toolwire.cli import main
from toolwire.store import approval_records
from toolwire.store.approval_records import Approval

TRACE = "tr_audit_1"
SECRET = "ghp_" + "a1B2" * 9
PROMPTS = 3
KEYS = 4


@dataclass(frozen=True)
class Recorded:
    """A folder with a store, the state of its workspaces, and a project."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    @property
    def heads(self) -> Path:
        return self.folder / "store.db-audit-heads"

    @property
    def inverses(self) -> Path:
        (found,) = (self.folder / "state").rglob("undo.sqlite")
        return found

    def copy(self, to: Path) -> Recorded:
        shutil.copytree(self.folder, to)
        return Recorded(to)

    def change(self, *statements: str, file: Path | None = None) -> None:
        """What somebody does with the sqlite3 tool."""
        with closing(sqlite3.connect(file or self.store, isolation_level=None)) as db:
            for statement in statements:
                db.execute(statement)

    def ask(self, question: str, file: Path | None = None) -> list[Any]:
        with closing(sqlite3.connect(file or self.store)) as db:
            return db.execute(question).fetchall()

    def audit(self, *words: str) -> tuple[int, str]:
        """Run `toolwire audit …` on it: exit code and output."""
        out = io.StringIO()
        own = {"XDG_STATE_HOME": str(self.folder / "state"), "COLUMNS": "300"}
        with mock.patch.dict(os.environ, own), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main(["audit", *words, "--store", f"sqlite:///{self.store}"])
        return code, out.getvalue()

    def verify(self) -> dict[str, Any]:
        code, out = self.audit("verify", "--json")
        report: dict[str, Any] = json.loads(out)
        assert code == (0 if report["whole"] else 1)
        return report

    def found(self) -> list[str]:
        """The same without the command around it, for many changes in a row."""
        report = Verification().run(self.store, time.time_ns() // 1_000_000, [self.inverses])
        return [str(finding) for finding in report.broken]

    @contextlib.contextmanager
    def changed(self, *statements: str, file: Path | None = None) -> Iterator[list[str]]:
        """What is found broken after a change, which is then taken back."""
        path = file or self.store
        before = path.read_bytes()
        self.change(*statements, file=path)
        try:
            yield self.found()
        finally:
            for more in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
                more.unlink(missing_ok=True)
            path.write_bytes(before)

    def first_broken(self) -> str:
        """What `verify` shows first; empty if it is whole."""
        broken = self.verify()["broken"]
        return f"{broken[0]['part']}: {broken[0]['record']}: {broken[0]['problem']}" if broken else ""


def record(folder: Path) -> Recorded:
    with mock.patch.dict(os.environ, {"XDG_STATE_HOME": str(folder / "state")}):
        asyncio.run(_work(folder))
    return Recorded(folder)


async def _work(folder: Path) -> None:
    project = folder / "demo"
    project.mkdir()
    (project / "a.txt").write_text("one\n")
    agent = script(
        folder,
        steps(
            {"think": "looking", "stage": "analyzing", "percent": 10},
            {"call": [{"tool": "read_file", "arguments": {"path": "a.txt"}}]},
            {"say": ["it says ", "{{1.content}}"]},
        ),
    )
    async with running(project, agent=agent, store=f"sqlite:///{folder}/store.db") as gateway:
        for name in ("alpha", "beta"):
            peer = await gateway.connect(f"/ws/{name}?tools=server")
            for number in range(PROMPTS):
                await peer.send({"type": "user_message", "content": f"what is in a.txt? {number} token={SECRET}"})
                while not (message := await peer.receive()).get("is_final"):
                    assert message["type"] != "error", message
            await peer.close()
        await gateway.hub.store.transact(_approvals)
        async with httpx.AsyncClient(base_url=gateway.http, trust_env=False, timeout=PATIENCE) as client:
            for number in range(KEYS):
                change = {"path": "a.txt", "searchContent": "one", "replaceContent": f"one {number}"}
                await _call(client, number, "apply_change", change)
            line = {"tool_id": "x", "status": "completed", "input_data": {"n": 1}}
            for _ in range(3):
                answer = await client.post("/api/execution_logs", json=line, headers={"X-Trace-Id": TRACE})
                assert answer.status_code < 300, answer.text


def _approvals(tables: sqlite3.Connection) -> None:
    """One waits, one is granted, one is granted and used."""
    for number in "123":
        asked = Approval(
            number, "", "alpha", "", "x", {"n": number}, "d", "k", "high", "editor", "c", TRACE, "o", 1, 2
        )
        approval_records.add(tables, asked)
        if number > "1":
            approval_records.answer(tables, number, "approved", 2, by="somebody")
    approval_records.use(tables, "3")


async def _call(client: httpx.AsyncClient, number: int, tool: str, arguments: dict[str, Any]) -> None:
    envelope = {"trace_id": TRACE, "idempotency_key": f"k{number}", "tool_id": tool, "arguments": arguments}
    answer = await client.post("/agent/flash/tools/call", json={**envelope, "session_id": "alpha"})
    assert answer.json()["ok"], answer.text


def flipped(data: bytes, at: int) -> bytes:
    """One bit of one byte changed."""
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def rows(recorded: Recorded) -> Iterator[int]:
    yield from (number for (number,) in recorded.ask("SELECT id FROM log ORDER BY id"))
