"""Document 3, sections 3 to 6: the registry, a tool call, its response and its codes.

The same fields over HTTP and, with `type` and an optional `id`, over the socket (`flash:tool_call` and
`flash:tool_result`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from toolwire.dialects import wire
from toolwire.dialects.wire import Model

REGISTRY_VERSION = "flash-tools-v1"
DOMAIN = "flash"
TOOL_CALL = "flash:tool_call"
TOOL_RESULT = "flash:tool_result"

Code = Literal[
    "OK",
    "BAD_REQUEST",
    "VALIDATION_FAILED",
    "TOOL_NOT_FOUND",
    "PERMISSION_DENIED",
    "RLS_DENIED",
    "CONFLICT",
    "TIMEOUT",
    "UPSTREAM_ERROR",
    "INTERNAL_ERROR",
]
"""Section 6."""

MESSAGES: Mapping[str, str] = {
    "OK": "调用成功",
    "BAD_REQUEST": "请求不是有效的 JSON 对象",
    "VALIDATION_FAILED": "参数校验失败",
    "TOOL_NOT_FOUND": "工具未注册",
    "PERMISSION_DENIED": "当前角色无权限执行该工具",
    "RLS_DENIED": "无权访问该数据",
    "CONFLICT": "幂等键已被不同参数使用",
    "TIMEOUT": "工具执行超时",
    "UPSTREAM_ERROR": "上游服务执行失败",
    "INTERNAL_ERROR": "内部错误",
}
"""What each code says where nothing more particular is known."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^ *[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$")]
"""Ids go into log lines and headers: no control characters, no end of line; and not only spaces."""


class Api(Model):
    path: str
    method: str


class RegistryTool(Model):
    """Section 3. What follows `api` is beyond the document: a client written against it ignores that."""

    tool_id: str
    tool_name_zh: str
    intent: str
    object: str
    risk_level: Literal["low", "medium", "high"]
    api: Api
    tool_name_en: str = ""
    placement: Literal["workspace", "service"] = "service"
    access: Literal["read", "write"] = "read"
    roles: list[str] = Field(default_factory=list)
    requires_confirmation: bool = False
    input_schema: dict[str, Any] = Field(default_factory=dict)
    output_schema: dict[str, Any] = Field(default_factory=dict)


class ToolRegistry(Model):
    """Section 3."""

    registry_version: str
    domain: str
    tools: list[RegistryTool]


class CallOptions(Model):
    """A call's `context`. `user_role` may narrow the caller's role, never widen it."""

    mode: str | None = None
    user_role: str | None = None
    project_key: str | None = None
    """Which of the gateway's projects a workspace tool runs in; absent: the first."""


class ToolCall(Model):
    """Section 4. `idempotency_key` is required for writes, which only the registry can tell."""

    trace_id: Id
    tool_id: Id
    idempotency_key: Id | None = None
    session_id: Id | None = None
    app_id: Id | None = None
    intent: str | None = None
    object: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    context: CallOptions | None = None


class Meta(Model):
    """How a call went. The last three are beyond the document."""

    risk_level: Literal["low", "medium", "high"] | None = None
    duration_ms: int | None = None
    rows_affected: int | None = None
    idempotent_replay: bool | None = None
    first_trace_id: str | None = None
    """On a replay: the trace_id of the call that was really made."""
    recovered: bool | None = None
    """A crash came between the effect and its record; the content showed that the effect had happened."""


class CallFailure(Model):
    """Section 5, `error`. All but the first two are beyond the document."""

    reason_code: str
    http_status: int
    fields: dict[str, str] | None = None
    """Every field at fault, and what is wrong with it."""
    hint: str | None = None
    indeterminate: bool | None = None
    """Nobody can say whether the effect happened."""
    approval_id: str | None = None
    reason: str | None = None


class ToolResponse(Model):
    """Section 5, both forms: `data` and `meta`, or `error`."""

    ok: bool
    code: Code
    message: str
    tool_id: str | None
    trace_id: str | None
    data: dict[str, Any] | None = None
    meta: Meta | None = None
    error: CallFailure | None = None


def decode_call(value: Mapping[str, Any]) -> ToolCall:
    """A request; raises InvalidMessage that names every field at fault. A null field is an absent one."""
    return wire.fit(ToolCall, {name: part for name, part in value.items() if part is not None})


def encode(message: Model) -> dict[str, Any]:
    """As JSON; what was never set stays out."""
    return message.model_dump(mode="json", exclude_unset=True)
