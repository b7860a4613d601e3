"""What has happened, read from a store's file or from a running gateway. Nothing is ever written."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

import msgspec
import typer

from toolwire.cli import options
from toolwire.cli.api import Api
from toolwire.core.events import AnyEvent
from toolwire.errors import ConfigError, PeerError
from toolwire.ide.address import Address
from toolwire.settings import Settings
from toolwire.store import Store, default_url, open_store
from toolwire.store.base import SessionSummary

PAGE = 1000
EVERY = 1_000_000
"""More sessions than a list will ever have."""
TENANT = "default"

Url = Annotated[str, typer.Option("--url", help="Ask this gateway instead of reading a store.", metavar="WS_URL")]


class Records(Protocol):
    def sessions(self, limit: int) -> list[SessionSummary]:
        """The most recently used first."""

    def events(self, session: str) -> Iterator[AnyEvent]:
        """The whole log of a session, in order; PeerError if there is none."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to read: a gateway if one is named, else a store."""

    store: str = ""
    url: str = ""
    token_file: Path | None = None
    ca: Path | None = None

    def or_else(self, other: Place) -> Place:
        return Place(
            self.store or other.store,
            self.url or other.url,
            self.token_file or other.token_file,
            self.ca or other.ca,
        )


@contextlib.contextmanager
def records(place: Place) -> Iterator[Records]:
    if place.url and place.store:
        raise ConfigError("--url and --store name two places to read from", field="url", hint="give one of them")
    if place.url:
        address = Address(place.url, "gateway", "-", token=options.token_of(place.token_file))
        yield GatewayRecords(Api(address, options.tls_of(place.ca)))
        return
    with asyncio.Runner() as runner:
        kept = _existing(place.store or default_url())
        runner.run(kept.start())
        try:
            yield StoreRecords(kept, runner)
        finally:
            runner.run(kept.close())


class StoreRecords:
    def __init__(self, store: Store, runner: asyncio.Runner) -> None:
        self._store = store
        self._runner = runner

    def sessions(self, limit: int) -> list[SessionSummary]:
        return self._runner.run(self._store.sessions(limit=limit))

    def events(self, session: str) -> Iterator[AnyEvent]:
        number, after = self._number(session), 0
        while page := self._runner.run(self._store.read(number, after=after, limit=PAGE)):
            yield from page
            after = page[-1].seq

    def _number(self, session: str) -> int:
        tenants = {TENANT: None} | {line.tenant: None for line in self.sessions(EVERY) if line.name == session}
        for tenant in tenants:
            record = self._runner.run(self._store.find_session(tenant, session))
            if record is not None:
                return record.number
        raise _unknown(session)


class GatewayRecords:
    def __init__(self, api: Api) -> None:
        self._api = api

    def sessions(self, limit: int) -> list[SessionSummary]:
        lines = self._api.sessions(limit)
        return [msgspec.convert({"tenant": TENANT} | line, SessionSummary) for line in lines]

    def events(self, session: str) -> Iterator[AnyEvent]:
        after = 0
        while True:
            page = self._api.events(session, after, PAGE)
            yield from msgspec.convert(page["events"], list[AnyEvent])
            after = page["last"]
            if not page["more"]:
                return


def _existing(url: str) -> Store:
    """A store to read. One that is not there is not made."""
    store = open_store(url, Settings())
    if not url.startswith("sqlite:///"):
        raise ConfigError(f"{url} can't be read from here", field="store", hint="ask its gateway with --url")
    path = Path(url.removeprefix("sqlite:///"))
    if not path.is_file():
        raise ConfigError(
            f"nothing is recorded yet: there is no {path}",
            field="store",
            hint="name another store with --store or --url",
        )
    return store


def _unknown(session: str) -> PeerError:
    return PeerError(
        f"no session {session!r}", code="SESSION_NOT_FOUND", field="session", hint="`toolwire sessions` lists them"
    )
