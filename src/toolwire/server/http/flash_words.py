"""What HTTP itself refuses on document 3's paths (no such route, no token), in the shape of its section 5."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from toolwire.errors import FlashCode

FLASH_PATHS: Final = ("/agent/flash", "/api/apps", "/api/published_routes", "/api/execution_logs")
TRACE_HEADER: Final = "X-Trace-Id"
TRACE_LENGTH: Final = 256
_CODES: Final[dict[HTTPStatus, FlashCode]] = {
    HTTPStatus.UNAUTHORIZED: "PERMISSION_DENIED",
    HTTPStatus.FORBIDDEN: "PERMISSION_DENIED",
}


def is_flash(path: str) -> bool:
    return any(path == own or path.startswith(f"{own}/") for own in FLASH_PATHS)


def refusal(status: HTTPStatus, message: str, *, reason: str, trace: str | None) -> dict[str, Any]:
    """The document has ten codes and no more: which of HTTP's it was is in `reason_code` and `http_status`."""
    ours: FlashCode = "INTERNAL_ERROR" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "BAD_REQUEST"
    return {
        "ok": False,
        "code": _CODES.get(status, ours),
        "message": message,
        "tool_id": None,
        "trace_id": trace if trace and is_trace(trace) else None,
        "error": {"reason_code": reason, "http_status": int(status)},
    }


def is_trace(text: str) -> bool:
    """Whether it can go into a header, and into the log."""
    return 0 < len(text) <= TRACE_LENGTH and text.isascii() and text.isprintable()
