"""Where the key and the heads of a sealed record lie: beside it, or in a folder of their own."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple


class AuditFiles(NamedTuple):
    key: Path
    heads: Path


def audit_files(record: Path, folder: str = "") -> AuditFiles:
    """The files that belong to a record. In a shared folder their names tell the records apart."""
    if not folder:
        base = record.parent / record.name
    else:
        digest = hashlib.sha256(str(record.absolute()).encode("utf-8", "surrogateescape")).hexdigest()
        base = Path(folder).expanduser() / f"{record.name}-{digest[:12]}"
    return AuditFiles(base.with_name(f"{base.name}-audit-key"), base.with_name(f"{base.name}-audit-heads"))
