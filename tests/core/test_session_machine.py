"""Whatever is asked of a session, in any order, these hold at every step:

- events are numbered without gaps;
- a turn asked for has exactly one end, a call exactly one outcome, and both come after their beginning;
- no more than one turn runs, and it was asked for first among those that had not ended;
- a session that reads the log back has the state of the one that wrote it.
"""

from __future__ import annotations

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core.made import session as new_session
from core.made import state
from toolwire.core.commands import AddMessage, Answer, Prompt, Report, RunTool
from toolwire.core.events import (
    AnyEvent,
    CallRequested,
    CallSettled,
    Stage,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnStarted,
    decode_run,
    encode_run,
    opens,
)
from toolwire.core.turn import CallSpec
from toolwire.errors import QueueFull, ToolwireError

specs = st.lists(
    st.builds(
        CallSpec,
        st.sampled_from(["read_file", "Edit"]),
        reads=st.booleans(),
        placement=st.sampled_from([None, "client", "server"]),
    ),
    max_size=4,
)
stages = st.sampled_from([None, "analyzing", "planning", "executing"])


class SessionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.session = new_session()
        self.mirror = new_session()
        """Knows nothing but the stored log."""
        self.log: list[AnyEvent] = []
        self.now = 0

    def keep(self, events: list[AnyEvent]) -> None:
        for event in decode_run(encode_run(events)):
            assert event.seq == len(self.log) + 1
            self.log.append(event)
            self.mirror.apply(event)

    @property
    def running(self) -> str:
        assert self.session.running is not None
        return self.session.running.id

    def waiting(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from([call.call_id for call in self.session.calls]))

    # What may happen -------------------------------------------------------------------------------------------

    @rule(
        busy=st.sampled_from(["queue", "override"]),
        mode=st.sampled_from(["ask", "agent"]),
        limit=st.sampled_from([0, 700]),
    )
    def prompt(self, busy: str, mode: str, limit: int) -> None:
        command = Prompt("p", busy=busy, mode=mode)  # type: ignore[arg-type]
        try:
            self.keep(self.session.prompt(command, self.now, placement="client", limit_ms=limit))
        except QueueFull:
            assert len(self.session.queue) == 3

    @precondition(lambda self: self.session.running is not None)
    @rule(text=st.text("ab", max_size=2), final=st.booleans())
    def say(self, text: str, final: bool) -> None:
        self.keep([self.session.say(self.running, text, self.now, final=final)])

    @precondition(lambda self: self.session.running is not None)
    @rule(percent=st.none() | st.integers(-10, 120), stage=stages)
    def think(self, percent: int | None, stage: Stage | None) -> None:
        self.keep(self.session.think(self.running, "…", self.now, stage=stage, percent=percent))

    @precondition(lambda self: self.session.running is not None)
    @rule(degraded=st.booleans())
    def choose(self, degraded: bool) -> None:
        self.keep(self.session.choose(self.running, "local", self.now, degraded=degraded))

    @precondition(lambda self: self.session.running is not None)
    @rule(specs=specs)
    def call(self, specs: list[CallSpec]) -> None:
        try:
            ids, events = self.session.call(self.running, specs, self.now)
        except ToolwireError:
            assert len(self.session.calls) + len(specs) > 8
            return
        assert [event.call_id for event in events if isinstance(event, CallRequested)] == ids
        self.keep(events)

    @rule(reads=st.booleans())
    def run_tool(self, reads: bool) -> None:
        try:
            command = RunTool("own", "Edit", {})
            self.keep([self.session.run_tool(command, self.now, project="", reads=reads, asked_by="c")])
        except QueueFull:
            assert len(self.session.calls) == 8

    @precondition(lambda self: len(self.session.calls) > 0)
    @rule(data=st.data(), ok=st.booleans(), twice=st.booleans())
    def answer(self, data: st.DataObject, ok: bool, twice: bool) -> None:
        call_id = self.waiting(data)
        settled = self.session.answer(Answer(call_id, ok, {"r": 1}, "" if ok else "e"), self.now)
        if settled is None:
            settled = self.session.settle(call_id, ok, "r", "", self.now)
        assert settled is not None
        self.keep([settled])
        if twice:
            assert self.session.answer(Answer(call_id, ok), self.now) is None
            assert self.session.settle(call_id, ok, None, "", self.now) is None

    @precondition(lambda self: len(self.session.calls) > 0)
    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        self.keep(self.session.lose([self.waiting(data)], self.now))

    @precondition(lambda self: self.session.running is not None)
    @rule()
    def finish(self) -> None:
        self.keep(self.session.finish(self.running, self.now))

    @precondition(lambda self: self.session.running is not None)
    @rule()
    def fail(self) -> None:
        self.keep(self.session.fail(self.running, "broken", self.now))

    @rule(ms=st.integers(0, 900))
    def time_passes(self, ms: int) -> None:
        self.now += ms
        self.keep(self.session.expire(self.now))

    @rule(ledger=st.sampled_from([None, "", "one", "two"]))
    def another_client_runs_the_tools(self, ledger: str | None) -> None:
        self.session.ledger = ledger

    @precondition(lambda self: len(self.session.calls) > 0)
    @rule(data=st.data(), ledger=st.sampled_from(["", "one", "two"]))
    def bind(self, data: st.DataObject, ledger: str) -> None:
        self.keep([self.session.bind(self.waiting(data), ledger, self.now)])

    @rule(what=st.sampled_from(["stop", "reset", "interrupt", "release", "end_cut"]))
    def disturb(self, what: str) -> None:
        self.keep(getattr(self.session, what)(self.now))

    @rule()
    def talk(self) -> None:
        self.keep(self.session.add_message(AddMessage("system", "m"), self.now))
        self.keep(self.session.report(Report("r"), self.now))

    # What holds ------------------------------------------------------------------------------------------------

    @invariant()
    def the_log_restores_the_session(self) -> None:
        assert state(self.mirror) == state(self.session)

    @invariant()
    def every_turn_has_one_end_and_starts_in_its_order(self) -> None:
        begun: set[str] = set()
        unended: list[str] = []
        for event in self.log:
            if isinstance(event, TurnAsked):
                assert event.turn not in begun
                begun.add(event.turn)
                unended.append(event.turn)
            elif isinstance(event, TurnStarted):
                assert event.turn == unended[0]
            elif isinstance(event, TurnEnded):
                unended.remove(event.turn)
        running = [self.session.running.id] if self.session.running else []
        assert unended == running + [turn.id for turn in self.session.queue]

    @invariant()
    def every_call_has_one_outcome_and_none_outlives_its_turn(self) -> None:
        begun: set[str] = set()
        waiting: dict[str, str] = {}
        for event in self.log:
            if isinstance(event, CallRequested):
                assert event.call_id not in begun
                begun.add(event.call_id)
                waiting[event.call_id] = event.turn
            elif isinstance(event, CallSettled):
                assert waiting.pop(event.call_id) == event.turn
            elif isinstance(event, TurnEnded):
                assert event.turn not in waiting.values()
        assert set(waiting) == {call.call_id for call in self.session.calls}

    @invariant()
    def what_is_open_sums_to_zero_at_rest(self) -> None:
        assert (sum(opens(event) for event in self.log) == 0) == self.session.at_rest

    @invariant()
    def percent_never_falls(self) -> None:
        told: dict[str, int] = {}
        for event in self.log:
            if isinstance(event, Thought) and event.percent is not None:
                assert told.get(event.turn, 0) <= event.percent <= 100
                told[event.turn] = event.percent


TestSession = SessionMachine.TestCase
TestSession.settings = hypothesis_settings(max_examples=60, stateful_step_count=40, deadline=None)
