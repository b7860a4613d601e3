"""`toolwire ide`: a headless IDE on a folder."""

from __future__ import annotations

import asyncio
import hashlib
import platform
import signal
from pathlib import Path
from typing import Annotated

import typer

from toolwire.cli import options
from toolwire.cli.screen import call_line, clean, console, json_line, result_line
from toolwire.ide import happenings
from toolwire.ide.address import Address
from toolwire.ide.happenings import AnyHappening, Tell
from toolwire.ide.opening import open_ide


def ide(
    path: Annotated[Path, typer.Argument(help="The project's folder.")] = Path(),
    url: options.Url = options.DEFAULT_URL,
    dialect: options.Dialect = "gateway",
    session: Annotated[
        str, typer.Option("--session", help="Session to serve; default: one of this folder's own.", metavar="ID")
    ] = "",
    project: Annotated[
        str, typer.Option("--project", help="Project key; default: the folder's name.", metavar="KEY")
    ] = "",
    token_file: options.TokenFile = None,
    ca: options.Ca = None,
    attempts: Annotated[
        int, typer.Option("--attempts", min=0, help="Give up after so many failures in a row; 0: never.")
    ] = 0,
    last_event: Annotated[
        str,
        typer.Option(
            "--last-event", help="Also show what was said after this cursor; 0: everything.", metavar="CURSOR"
        ),
    ] = "",
    json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Connect to a gateway as an IDE would, and run the tools it asks for on PATH.

    It connects again whenever the connection is lost. A call that is sent again is answered from a ledger, never run
    twice. Ctrl-C answers what is running and leaves.
    """
    root = options.folder(path)
    address = Address(
        base=url,
        dialect=dialect,
        session=session or own_session(root),
        project=project or options.project_key(root),
        token=options.token_of(token_file),
    )
    settings = options.settings_of(overrides)
    tell = json_line if json else _printer(address)

    async def main() -> None:
        with open_ide(
            root,
            address,
            tell=tell,
            settings=settings,
            cursor=last_event,
            tls=options.tls_of(ca),
            attempts=attempts,
        ) as headless:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, headless.stop)
            await headless.run()

    asyncio.run(main())


def own_session(root: Path) -> str:
    """The same each time on this folder of this machine, so that a restart goes on where it was."""
    place = f"{platform.node()}:{root.resolve()}"
    return f"{options.project_key(root)}-{hashlib.sha256(place.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def _printer(address: Address) -> Tell:
    screen = console()

    def say(text: str, style: str) -> None:
        screen.print(clean(text), style=style)

    def tell(happening: AnyHappening) -> None:
        match happening:
            case happenings.Connected(url=url, session=session, dialect=dialect):
                say(f"● connected to {url.partition('?')[0]} (session {session}, {dialect})", style="green")
            case happenings.Disconnected(reason=reason, retry_in=seconds):
                say(f"○ no connection to {address.base}: {reason}; again in {seconds:.1f} s", style="yellow")
            case happenings.CallBegun(tool=tool, arguments=arguments):
                screen.print(call_line(tool, arguments))
            case happenings.CallAnswered(tool=tool, ok=ok, ms=ms, error=error, replayed=replayed):
                screen.print(result_line(tool, ok, ms=ms, note=error or ("from the ledger" if replayed else "")))
            case happenings.Warned(text=text):
                say(f"! {text}", style="yellow")
            case happenings.Heard(message={"type": "error" | "ERROR", **rest}):
                say(f"! the gateway says: {rest.get('content') or rest.get('data')}", style="red")
            case happenings.Closed():
                say("○ closed", style="dim")
            case _:
                pass

    return tell


app = options.command(
    ide,
    examples="""\
  toolwire ide ~/work/shop
  toolwire ide . --dialect analyze --url wss://gateway.example.com --token-file token
  toolwire ide . --session pair-1 --json | jq -c 'select(.event == "result")'

  # then, in another terminal, let the agent work through it:
  toolwire chat --session pair-1 --tools client
""",
)
