"""The events that one commit adds, by session: each append is checked when it comes, all are stored at the end."""

from __future__ import annotations

from toolwire.core.events import AnyEvent, encode_run
from toolwire.errors import StoreError
from toolwire.store.group_commit import Append
from toolwire.store.refusals import UNSTORABLE, follows, not_following, nowhere, unstorable
from toolwire.store.sqlite_known import KnownSessions
from toolwire.store.sqlite_rows import Rows


class Gathering:
    """Made when something is to be gathered. What a session brings in several pieces becomes one run."""

    __slots__ = ("_appends", "_before", "_known", "_runs")

    def __init__(self, known: KnownSessions) -> None:
        self._known = known
        self._before = known.fresh.copy(), known.fresh_hashes.copy()
        self._runs: dict[int, list[AnyEvent]] = {}
        self._appends: list[Append] = []

    def __bool__(self) -> bool:
        return bool(self._runs)

    def take(self, appends: list[Append], *, certain: bool) -> None:
        """Add what follows; the rest gets an error. `certain`: also find out now whether it can be stored at all.

        Nothing can be put right later if transactions share the commit: whoever follows in the session depends on it.
        """
        runs, fresh, lasts = self._runs, self._known.fresh, self._known.lasts
        self._appends += appends
        for append in appends:
            session, events = append.session, append.events
            if not events:
                continue
            last = fresh.get(session) or lasts.get(session)
            if last is None:
                last = self._known.last(session)
            if last is None:
                append.error = nowhere(session)
            elif not follows(events, last):
                append.error = not_following(session, events[0].seq, last)
            elif certain and (trouble := _trouble(events)) is not None:
                append.error = trouble
            else:
                fresh[session] = events[-1].seq
                run = runs.get(session)
                runs[session] = events if run is None else run + events

    def into(self, rows: Rows) -> None:
        """Raises one of UNSTORABLE."""
        known = self._known
        for session, events in self._runs.items():
            known.fresh_hashes[session] = rows.add(session, known.tenant, events, known.hash(session))

    def sorted_out(self) -> Gathering:
        """The same without what can't be stored. (What follows that in its session fails as well.)"""
        self._known.fresh, self._known.fresh_hashes = self._before
        for append in self._appends:
            append.error = _trouble(append.events)
        again = Gathering(self._known)
        again.take([append for append in self._appends if append.error is None], certain=False)
        return again


def _trouble(events: list[AnyEvent]) -> StoreError | None:
    try:
        encode_run(events)
    except UNSTORABLE as error:
        return unstorable(error)
    return None
