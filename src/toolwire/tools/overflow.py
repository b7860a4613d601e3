"""Cutting a result that is too long to send at once, with a last line that says how to get the rest."""

from __future__ import annotations

from typing import Any

import orjson

from toolwire.tools.base import Language


def notice(shown: int, total: int, ref: str, language: Language) -> str:
    if language == "zh":
        return (
            f"…（结果共 {total} 字符，已显示前 {shown} 字符；其余内容: GET /api/results/{ref}，"
            f"或工具 read_result（ref={ref}，offset={shown}））"
        )
    return (
        f"… ({shown} of {total} characters shown; the rest: GET /api/results/{ref}, "
        f"or the tool read_result with ref={ref}, offset={shown})"
    )


def notice_of_whole(total: int, ref: str, language: Language) -> str:
    if language == "zh":
        return f"…（结果已截断；完整结果共 {total} 字符: GET /api/results/{ref}，或工具 read_result（ref={ref}））"
    return (
        f"… (cut here; the whole result, {total} characters: GET /api/results/{ref}, or read_result with ref={ref})"
    )


def cut_text(text: str, limit: int, ref: str, language: Language) -> str:
    """At most `limit` characters, ending with a whole line if there is one near, then the notice."""
    room = max(0, limit - len(notice(len(text), len(text), ref, language)) - 2)
    end = text.rfind("\n", room // 2, room) + 1 or room
    head = text[:end]
    # A code block left open by the cut would swallow the notice.
    closing = "```\n" if sum(line.startswith("```") for line in head.splitlines()) % 2 else ""
    joint = "" if head.endswith("\n") or not head else "\n"
    return f"{head}{joint}{closing}{notice(end, len(text), ref, language)}"


def weight(value: Any) -> int:
    """About how many characters a value takes on the wire."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(name) + weight(item) for name, item in value.items())
    return len(orjson.dumps(value))


def cut_object(whole: dict[str, Any], limit: int, ref: str, total: int, language: Language) -> dict[str, Any]:
    """`content` cut as text, and the largest other fields left out until the rest fits; `omitted` names them.

    The whole object is kept as JSON of `total` characters.
    """
    kept = dict(whole)
    content = str(kept.pop("content"))
    omitted: list[str] = []
    while kept and weight(kept) > limit // 2:
        largest = max(kept, key=lambda name: weight(kept[name]))
        del kept[largest]
        omitted.append(largest)
    room = limit - weight(kept)
    last_line = notice_of_whole(total, ref, language)
    text = f"{content}\n{last_line}" if len(content) <= room else _cut_content(content, room, last_line)
    more = {"omitted": sorted(omitted)} if omitted else {}
    return {"content": text, **kept, "truncated": True, "ref": ref, **more}


def _cut_content(content: str, room: int, last_line: str) -> str:
    end = max(0, room - len(last_line) - 1)
    end = content.rfind("\n", end // 2, end) + 1 or end
    joint = "" if content[:end].endswith("\n") else "\n"
    return f"{content[:end]}{joint}{last_line}"
