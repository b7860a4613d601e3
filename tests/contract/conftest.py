"""A store of each kind, with a table to write to, and the records of calls in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolwire.settings import Settings
from toolwire.store import Store, open_store
from toolwire.store.call_records import CallRecords


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    store = open_store("memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/store.db")
    await store.start()
    await store.transact(lambda tables: tables.execute("CREATE TABLE things (name TEXT PRIMARY KEY)").fetchall())
    yield store
    await store.close()


@pytest.fixture
async def records(store: Store) -> AsyncIterator[CallRecords]:
    records = CallRecords(store, Settings())
    await records.start()
    yield records
    await records.close()
