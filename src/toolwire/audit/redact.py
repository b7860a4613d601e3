"""Secrets by rule: what the audit shows and exports has them replaced by what kind they were.

A rule errs on the side of hiding. Whole events stay in the store; a digest of each is what proves them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

_NAMES = (
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|auth(?:orization)?|credential"
    r"|private[_-]?key|client[_-]?secret|signing[_-]?key|encryption[_-]?key|session[_-]?key|cookie|bearer|salt|dsn"
)
SECRET_NAME = re.compile(rf"(?:{_NAMES})(?P<many>s)?(?:[_.-]?(?:id|value|hash))?$", re.IGNORECASE)
"""A field of this name holds a secret, whatever it is."""

_PRIVATE = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"


class Rule(NamedTuple):
    kind: str
    pattern: re.Pattern[str]
    """Group `secret` is replaced; without one, all of it."""


def _rule(kind: str, pattern: str, flags: int = 0) -> Rule:
    return Rule(kind, re.compile(pattern, flags))


RULES: tuple[Rule, ...] = (
    _rule("private key", rf"-----BEGIN {_PRIVATE}-----.*?(?:-----END {_PRIVATE}-----|\Z)", re.DOTALL),
    _rule(
        "authorization",
        r"(?i)\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?P<secret>(?:[A-Za-z][\w-]*\s+)?[^\s\"',;]+)",
    ),
    _rule("cookie", r"(?i)\b(?:set-)?cookie[\"']?\s*:\s*[\"']?(?P<secret>[^\r\n\"']+)"),
    _rule("token", r"(?i)\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9+/_~.=-]{8,})"),
    _rule("token", r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*"),
    _rule("password", r"(?i)\b[a-z][a-z0-9+.-]{1,30}://[^\s/:@\"'<>]*:(?P<secret>[^\s/@\"'<>]+)@"),
    _rule("key", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b"),
    _rule("key", r"\bAIza[A-Za-z0-9_-]{35}"),
    _rule("key", r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"),
    _rule("token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})"),
    _rule("token", r"\b(?:xox[abeoprs]-[A-Za-z0-9-]{8,}|pypi-[A-Za-z0-9_-]{16,}|(?:npm|hf)_[A-Za-z0-9]{20,})"),
    _rule("token", r"\b(?:ya29\.[A-Za-z0-9_-]{16,}|dop_v1_[a-f0-9]{32,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})"),
    _rule("key", r"(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)\s*=\s*(?P<secret>[^;\s\"']+)"),
    _rule("password", r"(?i)\b(?:password|passwd|pwd)\s*=\s*(?P<secret>[^;\s\"',&]+)"),
    _rule(
        "secret",
        rf"(?i)(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]*(?:{_NAMES})(?:_?(?:id|value))?[\"']?\s*(?::=|=>|[:=])\s*"
        r"(?P<quote>[\"'`]?)(?P<secret>(?<=[\"'`])[^\"'`\r\n]{3,}|[^\s\"'`,;&#(){}\[\]<>]{3,})",
    ),
    _rule("secret", r"(?i)[?&](?:[a-z_]*token|key|sig|signature|code|secret|password)=(?P<secret>[^&\s\"'#]+)"),
)

_HINT = re.compile(
    rf"(?i)-----BEGIN|{_NAMES}|basic|eyJ|://|AKIA|ASIA|AGPA|AIDA|AROA|AIza|[sp]k[-_]|rk[-_]|gh[pousr]_|github_pat"
    r"|glpat|xox|npm_|pypi-|hf_|ya29|dop_v1|SG\.|AccountKey|SharedAccess|[?&](?:key|sig|code)"
)
"""Text without any of these has nothing for the rules; most text has none."""


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted: kind]`."""
    if _HINT.search(text) is None:
        return text
    for rule in RULES:
        text = rule.pattern.sub(_replacing(rule.kind), text)
    return text


def redact_value(value: Any) -> Any:
    """The same for JSON: every text in it, and every field whose name says what it holds."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [redact_value(item) for item in value]
    if isinstance(value, dict):
        return {redact(str(name)): _field(str(name), item) for name, item in value.items()}
    return value


def _field(name: str, value: Any) -> Any:
    named = SECRET_NAME.search(name)
    if named is None or value is None or isinstance(value, bool):
        return redact_value(value)
    if isinstance(value, int | float) and named["many"]:  # a number of them
        return value
    return _mark("secret")


def _replacing(kind: str) -> Callable[[re.Match[str]], str]:
    def replace(found: re.Match[str]) -> str:
        whole = found.group()
        if "secret" not in found.re.groupindex:
            return _mark(kind)
        start, end = found.span("secret")
        secret = found.group("secret")
        if secret.startswith("[redacted") or secret.endswith("[redacted"):
            return whole
        return whole[: start - found.start()] + _mark(kind) + whole[end - found.start() :]

    return replace


def _mark(kind: str) -> str:
    return f"[redacted: {kind}]"
