"""The tokens file: who may call, as whom, until when. Only hashes of tokens are kept.

A line is a JSON object `{"hash": "sha256:…", "name": …, "tenant": …, "role": …, "created": …, "expires": …}`, made by
`toolwire token create`; the times are seconds, `expires` null means never. A plain line is a token of the owner, as
it is. Lines that begin with # are remarks.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from toolwire.errors import ConfigError, why_not_read
from toolwire.server.roles import ROLES, Role, role_of

TOKEN_MIN_LENGTH: Final = 16
LINES: Final = "a line is a secret of 16 characters or more, or what `toolwire token create` has written"
SECRET_BYTES: Final = 32
OWNER_NAME: Final = "owner"
DEFAULT_TENANT: Final = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Token:
    """One token, known by its hash. Random secrets of 256 bits need no slow hash."""

    hash: str
    name: str = OWNER_NAME
    tenant: str = DEFAULT_TENANT
    role: Role = "super_admin"
    created: int = 0
    expires: int | None = None
    plain: bool = False
    """It stands in the file as it is."""

    def __post_init__(self) -> None:
        for field, value in (("name", self.name), ("tenant", self.tenant)):
            if not _NAME.fullmatch(value):
                raise ConfigError(
                    f"{value!r} can't be a token's {field}", field=field, hint="use letters, digits and . _ @ -"
                )
        if not _HASH.fullmatch(self.hash):
            raise ConfigError("a token's hash is sha256: and 64 hex digits", field="hash")

    @property
    def digest(self) -> bytes:
        return bytes.fromhex(self.hash.removeprefix("sha256:"))

    def expired(self, now: float) -> bool:
        return self.expires is not None and now >= self.expires


def hash_of(token: str) -> str:
    return "sha256:" + sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def fresh() -> str:
    """A new token: easy to recognise in a leak, impossible to guess."""
    return f"tw_{secrets.token_urlsafe(SECRET_BYTES)}"


def read(path: Path) -> list[Token]:
    """The tokens in a file; ConfigError names the line at fault."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"can't read the token file {path}: {why_not_read(error)}",
            field="token_file",
            hint=f"make one with: toolwire token create NAME --file {path}",
        ) from None
    return [token for number, line in enumerate(lines, 1) if (token := _line(path, number, line)) is not None]


def add(path: Path, token: Token) -> None:
    """Append to the file, which is made, readable by its owner alone, if need be."""

    def changed(lines: list[str]) -> list[str]:
        if any(token.name == known.name and not known.plain for known in _tokens(path, lines)):
            raise ConfigError(
                f"{path} has a token of that name already: {token.name}", field="name", hint="revoke it first"
            )
        return [*lines, _written(token)]

    _rewrite(path, changed)


def revoke(path: Path, name: str) -> int:
    """Take every token of that name out of the file; gives how many there were."""
    count = 0

    def changed(lines: list[str]) -> list[str]:
        nonlocal count
        kept = []
        for number, line in enumerate(lines, 1):
            token = _line(path, number, line)
            if token is not None and token.name == name and not token.plain:
                count += 1
            else:
                kept.append(line)
        return kept

    if path.exists():
        _rewrite(path, changed)
    return count


def _tokens(path: Path, lines: Iterable[str]) -> Iterator[Token]:
    for number, line in enumerate(lines, 1):
        token = _line(path, number, line)
        if token is not None:
            yield token


def _line(path: Path, number: int, line: str) -> Token | None:
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    where = f"{path}, line {number}"
    if not text.startswith("{"):
        if len(text) < TOKEN_MIN_LENGTH:
            raise ConfigError(
                f"{where}: the token is shorter than {TOKEN_MIN_LENGTH} characters",
                field="token_file",
                hint="make one with: toolwire token create NAME",
            )
        return Token(hash_of(text), plain=True)
    try:
        return _parsed(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{where}: not a token: {error}", field="token_file", hint=LINES) from None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error.message}", field="token_file", hint=error.hint or LINES) from None


def _parsed(value: dict[str, Any]) -> Token:
    """Fail closed: a role nobody knows is the least, a time nobody can read is an error."""
    expires = value.get("expires")
    if expires is not None and (type(expires) is not int or expires < 0):
        raise ValueError("expires is a time in seconds, or null")
    return Token(
        hash=str(value["hash"]),
        name=str(value["name"]),
        tenant=str(value.get("tenant", DEFAULT_TENANT)),
        role=role_of(value.get("role")),
        created=int(value.get("created", 0)),
        expires=expires,
    )


def _written(token: Token) -> str:
    assert token.role in ROLES
    parts = ("hash", "name", "tenant", "role", "created", "expires")
    return json.dumps({name: getattr(token, name) for name in parts}, ensure_ascii=False)


def _rewrite(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    """Replace the file as a whole, one process at a time: a reader sees it before or after, never between."""
    with _locked(path):
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        changed = change(lines)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in changed))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigError(f"can't write the token file {path}: {error}", field="token_file") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
