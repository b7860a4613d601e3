"""The local agent: finds its way through a project by searching alone, without a model. It only ever reads.

It reads the prompt (Chinese, Russian, English), searches through the tools the client has, ranks what it found, and
answers with citations, what to look at next, and a line that says no model was used.
"""

from __future__ import annotations

from toolwire.agents.base import Agent, Turn
from toolwire.agents.local import plan
from toolwire.agents.local.answer import Report, words_of_question
from toolwire.agents.local.inquiry import HEAD_LINES, Inquiry
from toolwire.agents.local.phrases import phrase
from toolwire.agents.local.places import best_name, places_of
from toolwire.agents.local.words import Question, read_prompt
from toolwire.core.events import Stage
from toolwire.settings import Settings

__all__ = ["LocalAgent"]

BEFORE, AFTER = 4, 40
"""Lines that are read around a place."""


class LocalAgent(Agent):
    name = "local"

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()

    async def answer(self, turn: Turn) -> None:
        question = read_prompt(turn.prompt, turn.history, self._settings.local_prompt)
        inquiry = Inquiry(turn, question, self._settings)
        try:
            await _Work(turn, question, inquiry, self._settings).do()
        finally:
            await inquiry.close()
        pieces = list(Report(question, inquiry.findings, turn.mode).pieces())
        for index, piece in enumerate(pieces, 1):
            await turn.say(piece, final=index == len(pieces))


class _Work:
    """The steps of one answer. Progress is work done over work planned; a longer search has more of it."""

    def __init__(self, turn: Turn, question: Question, inquiry: Inquiry, settings: Settings) -> None:
        self._turn = turn
        self._question = question
        self._inquiry = inquiry
        self._settings = settings
        self._survey = plan.survey(question, settings)
        reads = 2 * settings.local_reads
        self._planned = 1 + len(self._survey) + (0 if question.empty else settings.local_files) + reads + 1
        self._done = 0

    async def do(self) -> None:
        if self._question.empty:
            await self._tell("looking_around", "analyzing", 1)
            await self._inquiry.look_around()
        else:
            await self._search()
        await self._tell("writing", "executing", self._planned - self._done)

    async def _search(self) -> None:
        await self._tell("looking_for", "analyzing", 1, words=words_of_question(self._question))
        await self._inquiry.survey(self._survey)
        await self._inquiry.find_files()
        await self._inquiry.guess_classes()
        await self._inquiry.sharpen()
        await self._tell("narrowing", "planning", len(self._survey), files=self._inquiry.candidates)
        await self._inquiry.inspect()
        self._done += self._settings.local_files
        await self._read()
        if self._question.intent == "callers":
            await self._follow()

    async def _read(self) -> None:
        best = self._inquiry.findings.ranked[: self._settings.local_reads]
        if not best:
            return
        await self._tell("reading", "executing", 0, paths=", ".join(item.path for item in best))
        spots = []
        for item in best:
            place = next(iter(places_of(item.evidence, 1)), None)
            line = place.hit.line if place else 1
            if line <= HEAD_LINES:
                spots.append((item.path, 1, line + AFTER))
            else:
                spots += [(item.path, 1, HEAD_LINES), (item.path, line - BEFORE, line + AFTER)]
        await self._inquiry.read(spots)
        self._done += len(spots)

    async def _follow(self) -> None:
        ranked = self._inquiry.findings.ranked
        target = self._question.names[0] if self._question.names else best_name(ranked[0]) if ranked else ""
        if target:
            await self._inquiry.follow_calls(target)

    async def _tell(self, key: str, stage: Stage, done: int, **facts: object) -> None:
        self._done += done
        percent = min(100, 100 * self._done // self._planned)
        await self._turn.think(phrase(key, self._question.tongue, **facts), stage=stage, percent=percent)
