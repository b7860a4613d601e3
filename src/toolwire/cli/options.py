"""Options that several commands share, and what their values mean."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from toolwire.errors import ConfigError, why_not_read
from toolwire.settings import Settings

DEFAULT_URL = "ws://127.0.0.1:8080"

DialectOption = Literal["agent_chat", "analyze", "gateway"]

Url = Annotated[str, typer.Option("--url", help="The gateway; a whole path is taken as it is.", metavar="WS_URL")]
Dialect = Annotated[DialectOption, typer.Option("--dialect", help="Which document to speak: 1, 2 or 5.")]
TokenFile = Annotated[
    Path | None, typer.Option("--token-file", help="File with the gateway's token.", metavar="FILE")
]
Ca = Annotated[
    Path | None, typer.Option("--ca", help="Authority that signed the gateway's certificate.", metavar="FILE")
]
Json = Annotated[bool, typer.Option("--json", help="JSON instead of text, for programs.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="Change a setting; may be repeated.", metavar="NAME=VALUE")
]
Store = Annotated[
    str,
    typer.Option("--store", help="sqlite:/// and an absolute path, or memory:; default: this user's.", metavar="URL"),
]
Project = Annotated[Path, typer.Option("--path", help="The project's folder.", metavar="PATH")]


def command(function: Callable[..., Any], *, examples: str) -> typer.Typer:
    """A typer app of one command, whose help ends with examples."""
    app = bare_app()
    app.command(help=function.__doc__, epilog=block(examples))(function)
    return app


def bare_app() -> typer.Typer:
    return typer.Typer(
        add_completion=False,
        # Plain help: it is quick, it can be piped, and examples stay as they are written.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )


def block(examples: str) -> str:
    """Examples as they are written: `\\b` keeps a paragraph from being wrapped."""
    return "\n\n".join(f"\b\n{part}" for part in f"Examples:\n{examples.rstrip()}".split("\n\n"))


def settings_of(overrides: Sequence[str] | None) -> Settings:
    return Settings.load(os.environ, overrides or ())


def folder(path: Path) -> Path:
    """An existing folder, or an error that says which is missing."""
    if not path.exists():
        raise ConfigError(f"{path} does not exist", field="path", hint="name the folder of a project")
    if not path.is_dir():
        raise ConfigError(f"{path} is not a folder", field="path", hint=f"did you mean {path.parent}?")
    return path


def token_of(file: Path | None) -> str:
    """The first token in a file; lines that begin with # are remarks."""
    if file is None:
        return ""
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"can't read the token file {file}: {why_not_read(error)}",
            field="token_file",
            hint="write the token you were given to a file, on a line of its own, and name that",
        ) from None
    token = next((line for line in lines if line and not line.startswith("#")), "")
    if not token:
        raise ConfigError(
            f"{file} has no token in it", field="token_file", hint="write the token on a line of its own"
        )
    return token


def tls_of(ca: Path | None) -> ssl.SSLContext | None:
    """The certificates to trust; None: those of the system."""
    if ca is None:
        return None
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise ConfigError(f"can't use {ca} as an authority: {error}", field="ca") from None


def project_key(path: Path) -> str:
    """A project is named after its folder."""
    name = path.resolve().name or "project"
    return "-".join(name.split())
