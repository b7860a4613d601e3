"""The local agent searches, ranks, cites and says what it is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.memory_turn import MemoryTurn, no_tools
from agents.workspace_tools import READING, tools_on
from toolwire.agents.base import Ask
from toolwire.agents.local import LocalAgent
from toolwire.core.events import CallSettled, Message, Mode
from toolwire.settings import Settings
from toolwire.tools.base import Language

FILES = {
    "README.md": "# Shop\n\nA small shop.\n",
    "shop/__init__.py": "",
    "shop/payment.py": '"""Takes payments by card."""\n\n\nclass PaymentService:\n    def charge(self, card): ...\n',
    "shop/cart.py": "from shop.payment import PaymentService\n\n\ndef pay(c):\n    PaymentService().charge(c)\n",
    "shop/mailer.py": '"""Sends letters over SMTP."""\n\n\ndef send_mail(to):\n    pass\n',
    "tests/test_payment.py": "def test_payment_charge():\n    pass\n",
    "web/config/application.yml": "server:\n  port: 8080\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


async def ask(
    prompt: str,
    project: Path,
    state: Path,
    *,
    mode: Mode = "agent",
    markdown: Language | None = None,
    history: Sequence[Message] = (),
) -> MemoryTurn:
    turn = MemoryTurn(prompt, tools_on(project, state=state, markdown=markdown), mode, history)
    await LocalAgent().answer(turn)
    return turn


@pytest.mark.parametrize("markdown", [None, "zh", "en"])
@pytest.mark.parametrize(
    ("prompt", "no_model"),
    [
        ("where are payments charged", "No language model was used"),
        ("支付在哪里处理？", "未使用语言模型"),
        ("где обрабатываются платежи?", "Языковая модель не использовалась"),
    ],
)
async def test_an_answer_cites_the_right_line_in_the_language_of_the_question(
    prompt: str, no_model: str, markdown: Language | None, project: Path, state: Path
) -> None:
    turn = await ask(prompt, project, state, markdown=markdown)
    first = re.search(r"`([\w./]+):(\d+)`", turn.text)
    assert first is not None
    assert first.groups() == ("shop/payment.py", "4")
    assert "class PaymentService:" in turn.text
    assert no_model in turn.text


async def test_every_citation_is_a_line_that_exists(project: Path, state: Path) -> None:
    turn = await ask("who takes the payment in the cart", project, state)
    citations = re.findall(r"`([\w./]+\.\w+):(\d+)`", turn.text)
    assert citations
    for path, line in citations:
        assert 1 <= int(line) <= max(1, len(FILES[path].splitlines()))


async def test_the_answer_streams_as_one_run_of_text(project: Path, state: Path) -> None:
    turn = await ask("where are payments charged", project, state)
    finals = [final for _, final in turn.said]
    assert len(finals) > 3
    assert finals == [False] * (len(finals) - 1) + [True]


async def test_progress_goes_through_the_stages_and_never_falls(project: Path, state: Path) -> None:
    turn = await ask("where are payments charged", project, state)
    assert [stage for _, stage, _ in turn.thoughts] == ["analyzing", "planning", "executing", "executing"]
    percents = [percent for _, _, percent in turn.thoughts if percent is not None]
    assert percents == sorted(percents)
    assert percents[-1] == 100


async def test_a_longer_question_has_more_steps(project: Path, state: Path) -> None:
    short = await ask("payments", project, state)
    long = await ask("how does the cart send payments and letters over SMTP with retries", project, state)
    assert len(long.asks) > len(short.asks)


async def test_it_only_ever_reads(project: Path, state: Path) -> None:
    for mode in ("ask", "plan", "agent"):
        turn = await ask("fix the payment in cart.py and delete mailer.py", project, state, mode=mode)
        tools = {ask.tool for ask in turn.asks}
        assert tools <= {"grep_file", "read_file", "list_dir", "search_code", "read_class", "call_chain"}


async def test_plan_mode_ends_with_a_plan(project: Path, state: Path) -> None:
    turn = await ask("change how payments are charged", project, state, mode="plan")
    assert re.search(r"### Plan\n\n1\. Read `shop/payment.py:4`\n(\d\. .*\n?)+$", turn.text)


async def test_a_named_file_is_opened_wherever_it_is(project: Path, state: Path) -> None:
    forms: tuple[Language | None, ...] = (None, "zh")
    for markdown in forms:
        turn = await ask("application.yml 怎么配置？", project, state, markdown=markdown)
        assert "web/config/application.yml:1" in turn.text
        assert "port: 8080" in turn.text


async def test_a_file_that_is_not_there_is_admitted(project: Path, state: Path) -> None:
    turn = await ask("open nowhere.py", project, state)
    assert "`nowhere.py` could not be opened." in turn.text


async def test_callers_are_listed_without_the_definition(project: Path, state: Path) -> None:
    turn = await ask("who calls PaymentService?", project, state)
    assert "`PaymentService` is used here:" in turn.text
    assert "- `shop/cart.py:5` `PaymentService().charge(c)`" in turn.text
    assert "- `shop/payment.py:4`" not in turn.text


async def test_a_follow_up_without_words_is_about_the_question_before(project: Path, state: Path) -> None:
    history = [Message("user", "where is the PaymentService"), Message("assistant", "in shop/payment.py")]
    turn = await ask("а где это вызывается?", project, state, history=history)
    assert "`PaymentService` используется здесь:" in turn.text
    assert "shop/cart.py:5" in turn.text


async def test_an_overview_shows_the_readme_and_the_top_folder(project: Path, state: Path) -> None:
    turn = await ask("what does this project do?", project, state)
    assert "A small shop." in turn.text
    assert "- `shop/`" in turn.text


async def test_nothing_found_is_said_plainly(project: Path, state: Path) -> None:
    turn = await ask("where is the zeppelin moored", project, state)
    assert "Nothing in the project matched `zeppelin`, `moored`." in turn.text


async def test_a_question_without_words_is_told_so(project: Path, state: Path) -> None:
    assert "no words to search for" in (await ask("where is this?", project, state)).text


async def test_a_client_without_any_tool_gets_an_honest_answer() -> None:
    turn = MemoryTurn("where are payments charged", no_tools)
    await LocalAgent().answer(turn)
    assert "The searches failed: Unknown tool: grep_file" in turn.text


async def test_a_client_that_only_reads_classes_is_asked_for_likely_ones() -> None:
    answer = "## FileFilter.java\n\n- **类名**: `FileFilter`\n- **路径**: `core/src/FileFilter.java`\n"

    def run(tool: str, arguments: Mapping[str, Any]) -> Any:
        if tool == "read_class" and arguments["className"] == "FileFilter":
            return answer
        raise LookupError(f"类未找到: {arguments['className']}" if tool == "read_class" else f"不支持的工具: {tool}")

    turn = MemoryTurn("分析文件过滤的代码", run)
    await LocalAgent().answer(turn)
    assert "core/src/FileFilter.java" in turn.text
    assert turn.said[-1][1]


async def test_tools_of_an_index_are_used_when_the_client_has_them(project: Path, state: Path) -> None:
    offered = tools_on(project, state=state)

    def run(tool: str, arguments: Mapping[str, Any]) -> Any:
        if tool == "call_chain":
            return {"roots": [{"steps": [{"sites": ["shop/hidden.py:77"]}]}]}
        if tool in ("search_code", "read_class"):
            return {"symbols": [{"path": "shop/billing.py", "line": 9, "name": "PaymentService"}]}
        return offered(tool, arguments)

    turn = MemoryTurn("who calls PaymentService?", run)
    await LocalAgent().answer(turn)
    assert {"search_code", "read_class", "call_chain"} <= {ask.tool for ask in turn.asks}
    assert "shop/hidden.py:77" in turn.text


async def test_a_tool_that_never_answers_holds_nothing_up(project: Path, state: Path) -> None:
    class Deaf(MemoryTurn):
        async def call(self, asks: Sequence[Ask]) -> Sequence[CallSettled]:
            if any(ask.tool not in ("grep_file", "read_file") for ask in asks):
                await asyncio.Event().wait()
            return await super().call(asks)

    turn = Deaf("where are payments charged", tools_on(project, state=state, offered=READING))
    await asyncio.wait_for(LocalAgent(Settings(local_patience=0.05)).answer(turn), 20)
    assert "shop/payment.py:4" in turn.text


async def test_searches_are_bounded_whatever_is_asked(project: Path, state: Path) -> None:
    words = "zip tar http json mail cache thread socket " * 40
    names = " ".join(f"SomeName{number}" for number in range(50))
    turn = await ask(f"{words} {names}", project, state)
    settings = Settings()
    assert len(turn.asks) <= settings.local_searches + settings.local_files + 2 * settings.local_reads + 12
