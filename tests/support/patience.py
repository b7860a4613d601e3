"""How long a test waits before it says that something hangs. Never a measure of speed: `make bench` is for that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 60.0
"""Seconds any single wait in a test may take, on the slowest machine and beside every other test."""


@contextmanager
def bounded() -> Iterator[None]:
    """What is done inside ends. Inputs are chosen so that code of the wrong order would need many times as long."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < PATIENCE, "this takes so long that its time must grow out of proportion"
