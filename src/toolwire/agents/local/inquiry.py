"""Answering one question: rounds of calls, each narrower than the one before, and what they brought to light."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from toolwire.agents.base import Ask, Turn
from toolwire.agents.local import plan
from toolwire.agents.local.plan import Step
from toolwire.agents.local.rank import Ranked, Ranking
from toolwire.agents.local.results import (
    Excerpt,
    Found,
    Hit,
    read_entries,
    read_excerpt,
    read_hits,
    read_path,
    read_sites,
)
from toolwire.agents.local.words import Question
from toolwire.core.events import CallSettled
from toolwire.settings import Settings

_UNKNOWN_TOOL = re.compile(
    r"(unknown|unsupported|unregistered|no such|not (a )?(supported|known|registered|available)|unrecognized)\b.*"
    r"|tool\b.*\b(not found|not exist|missing)|未知工具|不支持|工具不存在|未注册|неизвестн|не поддержива",
    re.IGNORECASE,
)
HEAD_LINES = 24


@dataclass(slots=True)
class Findings:
    """What has been learnt so far."""

    ranked: list[Ranked] = field(default_factory=list)
    excerpts: dict[str, list[Excerpt]] = field(default_factory=dict)
    opened: list[Excerpt] = field(default_factory=list)
    """Files that the question names."""
    not_opened: list[str] = field(default_factory=list)
    classes: dict[str, str] = field(default_factory=dict)
    """What a client told about classes, in its own words."""
    entries: list[str] = field(default_factory=list)
    callers: list[Hit] = field(default_factory=list)
    resolved: set[tuple[str, int]] = field(default_factory=set)
    """Those of them that an index of the code is sure of: path and line."""
    target: str = ""
    """Whose callers were looked for."""
    calls: int = 0
    counted: int = 0
    """Those of them whose failure says something."""
    failed: int = 0
    truncated: bool = False
    problem: str = ""
    """The first error, if all searches failed."""


class Inquiry:
    def __init__(self, turn: Turn, question: Question, settings: Settings) -> None:
        self.question = question
        self.findings = Findings()
        self._turn = turn
        self._settings = settings
        self._ranking = Ranking(question.concepts, question.names)
        self._missing: set[str] = set()
        """Tools this client turned out not to have."""
        self._cut: list[int] = []
        """Concepts that have more definitions than a search gives."""
        self._folders: list[str] = []
        self._extras: asyncio.Task[None] | None = None

    @property
    def candidates(self) -> int:
        """Files that have anything to do with the question so far."""
        return len(self._ranking.files)

    # Rounds ------------------------------------------------------------------------------------------------

    async def survey(self, steps: Sequence[Step]) -> None:
        """Search the whole project."""
        extras = plan.optional(self.question)
        if extras:
            self._extras = asyncio.create_task(self._run(extras, quiet=True))
        await self._run(steps)
        await self._extras_in()

    async def find_files(self) -> None:
        """Look for files that the question names without saying where they are."""
        lost = self.findings.not_opened
        if not lost or "list_dir" in self._missing:
            return
        (listing,) = await self._call([plan.list_dir(".", deep=True)], quiet=True)
        paths = read_entries(listing.result) if listing.outcome == "ok" else []
        found = {name: path for name in lost for path in reversed(paths) if f"/{path}".endswith(f"/{name}")}
        await self._run([Step("file", path, plan.read(path, 1, plan.HEAD)) for path in found.values()])
        self.findings.not_opened = [name for name in lost if name not in found]

    async def guess_classes(self) -> None:
        """For a client that can't search (document 2): classes may be called what the question is about."""
        if "grep_file" in self._missing and "read_class" not in self._missing:
            await self._run(plan.guesses(self.question), quiet=True)

    async def sharpen(self) -> None:
        """Search again, more narrowly, where there was too much to see it all."""
        await self._run(plan.sharpen(self.question, self._cut, self._ranking.telling(self._folders), self._settings))

    async def inspect(self) -> None:
        """Look inside the best candidates, and rank them anew."""
        candidates = self._ranking.ranked()[: self._settings.local_files]
        if self.question.concepts or self.question.names:
            asks = [plan.inside(self.question, ranked.path, self._settings) for ranked in candidates]
            for ranked, settled in zip(candidates, await self._call(asks), strict=True):
                if settled.outcome == "ok":
                    self._ranking.add_inside(ranked.path, read_hits(settled.result))
                await asyncio.sleep(0)
        self.findings.ranked = self._ranking.ranked()

    async def read(self, spots: Sequence[tuple[str, int, int]]) -> None:
        """Read lines of files: path, first and last line of each."""
        asks = [plan.read(path, start, end) for path, start, end in spots]
        for (path, start, _), settled in zip(spots, await self._call(asks), strict=True):
            if settled.outcome == "ok":
                excerpt = read_excerpt(settled.result, path, start)
                self.findings.excerpts.setdefault(path, []).append(excerpt)

    async def follow_calls(self, target: str) -> None:
        """Who calls or names something."""
        self.findings.target = target
        asks = [plan.uses(target, self._settings)]
        if "call_chain" not in self._missing:
            asks.append(plan.callers(target))
        named, *chains = await self._call(asks)
        hits: dict[tuple[str, int], Hit] = {}
        if named.outcome == "ok":
            hits = {(hit.path, hit.line): hit for hit in read_hits(named.result).hits}
        for settled in chains:
            if settled.outcome == "ok":
                self.findings.resolved.update(read_sites(settled.result))
        for path, line in self.findings.resolved:
            hits.setdefault((path, line), Hit(path, line, ""))
        self.findings.callers = list(hits.values())

    async def look_around(self) -> None:
        """The top folder and the files that introduce a project."""
        asks = [plan.list_dir("."), *(plan.read(path, 1, HEAD_LINES * 2) for path in ("README.md", "README.rst"))]
        listing, *readmes = await self._call(asks, quiet=True)
        if listing.outcome == "ok":
            self._list(".", read_entries(listing.result))
        for path, settled in zip(("README.md", "README.rst"), readmes, strict=True):
            if settled.outcome == "ok":
                self.findings.opened.append(read_excerpt(settled.result, path, 1))

    async def close(self) -> None:
        """Let go of calls nobody waits for any more."""
        if self._extras is not None:
            self._extras.cancel()
            await asyncio.gather(self._extras, return_exceptions=True)

    # Calls -------------------------------------------------------------------------------------------------

    async def _run(self, steps: Sequence[Step], *, quiet: bool = False) -> None:
        outcomes = await self._call([step.ask for step in steps], quiet=quiet)
        for step, settled in zip(steps, outcomes, strict=True):
            self._learn(step, settled)
            await asyncio.sleep(0)  # others use this loop too

    async def _call(self, asks: Sequence[Ask], *, quiet: bool = False) -> Sequence[CallSettled]:
        """Make calls and count them. `quiet`: a failure says nothing about the search."""
        if not asks:
            return []
        outcomes = [self._bounded(settled) for settled in await self._turn.call(asks)]
        self.findings.calls += len(outcomes)
        self.findings.counted += 0 if quiet else len(outcomes)
        for settled in outcomes:
            if settled.outcome == "ok":
                continue
            if _UNKNOWN_TOOL.search(settled.error):
                self._missing.add(settled.tool)
            if not quiet:
                self.findings.failed += 1
                self.findings.problem = self.findings.problem or settled.error
        return outcomes

    def _bounded(self, settled: CallSettled) -> CallSettled:
        most = self._settings.local_result
        if isinstance(settled.result, str) and len(settled.result) > most:
            return msgspec.structs.replace(settled, result=settled.result[:most])
        return settled

    async def _extras_in(self) -> None:
        """Wait a little for tools that a client may not have: some never answer."""
        if self._extras is not None:
            await asyncio.wait([self._extras], timeout=self._settings.local_patience)
            if self._extras.done():
                self._extras.result()

    def _learn(self, step: Step, settled: CallSettled) -> None:
        if settled.outcome != "ok":
            if step.purpose == "file":
                self.findings.not_opened.append(str(step.subject))
            return
        if step.purpose == "file":
            self.findings.opened.append(read_excerpt(settled.result, str(step.subject), 1))
        elif step.purpose == "class":
            self._read_class(str(step.subject), settled.result)
        elif step.purpose == "listing":
            self._list(str(step.subject), read_entries(settled.result))
        else:
            self._weigh(step, read_hits(settled.result))

    def _read_class(self, name: str, result: Any) -> None:
        found = read_hits(result)
        if not found.hits and (path := read_path(result)):
            found = Found((Hit(path, 1, f"class {plan.last_part(name)}"),), 1, False)
        self._ranking.add_named(name, found)
        if isinstance(result, str):
            self.findings.classes[name] = result

    def _list(self, folder: str, names: list[str]) -> None:
        if folder == ".":
            self.findings.entries = names
            self._folders = [name.rstrip("/") for name in names if name.endswith("/")]
        prefix = "" if folder == "." else f"{folder}/"
        files = [name for name in names if not name.endswith("/")]
        self._ranking.add_paths([name if name.startswith(prefix) else prefix + name for name in files])

    def _weigh(self, step: Step, found: Found) -> None:
        self.findings.truncated = self.findings.truncated or found.truncated
        if step.purpose == "definitions" and isinstance(step.subject, int):
            self._ranking.add_definitions(step.subject, found)
            if found.truncated:
                self._cut.append(step.subject)
        elif step.purpose == "headers" and isinstance(step.subject, int):
            self._ranking.add_headers(step.subject, found)
        elif step.purpose == "together":
            self._ranking.add_together(found)
        elif step.purpose == "named":
            self._ranking.add_named(str(step.subject), found)
        else:
            self._ranking.add_suggestions(found)
