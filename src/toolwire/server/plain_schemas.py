"""A quick yes for arguments that fit a plain JSON schema. Anything else is left to the full validator.

A schema is plain if it uses only the keywords below. The check never says no by itself: what it does not pass is
looked at again by the validator, which also says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Check = Callable[[Any], bool]

_SAID: Final = frozenset({"title", "description", "default", "examples", "$schema"})
"""Keywords that ask for nothing."""
_TYPES: Final[dict[str, Check]] = {
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "array": lambda value: type(value) is list,
    "object": lambda value: type(value) is dict,
}


def plain_check(schema: Mapping[str, Any]) -> Check | None:
    """The check for a schema; None if the schema is not plain."""
    checks: list[Check] = []
    for keyword, wanted in schema.items():
        if keyword in _SAID:
            continue
        make = _KEYWORDS.get(keyword)
        check = make(wanted, schema) if make is not None else None
        if check is None:
            return None
        checks.append(check)
    if len(checks) == 1:
        return checks[0]
    return lambda value: all(check(value) for check in checks)


def _type(wanted: Any, _: Mapping[str, Any]) -> Check | None:
    return _TYPES.get(wanted) if isinstance(wanted, str) else None


def _properties(wanted: Any, _: Mapping[str, Any]) -> Check | None:
    parts = {name: plain_check(schema) for name, schema in wanted.items() if isinstance(schema, dict)}
    if len(parts) != len(wanted) or None in parts.values():
        return None
    known: dict[str, Check] = {name: check for name, check in parts.items() if check is not None}

    def check(value: Any) -> bool:
        return type(value) is dict and all(name not in known or known[name](part) for name, part in value.items())

    return check


def _required(wanted: Any, _: Mapping[str, Any]) -> Check:
    names = tuple(wanted)
    return lambda value: type(value) is dict and all(name in value for name in names)


def _additional(wanted: Any, schema: Mapping[str, Any]) -> Check | None:
    if wanted is True:
        return lambda _: True
    known = frozenset(schema.get("properties", ()))
    return (lambda value: type(value) is dict and value.keys() <= known) if wanted is False else None


def _any_of(wanted: Any, _: Mapping[str, Any]) -> Check | None:
    checks = [plain_check(schema) for schema in wanted]
    if None in checks:
        return None
    return lambda value: any(check is not None and check(value) for check in checks)


def _items(wanted: Any, _: Mapping[str, Any]) -> Check | None:
    each = plain_check(wanted) if isinstance(wanted, dict) else None
    return None if each is None else lambda value: type(value) is list and all(map(each, value))


_KEYWORDS: Final[dict[str, Callable[[Any, Mapping[str, Any]], Check | None]]] = {
    "type": _type,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "anyOf": _any_of,
    "items": _items,
    "enum": lambda wanted, _: lambda value: type(value) is str and value in wanted,
    "minLength": lambda wanted, _: lambda value: type(value) is str and len(value) >= wanted,
    "maxLength": lambda wanted, _: lambda value: type(value) is str and len(value) <= wanted,
    "minimum": lambda wanted, _: lambda value: type(value) in (int, float) and value >= wanted,
    "maximum": lambda wanted, _: lambda value: type(value) in (int, float) and value <= wanted,
}
"""Each keyword's check is stricter than the standard's (which lets values of other types pass), so that a yes is one
there too."""
