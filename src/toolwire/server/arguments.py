"""Checks a call's arguments against the schema of its tool, and names every field at fault (document 3, 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import jsonschema
import referencing
from pydantic import ValidationError

from toolwire.errors import ConfigError, FlashError
from toolwire.server.catalogue import Entry
from toolwire.server.plain_schemas import Check, plain_check
from toolwire.tools.registry import Registry

WHOLE = "arguments"
FAULTS_SHOWN = 50
MESSAGE_SHOWN = 300


class Arguments:
    """One checker per tool, made when it is first called."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._checks: dict[str, tuple[Check | None, jsonschema.Draft202012Validator]] = {}

    def faults(self, entry: Entry, arguments: Mapping[str, Any]) -> dict[str, str]:
        """Each field at fault, as `arguments.field`, and what is wrong with it; empty if all is well."""
        if entry.placement == "workspace":
            return self._of_tool(entry.tool_id, arguments)
        checks = self._checks.get(entry.tool_id)
        if checks is None:
            schema = entry.input_schema
            checks = self._checks[entry.tool_id] = (plain_check(schema), validator_of(entry.tool_id, schema))
        plain, validator = checks
        if plain is not None and plain(arguments):
            return {}
        found: dict[str, str] = {}
        for error in validator.iter_errors(dict(arguments)):
            for place, what in _places(error):
                found.setdefault(place, what[:MESSAGE_SHOWN])
            if len(found) >= FAULTS_SHOWN:
                break
        return found

    def _of_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
        """A workspace tool accepts several spellings of a name, which only its own model knows."""
        try:
            self._registry.get(name).input.model_validate(dict(arguments))
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            return {_dotted(fault["loc"]): fault["msg"] for fault in faults[:FAULTS_SHOWN]}
        return {}


def validator_of(tool_id: str, schema: Mapping[str, Any]) -> jsonschema.Draft202012Validator:
    """Raises ConfigError for a schema that is none."""
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ConfigError(
            f"{tool_id}: the input schema is not a JSON schema: {error.message}", field="input"
        ) from None
    _check_references(tool_id, schema, schema)
    # A reference may only lead within the schema: nothing is fetched.
    return jsonschema.Draft202012Validator(schema, registry=referencing.Registry())


def _check_references(tool_id: str, schema: Any, part: Any) -> None:
    """Each leads to a place of the schema itself; raises ConfigError for one that does not."""
    for one in part if isinstance(part, list) else part.values() if isinstance(part, Mapping) else ():
        _check_references(tool_id, schema, one)
    reference = part.get("$ref") if isinstance(part, Mapping) else None
    if not isinstance(reference, str):
        return
    place: Any = schema
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        place = place.get(name) if isinstance(place, Mapping) else None
    if not reference.startswith("#") or place is None:
        raise ConfigError(f"{tool_id}: the input schema refers to {reference!r}, which is not in it", field="input")


def refuse(faults: Mapping[str, str]) -> FlashError:
    """VALIDATION_FAILED that names every field."""
    told = "; ".join(f"{place}: {what}" for place, what in faults.items())
    return FlashError("VALIDATION_FAILED", f"参数校验失败: {told}", field=next(iter(faults)), fields=dict(faults))


def _places(error: jsonschema.ValidationError) -> list[tuple[str, str]]:
    """A missing or surplus property is the fault of that property, not of the object around it."""
    if error.validator == "required" and isinstance(error.instance, dict):
        required = cast(list[str], error.validator_value)
        names = [name for name in required if name not in error.instance]
        return [(_dotted((*error.absolute_path, name)), "is missing") for name in names]
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        names = [str(name) for name in error.instance if name not in known]
        return [(_dotted((*error.absolute_path, name)), "is not known") for name in names]
    return [(_dotted(tuple(error.absolute_path)), error.message)]


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join((WHOLE, *(str(step) for step in path)))
