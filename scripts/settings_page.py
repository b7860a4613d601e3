"""Writes docs/settings.md from settings.py: `python scripts/settings_page.py > docs/settings.md`."""

from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import fields

from toolwire import settings

HEAD = """# Settings

Every limit and default has a name. Change one with `--set name=value` (`up`, `serve`, `ide` and others take it), or
with `TOOLWIRE_NAME` in the environment. Times are in seconds, sizes in bytes.

| name | default | what it is |
|---|---|---|
"""


def page() -> str:
    tree = ast.parse(inspect.getsource(settings.Settings))
    body = tree.body[0].body  # type: ignore[attr-defined]
    texts: dict[str, str] = {}
    for statement, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            said = after.value if isinstance(after, ast.Expr) else None
            text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
            texts[statement.target.id] = " ".join(text.split())
    rows = [
        f"| `{field.name}` | `{_shown(field.default)}` | {texts.get(field.name, '').replace('|', chr(92) + '|')} |\n"
        for field in fields(settings.Settings)
    ]
    return HEAD + "".join(rows)


def _shown(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


if __name__ == "__main__":
    sys.stdout.write(page())
