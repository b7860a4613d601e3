"""Long tasks over `/agent/ws` (document 3, section 7), on both WebSocket implementations."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from support.patience import PATIENCE
from support.running import Peer, Running, running, script, steps
from toolwire.settings import Settings

GOLDEN = Path(__file__).parents[2] / "golden" / "3-flash-tool-calls"
SESSION = "flash_shell_xxx"
HANG: dict[str, Any] = steps({"say": ["working"]}, {"sleep_ms": 600_000}, {"say": ["never"]})


@pytest.fixture(params=["picows", "asgi"])
def embedded(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "asgi")


def task(prompt: str = "做一个页面", session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {"type": "flash:cline_task", "sessionId": session, "prompt": prompt, **more}


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [message["type"].removeprefix("flash:cline_") for message in messages]


async def until_done(peer: Peer) -> list[dict[str, Any]]:
    return await peer.receive_until("flash:cline_done")


async def until_output(peer: Peer) -> list[dict[str, Any]]:
    return await peer.receive_until("flash:cline_output")


async def put_upload(controlled: Path, name: str = "spec.md", text: str = "# 请假申请\n字段: 姓名") -> str:
    path = controlled / ".uploads" / "app" / "default" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return f".uploads/app/default/{name}"


async def test_the_documents_task_runs_as_it_is_and_ends_with_done(tmp_path: Path, embedded: bool) -> None:
    await put_upload(tmp_path / "controlled")
    agent = script(
        tmp_path,
        steps(
            {"think": "阅读附件"},
            {"call": [{"tool": "list_dir", "arguments": {"path": "."}}]},
            {"say": ["页面", "已生成"]},
        ),
    )
    async with running(tmp_path, agent=agent, embedded=embedded, controlled=tmp_path / "controlled") as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send(json.loads((GOLDEN / "05-flash_cline_task.json").read_bytes()))
        seen = await until_done(builder)
        assert {message["sessionId"] for message in seen} == {SESSION}
        assert seen[0] == {
            "type": "flash:cline_status",
            "sessionId": SESSION,
            "status": "running",
            "message": "任务已开始",
        }
        assert [message["content"] for message in seen if message["type"] == "flash:cline_output"] == [
            "页面",
            "已生成",
        ]
        assert seen[-2] == {
            "type": "flash:cline_summary",
            "sessionId": SESSION,
            "role": "assistant",
            "content": "页面已生成",
        }
        done = seen[-1]
        assert set(done) == set(json.loads((GOLDEN / "08-flash_cline_done.json").read_bytes()))
        assert (done["success"], done["exitCode"]) == (True, 0)
        assert done["elapsedMs"] >= 0
        statuses = [message["message"] for message in seen if message["type"] == "flash:cline_status"]
        assert "阅读附件" in statuses
        assert any("list_dir" in text for text in statuses)


async def test_a_second_task_is_refused_and_the_first_runs_on(tmp_path: Path, embedded: bool) -> None:
    agent = script(tmp_path, steps({"say": ["one"]}, {"sleep_ms": 300}, {"say": ["two"]}))
    async with running(tmp_path, agent=agent, embedded=embedded) as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send(task())
        await until_output(builder)
        await builder.send(task("again"))
        seen = await until_done(builder)
        assert [message.get("code") for message in seen if message["type"] == "flash:cline_error"] == ["CONFLICT"]
        assert seen[-1]["exitCode"] == 0
        assert seen[-2]["content"] == "one\n\ntwo"


async def test_tasks_of_two_sessions_run_beside_each_other_on_one_socket(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["hello"]}))) as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send(task(session="a"))
        await builder.send(task(session="b"))
        ended: set[str] = set()
        while ended != {"a", "b"}:
            message = await builder.receive()
            if message["type"] == "flash:cline_done":
                assert message["success"] is True
                ended.add(message["sessionId"])


async def test_stop_ends_a_task_that_would_wait_for_ever(tmp_path: Path, embedded: bool) -> None:
    async with running(tmp_path, agent=script(tmp_path, HANG), embedded=embedded) as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send(task())
        await until_output(builder)
        await builder.send(json.loads((GOLDEN / "06-flash_cline_stop.json").read_bytes()))
        async with asyncio.timeout(PATIENCE):
            seen = await until_done(builder)
        assert (kinds(seen)[-2], seen[-2]["status"]) == ("status", "stopped")
        assert (seen[-1]["success"], seen[-1]["exitCode"]) == (False, 130)
        await builder.send({"type": "flash:cline_stop", "sessionId": SESSION})
        assert (await builder.receive())["status"] == "stopped"


async def test_reset_ends_the_task_and_forgets_what_was_said(tmp_path: Path) -> None:
    turns = [
        {"match": "hang", **HANG},
        steps({"say": ["heard you"]}),
    ]
    async with running(tmp_path, agent=script(tmp_path, *turns)) as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send(task("remember 42"))
        await until_done(builder)
        assert len(await gateway.hub.history("default", f"session:{SESSION}")) == 2
        await builder.send(task("hang"))
        await until_output(builder)
        await builder.send(json.loads((GOLDEN / "07-flash_cline_reset.json").read_bytes()))
        seen = await until_done(builder)
        assert seen[-1]["exitCode"] == 130
        assert (await builder.receive())["status"] == "reset"
        assert await gateway.hub.history("default", f"session:{SESSION}") == []


async def test_an_agent_that_fails_is_an_error_and_then_done(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps({"fail": "out of paper"}))) as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send(task())
        seen = await until_done(builder)
        assert (seen[-2]["type"], seen[-2]["code"]) == ("flash:cline_error", "UPSTREAM_ERROR")
        assert "out of paper" in seen[-2]["error"]
        assert (seen[-1]["success"], seen[-1]["exitCode"]) == (False, 1)


async def test_attachments_and_the_last_ten_of_the_history_reach_the_agent(tmp_path: Path) -> None:
    path = await put_upload(tmp_path / "controlled", text="字段: 姓名")
    agent = script(tmp_path, steps({"say": ["ok"]}))
    async with running(tmp_path, agent=agent, controlled=tmp_path / "controlled") as gateway:
        builder = await gateway.connect("/agent/ws")
        history = [{"role": "user", "content": f"m{number}"} for number in range(30)]
        file = {"name": "spec.md", "relativePath": path, "size": 3, "textPreview": "what the client says"}
        await builder.send(task(history=history, attachments=[file]))
        await until_done(builder)
        record = await gateway.hub.store.find_session("default", SESSION)
        assert record is not None
        asked: Any = (await gateway.hub.store.read(record.number, limit=1))[0]
        assert [message.text for message in asked.history] == [f"m{number}" for number in range(20, 30)]
        assert [(file.path, file.size, file.preview) for file in asked.attachments] == [(path, 14, "字段: 姓名")]


BAD_ATTACHMENTS = [
    "../outside.txt",
    "/etc/passwd",
    ".uploads/../../outside.txt",
    ".uploads\\..\\outside.txt",
    "missing.md",
    ".uploads",
    ".",
    ".tenants/other/secret.txt",
    "link.txt",
    "linked/outside.txt",
    "fifo\0",
]


async def test_an_attachment_that_is_not_a_file_of_the_folder_is_refused(tmp_path: Path) -> None:
    controlled = tmp_path / "controlled"
    (controlled / ".uploads").mkdir(parents=True)
    (controlled / ".tenants" / "other").mkdir(parents=True)
    (controlled / ".tenants" / "other" / "secret.txt").write_text("CANARY")
    (tmp_path / "outside.txt").write_text("CANARY")
    (controlled / "link.txt").symlink_to(tmp_path / "outside.txt")
    (controlled / "linked").symlink_to(tmp_path)
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["ok"]})), controlled=controlled) as gateway:
        builder = await gateway.connect("/agent/ws")
        for path in BAD_ATTACHMENTS:
            await builder.send(task(attachments=[{"name": "a", "relativePath": path}]))
            refused = await builder.receive()
            assert (refused["type"], refused["code"]) == ("flash:cline_error", "VALIDATION_FAILED"), path
            assert refused["sessionId"] == SESSION
            assert "CANARY" not in refused["error"]
        await builder.send(task())
        assert (await until_done(builder))[-1]["exitCode"] == 0


async def test_more_than_eight_attachments_are_refused(tmp_path: Path) -> None:
    path = await put_upload(tmp_path / "controlled")
    agent = script(tmp_path, steps({"say": ["ok"]}))
    async with running(tmp_path, agent=agent, controlled=tmp_path / "controlled") as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send(task(attachments=[{"name": "a", "relativePath": path}] * 9))
        refused = await builder.receive()
        assert (refused["code"], "attachments" in refused["error"]) == ("VALIDATION_FAILED", True)


async def test_what_does_not_fit_is_told_and_the_connection_lives(tmp_path: Path, embedded: bool) -> None:
    settings = Settings(message_limit=10_000)
    agent = script(tmp_path, steps({"say": ["ok"]}))
    async with running(tmp_path, agent=agent, embedded=embedded, settings=settings) as gateway:
        builder = await gateway.connect("/agent/ws")
        for raw, code, named in [
            ("not json", "BAD_REQUEST", ""),
            ('{"type": "flash:unheard_of"}', "BAD_REQUEST", "type"),
            ('{"type": "flash:cline_done", "sessionId": "x"}', "BAD_REQUEST", "type"),
            (json.dumps({"type": "flash:cline_task", "sessionId": SESSION}), "VALIDATION_FAILED", "prompt"),
            (json.dumps({"type": "flash:cline_task", "prompt": "x"}), "VALIDATION_FAILED", "sessionId"),
            (json.dumps(task(session="a\x07b")), "VALIDATION_FAILED", "sessionId"),
            (json.dumps(task(history="no")), "VALIDATION_FAILED", "history"),
            (json.dumps(task("x" * 20_000)), "MESSAGE_TOO_LARGE", ""),
            (b"\x00\x01", "BAD_REQUEST", ""),
        ]:
            await builder.send_raw(raw)
            refused = await builder.receive()
            assert (refused["type"], refused["code"]) == ("flash:cline_error", code), raw
            assert isinstance(refused["sessionId"], str)
            assert named in refused["error"]
        await builder.send(task())
        assert (await until_done(builder))[-1]["success"] is True


async def _leave_while_it_runs(gateway: Running, path: str) -> list[dict[str, Any]]:
    builder = await gateway.connect(path)
    await builder.send(task())
    seen = await until_output(builder)
    await builder.close()
    return seen


ON_AND_OFF: dict[str, Any] = steps({"say": ["before"]}, {"sleep_ms": 400}, {"say": ["after"]})


@pytest.mark.parametrize("back", ["in the query", "in a message"])
async def test_a_client_that_comes_back_gets_what_it_missed(tmp_path: Path, embedded: bool, back: str) -> None:
    async with running(tmp_path, agent=script(tmp_path, ON_AND_OFF), embedded=embedded) as gateway:
        watcher = await gateway.connect(f"/ws/{SESSION}?watch=1")
        await _leave_while_it_runs(gateway, "/agent/ws")
        await watcher.receive_until("turn_ended")
        if back == "in the query":
            builder = await gateway.connect(f"/agent/ws?sessionId={SESSION}")
        else:
            builder = await gateway.connect("/agent/ws")
            await builder.send({"type": "flash:cline_stop", "sessionId": SESSION})
        seen = await until_done(builder)
        pieces = [message["content"] for message in seen if message["type"] == "flash:cline_output"]
        assert pieces == ["after"]
        assert seen[-1]["exitCode"] == 0


async def test_a_cursor_says_exactly_where_to_go_on_even_after_the_end(tmp_path: Path, embedded: bool) -> None:
    async with running(tmp_path, agent=script(tmp_path, ON_AND_OFF), embedded=embedded) as gateway:
        seen = await _leave_while_it_runs(gateway, f"/agent/ws?sessionId={SESSION}&last_event=0")
        watcher = await gateway.connect(f"/agent/ws?sessionId={SESSION}&last_event=0")
        whole = await until_done(watcher)
        assert whole[: len(seen)] == seen
        for at, message in enumerate(whole):
            again = await gateway.connect(f"/agent/ws?sessionId={SESSION}&last_event={message['seq']}")
            if at + 1 < len(whole):
                rest = await until_done(again)
                assert kinds(rest)[-1] == "done"
                assert whole[-len(rest) :] == rest
            await again.close()
        lost = await gateway.connect(f"/agent/ws?sessionId={SESSION}&last_event=other.3")
        assert (await lost.receive())["code"] == "CURSOR_LOST"


async def test_a_task_ends_with_its_client_if_the_setting_says_so(tmp_path: Path) -> None:
    settings = Settings(flash_on_disconnect="stop")
    async with running(tmp_path, agent=script(tmp_path, HANG), settings=settings) as gateway:
        await _leave_while_it_runs(gateway, "/agent/ws")
        builder = await gateway.connect(f"/agent/ws?sessionId={SESSION}")
        assert (await until_done(builder))[-1]["exitCode"] == 130


async def test_a_session_is_shared_with_the_other_dialects(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["hello"]}))) as gateway:
        ide = await gateway.connect(f"/ws/{SESSION}")
        builder = await gateway.connect("/agent/ws")
        await builder.send(task())
        await until_done(builder)
        assert (await ide.receive())["token"] == "hello"


async def test_the_token_comes_as_a_header_or_a_subprotocol_and_never_in_the_url(
    tmp_path: Path, embedded: bool
) -> None:
    token = "a-very-secret-token-1"
    (tmp_path / "tokens").write_text(token + "\n")
    more: dict[str, Any] = {"token_file": tmp_path / "tokens", "embedded": embedded}
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["ok"]})), **more) as gateway:
        for url in ("/agent/ws", f"/agent/ws?token={token}", f"/agent/ws?access_token={token}"):
            with pytest.raises(InvalidStatus) as refused:
                await gateway.connect(url)
            assert refused.value.response.status_code == 401
        for offer in (["bearer", token], ["bearer", f"bearer.{token}"]):
            builder = await gateway.connect("/agent/ws", subprotocols=offer)
            assert builder.socket.subprotocol == "bearer"
            await builder.send(task(session="s-" + offer[1][:3]))
            assert (await until_done(builder))[-1]["success"] is True
        builder = await gateway.connect("/agent/ws", additional_headers={"Authorization": f"Bearer {token}"})
        await builder.send(task())
        assert (await until_done(builder))[-1]["success"] is True


async def test_leaving_sessions_behind_keeps_their_number_bounded(tmp_path: Path) -> None:
    settings = Settings(flash_sessions=2)
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["ok"]})), settings=settings) as gateway:
        builder = await gateway.connect("/agent/ws")
        for number in range(5):
            await builder.send(task(session=f"s-{number}"))
            await until_done(builder)
        await builder.send({"type": "flash:cline_stop", "sessionId": "s-4"})
        await builder.receive()
        assert len([name for _, name in gateway.hub.sessions if name.startswith("s-")]) <= 2


async def test_a_client_that_comes_back_after_a_crash_learns_how_its_task_ended(tmp_path: Path) -> None:
    agent = script(tmp_path, HANG)
    async with running(tmp_path, agent=agent, store=f"sqlite:///{tmp_path}/one.db") as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send(task())
        await until_output(builder)
        for file in (tmp_path / "one.db", tmp_path / "one.db-wal"):  # what a kill would leave
            shutil.copy(file, file.with_name(file.name.replace("one", "two")))
    async with running(tmp_path, agent=agent, store=f"sqlite:///{tmp_path}/two.db") as gateway:
        builder = await gateway.connect(f"/agent/ws?sessionId={SESSION}")
        seen = await until_done(builder)
        assert kinds(seen) == ["error", "done"]
        assert (seen[0]["code"], seen[1]["exitCode"]) == ("INTERNAL_ERROR", 1)
