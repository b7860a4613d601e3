"""What every benchmark shares: processes pinned to cores, free ports, and a line that says how a figure compares."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
SERVER_CORE, LOAD_CORE = 0, 1
START_LIMIT = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def pinned(core: int, command: Sequence[str | Path]) -> list[str]:
    """The command, kept to one core where there are several."""
    cores = sorted(os.sched_getaffinity(0))
    words = [str(word) for word in command]
    return ["taskset", "-c", str(cores[core % len(cores)]), *words] if len(cores) > 1 else words


@contextlib.contextmanager
def server(command: Sequence[str | Path], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server process, once its port answers."""
    process = subprocess.Popen(pinned(SERVER_CORE, command), stdout=subprocess.DEVNULL)
    try:
        _await_port(process, port)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def _await_port(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"the server exited with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit("the server did not start in time")


def load(kind: str, port: int, clients: int, count: int) -> float:
    """Things per second, counted by the load process."""
    command = [sys.executable, str(HERE / "load.py"), kind, str(port), str(clients), str(count)]
    done = subprocess.run(pinned(LOAD_CORE, command), check=True, capture_output=True, timeout=300)
    answer = json.loads(done.stdout)
    return float(answer["count"] / answer["seconds"])


def say(what: str, value: float, unit: str, *ratios: tuple[str, float, str]) -> None:
    """A figure and what it is of its peers: (peer, ratio, aim)."""
    compared = "".join(f"   {ratio:.2f} × {peer} (aim {aim})" for peer, ratio, aim in ratios)
    print(f"  {what:<46}{value:>12,.0f} {unit}{compared}", flush=True)
