"""Attachments: uploaded into the controlled folder, and never anywhere else."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.flash import Calls, client
from support.running import Running, running
from toolwire.errors import FlashError
from toolwire.server.flash.attachments import check_name, text_preview

FOLDER = ".uploads/app/default"


def encoded(data: bytes | str) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


@pytest.fixture
def controlled(tmp_path: Path) -> Path:
    return tmp_path / "controlled"


@pytest.fixture
async def gateway(tmp_path: Path, controlled: Path) -> AsyncIterator[Running]:
    (tmp_path / "project").mkdir()
    async with running(tmp_path / "project", controlled=controlled) as gateway:
        yield gateway


async def upload(call: Calls, name: str = "spec.md", content: bytes | str = "# 标题\n", **more: Any) -> Any:
    return await call("flash.attachment.upload", fileName=name, contentBase64=encoded(content), **more)


async def test_a_file_is_uploaded_listed_and_downloaded(gateway: Running, controlled: Path) -> None:
    data = "# 请假申请\n".encode()
    body = {
        "appId": "default",
        "conversationId": "c-1",
        "fileName": "需求 v1.md",
        "mimeType": "text/markdown",
        "contentBase64": encoded(data),
    }
    async with client(gateway) as http:
        answer = await http.post("/agent/flash/attachments", json=body)
        file = answer.json()["file"]
        assert answer.json()["ok"] is True
        assert file == {
            "id": file["id"],
            "appId": "default",
            "conversationId": "c-1",
            "name": "需求 v1.md",
            "mimeType": "text/markdown",
            "size": len(data),
            "relativePath": f"{FOLDER}/需求 v1.md",
            "textPreview": "# 请假申请\n",
            "uploadedAt": file["uploadedAt"],
        }
        assert (controlled / file["relativePath"]).read_bytes() == data
        listed = (await http.get("/agent/flash/attachments?appId=default&conversationId=c-1")).json()
        assert listed == {"ok": True, "files": [file]}
        assert (await http.get("/agent/flash/attachments?appId=other")).json()["files"] == []
        got = await http.get(f"/agent/flash/attachments/{file['id']}")
        assert got.content == data
        assert got.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
        assert got.headers["x-content-type-options"] == "nosniff"
        missing = await http.get("/agent/flash/attachments/nothing")
        assert (missing.status_code, missing.json()["code"]) == (400, "VALIDATION_FAILED")


async def test_a_name_that_is_taken_gets_a_suffix(gateway: Running, controlled: Path) -> None:
    call = Calls(gateway)
    answers = [await upload(call, content=text) for text in ("one", "two", "two")]
    names = [answer["data"]["file"]["name"] for answer in answers]
    assert names == ["spec.md", "spec-1.md", "spec-2.md"]
    assert [(controlled / FOLDER / name).read_text() for name in names] == ["one", "two", "two"]


async def test_the_same_bytes_at_once_make_as_many_files_as_uploads(gateway: Running, controlled: Path) -> None:
    call = Calls(gateway)
    answers = await asyncio.gather(*(upload(call, content="same") for _ in range(12)))
    paths = [answer["data"]["file"]["relativePath"] for answer in answers]
    assert len(set(paths)) == 12
    assert len(list((controlled / FOLDER).iterdir())) == 12


async def test_a_file_that_a_crash_left_without_a_row_is_taken_up_again(gateway: Running, controlled: Path) -> None:
    (controlled / FOLDER).mkdir(parents=True)
    (controlled / FOLDER / "spec.md").write_text("left behind")
    answer = await upload(Calls(gateway), content="left behind")
    assert answer["data"]["file"]["name"] == "spec.md"
    assert [path.name for path in (controlled / FOLDER).iterdir()] == ["spec.md"]


NAMES = ["../evil.md", "..", ".", "", " ", "a/b.md", "/etc/passwd", "a\\b", "C:\\x", "x\0.md", "a\nb", "x" * 201]
NAMES += ["...", " lead", "trail ", ".toolwire-1.tmp", "AGENTS.md", ".git", ".envrc"]


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


async def test_names_never_leave_the_folder(gateway: Running, tmp_path: Path, controlled: Path) -> None:
    before = files_in(tmp_path)
    call = Calls(gateway)
    for name in NAMES:
        answer = await upload(call, name)
        assert answer["code"] == "VALIDATION_FAILED", name
    for app_id in ("..", "a/../..", "/tmp", "a\0"):
        assert (await upload(call, appId=app_id))["code"] == "VALIDATION_FAILED", app_id
    assert files_in(tmp_path) == before


async def test_links_in_the_folder_are_not_followed_outside(
    gateway: Running, tmp_path: Path, controlled: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "spec.md").write_text("CANARY")
    (controlled / FOLDER).mkdir(parents=True)
    (controlled / FOLDER / "spec.md").symlink_to(outside / "spec.md")
    (controlled / ".uploads/app/linked").symlink_to(outside)
    call = Calls(gateway)
    assert (await upload(call, content="CANARY"))["data"]["file"]["name"] == "spec-1.md"
    assert (await upload(call, appId="linked", content="x"))["code"] == "VALIDATION_FAILED"
    file = (await upload(call, "later.md", "mine"))["data"]["file"]
    (controlled / file["relativePath"]).unlink()
    (controlled / file["relativePath"]).symlink_to(outside / "spec.md")
    async with client(gateway) as http:
        got = await http.get(f"/agent/flash/attachments/{file['id']}")
        assert (got.status_code, b"CANARY" in got.content) == (400, False)
    assert [path.name for path in outside.iterdir()] == ["spec.md"]


async def test_what_is_not_base64_or_too_large_is_refused(gateway: Running) -> None:
    call = Calls(gateway)
    for content in ("not base64!", "YQ", "YQ==\n", "é", "data:text/plain;base64,YQ=="):
        answer = await call("flash.attachment.upload", fileName="a", contentBase64=content)
        assert answer["code"] == "VALIDATION_FAILED", content
    limit = 8 * 1024 * 1024
    assert (await upload(call, "big", bytes(limit)))["data"]["file"]["size"] == limit
    for size in (limit + 1, limit + 1000):
        assert (await upload(call, "bigger", bytes(size)))["code"] == "VALIDATION_FAILED"


async def test_an_upload_belongs_to_whoever_made_it(gateway: Running) -> None:
    call = Calls(gateway)
    alice, bob = call.by("alice"), call.by("bob")
    await upload(alice)
    assert [file["name"] for file in (await alice.done("flash.attachment.list"))["files"]] == ["spec.md"]
    assert (await bob.done("flash.attachment.list"))["files"] == []
    assert len((await call.done("flash.attachment.list"))["files"]) == 1
    assert (await call.by("eve", "super_admin", "other").done("flash.attachment.list"))["files"] == []


def test_a_preview_is_the_beginning_of_a_text_and_nothing_of_anything_else() -> None:
    assert text_preview("你好".encode(), 8000) == "你好"
    assert text_preview("\ufeffhello".encode(), 8000) == "hello"
    assert text_preview(b"\x89PNG\r\n\x00\x01", 8000) == ""
    assert text_preview("é".encode("latin-1"), 8000) == ""
    assert len(text_preview(("界" * 20_000).encode(), 8000)) == 8000


@given(st.text(max_size=300), st.integers(1, 50))
def test_a_preview_never_cuts_a_character_in_two(text: str, limit: int) -> None:
    data = text.encode("utf-8", "ignore")
    preview = text_preview(data, limit)
    if b"\0" not in data:
        assert data.decode().removeprefix("\ufeff").startswith(preview)
        assert len(preview) == min(limit, len(data.decode().removeprefix("\ufeff"))) or "\ufeff" in text


@given(st.text(max_size=250))
def test_a_name_that_passes_is_one_component_of_a_path(name: str) -> None:
    with contextlib.suppress(FlashError):
        check_name(name)
        assert Path("/root/folder") / name == Path(f"/root/folder/{name}")
        assert (Path("/root/folder") / name).name == name
        assert name not in (".", "..")
        assert len(name.encode()) <= 200


@pytest.mark.parametrize("name", ["\u202etxt.exe", "a\u200b.md", "\ufeffa.md", "a\u2066b.md"])
async def test_a_name_with_unseen_signs_is_refused(gateway: Running, name: str) -> None:
    assert (await upload(Calls(gateway), name))["code"] == "VALIDATION_FAILED"


@pytest.mark.parametrize("name", ["می\u200cخواهم.md", "👩\u200d💻.md", "说明.md"])
async def test_a_name_in_any_script_is_fine(gateway: Running, name: str) -> None:
    assert (await upload(Calls(gateway), name))["data"]["file"]["name"] == name
