"""All tools by name, one way to run any of them, and their results in a dialect's form (spec README, "Tools").

Modules are imported when a tool is first asked for, so that a command that needs none of them starts fast.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError

from toolwire.errors import StoreError, ToolError
from toolwire.tools import overflow
from toolwire.tools.arguments import bad_arguments
from toolwire.tools.base import Context, Language, Tool, ToolOutput
from toolwire.tools.results import Results
from toolwire.tools.texts import sentence

log = logging.getLogger(__name__)

MODULES: dict[str, str] = {
    "Edit": "toolwire.tools.edit",
    "MultiEdit": "toolwire.tools.multi_edit",
    "NotebookEditCell": "toolwire.tools.notebook_edit_cell",
    "Replace": "toolwire.tools.replace",
    "apply_change": "toolwire.tools.apply_change",
    "call_chain": "toolwire.tools.call_chain",
    "find_usages": "toolwire.tools.find_usages",
    "grep_file": "toolwire.tools.grep_file",
    "list_dir": "toolwire.tools.list_dir",
    "read_class": "toolwire.tools.read_class",
    "read_file": "toolwire.tools.read_file",
    "read_method": "toolwire.tools.read_method",
    "read_result": "toolwire.tools.read_result",
    "search_code": "toolwire.tools.search_code",
}
"""Tool name → module, by name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: exactly one of `output` and `error`."""

    tool: str
    results: Results
    limit: int
    """Characters that go out at once."""
    language: Language
    output: ToolOutput | None = None
    error: ToolError | None = None
    definition: Tool | None = None

    @property
    def success(self) -> bool:
        return self.error is None


class Registry:
    def __init__(self, modules: Mapping[str, str], tools: Iterable[Tool] = ()) -> None:
        self._modules = dict(modules)
        self._tools: dict[str, Tool] = {tool.name: tool for tool in tools}

    def names(self) -> list[str]:
        return sorted({*self._modules, *self._tools})

    def __contains__(self, name: object) -> bool:
        return name in self._tools or name in self._modules

    def get(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            if name not in self._modules:
                raise ToolError("unknown_tool", name=name)
            tool = importlib.import_module(self._modules[name]).TOOL
            assert isinstance(tool, Tool)
            self._tools[name] = tool
        return tool

    def run(self, name: str, arguments: Mapping[str, Any], context: Context) -> Outcome:
        """Runs a tool in this thread. A refusal is an outcome; so is a defect, which is logged as well."""
        language: Language = "en" if context.settings.language == "en" else "zh"
        limit = context.settings.result_limit
        tool: Tool | None = None
        try:
            tool = self.get(name)
            output = tool.run(context, _validated(tool, arguments))
            return Outcome(name, context.workspace.results, limit, language, output=output, definition=tool)
        except ToolError as refused:
            error = refused
        except StoreError as failed:
            log.warning("tool %s: %s", name, failed.message)
            error = ToolError("state_unusable", reason=failed.message)
            error.__cause__ = failed
        except Exception as defect:
            log.exception("tool %s failed", name)
            error = ToolError("internal_error", tool=name, reason=type(defect).__name__)
            error.__cause__ = defect
        return Outcome(name, context.workspace.results, limit, language, error=error, definition=tool)


def _validated(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    try:
        return tool.input.model_validate(dict(arguments))
    except ValidationError as invalid:
        raise bad_arguments(invalid) from None


def as_markdown(outcome: Outcome, language: Language | None = None) -> str:
    """The text documents 1 and 2 carry: the result, or the sentence that says why there is none."""
    language = language or outcome.language
    text = _text(outcome, language)
    if len(text) <= outcome.limit:
        return text
    return overflow.cut_text(text, outcome.limit, outcome.results.keep(text), language)


def as_object(outcome: Outcome, language: Language | None = None) -> dict[str, Any]:
    """The object document 5 carries: `content` and the typed fields. A failed call has `error` instead."""
    language = language or outcome.language
    if outcome.output is None:
        return {"error": _text(outcome, language)}
    fields: dict[str, Any] = outcome.output.model_dump(mode="json", by_alias=True, exclude_none=True)
    # A tool without a text of its own (a search, an edit) gives its Markdown as content.
    content = fields.pop("content") if "content" in fields else _text(outcome, language)
    whole = {"content": content, **fields}
    if overflow.weight(whole) <= outcome.limit:
        return whole
    kept = orjson.dumps(whole, option=orjson.OPT_INDENT_2).decode()
    return overflow.cut_object(whole, outcome.limit, outcome.results.keep(kept), len(kept), language)


def as_details(outcome: Outcome) -> dict[str, Any]:
    """The typed fields alone, for a result that is told in words beside them."""
    fields = as_object(outcome, "en")
    if outcome.output is not None and "content" not in type(outcome.output).model_fields:
        del fields["content"]
    return fields


def _text(outcome: Outcome, language: Language) -> str:
    if outcome.error is not None:
        return sentence(outcome.error, language)
    assert outcome.definition is not None
    assert outcome.output is not None
    return outcome.definition.markdown(outcome.output, language)


def default_registry() -> Registry:
    return Registry(MODULES)
