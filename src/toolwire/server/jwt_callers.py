"""Callers by JSON Web Token, checked with the public keys of a JWKS file (extra `jwt`).

`sub` is the name, `tenant` and `role` are claims of their own; a role nobody knows is the least. A token must expire.
Only signatures by an asymmetric key are accepted, and only by the algorithm that the key is for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from toolwire.errors import ConfigError
from toolwire.server.roles import role_of
from toolwire.server.tokens import DEFAULT_TENANT, Token, hash_of

ALGORITHMS: Final[dict[str, tuple[str, ...]]] = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
"""Key type → what it may sign with. A symmetric key in a file of public keys would let anybody who reads it sign."""
SKEW_SECONDS: Final = 30


class JwtCallers:
    """Knows the keys of one JWKS file."""

    def __init__(self, path: Path, *, audience: str = "", issuer: str = "") -> None:
        try:
            import jwt
        except ImportError:
            raise ConfigError(
                "JSON Web Tokens need PyJWT", field="jwks", hint="pip install 'toolwire[jwt]'"
            ) from None
        self._jwt: Any = jwt
        self._audience = audience
        self._issuer = issuer
        self._keys = self._read(path)

    def identify(self, token: str) -> Token | None:
        """Whom a token stands for; None if it is not good."""
        jwt = self._jwt
        try:
            header = jwt.get_unverified_header(token)
            key, kind = self._key(header.get("kid"))
            claims = jwt.decode(
                token,
                key=key,
                algorithms=list(ALGORITHMS[kind]),
                audience=self._audience or None,
                issuer=self._issuer or None,
                leeway=SKEW_SECONDS,
                options={"require": ["exp", "sub"], "verify_aud": bool(self._audience)},
            )
            return Token(
                hash_of(token),
                name=str(claims["sub"]),
                tenant=str(claims.get("tenant", DEFAULT_TENANT)),
                role=role_of(claims.get("role")),
                expires=int(claims["exp"]),
            )
        except (jwt.PyJWTError, ConfigError, KeyError, TypeError, ValueError):
            return None

    def _key(self, kid: object) -> tuple[Any, str]:
        """The key a token names; without a name, the only one there is."""
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys[str(kid)]

    def _read(self, path: Path) -> dict[str, tuple[Any, str]]:
        jwt = self._jwt
        try:
            found = jwt.PyJWKSet.from_json(path.read_text(encoding="utf-8")).keys
        except (OSError, UnicodeDecodeError, ValueError, jwt.PyJWTError) as error:
            raise ConfigError(f"can't use the keys in {path}: {error}", field="jwks") from None
        keys: dict[str, tuple[Any, str]] = {}
        for number, key in enumerate(found):
            if key.key_type not in ALGORITHMS:
                raise ConfigError(
                    f"{path}: key {number + 1} is of type {key.key_type}; use RSA, EC or OKP", field="jwks"
                )
            keys[key.key_id or f"#{number}"] = (key.key, key.key_type)
        if not keys:
            raise ConfigError(f"{path} has no keys in it", field="jwks")
        return keys
