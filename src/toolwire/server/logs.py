"""The gateway's log: structured, UTF-8 and unescaped, on stderr; warnings are shown by default."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

log: Any = structlog.get_logger("toolwire")

_level = logging.WARNING


def shows(level: int) -> bool:
    """Whether lines of that level are written: asked where a line for every call would cost more than the call."""
    return level >= _level


def set_up(*, level: str = "warning", json: bool = False) -> None:
    """Configure once, when a command starts."""
    global _level
    _level = number = logging.getLevelNamesMapping()[level.upper()]
    if hasattr(sys.stderr, "reconfigure"):
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if json
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info if json else _keep,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(stream=sys.stderr, level=number, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("uvicorn.access").setLevel(max(number, logging.WARNING))


def _keep(_: Any, __: str, event: Any) -> Any:
    return event


if not structlog.is_configured():
    set_up()
