"""What is wrong with a caller's arguments, field by field, in both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from toolwire.errors import ToolError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_CHINESE = {
    "missing": "缺少必填参数",
    "string_type": "应为字符串",
    "int_type": "应为整数",
    "bool_type": "应为布尔值",
    "list_type": "应为数组",
    "tuple_type": "应为数组",
    "dict_type": "应为对象",
    "model_type": "应为对象",
    "literal_error": "应为 {expected}",
    "greater_than_equal": "应大于或等于 {ge}",
    "less_than_equal": "应小于或等于 {le}",
    "string_too_short": "至少 {min_length} 个字符",
    "too_short": "至少 {min_length} 项",
    "too_long": "至多 {max_length} 项",
}
"""pydantic's kinds of errors, as far as the tools' inputs can have them; others are told in English."""


def bad_arguments(invalid: ValidationError) -> ToolError:
    found = [
        (".".join(str(step) for step in error["loc"]), error)
        for error in invalid.errors(include_url=False, include_input=False)
    ]
    return ToolError(
        "bad_arguments",
        field=found[0][0] or "arguments",
        problems="; ".join(_about(field, _english(error)) for field, error in found),
        problems_zh="；".join(_about(field, _chinese(error)) for field, error in found),
        fields={field or "arguments": _english(error) for field, error in found},
    )


def _about(field: str, problem: str) -> str:
    return f"{field}: {problem}" if field else problem


def _english(error: ErrorDetails) -> str:
    return error["msg"].removeprefix("Value error, ")


def _chinese(error: ErrorDetails) -> str:
    sentence = _CHINESE.get(error["type"])
    if sentence is None:
        return _english(error)
    facts = {name: str(value).replace(" or ", " 或 ") for name, value in error.get("ctx", {}).items()}
    return sentence.format_map(facts)
