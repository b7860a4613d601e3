"""Every limit and default of the documents, named once.

A setting is changed by `--set name=value` on the command line or by `TOOLWIRE_NAME` in the environment.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from toolwire.errors import ConfigError

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    # Messages (document 2, 6.1; spec README, "Size")
    message_limit: int = 10 * MIB
    """Largest message a peer may send, in bytes, all fragments together."""
    frame_limit: int = 16 * MIB
    """Beyond this the transport itself closes with 1009."""
    nesting_limit: int = 64
    """Deepest JSON that fits."""
    http_head_limit: int = 64 * 1024
    """Largest head of an HTTP request, in bytes; beyond it 431."""
    http_head_timeout: float = 10.0
    """Seconds a client has to send the head of a request; then 408."""

    # Waiting
    tool_timeout: float = 120.0
    """Seconds a client has to answer a tool call."""
    server_tool_timeout: float = 30.0
    """Seconds a tool run by the gateway may take."""
    turn_timeout: float = 300.0
    """Document 2, 6.3: an analysis ends with ANALYSIS_TIMEOUT after this many seconds."""
    idle_timeout: float = 60.0
    """Document 2, 6.3: no message from the client for this long closes the connection."""
    auth_timeout: float = 10.0
    """Seconds a connection opened without a token has to send CONNECT."""
    ping_interval: float = 25.0
    """Seconds of silence after which a peer is sent a WebSocket ping."""
    ping_timeout: float = 20.0
    """Seconds without any sign of life after two of those before a peer counts as gone."""
    shutdown_grace: float = 5.0
    """Seconds a shutdown may take to end turns and flush sockets."""
    slow_reader_grace: float = 10.0
    """Seconds a full outbox may stay full before its reader is cut with 1013."""

    # Queues
    queue_limit: int = 32
    """Prompts that may wait behind a running turn."""
    calls_limit: int = 4096
    """Tool calls in flight in one session."""
    outbox_messages: int = 8192
    """Messages waiting for one slow reader."""
    outbox_bytes: int = 64 * MIB
    """Bytes waiting for one slow reader."""
    agent_lead: int = 512
    """Events an agent may be ahead of what is stored and shown before it waits."""
    store_commit_events: int = 2048
    """Events that share one commit at most."""
    store_row_bytes: int = 4 * MIB
    """Events of one commit are stored together up to this many bytes."""
    store_index_rows: int = 256
    """Commits after which the store notes where their events lie."""
    store_busy_timeout: float = 5.0
    """Seconds to wait for another process that holds the store's lock."""
    store_close_timeout: float = 10.0
    """Seconds a closing store may take to commit what is queued."""
    store_wal_pages: int = 1000
    """Pages of the write-ahead log after which it is folded into the store's file. (A short log that is written over
    and over syncs faster than one that grows.)"""
    store_wal_bytes: int = 16 * MIB
    """A longer write-ahead log is cut back to this once it has been folded in."""
    store_readers: int = 2
    """Threads that read the store."""
    audit_folder: str = ""
    """Where the store's audit key and heads are kept; empty: beside the store's file."""
    audit_heads_bytes: int = MIB
    """Bytes of heads after which their file is shortened."""
    prompt_preview: int = 120
    """Characters of a session's last prompt that a list of sessions shows."""
    tool_workers: int = 8
    """Tools the gateway runs at once."""
    tool_backlog: int = 1024
    """Tool calls waiting for one of those workers."""
    connections_limit: int = 10_000
    """Open WebSocket connections."""

    # Calls once only (spec README, document 3, "A call")
    call_timeout: float = 30.0
    """Document 3: seconds a tool may take before its call is answered with TIMEOUT."""
    call_keys_remembered: int = 65_536
    """Idempotency keys used in this process that it remembers, to save itself trying them as new."""
    call_text_logged: int = 16 * 1024
    """Characters of a text that a session's log keeps of a call whose content is in the store; of a longer one, its
    digest."""
    call_session_tries: int = 16
    """How often a call goes on in its session anew after another process has written to that session's log."""
    project_tool_output: int = 4 * MIB
    """Bytes that a tool of a toolwire.toml may answer."""
    linger_seconds: float = 5.0
    """Seconds a session stays live after a program's last call in it."""
    linger_sessions: int = 256
    """Sessions that stay live so at most."""
    approval_wait: float = 25.0
    """Seconds a call waits for a person's word before it is answered with TIMEOUT and the approval's id."""
    approval_timeout: float = 600.0
    """Seconds after which a request for approval expires."""
    approval_poll: float = 0.25
    """Seconds between looks at whether another process has heard the answer."""
    approvals_open: int = 1000
    """Requests for approval of one tenant that may wait at once."""
    idempotency_hours: float = 24.0
    """Hours an idempotency key is kept."""
    idempotency_purge: float = 60.0
    """Seconds between two clearings of expired keys."""
    call_poll_first: float = 0.01
    """Seconds until the first look at whether another process has ended the call that is waited for."""
    call_poll_most: float = 0.25
    """Most seconds between two such looks."""

    # The headless IDE and the terminal (document 2, 6.3)
    heartbeat: float = 30.0
    """Seconds between a client's PINGs."""
    open_timeout: float = 10.0
    """Seconds a gateway has to answer a handshake."""
    reconnect_first: float = 0.5
    """Longest wait before the first attempt to connect again; it doubles with every further one."""
    reconnect_most: float = 30.0
    """Longest wait between two attempts."""
    details_limit: int = MIB
    """Bytes of the typed fields that an IDE may send beside a result of documents 1 and 2."""
    ledger_patience: float = 60.0
    """Seconds after its restart that a gateway waits for an IDE whose ledger knows what became of a write."""
    ledger_days: float = 7.0
    """Days an IDE remembers the writes it was asked for."""
    ledger_reads: int = 1000
    """Outcomes of reading calls that an IDE keeps for a gateway that asks again."""

    # Turns
    history_limit: int = 50
    """Messages of a conversation that an agent is given."""

    # Agents
    agent_ready_timeout: float = 10.0
    """Seconds an agent may take to say whether it can answer."""
    script_match_prefix: int = 2000
    """Characters of a prompt that a script's pattern is looked for in, if the pattern needs a backtracking engine."""
    local_prompt: int = 4000
    """Characters of a prompt that the local agent reads."""
    local_result: int = 400_000
    """Characters of a tool's text that it reads."""
    local_searches: int = 24
    """Searches over the whole project that the local agent makes for one question."""
    local_hits: int = 200
    """Matches it asks for in each of them."""
    local_files: int = 12
    """Files it looks into."""
    local_reads: int = 4
    """Files it reads from and shows."""
    local_patience: float = 1.5
    """Seconds it waits for tools that a client may not have."""

    # Tools (document 1, tool definitions)
    grep_limit: int = 20
    read_context_lines: int = 20
    read_max_lines: int = 2000
    """A longer file is cut, with a line that says how to go on."""
    read_max_bytes: int = 64 * MIB
    """Of a larger file only lines are read, and it is not changed."""
    result_limit: int = 100_000
    """Characters of a tool result that go out at once; the whole is kept."""
    diff_distance: int = 100
    """Differing lines up to which two texts are compared by walking; beyond that by the table below."""
    diff_cells: int = 400_000_000
    """Lines times lines compared exactly at once (a bit each); larger texts are cut at lines that occur once."""
    results_bytes: int = 256 * MIB
    """Disk space for whole results of a workspace; the oldest go first."""
    read_result_limit: int = 20_000
    """Characters `read_result` gives when it is not told how many."""
    list_limit: int = 500
    """Entries of a folder that are listed at once."""
    grep_max_limit: int = 1000
    """Most matches one search may ask for."""
    grep_max_context: int = 50
    """Most lines of context around a match."""
    grep_memory: int = 1024 * MIB
    """Bytes of memory the search program may take (on Linux)."""
    grep_lean_bytes: int = 64 * MIB
    """If that was too little (a huge file in one line), larger files than this are left out."""
    grep_line_chars: int = 500
    """A longer line is cut around its match."""
    grep_pattern_chars: int = 10_000
    """Longest pattern."""
    grep_regex_bytes: int = 32 * MIB
    """Memory a compiled pattern may take; a pattern that needs more is refused."""
    grep_output_bytes: int = 64 * MIB
    """Output of the search program that is read before it is stopped."""
    protected_paths: tuple[str, ...] = (
        ".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", "CVS",
        ".vscode/tasks.json", ".vscode/launch.json", ".vscode/settings.json", ".vscode/mcp.json", "*.code-workspace",
        ".idea", ".run", ".fleet", ".zed",
        ".claude", ".cursor", ".windsurf", ".codex", ".gemini", ".continue", ".roo", ".kiro", ".aider*",
        ".clinerules", ".cursorrules", ".windsurfrules", ".mcp.json", ".github/copilot-instructions.md",
        "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
        ".envrc", ".toolwire", "toolwire.toml",
    )  # fmt: skip
    """Not writable by tools: repositories' metadata, and what makes an IDE, a shell or an agent run something."""
    seen_sessions: int = 32
    """Sessions nobody is connected to whose reads are remembered."""
    seen_bytes: int = 16 * MIB
    """Contents a session remembers of files it read, to show what changed since."""
    undo_entries: int = 5000
    """Writes of a workspace that can be undone; the oldest are forgotten first."""
    undo_bytes: int = 256 * MIB
    """Bytes their inverses may take."""
    undo_timeout: float = 10.0
    """Seconds a write waits for another process that is recording one."""
    formatter_timeout: float = 10.0
    """Seconds a formatter may take; after that the edit stays as it was given."""
    formatters: tuple[str, ...] = ("ruff", "clang-format", "prettier", "gofmt", "shfmt")
    """Formatters `apply_change` may run, where they are installed."""
    edit_excerpt: int = 100
    """Document 4: characters of a string that an edit's result or error shows."""
    matches_listed: int = 20
    """Places that a refusal of an ambiguous change lists."""
    # Codemap: the index of symbols and calls
    codemap_file_bytes: int = MIB
    """A larger source file is left out of the index."""
    codemap_line_bytes: int = 1000
    """A file whose lines are longer than this on average is generated, and left out."""
    codemap_files: int = 200_000
    """Most files in one index."""
    codemap_workers: int = 64
    """Most processes that read files for the index at once; never more than there are cores."""
    codemap_parallel: int = 200
    """Files from which on processes are started for them."""
    codemap_batch: int = 32
    """Files a process is given at once."""
    codemap_commit: int = 256
    """Files written to the index at once."""
    codemap_batch_timeout: float = 60.0
    """Seconds a process has for such a batch; then the file that holds it up is left out."""
    codemap_look: float = 0.1
    """Seconds between looks at whether to stop."""
    codemap_wait: float = 10.0
    """Seconds a question waits for an index in the making before it is answered from what is there."""
    codemap_pending: int = 200
    """Changed files that a question indexes itself before it is answered; more are left to the background."""
    codemap_settle_ms: int = 50
    """Milliseconds without a change after which changed files are looked at."""
    codemap_sweep: float = 2.0
    """Where files can't be watched: seconds after which a question looks at all of them again."""
    codemap_pages: int = 4096
    """Files of the index kept decoded in memory."""
    chain_depth: int = 10
    """Deepest call chain that is walked."""
    chain_nodes: int = 400
    """Most nodes of one call chain."""
    chain_guesses: int = 20
    """Most callers or callees of one function that are known by name only."""
    usages_limit: int = 200
    """Most places `find_usages` gives."""
    search_limit: int = 30
    """Most hits `search_code` gives."""
    # Document 3: drafts, attachments, long tasks (spec README, "Resources" and "Long tasks")
    flash_draft_bytes: int = MIB
    """Largest draft, and largest source code of an app."""
    flash_drafts_kept: int = 200
    """Versions of a draft that are kept; the oldest go first."""
    flash_attachment_bytes: int = 8 * MIB
    """Largest uploaded file."""
    flash_body_bytes: int = 12 * MIB
    """Largest body of a request: such a file in base64, with room for the rest."""
    flash_preview_chars: int = 8000
    """Characters of a text file that its preview shows."""
    flash_names_tried: int = 1000
    """Suffixes tried for an uploaded file whose name is taken."""
    flash_rows: int = 1000
    """Most rows one question gives."""
    flash_history: int = 10
    """Messages of a client's history that a task is given: the last ones."""
    flash_attachments: int = 8
    """Files that may come with a task."""
    flash_sessions: int = 64
    """Sessions one `/agent/ws` connection takes part in."""
    flash_socket_calls: int = 64
    """Tool calls under way on one such connection."""
    flash_bookmarks: int = 10_000
    """Sessions whose client left and may come back without a cursor."""
    flash_on_disconnect: str = "continue"
    """What a task does when its client is gone: `continue` or `stop`."""
    flash_build_command: str = ""
    """What flash.build.run runs in the controlled folder, split into words as a shell does; empty: it refuses."""
    flash_build_timeout: float = 600.0
    """Seconds a build may take."""
    flash_build_output: int = 64 * 1024
    """Characters of a build's output that its result keeps: the last ones."""
    flash_build_streamed: int = 4 * MIB
    """Characters of it that are streamed; beyond that only the result tells."""
    language: str = "zh"
    """Language of tool results in documents 1 and 2: `zh` or `en`."""

    @classmethod
    def load(cls, environment: Mapping[str, str], overrides: Iterable[str] = ()) -> Settings:
        """Defaults, then TOOLWIRE_* of the environment, then `name=value` overrides."""
        known = {field.name: field for field in fields(cls)}
        changes: dict[str, Any] = {}
        for name in known:
            value = environment.get(f"TOOLWIRE_{name.upper()}")
            if value is not None:
                changes[name] = _parse(name, value, f"TOOLWIRE_{name.upper()}")
        for override in overrides:
            name, equals, value = override.partition("=")
            if not equals or name not in known:
                raise _unknown(name, known)
            changes[name] = _parse(name, value, f"--set {name}")
        return replace(cls(), **changes)


KINDS: Final = {int: "a whole number", float: "a number", str: "a text"}


def _unknown(name: str, known: Collection[str]) -> ConfigError:
    if name in known:
        hint = f"write --set {name}=VALUE; its default is {_DEFAULTS[name]}"
        return ConfigError(f"--set {name}: the value is missing", field=name, hint=hint)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "docs/settings.md lists them all"
    return ConfigError(f"--set {name}: no such setting", field=name, hint=hint)


def _parse(name: str, value: str, source: str) -> int | float | str | tuple[str, ...]:
    if isinstance(_DEFAULTS[name], tuple):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    kind: type[int | float | str] = type(_DEFAULTS[name])
    try:
        parsed = kind(value)
    except ValueError:
        raise ConfigError(
            f"{source}: {value!r} is not {KINDS[kind]}", field=name, hint=f"its default is {_DEFAULTS[name]}"
        ) from None
    if isinstance(parsed, int | float) and parsed <= 0:
        raise ConfigError(
            f"{source}: {value} must be above zero", field=name, hint=f"its default is {_DEFAULTS[name]}"
        )
    if name == "language" and parsed not in ("zh", "en"):
        raise ConfigError(f"{source}: language is zh or en, not {value!r}", field=name)
    return parsed


_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Settings)}
