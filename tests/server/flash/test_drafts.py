"""Drafts: a file in the controlled folder, its versions in the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.flash import Calls, client
from support.running import Running, running
from toolwire.errors import FlashError
from toolwire.server.flash import rows
from toolwire.settings import Settings

DEFAULT = "eiscore-apps/src/views/drafts/FlashDraft.vue"


@pytest.fixture
def controlled(tmp_path: Path) -> Path:
    return tmp_path / "controlled"


@pytest.fixture
async def gateway(tmp_path: Path, controlled: Path) -> AsyncIterator[Running]:
    (tmp_path / "project").mkdir()
    store = f"sqlite:///{tmp_path}/toolwire.db"
    async with running(tmp_path / "project", store=store, controlled=controlled) as gateway:
        yield gateway


async def test_a_draft_is_a_file_and_is_read_as_it_is(gateway: Running, controlled: Path) -> None:
    async with client(gateway) as http:
        empty = await http.get("/agent/flash/draft")
        assert empty.json() == {"ok": True, "appId": "default", "path": DEFAULT, "content": "", "bytes": 0}
        saved = await http.post(
            "/agent/flash/draft", json={"content": "<template>你好</template>", "reason": "first"}
        )
        assert saved.json() == {"ok": True, "path": DEFAULT, "bytes": 27}
        assert (controlled / DEFAULT).read_text("utf-8") == "<template>你好</template>"
        (controlled / DEFAULT).write_text("changed by hand")
        read = (await http.get("/agent/flash/draft?appId=default")).json()
        assert (read["content"], read["bytes"]) == ("changed by hand", 15)


async def test_another_apps_draft_has_a_folder_of_its_own(gateway: Running, controlled: Path) -> None:
    async with client(gateway) as http:
        saved = await http.post("/agent/flash/draft", json={"content": "x", "appId": "app-1"})
        assert saved.json()["path"] == "eiscore-apps/src/views/drafts/app-1/FlashDraft.vue"
        assert (controlled / saved.json()["path"]).read_text() == "x"
        assert (await http.get("/agent/flash/draft")).json()["content"] == ""


async def test_every_version_is_kept_also_what_was_changed_outside(gateway: Running, controlled: Path) -> None:
    call = Calls(gateway)
    await call.done("flash.draft.write", content="one", reason="r1")
    (controlled / DEFAULT).write_text("by hand")
    await call.done("flash.draft.write", content="two", reason="r2")
    versions = (await call.done("flash.draft.history"))["versions"]
    assert [(version["version"], version["reason"]) for version in versions] == [
        (3, "r2"),
        (2, "changed outside"),
        (1, "r1"),
    ]
    old = (await call.done("flash.draft.history", version=2))["versions"]
    assert [version["content"] for version in old] == ["by hand"]
    assert await call.code("flash.draft.history", version=9) == "VALIDATION_FAILED"


async def test_old_versions_are_forgotten_beyond_the_limit(tmp_path: Path) -> None:
    async with running(tmp_path, settings=Settings(flash_drafts_kept=3)) as gateway:
        call = Calls(gateway)
        for number in range(8):
            await call.done("flash.draft.write", content=str(number))
        versions = (await call.done("flash.draft.history"))["versions"]
        assert [version["version"] for version in versions] == [8, 7, 6, 1]


async def test_a_draft_may_have_a_megabyte_and_no_more(gateway: Running) -> None:
    call = Calls(gateway)
    assert (await call.done("flash.draft.write", content="x" * 1024 * 1024))["bytes"] == 1024 * 1024
    refused = await call("flash.draft.write", content="x" * 1024 * 1024 + "y")
    assert refused["code"] == "VALIDATION_FAILED"
    assert "content" in refused["message"]


async def test_writes_at_once_leave_one_of_them_whole_and_all_in_the_history(
    gateway: Running, controlled: Path
) -> None:
    call = Calls(gateway)
    texts = [str(number) * 1000 for number in range(10)]
    await asyncio.gather(*(call.done("flash.draft.write", content=text) for text in texts))
    versions = (await call.done("flash.draft.history", limit=100))["versions"]
    assert sorted(version["version"] for version in versions) == list(range(1, 11))
    newest = (await call.done("flash.draft.history", version=10))["versions"][0]
    assert (controlled / DEFAULT).read_text() == newest["content"]


async def test_an_idempotency_key_in_the_header_makes_a_write_happen_once(gateway: Running) -> None:
    async with client(gateway, **{"Idempotency-Key": "k-1", "X-Trace-Id": "tr_mine"}) as http:
        first = await http.post("/agent/flash/draft", json={"content": "once"})
        again = await http.post("/agent/flash/draft", json={"content": "once"})
        assert first.json() == again.json()
        assert first.headers["x-trace-id"] == "tr_mine"
        assert (first.headers.get("idempotent-replay"), again.headers["idempotent-replay"]) == (None, "true")
        other = await http.post("/agent/flash/draft", json={"content": "other"})
        assert (other.status_code, other.json()["code"]) == (409, "CONFLICT")
    assert len((await Calls(gateway).done("flash.draft.history"))["versions"]) == 1


def drafts_in(folder: Path) -> list[Path]:
    return list(folder.rglob("FlashDraft.vue"))


APP_IDS = [
    "../x",
    "..",
    ".",
    "a/b",
    "a\\b",
    "/etc",
    "a\0b",
    ".git",
    "-x",
    "x" * 129,
    "a b",
    "é",
    "a\n",
    "%2e%2e",
    "AGENTS.md",
]


async def test_an_app_id_that_is_no_plain_name_is_refused(gateway: Running, tmp_path: Path) -> None:
    call = Calls(gateway)
    for app_id in APP_IDS:
        assert await call.code("flash.draft.write", content="x", appId=app_id) == "VALIDATION_FAILED", app_id
        if app_id != "AGENTS.md":
            assert await call.code("flash.draft.read", appId=app_id) == "VALIDATION_FAILED", app_id
    assert drafts_in(tmp_path) == []


@pytest.mark.parametrize("place", ["eiscore-apps", "eiscore-apps/src/views/drafts", DEFAULT])
async def test_links_in_the_folder_never_lead_a_draft_outside(
    gateway: Running, tmp_path: Path, controlled: Path, place: str
) -> None:
    outside = tmp_path / "outside"
    target = outside / Path(DEFAULT).relative_to(place) if place != DEFAULT else outside / "FlashDraft.vue"
    target.parent.mkdir(parents=True)
    target.write_text("CANARY")
    (controlled / place).parent.mkdir(parents=True, exist_ok=True)
    (controlled / place).symlink_to(outside if place != DEFAULT else target)
    call = Calls(gateway)
    read = await call("flash.draft.read")
    assert (read["code"], "CANARY" in str(read)) == ("VALIDATION_FAILED", False)
    assert await call.code("flash.draft.write", content="overwritten") == "VALIDATION_FAILED"
    assert target.read_text() == "CANARY"


async def test_a_draft_belongs_to_whoever_made_it(gateway: Running) -> None:
    call = Calls(gateway)
    alice, bob = call.by("alice"), call.by("bob")
    await alice.done("flash.draft.write", content="mine", appId="a-1")
    assert await bob.code("flash.draft.read", appId="a-1") == "RLS_DENIED"
    assert await bob.code("flash.draft.read", appId="never-was") == "RLS_DENIED"
    assert await bob.code("flash.draft.write", content="no", appId="a-1") == "RLS_DENIED"
    assert (await alice.done("flash.draft.read", appId="a-1"))["content"] == "mine"
    assert (await call.done("flash.draft.read", appId="a-1"))["content"] == "mine"
    assert await call.by("vera", "viewer").code("flash.draft.write", content="x") == "PERMISSION_DENIED"


async def test_tenants_never_see_each_others_drafts(gateway: Running, controlled: Path) -> None:
    call = Calls(gateway)
    await call.done("flash.draft.write", content="ours")
    other = call.by("eve", "super_admin", "other")
    assert (await other.done("flash.draft.read"))["content"] == ""
    await other.done("flash.draft.write", content="theirs")
    assert (controlled / DEFAULT).read_text() == "ours"
    assert (controlled / ".tenants/other" / DEFAULT).read_text() == "theirs"


async def test_what_is_not_json_is_a_bad_request(gateway: Running) -> None:
    async with client(gateway) as http:
        for body in (b"", b"nope", b"[1]", b'{"content": "a", "content": "b"}'):
            refused = await http.post("/agent/flash/draft", content=body)
            assert (refused.status_code, refused.json()["code"]) == (400, "BAD_REQUEST")
        missing = await http.post("/agent/flash/draft", json={"reason": "x"})
        assert (missing.status_code, missing.json()["code"]) == (400, "VALIDATION_FAILED")
        assert "arguments.content" in missing.json()["error"]["fields"]


async def test_a_write_that_failed_after_its_file_was_written_is_done_once_when_it_is_sent_again(
    gateway: Running, controlled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_order(*_: object) -> None:
        raise FlashError("UPSTREAM_ERROR", "not now")

    async with client(gateway, **{"Idempotency-Key": "k-1"}) as http:
        with monkeypatch.context() as broken:
            broken.setattr(rows, "insert", out_of_order)
            failed = await http.post("/agent/flash/draft", json={"content": "once"})
            assert (failed.status_code, failed.json()["code"]) == (502, "UPSTREAM_ERROR")
        assert (controlled / DEFAULT).read_text() == "once"
        assert (await http.post("/agent/flash/draft", json={"content": "once"})).status_code == 200
    versions = (await Calls(gateway).done("flash.draft.history"))["versions"]
    assert [version["reason"] for version in versions] == [""]
