"""Signatures of exports: Ed25519, by `cryptography` where it is installed (extra `audit`)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from toolwire.errors import ConfigError
from toolwire.seal.key import load_key

METHOD = "ed25519"


def available() -> bool:
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401
    except ImportError:
        return False
    return True


def sign(key_file: Path, data: bytes) -> tuple[str, str]:
    """(public key, signature), in hex. The private key is made when it is first needed."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(load_key(key_file))
    return key.public_key().public_bytes_raw().hex(), key.sign(data).hex()


def signed_by(public_key: str, signature: str, data: bytes) -> bool:
    """Whether the signature is that key's. ConfigError if it can't be told here."""
    if not available():
        raise ConfigError(
            "the export is signed, and checking that needs `cryptography`", hint="pip install 'toolwire[audit]'"
        )
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def fingerprint(public_key: str) -> str:
    """Short enough to be compared by people: how a key is known elsewhere."""
    digest = hashlib.sha256(public_key.encode("ascii", "replace")).hexdigest()[:32]
    return ":".join(digest[at : at + 4] for at in range(0, 32, 4))
