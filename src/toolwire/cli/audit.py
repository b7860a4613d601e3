"""`toolwire audit`: prove the record whole, tell a trace as a story, export it."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
import typer

from toolwire.audit import signing
from toolwire.audit.export import Chosen, export
from toolwire.audit.exported import ExportCheck
from toolwire.audit.findings import Report
from toolwire.audit.inverses import records_in
from toolwire.audit.story import Step, story
from toolwire.audit.trace import notes_of, traced
from toolwire.audit.verify import Verification
from toolwire.cli import options
from toolwire.cli.screen import console, json_line, short
from toolwire.errors import ConfigError, PeerError, StoreError
from toolwire.seal.files import audit_files
from toolwire.settings import Settings
from toolwire.store import default_path
from toolwire.store.sqlite_file import connect

app = options.bare_app()

Trace = Annotated[str, typer.Option("--trace", help="The trace's id.", metavar="ID")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write; default: stdout.", metavar="FILE")
]
WIDTH = 160


@app.callback(epilog=options.block("  toolwire audit verify\n  toolwire audit show --trace tr_20260219_1"))
def audit() -> None:
    """Prove what happened: verify the record, tell a trace as a story, export it."""


@app.command(
    epilog=options.block(
        "  toolwire audit verify\n"
        "  toolwire audit verify --store sqlite:////srv/toolwire.db --json\n"
        "  toolwire audit verify audit.jsonl --signed-by 0123:4567:…"
    )
)
def verify(
    file: Annotated[Path | None, typer.Argument(help="An exported file; default: the store.", metavar="FILE")] = None,
    store: options.Store = "",
    signed_by: Annotated[
        str, typer.Option("--signed-by", help="Fingerprint of the key an export must be signed with.")
    ] = "",
    inverses: Annotated[
        bool, typer.Option("--inverses/--no-inverses", help="Also the stored inverses of this user's workspaces.")
    ] = True,
    json: options.Json = False,
    set_: options.Set = None,
) -> None:
    """Prove the record whole, or show the first broken one; the exit code is 0 only if it is whole."""
    if file is not None:
        report, signer = _verify_file(file, signed_by)
    else:
        path = _path_of(store)
        records = records_in(_workspaces()) if inverses else []
        report, signer = Verification(options.settings_of(set_)).run(path, _now(), records), ""
    if json:
        json_line({**msgspec.to_builtins(report), **({"signed_by": signer or None} if file else {})})
    else:
        _tell(report, signer)
    raise typer.Exit(0 if report.whole else 1)


@app.command(
    epilog=options.block("  toolwire audit show --trace tr_20260219_1\n  toolwire audit show --trace X --json")
)
def show(trace: Trace, store: options.Store = "", json: options.Json = False, set_: options.Set = None) -> None:
    """Tell one trace as a story: prompts, decisions, calls, results, file hashes, durations. Secrets are left out."""
    with _reading(_path_of(store), options.settings_of(set_)) as db:
        steps = story(traced(db, trace), notes_of(db, trace))
    if not steps:
        raise _no_trace(trace)
    if json:
        for step in steps:
            json_line(step)
        return
    for step in steps:
        _tell_step(step, steps[0].at)


@app.command(
    name="export",
    epilog=options.block(
        "  toolwire audit export -o audit.jsonl\n"
        "  toolwire audit export --trace tr_20260219_1 -o trace.jsonl\n"
        "  toolwire audit verify trace.jsonl"
    ),
)
def export_command(
    output: Output = None,
    trace: Trace = "",
    session: Annotated[str, typer.Option("--session", help="Only this session.", metavar="ID")] = "",
    store: options.Store = "",
    set_: options.Set = None,
) -> None:
    """Write the record to one file, redacted, that verifies elsewhere with nothing but the file."""
    settings, path = options.settings_of(set_), _path_of(store)
    report = Verification(settings).run(path, _now())
    if not report.whole:
        raise StoreError(f"the record is broken: {report.broken[0]}", hint="an export of it would prove nothing")
    key_file = audit_files(path, settings.audit_folder).key.with_name(f"{path.name}-audit-signing-key")
    with _reading(path, settings) as db, _writing(output) as out:
        chosen = _chosen(db, trace, session)
        lines = export(db, out, made=_now(), chosen=chosen, key_file=key_file if signing.available() else None)
    if output is not None:
        signed = "signed" if signing.available() else "not signed: pip install 'toolwire[audit]'"
        console().print(f"{output}: {lines} lines, {signed}; check it with: toolwire audit verify {output}")


def _chosen(db: sqlite3.Connection, trace: str, session: str) -> Chosen:
    if trace:
        found = [(each.number, each.event.seq) for each in traced(db, trace)]
        if not found:
            raise _no_trace(trace)
        return Chosen({number for number, _ in found}, set(found))
    if session:
        numbers = {number for (number,) in db.execute("SELECT number FROM sessions WHERE name = ?", (session,))}
        if not numbers:
            hint = "`toolwire sessions` lists them"
            raise PeerError(f"no session {session!r}", code="SESSION_NOT_FOUND", field="session", hint=hint)
        return Chosen(numbers)
    return Chosen()


def _verify_file(file: Path, signed_by: str) -> tuple[Report, str]:
    check = ExportCheck()
    try:
        with file.open("rb") as lines:
            return check.run(lines, signed_by), check.signer
    except OSError as error:
        hint = "`toolwire audit export -o FILE` writes one; without a file the store is verified"
        raise ConfigError(f"can't read {file}: {error.strerror}", field="file", hint=hint) from None


def _tell(report: Report, signer: str) -> None:
    screen = console()
    counted = ", ".join(f"{count:,} {what}" for what, count in report.checked.items())
    for remark in report.remarks:
        screen.print(f"! {remark}", style="yellow")
    if report.whole:
        screen.print(f"✓ whole: {counted}", style="green")
        if signer:
            screen.print(f"  signed by {signer}")
        return
    screen.print(f"✗ broken: {report.broken[0]}", style="red")
    for finding in report.broken[1:]:
        screen.print(f"  also {finding}")
    if report.more:
        screen.print(f"  and {report.more} more")
    screen.print(f"  looked at {counted}")


def _tell_step(step: Step, start: int) -> None:
    screen = console()
    took = f" ({step.ms} ms)" if step.ms is not None else ""
    screen.print(f"{(step.at - start) / 1000:8.3f} s  {step.kind:<8} {short(step.text, WIDTH)}{took}")
    if step.data is not None and step.kind == "call":
        screen.print(f"{'':12}{short(_compact(step.data), WIDTH)}", style="dim")
    for change in step.files:
        screen.print(f"{'':12}{change.path}: {change.before or '-'} → {change.after or '-'}", style="dim")
    if step.digest:
        screen.print(f"{'':12}sha256 {step.digest}", style="dim")


def _compact(value: Any) -> str:
    return msgspec.json.encode(value).decode("utf-8", "replace")


@contextmanager
def _reading(path: Path, settings: Settings) -> Iterator[sqlite3.Connection]:
    with closing(connect(path, settings, read_only=True)) as db:
        db.execute("BEGIN")
        yield db


@contextmanager
def _writing(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with output.open("wb") as out:
            yield out
    except OSError as error:
        raise ConfigError(f"can't write {output}: {error.strerror}", field="output") from None


def _path_of(url: str) -> Path:
    path = Path(url.removeprefix("sqlite:///")) if url else default_path()
    if url and not url.startswith("sqlite:///"):
        raise ConfigError(f"{url} can't be verified from here", field="store", hint="name a file: sqlite:///PATH")
    if not path.is_file():
        raise ConfigError(f"nothing is recorded yet: there is no {path}", field="store", hint="name it with --store")
    return path


def _workspaces() -> Path:
    """Where this user's workspaces keep their state."""
    import platformdirs

    return platformdirs.user_state_path("toolwire") / "workspaces"


def _now() -> int:
    return time.time_ns() // 1_000_000


def _no_trace(trace: str) -> PeerError:
    hint = "a call's response and its X-Trace-Id header name its trace; another store: --store"
    return PeerError(f"no trace {trace!r} in this store", code="TRACE_NOT_FOUND", field="trace", hint=hint)
