"""Any spelling of a path a caller may use → one clean path relative to the root. Pure: nothing is opened here.

Spec README, "Paths": a leading `/` that is not inside the root is read from the root.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolwire.errors import ToolError

NAME_BYTES = 255
PATH_BYTES = 4095
"""The kernel's own limits (NAME_MAX, PATH_MAX without its NUL)."""


def clean(path: str, roots: Iterable[str] = ()) -> str:
    """Relative, `/`-joined, without `.`, `..` and empty parts; the root itself is `.`."""
    _check_characters(path)
    parts: list[str] = []
    for part in _beneath_root(path, roots).split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                raise ToolError("outside_workspace", path=path)
            parts.pop()
        else:
            _check_name(part, path)
            parts.append(part)
    return "/".join(parts) or "."


def _beneath_root(path: str, roots: Iterable[str]) -> str:
    for root in roots:
        prefix = root.rstrip("/")
        if path == prefix or path.startswith(prefix + "/"):
            return path[len(prefix) :]
    return path


def _check_characters(path: str) -> None:
    if "\0" in path:
        raise ToolError("bad_path", path=path.replace("\0", "\\0"), reason="NUL")
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        shown = path.encode("utf-8", "backslashreplace").decode()
        raise ToolError("bad_path", path=shown, reason="not Unicode") from None
    if size > PATH_BYTES:
        raise ToolError("bad_path", path=path[:80] + "…", reason=f"> {PATH_BYTES} bytes")


def _check_name(name: str, path: str) -> None:
    if len(name.encode()) > NAME_BYTES:
        raise ToolError("bad_path", path=path[:80] + "…", reason=f"name > {NAME_BYTES} bytes")
