"""Who a token stands for: a line of the tokens file, or a JSON Web Token. Fail closed.

The file is read again when it changes, so that `toolwire token revoke` takes effect at once; a file that can't be
read any more lets nobody in.
"""

from __future__ import annotations

import hmac
import time
from hashlib import sha256
from pathlib import Path
from typing import Final

from toolwire.errors import ConfigError
from toolwire.server import tokens
from toolwire.server.jwt_callers import JwtCallers
from toolwire.server.logs import log
from toolwire.server.tokens import Token

_State = tuple[int, int, int]
_GONE: Final[_State] = (0, 0, 0)


class Callers:
    """The tokens that are good now."""

    def __init__(self, path: Path | None, jwt: JwtCallers | None = None) -> None:
        self._path = path
        self._jwt = jwt
        self._known: dict[bytes, Token] = {}
        self._state = _GONE
        if path is not None:
            self._state = _state(path)
            self._known = _by_digest(path)
            if not self._known:
                raise ConfigError(
                    f"{path} has no token in it", field="token_file", hint="make one: toolwire token create NAME"
                )

    @property
    def required(self) -> bool:
        """Whether a caller must bring a token at all."""
        return self._path is not None or self._jwt is not None

    def identify(self, token: str) -> Token | None:
        """The one a token stands for; None if it is unknown, revoked or past its time."""
        self.refresh()
        digest = sha256(token.encode("utf-8", "surrogateescape")).digest()
        found = self._known.get(digest)
        if found is None or not hmac.compare_digest(found.digest, digest):
            found = self._jwt.identify(token) if self._jwt is not None and token.count(".") == 2 else None
        return None if found is None or found.expired(time.time()) else found

    def still_good(self, credential: str, expires: int | None) -> bool:
        """Whether a token that was good when a connection was opened still is."""
        if not credential:
            return not self.required
        if expires is not None and time.time() >= expires:
            return False
        by_file = bytes.fromhex(credential.removeprefix("sha256:")) in self._known
        return by_file or self._jwt is not None

    def refresh(self) -> bool:
        """Read the file again if it has changed; True if it has."""
        if self._path is None or (state := _state(self._path)) == self._state:
            return False
        self._state = state
        try:
            self._known = _by_digest(self._path)
        except ConfigError as error:
            self._known = {}
            log.error("the token file can't be used; nobody is let in", error=error.message)
        return True


def _by_digest(path: Path) -> dict[bytes, Token]:
    return {token.digest: token for token in tokens.read(path)}


def _state(path: Path) -> _State:
    try:
        found = path.stat()
    except OSError:
        return _GONE
    return found.st_mtime_ns, found.st_size, found.st_ino
