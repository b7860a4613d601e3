"""What the log keeps of a call whose content lies in the store or the controlled folder anyway: long texts become
their digest and size (document 3: an upload, a draft, an app's source code)."""

from __future__ import annotations

import hashlib
from typing import Any


def excerpt(value: Any, limit: int) -> Any:
    """The same JSON, with `{"omitted": true, "sha256", "bytes"}` in place of longer strings than `limit`."""
    if isinstance(value, str):
        return value if len(value) <= limit else _digest(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, dict):
        return {name: excerpt(part, limit) for name, part in value.items()}
    if isinstance(value, list):
        return [excerpt(part, limit) for part in value]
    return value


def _digest(text: bytes) -> dict[str, Any]:
    return {"omitted": True, "sha256": hashlib.sha256(text).hexdigest(), "bytes": len(text)}
