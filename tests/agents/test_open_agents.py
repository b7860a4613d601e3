"""`--agent A[,B…]` names the agents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.memory_turn import MemoryTurn
from toolwire.agents import open_agents
from toolwire.errors import ConfigError


def script(folder: Path) -> str:
    path = folder / "script.json"
    path.write_text(json.dumps({"turns": [{"match": "hi", "steps": [{"say": ["hello"]}]}]}))
    return f"script:{path}"


async def test_a_script_is_opened_and_answers(tmp_path: Path) -> None:
    spec = script(tmp_path)
    turn = MemoryTurn("hi")
    await open_agents(spec).answer(turn)
    assert turn.text == "hello"
    assert turn.chosen == [(spec, False, "")]


async def test_the_next_agent_steps_in_when_no_turn_of_the_script_fits(tmp_path: Path) -> None:
    turn = MemoryTurn("where is main")
    await open_agents(f"{script(tmp_path)}, local").answer(turn)
    assert [(name.partition(":")[0], degraded) for name, degraded, _ in turn.chosen] == [
        ("script", False),
        ("local", True),
    ]
    assert "no turn of the script fits" in turn.chosen[1][2]


async def test_the_local_agent_can_be_picked_whatever_is_configured(tmp_path: Path) -> None:
    turn = MemoryTurn("hi")
    await open_agents(script(tmp_path)).pick("local").answer(turn)
    assert turn.chosen == [("local", False, "")]


@pytest.mark.parametrize("spec", ["oracle", "local,oracle", "", "local,", "LOCAL"])
def test_a_name_that_does_not_exist_is_refused_with_those_that_do(spec: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_agents(spec)
    assert caught.value.message.startswith("no agent called ")
    assert caught.value.hint == "there are: local, script:FILE"


@pytest.mark.parametrize(
    ("spec", "said"), [("script", "needs a file"), ("script:", "needs a file"), ("local:x", "takes nothing")]
)
def test_what_comes_after_the_name_is_checked(spec: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        open_agents(spec)


def test_a_script_that_is_not_there_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't read the script"):
        open_agents(f"script:{tmp_path / 'none.json'}")
