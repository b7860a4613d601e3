"""`toolwire token`: make, list and revoke the tokens that callers of a gateway bring."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated

import typer

from toolwire.cli import options
from toolwire.cli.screen import console, json_line, print_table, table
from toolwire.errors import ConfigError
from toolwire.server import tokens
from toolwire.server.roles import Role
from toolwire.server.tokens import Token

File = Annotated[
    Path, typer.Option("--file", "--token-file", help="The tokens file, as `serve --token-file` takes it.")
]
Name = Annotated[str, typer.Argument(help="Who the token is for.", metavar="NAME")]
DEFAULT_FILE = Path("tokens")
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}

app = options.bare_app()


@app.callback(
    epilog=options.block("""\
  toolwire token create alice --role editor --expires 30d
  toolwire token create ci --role publisher --tenant acme --file /etc/toolwire/tokens
  toolwire token list
  toolwire token revoke alice
  toolwire serve --token-file tokens
""")
)
def token() -> None:
    """Tokens: each stands for a caller with a name, a tenant and a role. Only their hashes are kept.

    A running gateway takes up a change of the file at once.
    """


@app.command(epilog=options.block("  toolwire token create alice --role editor --expires 30d"))
def create(
    name: Name,
    role: Annotated[Role, typer.Option("--role", help="What its bearer may do.")] = "viewer",
    tenant: Annotated[str, typer.Option("--tenant", help="Whose sessions and rows it sees.")] = tokens.DEFAULT_TENANT,
    expires: Annotated[
        str, typer.Option("--expires", help="For how long it is good: 12h, 30d, 8w, or never.", metavar="TIME")
    ] = "90d",
    file: File = DEFAULT_FILE,
    json: options.Json = False,
) -> None:
    """Make a token and print it. It can't be shown again."""
    now = int(time.time())
    secret = tokens.fresh()
    made = Token(tokens.hash_of(secret), name, tenant, role, now, _until(expires, now))
    tokens.add(file, made)
    if json:
        json_line({"token": secret, "name": name, "tenant": tenant, "role": role, "expires": made.expires})
        return
    console().print(secret)
    console(notes=True).print(f"{name}: {role} of {tenant}, {_when(made.expires)}; only its hash is kept in {file}")


@app.command("list", epilog=options.block("  toolwire token list --file /etc/toolwire/tokens --json"))
def list_(file: File = DEFAULT_FILE, json: options.Json = False) -> None:
    """The tokens of a file; never the secrets."""
    found, now = tokens.read(file), time.time()
    if json:
        for one in found:
            json_line(
                {
                    "name": one.name,
                    "tenant": one.tenant,
                    "role": one.role,
                    "created": one.created or None,
                    "expires": one.expires,
                    "expired": one.expired(now),
                    "plain": one.plain,
                }
            )
        return
    listed = table("name", "tenant", "role", "made", "good")
    for one in found:
        good = "expired" if one.expired(now) else _when(one.expires)
        made = time.strftime("%Y-%m-%d", time.localtime(one.created)) if one.created else "-"
        listed.add_row(one.name + (" (plain)" if one.plain else ""), one.tenant, one.role, made, good)
    if not found:
        console().print(f"No tokens in {file} yet. Make one: toolwire token create NAME --file {file}")
        return
    print_table(console(), listed, whole=3)


@app.command(epilog=options.block("  toolwire token revoke alice"))
def revoke(name: Name, file: File = DEFAULT_FILE) -> None:
    """Take a token back. Open connections that came with it are closed."""
    if not tokens.revoke(file, name):
        tokens.read(file)  # a file that can't be read has an error of its own
        hint = f"`toolwire token list --file {file}` shows those it has"
        raise ConfigError(f"{file} has no token of {name}", field="name", hint=hint)
    console().print(f"{name} is revoked")


def _until(text: str, now: int) -> int | None:
    if text == "never":
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,5})([mhdw])", text)
    if found is None:
        raise ConfigError(f"{text!r} is not a time", field="expires", hint="write 12h, 30d, 8w, or never")
    return now + int(found[1]) * _UNITS[found[2]]


def _when(expires: int | None) -> str:
    return "for ever" if expires is None else f"until {time.strftime('%Y-%m-%d %H:%M', time.localtime(expires))}"
