"""What a gateway is started with."""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from toolwire.errors import ConfigError
from toolwire.settings import Settings

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_PROJECT_KEY = re.compile(r"[^\s\x00-\x1f/]{1,128}")


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """Checked when built: a gateway that would be unsafe or senseless does not start."""

    projects: Mapping[str, Path]
    """Project key → root. The first is the default."""
    host: str = "127.0.0.1"
    port: int = 8080
    agent: str = "local"
    store: str = ""
    """A store URL; empty: the SQLite file at the platform's place."""
    controlled: Path | None = None
    """The folder of document 3's drafts and uploads; None: `flash` next to the store's file."""
    token_file: Path | None = None
    jwks: Path | None = None
    """Public keys of whoever signs JSON Web Tokens for this gateway."""
    jwt_audience: str = ""
    jwt_issuer: str = ""
    tools_file: Path | None = None
    """A toolwire.toml with further tools and with what roles may call; None: the one in the first project, if any."""
    approve: Literal["never", "high", "writes", "all"] = "high"
    """Which calls of agents a person is asked about first."""
    cert: Path | None = None
    key: Path | None = None
    allow_hosts: tuple[str, ...] = ()
    """Further names this gateway may be called by (a public name behind a proxy)."""
    allow_origins: tuple[str, ...] = ()
    """Further web origins whose pages may connect."""
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        for key, root in self.projects.items():
            if not _PROJECT_KEY.fullmatch(key):
                raise ConfigError(
                    f"{key!r} is not a project key", field="project", hint="use KEY=PATH, no spaces in KEY"
                )
            if not root.is_dir():
                raise ConfigError(
                    f"project {key}: {root} is not a folder", field="project", hint="name an existing folder"
                )
        if not is_loopback(self.host) and self.token_file is None and self.jwks is None:
            raise ConfigError(
                f"{self.host} can be reached from other machines, so a token is required",
                field="token_file",
                hint="pass --token-file FILE (a line with a secret of 16 characters or more), or keep to 127.0.0.1",
            )
        if (self.cert is None) != (self.key is None):
            raise ConfigError("TLS needs both --cert and --key", field="cert" if self.cert is None else "key")
        if self.cert is not None and self.key is not None:
            _check_tls(self.cert, self.key)
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"{self.port} is not a port", field="port")

    @property
    def default_project(self) -> str:
        return next(iter(self.projects), "")


def _check_tls(cert: Path, key: Path) -> None:
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key)
    except OSError as error:  # ssl.SSLError is one
        missing = next((path for path in (cert, key) if not path.is_file()), None)
        why = f"there is no {missing}" if missing is not None else error.strerror or str(error)
        hint = "a certificate and its key, both PEM; for tests: openssl req -x509 -newkey rsa:2048 -nodes"
        raise ConfigError(f"--cert {cert} and --key {key}: {why}", field="cert", hint=hint) from None


def controlled_folder(config: GatewayConfig) -> Path | None:
    """Where drafts and uploads lie; None for a store that forgets, with which they are forgotten too."""
    if config.controlled is not None:
        return config.controlled
    from toolwire.store import default_url

    file = (config.store or default_url()).removeprefix("sqlite:///")
    return Path(file).parent / "flash" if file.startswith("/") else None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
