"""The ledger's rules, whatever is asked of it in whatever order and however often its process dies."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from toolwire.ide.call import UNDECIDED, Call, Outcome
from toolwire.ide.ledger import Ledger

calls = st.builds(
    Call,
    session=st.sampled_from(["s", "t"]),
    call_id=st.sampled_from(["1", "2", "3"]),
    tool=st.sampled_from(["Edit", "Replace"]),
    arguments=st.sampled_from([{}, {"path": "a"}, {"path": "b"}]),
)
json = st.none() | st.text(max_size=5) | st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=2)
outcomes = st.builds(
    Outcome,
    ok=st.booleans(),
    result=json,
    error=st.text(max_size=5),
    ms=st.integers(0, 10),
    details=st.none() | st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
    indeterminate=st.booleans(),
)
seen = st.dictionaries(st.sampled_from(["a", "b"]), st.none() | st.sampled_from(["h1", "h2"]), max_size=2)


class LedgerMachine(RuleBasedStateMachine):
    """Beside a plain dictionary that says what must come out."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.known: dict[tuple[str, str], tuple[bytes, Outcome | None]] = {}
        self.seen: dict[str, dict[str, str]] = {"s": {}, "t": {}}
        self.ledger = self._opened()
        self.id = self.ledger.id

    def _opened(self) -> Ledger:
        return Ledger(self.folder / "l.sqlite", days=7, reads=1000)

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.close()
            shutil.rmtree(self.folder)

    def expected(self, call: Call) -> Outcome | None:
        digest, outcome = self.known.get((call.session, call.call_id), (b"", None))
        if digest != call.digest():
            return None
        return UNDECIDED if outcome is None else outcome

    @rule(call=calls)
    def a_write_begins_only_if_it_was_never_asked(self, call: Call) -> None:
        expected = self.expected(call)
        assert self.ledger.begin(call, reads=False) == expected
        if expected is None:
            self.known[call.session, call.call_id] = (call.digest(), None)

    @rule(call=calls)
    def looking_for_a_read_begins_nothing(self, call: Call) -> None:
        assert self.ledger.begin(call, reads=True) == self.expected(call)

    @rule(call=calls, outcome=outcomes, reads=st.booleans(), seen=seen)
    def an_outcome_is_kept_with_what_was_seen(
        self, call: Call, outcome: Outcome, reads: bool, seen: dict[str, str | None]
    ) -> None:
        self.ledger.finish(call, outcome, reads=reads, seen=seen)
        kept = {name: getattr(outcome, name) for name in ("ok", "result", "error", "ms", "details", "indeterminate")}
        self.known[call.session, call.call_id] = (call.digest(), Outcome(**kept, replayed=True))
        for path, digest in seen.items():
            if digest is None:
                self.seen[call.session].pop(path, None)
            else:
                self.seen[call.session][path] = digest

    @rule()
    def its_process_dies_and_the_next_one_opens_it(self) -> None:
        self.ledger.close()
        self.ledger = self._opened()

    @invariant()
    def it_is_the_same_ledger(self) -> None:
        if hasattr(self, "ledger"):
            assert self.ledger.id == self.id
            assert {session: self.ledger.seen(session) for session in ("s", "t")} == self.seen


TestLedger = LedgerMachine.TestCase
TestLedger.settings = hypothesis_settings(max_examples=25, stateful_step_count=25, deadline=None)
