"""Puts a headless IDE together: workspace, tools, ledger, workbench, connection."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from toolwire.dialects.details import DETAILS
from toolwire.ide.address import Address
from toolwire.ide.client import Client
from toolwire.ide.happenings import Tell, Warned
from toolwire.ide.ide import Ide
from toolwire.ide.ledger import open_ledger
from toolwire.ide.speech import speech_of
from toolwire.ide.workbench import Workbench
from toolwire.settings import Settings
from toolwire.tools.registry import Registry, default_registry
from toolwire.tools.workspace import Workspace


@contextlib.contextmanager
def open_ide(
    root: Path,
    address: Address,
    *,
    tell: Tell,
    settings: Settings | None = None,
    registry: Registry | None = None,
    state: Path | None = None,
    cursor: str = "",
    tls: ssl.SSLContext | None = None,
    attempts: int = 0,
) -> Iterator[Ide]:
    """An IDE on the folder `root`, ready to `run` on this event loop. Its tools and ledger are closed at the end."""
    settings = settings or Settings()
    speech = speech_of(address.dialect)
    if address.readable_token:
        tell(Warned("the token travels unencrypted: use wss:// for a gateway on another machine"))
    with (
        Workspace(root, state, settings) as workspace,
        contextlib.closing(open_ledger(workspace.state, address.session, settings)) as ledger,
    ):
        workbench = Workbench(
            workspace, registry or default_registry(), ledger, settings, form=speech.form, session=address.session
        )
        ide = Ide(address.session, speech, workbench, settings, tell)
        ide.client = Client(
            address=replace(
                address,
                project_path=address.project_path or str(workspace.root),
                query={**address.query, "ledger": ledger.id, DETAILS: "1"},
            ),
            dialect=speech.name,
            hear=ide.hear,
            ping=speech.ping,
            meet=speech.meet,
            tell=tell,
            settings=settings,
            cursor=cursor,
            tls=tls,
            attempts=attempts,
        )
        yield ide
