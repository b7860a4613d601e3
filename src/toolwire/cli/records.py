"""What has happened, read from a store's file or from a running gateway. Nothing is ever written."""

from __future__ import annotations

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
from toolwire.store import default_url, open_store
from toolwire.store.base import SessionSummary
from toolwire.store.sqlite_reading import StoreReader, reading

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
    with reading(_file(place.store or default_url()), Settings()) as reader:
        yield StoreRecords(reader)


class StoreRecords:
    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader

    def sessions(self, limit: int) -> list[SessionSummary]:
        return self._reader.sessions(limit)

    def events(self, session: str) -> Iterator[AnyEvent]:
        number, after = self._number(session), 0
        while page := self._reader.events(number, after, PAGE):
            yield from page
            after = page[-1].seq

    def _number(self, session: str) -> int:
        tenants = {TENANT: None} | {line.tenant: None for line in self.sessions(EVERY) if line.name == session}
        for tenant in tenants:
            number = self._reader.number(tenant, session)
            if number is not None:
                return number
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


def _file(url: str) -> Path:
    """The file of a store that can be read without its gateway."""
    store = open_store(url)
    if store.file is None:
        raise ConfigError(f"{url} can't be read from here", field="store", hint="ask its gateway with --url")
    return store.file


def _unknown(session: str) -> PeerError:
    return PeerError(
        f"no session {session!r}", code="SESSION_NOT_FOUND", field="session", hint="`toolwire sessions` lists them"
    )
