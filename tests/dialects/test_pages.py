"""The pages of the documentation show real messages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dialects import strategies

PAGES = Path(__file__).parents[2] / "docs" / "dialects"
NAMES = {"agent-chat": "agent_chat", "analyze": "analyze", "gateway": "gateway", "flash": "flash"}


def shown(page: str) -> list[Any]:
    blocks = re.findall(r"```json\n(.*?)```", (PAGES / f"{page}.md").read_text("utf-8"), re.DOTALL)
    return [message for block in blocks if "type" in (message := json.loads(block))]


@pytest.mark.parametrize(("page", "name"), NAMES.items())
def test_every_message_shown_is_one_of_the_dialect(page: str, name: str) -> None:
    module = strategies.MODULES[name]
    for message in shown(page):
        assert json.loads(module.encode(module.decode_any(json.dumps(message).encode()))) == message


@pytest.mark.parametrize(("page", "name"), NAMES.items())
def test_every_message_of_the_dialect_is_shown(page: str, name: str) -> None:
    assert {message["type"] for message in shown(page)} == set(strategies.MODULES[name].MESSAGES)
