"""The answer: Markdown in the language of the question, with `file:line` for everything it claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolwire.agents.local.inquiry import Findings
from toolwire.agents.local.patterns import definition_of
from toolwire.agents.local.phrases import phrase
from toolwire.agents.local.places import Place, best_name, places_of, summary
from toolwire.agents.local.plan import last_part
from toolwire.agents.local.rank import Ranked
from toolwire.agents.local.results import Excerpt, Hit
from toolwire.agents.local.standing import is_test
from toolwire.agents.local.words import Question
from toolwire.core.events import Mode

SHOWN = 3
"""Files that are described."""
ALSO = 4
"""Files that are only named."""
PLACES = 4
"""Lines cited of each file."""
CALLERS = 20
SNIPPET = 24
OUTLINE = 15
ENTRIES = 40
LINE = 120
CLEAR_LEAD = 1.25
"""A first place this much better than the second is called the most likely one."""


@dataclass(frozen=True, slots=True)
class Report:
    question: Question
    findings: Findings
    mode: Mode

    def pieces(self) -> Iterator[str]:
        """The answer, paragraph by paragraph."""
        paragraphs = [*self._nothing(), *self._opened(), *self._callers(), *self._found()]
        if self.question.borrowed:
            paragraphs.insert(0, self._say("borrowed"))
        paragraphs.append("\n".join(self._next()))
        note = "_" + " ".join(self._effort()) + "_"
        # In plan mode the plan is the end of it.
        paragraphs.insert(len(paragraphs) - 1 if self.mode == "plan" else len(paragraphs), note)
        last = len(paragraphs) - 1
        for index, paragraph in enumerate(paragraphs):
            yield paragraph if index == last else paragraph + "\n\n"

    # What was found ----------------------------------------------------------------------------------------

    def _opened(self) -> Iterator[str]:
        for excerpt in self.findings.opened:
            shown = Excerpt(excerpt.path, excerpt.start, excerpt.lines[:SNIPPET])
            yield f"{self._say('file', path=_code(_at(excerpt.path, excerpt.start)))}\n\n{_fenced(shown)}"
            outline = _outline(excerpt)
            if outline:
                yield f"{self._say('defines')}\n\n" + "\n".join(outline)
        for name, text in self.findings.classes.items():
            lines = text.strip().split("\n")
            yield "\n".join([f"**{_code(name)}**", "", *(f"> {line}".rstrip() for line in lines[:SNIPPET])])
        for path in self.findings.not_opened:
            yield self._say("no_file", path=_code(path))
        if self.findings.entries and self.question.intent == "overview":
            entries = [name for name in self.findings.entries if not name.startswith(".")]
            names = [f"- {_code(name)}" for name in entries[:ENTRIES]] + self._more(len(entries) - ENTRIES)
            yield f"{self._say('overview')}\n\n" + "\n".join(names)

    def _callers(self) -> Iterator[str]:
        target = self.findings.target
        if not target:
            return
        last = last_part(target)
        calls = [hit for hit in self.findings.callers if not _defines(hit, last)]
        calls.sort(key=lambda hit: (is_test(hit.path), self._unsure(hit, last), hit.path, hit.line))
        if not calls:
            yield self._say("no_callers", name=_code(target))
            return
        rows = [_cited(hit) for hit in calls[:CALLERS]] + self._more(len(calls) - CALLERS)
        yield f"{self._say('callers', name=_code(target))}\n\n" + "\n".join(rows)

    def _unsure(self, hit: Hit, name: str) -> int:
        """0 if an index says it is a call, 1 if it looks like one, 2 if the name is only there."""
        if (hit.path, hit.line) in self.findings.resolved:
            return 0
        return 1 if f"{name}(" in hit.text else 2

    def _found(self) -> Iterator[str]:
        ranked = self.findings.ranked
        if not ranked:
            return
        first = ranked[0]
        if self.findings.target:
            yield self._say("defined", place=_code(self._where(first)))
            return
        clear = len(ranked) == 1 or first.score >= CLEAR_LEAD * ranked[1].score
        yield self._say("best", place=_code(self._where(first))) if clear else self._say("several")
        yield "\n".join(self._entry(number, item) for number, item in enumerate(ranked[:SHOWN], 1))
        source = self._source(first)
        if source is not None:
            yield f"{_code(_span(source))}:\n\n{_fenced(source)}"
        others = ranked[SHOWN : SHOWN + ALSO]
        if others:
            yield self._say("also") + " " + ", ".join(_code(self._where(item)) for item in others)

    def _entry(self, number: int, item: Ranked) -> str:
        about = self._about(item)
        head = f"{number}. **{_code(self._where(item))}**" + (f" — {about}" if about else "")
        return "\n".join([head, *(f"   {_cited(place.hit)}" for place in places_of(item.evidence, PLACES))])

    def _about(self, item: Ranked) -> str:
        for excerpt in self.findings.excerpts.get(item.path, ()):
            if excerpt.start == 1:
                return summary(excerpt)
        return ""

    def _where(self, item: Ranked) -> str:
        place = self._best(item)
        return _at(item.path, place.hit.line if place else 1)

    def _best(self, item: Ranked) -> Place | None:
        return next(iter(places_of(item.evidence, 1)), None)

    def _source(self, item: Ranked) -> Excerpt | None:
        """The lines around the best place, as they were read."""
        excerpts = self.findings.excerpts.get(item.path, ())
        place = self._best(item)
        for excerpt in excerpts:
            if excerpt.lines and (
                place is None or excerpt.start <= place.hit.line < excerpt.start + len(excerpt.lines)
            ):
                skip = max(0, place.hit.line - excerpt.start) if place else 0
                return Excerpt(item.path, excerpt.start + skip, excerpt.lines[skip : skip + SNIPPET])
        return None

    def _nothing(self) -> Iterator[str]:
        findings = self.findings
        if self.question.empty and self.question.intent != "overview":
            yield self._say("no_words")
            return
        if findings.ranked or findings.opened or findings.callers or findings.classes:
            return
        if findings.problem and findings.failed >= findings.counted:
            yield self._say("failed", problem=findings.problem)
        else:
            yield self._say("nothing", words=self._words())

    # What to do next ---------------------------------------------------------------------------------------

    def _next(self) -> Iterator[str]:
        """A short list; in plan mode it is the plan."""
        planning = self.mode == "plan"
        yield self._say("plan" if planning else "next") + "\n"
        steps = list(self._steps(planning))
        yield from (f"{number}. {step}" for number, step in enumerate(steps, 1))

    def _steps(self, planning: bool) -> Iterator[str]:
        ranked = self.findings.ranked
        code = [item for item in ranked[: SHOWN + ALSO] if not is_test(item.path)] or ranked[:1]
        if not code:
            yield self._say("ask_narrower")
            return
        yield self._say("read_on", place=_code(self._where(code[0])))
        for item in code[1:SHOWN] if planning else code[1:2]:
            yield self._say("check_second", place=_code(self._where(item)))
        name = best_name(code[0])
        if name and name != last_part(self.findings.target):
            yield self._say("ask_callers", name=_code(name))
        test = next((item for item in ranked if is_test(item.path)), None)
        if test is not None:
            yield self._say("see_tests", place=_code(self._where(test)))
        if planning:
            yield self._say("change_there")
            yield self._say("run_tests")

    def _effort(self) -> Iterator[str]:
        findings = self.findings
        if not self.question.empty:
            yield self._say("effort", words=self._words(), calls=findings.calls, files=len(findings.ranked))
        if findings.failed:
            yield self._say("some_failed", count=findings.failed)
        if findings.truncated:
            yield self._say("cut")
        yield self._say("no_model")

    # Small parts -------------------------------------------------------------------------------------------

    def _say(self, key: str, **facts: object) -> str:
        return phrase(key, self.question.tongue, **facts)

    def _more(self, count: int) -> list[str]:
        return [self._say("more", count=count)] if count > 0 else []

    def _words(self) -> str:
        return words_of_question(self.question)


def words_of_question(question: Question) -> str:
    """What is looked for, as shown to people."""
    words = [*question.files, *question.names, *question.phrases, *(concept.word for concept in question.concepts)]
    return ", ".join(_code(word) for word in words)


def _at(path: str, line: int) -> str:
    return f"{path}:{line}"


def _span(excerpt: Excerpt) -> str:
    return f"{excerpt.path}:{excerpt.start}-{excerpt.start + len(excerpt.lines) - 1}"


def _cited(hit: Hit) -> str:
    text = " ".join(hit.text.split())
    shown = text if len(text) <= LINE else text[: LINE - 1] + "…"
    return f"- {_code(_at(hit.path, hit.line))}" + (f" {_code(shown)}" if shown else "")


def _defines(hit: Hit, name: str) -> bool:
    definition = definition_of(hit.text)
    return definition is not None and definition.name == name


def _outline(excerpt: Excerpt) -> list[str]:
    lines = [Hit(excerpt.path, excerpt.start + at, text) for at, text in enumerate(excerpt.lines)]
    return [_cited(hit) for hit in lines if definition_of(hit.text)][:OUTLINE]


def _code(text: str) -> str:
    if "`" not in text:
        return f"`{text}`"
    return f"`` {text} ``" if "``" not in text else text.replace("`", "'")


def _fenced(excerpt: Excerpt) -> str:
    suffix = excerpt.path.rpartition(".")[2] if "." in excerpt.path.rpartition("/")[2] else ""
    width = len(str(excerpt.start + len(excerpt.lines)))
    rows = [f"{excerpt.start + at:>{width}} | {line}".rstrip() for at, line in enumerate(excerpt.lines)]
    fence = "````" if any("```" in row for row in rows) else "```"
    return "\n".join([fence + suffix, *rows, fence])
