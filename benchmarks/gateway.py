"""The gateway's hot paths: stored tool-call round trips, streamed pieces, cold start, memory of idle sessions.

The server keeps to one core, the load to another. Every figure stands beside a peer measured in the same run.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import HERE, LOAD_CORE, free_port, load, pinned, say, server

ROUND_TRIPS = 3000
PIECES = 20_000
ROUNDS = 3
SCRIPT = {
    "calls": [{"call": [{"tool": "read_file", "arguments": {"path": "src/main.py"}}]}] * (ROUND_TRIPS * 2),
    "pieces": [{"say": ["piece of text "] * PIECES}],
}


def gateway(folder: Path, steps: str, port: int) -> list[str | Path]:
    script = folder / f"{steps}.json"
    script.write_text(json.dumps({"turns": [{"steps": SCRIPT[steps]}]}))
    store = folder / f"{steps}-{port}.db"
    return [
        *(Path(sys.executable).parent / "toolwire", "serve", "--port", str(port), "--project", f"bench={folder}"),
        *("--agent", f"script:{script}", "--store", f"sqlite:///{store}"),
    ]


def best(kind: str, port: int, clients: int, count: int) -> float:
    """The best of a few runs: what the code can do, not what else the machine was doing."""
    return max(load(kind, port, clients, count) for _ in range(ROUNDS))


def round_trips(folder: Path) -> None:
    port = free_port()
    with server([sys.executable, HERE / "peers.py", "echo", str(port)], port):
        echo = {clients: best("echo", port, clients, 4000) for clients in (32, 1)}
    port = free_port()
    with server([sys.executable, HERE / "peers.py", "fastmcp", str(port)], port):
        mcp = {clients: fastmcp(port, clients) for clients in (32, 1)}
    port = free_port()
    with server(gateway(folder, "calls", port), port):
        ours = {clients: best("calls", port, clients, ROUND_TRIPS) for clients in (32, 1)}
    for clients in (32, 1):
        print(f" {clients} client{'s' if clients > 1 else ''}")
        say("bare picows echo, 260 bytes", echo[clients], "/s")
        say("FastMCP tool call over HTTP", mcp[clients], "/s")
        aims = ("0.35", "30") if clients == 32 else ("-", "-")
        ratios = [
            ("echo", ours[clients] / echo[clients], aims[0]),
            ("FastMCP", ours[clients] / mcp[clients], aims[1]),
        ]
        say("stored tool-call round trips", ours[clients], "/s", *ratios)


def fastmcp(port: int, clients: int) -> float:
    command = [sys.executable, str(HERE / "mcp_load.py"), str(port), str(clients), "200"]
    done = subprocess.run(pinned(LOAD_CORE, command), check=True, capture_output=True, timeout=300)
    answer = json.loads(done.stdout.splitlines()[-1])
    return float(answer["count"] / answer["seconds"])


def pieces(folder: Path) -> None:
    port = free_port()
    with server([sys.executable, HERE / "peers.py", "sends", str(port)], port):
        sends = {clients: best("sends", port, clients, PIECES) for clients in (32, 1)}
    port = free_port()
    with server(gateway(folder, "pieces", port), port):
        ours = {clients: best("pieces", port, clients, PIECES) for clients in (32, 1)}
    for clients in (32, 1):
        print(f" {clients} client{'s' if clients > 1 else ''}")
        say("bare send loop", sends[clients], "/s")
        aim = "0.5" if clients == 32 else "-"
        say("stored, streamed pieces", ours[clients], "/s", ("send loop", ours[clients] / sends[clients], aim))


def cold_start() -> None:
    def timed(command: list[str | Path]) -> float:
        runs = []
        for _ in range(7):
            started = time.perf_counter()
            subprocess.run([str(word) for word in command], check=True, capture_output=True)
            runs.append(time.perf_counter() - started)
        return min(runs) * 1000

    empty = timed([sys.executable, "-c", "pass"])
    help_ = timed([Path(sys.executable).parent / "toolwire", "--help"])
    say("python -c pass", empty, "ms")
    say("toolwire --help", help_, "ms", ("the empty interpreter", help_ / empty, "6"))


def idle_sessions(folder: Path, count: int = 1000) -> None:
    port = free_port()
    with server(gateway(folder, "calls", port), port) as process:
        before = _resident(process.pid)
        pings, after = asyncio.run(_idle(port, count, process.pid))
        say(f"idle sessions that answered a ping, of {count}", pings, "")
        say("memory per idle session", (after - before) / count, "bytes")


async def _idle(port: int, count: int, pid: int) -> tuple[int, int]:
    from websockets.asyncio.client import connect

    sockets = [await connect(f"ws://127.0.0.1:{port}/ws/idle-{i}", compression=None) for i in range(count)]
    after = _resident(pid)
    async with asyncio.timeout(60):
        pongs = [await socket.ping() for socket in sockets]
        answered = len(await asyncio.gather(*pongs))
        await asyncio.gather(*(socket.close() for socket in sockets))
    return answered, after


def _resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("Tool-call round trips: scripted agent → socket → client → result → stored")
        round_trips(folder)
        print("Streamed pieces: scripted agent → stored → socket → client")
        pieces(folder)
        print("Cold start")
        cold_start()
        print("Idle sessions")
        idle_sessions(folder)


if __name__ == "__main__":
    main()
