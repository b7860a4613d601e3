"""Large content of document 3 lies where it belongs; a session's log has its digest."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from server.programs import program, service
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.excerpts import excerpt

BIG = "<template>" + "中" * 20_000
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(VALUES)
def test_what_is_short_stays_as_it_is(value: Any) -> None:
    assert excerpt(value, 20) == value


@given(VALUES, st.text(min_size=21, max_size=40))
def test_what_is_long_becomes_its_digest(value: Any, text: str) -> None:
    data = text.encode()
    digest = {"omitted": True, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    assert excerpt({"a": [value, text]}, 20) == {"a": [value, digest]}


async def test_an_upload_and_a_draft_are_not_in_the_log_and_are_where_they_belong(tmp_path: Path) -> None:
    data = b"\0" * 100_000
    encoded = base64.b64encode(data).decode()
    async with program(tmp_path, store=f"sqlite:///{tmp_path}/s.db", controlled=tmp_path / "controlled") as it:
        upload = {"fileName": "a.bin", "contentBase64": encoded}
        file = (await it.call("flash.attachment.upload", upload, idempotency_key="1"))["data"]["file"]
        await it.call("flash.draft.write", {"content": BIG}, idempotency_key="2")
        assert (await it.call("flash.draft.read"))["data"]["content"] == BIG
        made = await it.call("flash.app.create", {"name": "x", "source_code": BIG}, idempotency_key="3")
        assert made["data"]["app"]["source_code"] == BIG
        again = await it.call("flash.app.create", {"name": "x", "source_code": BIG}, idempotency_key="3")
        assert again["data"] == made["data"]
        other = await it.call("flash.app.create", {"name": "x", "source_code": BIG + "!"}, idempotency_key="3")
        assert other["code"] == "CONFLICT"
        events = await it.events()
    assert (tmp_path / "controlled" / file["relativePath"]).read_bytes() == data
    assert all(len(str(event)) < 2000 for event in events)
    (logged,) = (event["arguments"]["contentBase64"] for event in events if "contentBase64" in str(event))
    assert logged["sha256"] == hashlib.sha256(encoded.encode()).hexdigest()


async def test_what_lies_nowhere_else_is_in_the_log_as_it_is(tmp_path: Path) -> None:
    async def echo(_: CallContext, arguments: dict[str, Any]) -> ServiceResult:
        return ServiceResult(arguments)

    async with program(tmp_path) as it:
        it.add(service(echo))
        await it.call("test.tool", {"text": BIG}, idempotency_key="1")
        asked, settled = await it.events()
    assert (asked["arguments"], settled["result"]) == ({"text": BIG}, {"text": BIG})
