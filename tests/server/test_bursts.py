"""More than a connection can take at once: it is read from later, never cut for it."""

from __future__ import annotations

import json
from pathlib import Path

from support.running import running, script, steps
from toolwire.server.connection import LARGE
from toolwire.server.inbox import LIMIT

CALLS = 1000


async def test_a_large_result_may_be_followed_by_a_thousand_others(tmp_path: Path, embedded: bool) -> None:
    calls = [{"tool": "read_file", "arguments": {"path": f"{number}.py"}} for number in range(CALLS)]
    agent = script(tmp_path, steps({"call": calls}, {"say": ["{{1}}", f"{{{{{CALLS}}}}}"]}))
    async with running(tmp_path, agent=agent, embedded=embedded) as gateway:
        peer = await gateway.connect("/ws/burst")
        await peer.send({"type": "user_message", "content": "go"})
        ids = [(await peer.receive())["call_id"] for _ in range(CALLS)]
        large = "x" * (LARGE + 1)
        await peer.send({"type": "tool_result", "call_id": ids[0], "result": large})
        for number, call_id in enumerate(ids[1:], 2):
            await peer.send({"type": "tool_result", "call_id": call_id, "result": str(number)})
        assert (await peer.receive())["token"] == large
        assert (await peer.receive())["token"] == str(CALLS)
        await peer.close()


async def test_messages_sent_before_the_session_is_open_all_count_and_keep_their_order(
    tmp_path: Path, embedded: bool
) -> None:
    count = 3 * LIMIT
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["done"]})), embedded=embedded) as gateway:
        peer = await gateway.connect("/ws/eager")
        for number in range(count):
            note = {"type": "user_message", "role": "system", "content": str(number)}
            await peer.socket.send(json.dumps(note))
        await peer.send({"type": "user_message", "content": "go"})
        assert (await peer.receive())["token"] == "done"
        history = await gateway.hub.store.history("default", "session:eager", 2 * count)
        assert [message.text for message in history if message.role == "system"] == [str(n) for n in range(count)]
        await peer.close()
