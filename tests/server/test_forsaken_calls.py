"""A call whose end could not be stored leaves its key to the next one: free if nothing happened, else undecided."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from server.programs import program, service
from toolwire.errors import FlashError, StoreError
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.execution import Execution
from toolwire.settings import Settings

IMPATIENT = Settings(call_timeout=0.5)


async def test_a_claim_that_could_not_be_taken_back_is_taken_back_when_the_store_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [FlashError("CONFLICT", "not now")]

    async def run(context: CallContext, _: dict[str, Any]) -> ServiceResult:
        if refusals:
            raise refusals.pop()

        def effect(tables: sqlite3.Connection) -> ServiceResult:
            tables.execute("CREATE TABLE IF NOT EXISTS effects (number INTEGER PRIMARY KEY)")
            tables.execute("INSERT INTO effects DEFAULT VALUES")
            return ServiceResult({"done": True})

        return await context.commit(effect)

    async with program(tmp_path, store=f"sqlite:///{tmp_path}/s.db", settings=IMPATIENT) as it:
        it.add(service(run, atomic=True))
        assert (await it.call("test.tool", idempotency_key="k"))["code"] == "CONFLICT"
        store = it.gateway.hub.store
        well = store.transact
        asked = 0

        async def ill(*arguments: Any, **more: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == 1:  # the claim
                return await well(*arguments, **more)
            raise StoreError("disk full")

        monkeypatch.setattr(store, "transact", ill)
        lost = await it.call("test.tool", idempotency_key="k")
        assert (lost["code"], asked) == ("INTERNAL_ERROR", 3)
        monkeypatch.setattr(store, "transact", well)
        assert (await it.call("test.tool", idempotency_key="k"))["data"] == {"done": True}
        again = await it.call("test.tool", idempotency_key="k")
        assert again["meta"]["idempotent_replay"]
        assert await store.query(lambda tables: tables.execute("SELECT count(*) FROM effects").fetchone()) == (1,)


async def test_an_effect_whose_outcome_could_not_be_stored_is_reported_and_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects: list[str] = []

    async def run(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        effects.append("done")
        return ServiceResult({"done": True})

    async def ill(*_: Any) -> None:
        raise StoreError("disk full")

    async with program(tmp_path, store=f"sqlite:///{tmp_path}/s.db", settings=IMPATIENT) as it:
        it.add(service(run))
        with monkeypatch.context() as patched:
            patched.setattr(Execution, "_settle", ill)
            lost = await it.call("test.tool", idempotency_key="k")
        assert lost["code"] == "INTERNAL_ERROR"
        told = await it.call("test.tool", idempotency_key="k")
        assert (told["code"], told["error"].get("indeterminate")) == ("INTERNAL_ERROR", True)
    assert effects == ["done"]
