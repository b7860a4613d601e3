"""The words of documents 1 and 2, which speak Chinese: codes as sentences, faults of fields, the end of a turn."""

from __future__ import annotations

from collections.abc import Mapping

from toolwire.core.events import CallSettled, Stage, TurnEnded
from toolwire.dialects import wire
from toolwire.errors import InvalidMessage, PeerError, ToolwireError

ANALYSIS_FAILED = "ANALYSIS_FAILED"

CODES: Mapping[str, str] = {
    # Document 2, section 4.1
    "PROJECT_NOT_FOUND": "项目路径不存在",
    "INVALID_REQUEST": "请求参数无效",
    ANALYSIS_FAILED: "分析失败",
    "TOOL_EXECUTION_FAILED": "工具执行失败",
    # Document 2, sections 6.1 to 6.3
    "MESSAGE_TOO_LARGE": "消息过大",
    "REQUEST_OVERRIDDEN": "请求已被新的请求覆盖",
    "ANALYSIS_TIMEOUT": "分析超时",
}
"""The documents' codes."""

_MORE: Mapping[str, str] = {
    "UNAUTHENTICATED": "未认证",
    "QUEUE_FULL": "等待中的请求过多",
    "TOO_MANY_CALLS": "进行中的工具调用过多",
    "CURSOR_LOST": "无法从该位置恢复",
    "INTERRUPTED": "服务已重启",
    "STOPPED": "已停止",
    "RESET": "会话已重置",
}

_STAGES: Mapping[Stage, str] = {"analyzing": "分析", "planning": "规划", "executing": "执行"}

_FAULTS: Mapping[str, str] = {
    "is missing": "缺少必填字段",
    "must be a string": "必须是字符串",
    "must be true or false": "必须是布尔值",
    "must be a number": "必须是数字",
    "must be an object": "必须是对象",
    "must not be empty": "不能为空",
}


def code_of(error: ToolwireError) -> str:
    """A peer's faults keep their code; what fails on this side is, for the peer, a failed analysis."""
    return error.code if isinstance(error, PeerError) else known(error.code)


def known(code: str) -> str:
    """The code if it is one of the documents', else the one for any failure."""
    return code if code in CODES else ANALYSIS_FAILED


def sentence(code: str, message: str) -> str:
    """What a code means, then what happened."""
    head = CODES.get(code) or _MORE.get(code) or CODES[ANALYSIS_FAILED]
    return f"{head}: {message}" if message else head


def explain(error: ToolwireError) -> str:
    """An error as one sentence that names the fields at fault."""
    if isinstance(error, InvalidMessage) and error.fields and wire.WHOLE not in error.fields:
        return sentence(error.code, "; ".join(f"{path} {what}" for path, what in details(error).items()))
    message = error.message
    if isinstance(error, PeerError) and error.given:
        message = error.given
    elif error.field and error.field not in message and error.field != wire.WHOLE:
        message = f"{error.field}: {message}"
    return sentence(code_of(error), message + (f" ({error.hint})" if error.hint else ""))


def details(error: ToolwireError) -> dict[str, str]:
    """Each field at fault, and what is wrong with it."""
    if isinstance(error, InvalidMessage) and error.fields:
        return {path: _FAULTS.get(what, what) for path, what in error.fields.items()}
    return {error.field: error.message} if error.field else {}


def summary(event: TurnEnded) -> str:
    """What a turn took: stages, rounds, calls and time (document 2, 3.2: `process`)."""
    parts = []
    if event.stages:
        parts.append("阶段: " + " → ".join(_STAGES[stage] for stage in event.stages))
    parts.append(f"共 {event.rounds} 轮")
    failed = f"（失败 {event.failed_calls} 次）" if event.failed_calls else ""
    parts.append(f"工具调用 {event.calls} 次{failed}")
    parts.append(f"用时 {event.ms / 1000:.1f} 秒")
    return "，".join(parts)


def undecided(event: CallSettled) -> str:
    """A call of which nobody can say whether it took effect."""
    return f"⚠️ 工具 {event.tool} 的执行结果无法确定（可能已生效，也可能未生效）: {event.error or event.call_id}"
