"""On the standard library of this Python as the project, the local agent finds the right file.

The ten questions are kept in `questions.json`; the right file is among the first three for at least eight of them.
"""

from __future__ import annotations

import json
import re
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.memory_turn import MemoryTurn
from agents.workspace_tools import tools_on
from toolwire.agents.local import LocalAgent

QUESTIONS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "questions.json").read_text("utf-8"))
LEFT_OUT = ("site-packages", "__pycache__", "lib-dynload", "config-*", "*.so", "*.a", "*.exe", "test", "ensurepip")
"""Not the library itself. Its `test` folder is not installed everywhere, and only makes the copy slow."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy, so that nothing else in the folder (site-packages) is searched, and nothing can be changed."""
    root = tmp_path_factory.mktemp("library") / "library"
    shutil.copytree(sysconfig.get_path("stdlib"), root, ignore=shutil.ignore_patterns(*LEFT_OUT))
    yield root
    shutil.rmtree(root)


async def first_three(question: str, library: Path, state: Path) -> list[str]:
    """The files an answer names first, as its reader sees them."""
    turn = MemoryTurn(question, tools_on(library, state=state))
    await LocalAgent().answer(turn)
    return re.findall(r"^\d\. \*\*`([^`:]+):\d+`\*\*", turn.text, re.MULTILINE)[:3]


def test_the_questions_are_in_three_languages() -> None:
    texts = [row["question"] for row in QUESTIONS]
    assert len(texts) == 10
    assert sum(1 for text in texts if re.search("[\u4e00-\u9fff]", text)) >= 2
    assert sum(1 for text in texts if re.search("[а-я]", text)) >= 2


async def test_the_right_file_is_among_the_first_three_for_eight_of_ten(library: Path, tmp_path: Path) -> None:
    missed = {}
    for row in QUESTIONS:
        found = await first_three(row["question"], library, tmp_path)
        if not set(found) & set(row["files"]):
            missed[row["question"]] = found
    assert len(missed) <= 2, missed
