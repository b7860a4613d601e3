"""`kill -9` at any moment: everything that was told as committed is there afterwards, in order, and goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from crash.appending import event
from store.events_made import Listener, opened, url_of
from support.patience import PATIENCE
from toolwire.core.events import Message
from toolwire.settings import Settings

NAMES = ("one", "two", "three")
KILL_AFTER = (1, 40, 701)
"""Acknowledgements heard before each kill; the last is past a filling of the index."""


def append_until_killed(url: str, epoch: str, lines: int) -> dict[str, int]:
    """The last sequence number of each session that the process was told is committed."""
    script = Path(__file__).with_name("appending.py")
    acknowledged = dict.fromkeys(NAMES, 0)
    with subprocess.Popen([sys.executable, script, url, epoch], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for _ in range(lines):
                name, seq = process.stdout.readline().split()
                acknowledged[name] = int(seq)
        finally:
            process.kill()
        for line in process.stdout:
            if line.endswith("\n"):
                name, seq = line.split()
                acknowledged[name] = int(seq)
        process.wait(PATIENCE)
    return acknowledged


async def test_what_was_acknowledged_survives_being_killed_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    numbers: dict[str, int] = {}
    for round_, lines in enumerate(KILL_AFTER):
        acknowledged = append_until_killed(url_of(path), f"epoch{round_}", lines)
        async with opened(path, Settings()) as store:
            for name in NAMES:
                record = await store.find_session("", name)
                assert record is not None
                assert record.epoch == "epoch0"
                assert numbers.setdefault(name, record.number) == record.number
                assert record.last >= acknowledged[name]
                events = await store.read(record.number, limit=1_000_000)
                assert events == [event(seq, f"piece {seq} of {name}") for seq in range(1, record.last + 1)]
                assert record.rest == record.last // 9 * 9
            unfinished = {record.name for record in await store.unfinished()}
            lasts = {line.name: line.last for line in await store.sessions()}
            assert unfinished == {name for name in NAMES if lasts[name] % 9}
            answers = [m.text for m in await store.history("", "c", 1_000_000) if m.role == "assistant"]
            assert sorted(map(int, answers)) == sorted(
                seq for last in lasts.values() for seq in range(9, last + 1, 9)
            )
            assert (await store.history("", "c", 1) or [Message("assistant", "")])[0].role == "assistant"


async def test_a_killed_store_takes_new_events_right_after_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    append_until_killed(url_of(path), "e", 10)
    async with opened(path, Settings()) as store:
        record = await store.open_session("", "one", epoch="new", now=1)
        await Listener(store).stored(record.number, [event(record.last + 1, "after")])


def test_a_program_that_forgets_to_close_its_store_still_ends(tmp_path: Path) -> None:
    script = Path(__file__).with_name("forgetting.py")
    command = [sys.executable, str(script), url_of(tmp_path / "store.db")]
    assert subprocess.run(command, timeout=PATIENCE, check=False).returncode == 7
