from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.dialects import backend_only
from toolwire.errors import InvalidMessage

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "4-backend-only-results").glob("*.json"))
ENVELOPES = [path for path in GOLDEN if "object" not in path.name]


def _bytes(message: object) -> bytes:
    return json.dumps(message).encode()


@pytest.mark.parametrize("path", ENVELOPES, ids=lambda path: path.stem)
def test_a_golden_envelope_survives_both_directions(path: Path) -> None:
    message = json.loads(path.read_text())
    result = backend_only.decode(path.read_bytes())
    assert json.loads(backend_only.encode(result)) == message
    assert isinstance(result.data, str | backend_only.Data)
    assert result.failed == ("error" in path.stem)


@pytest.mark.parametrize("path", ENVELOPES, ids=lambda path: path.stem)
def test_unknown_keys_do_not_survive(path: Path) -> None:
    message = json.loads(path.read_text())
    noisy = {**message, "extra": 1}
    if isinstance(message["data"], dict):
        noisy["data"] = {**message["data"], "extra": 1}
    assert json.loads(backend_only.encode(backend_only.decode(_bytes(noisy)))) == message


def test_the_golden_hunk_survives_both_directions() -> None:
    (path,) = [path for path in GOLDEN if "object" in path.name]
    message = json.loads(path.read_text())
    assert json.loads(backend_only.encode(backend_only.decode_hunk(path.read_bytes()))) == message


def test_another_tools_data_passes_as_it_is() -> None:
    message = {
        "type": "backend_only",
        "tool_name": "read_file",
        "tool_use_id": "toolu_1",
        "uuid": "550e8400-e29b-41d4-a716-446655440000",
        "data": {"content": "x", "any": [1, None]},
    }
    assert json.loads(backend_only.encode(backend_only.decode(_bytes(message)))) == message


def _envelope(**change: Any) -> dict[str, Any]:
    return {**json.loads(ENVELOPES[0].read_text()), **change}


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (_envelope(type="other"), "type"),
        (_envelope(tool_use_id=7), "tool_use_id"),
        (_envelope(uuid="no"), "uuid"),
        (_envelope(data=[]), "data"),
        (_envelope(data={"type": "create", "filePath": "/x", "content": 5, "structuredPatch": []}), "data.content"),
        (
            _envelope(data={"type": "create", "filePath": "/x", "content": "", "structuredPatch": [{}]}),
            "data.structuredPatch.0.oldStart",
        ),
    ],
)
def test_a_message_that_does_not_fit_names_the_field(message: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        backend_only.decode(_bytes(message))
    assert refused.value.field == field


def test_a_request_needs_a_tool_and_an_id() -> None:
    request = backend_only.decode_request(b'{"tool_name": "Edit", "tool_use_id": "t", "input": {"a": 1}}')
    assert (request.tool_name, request.tool_use_id, request.input) == ("Edit", "t", {"a": 1})
    bad = [b"", b"{", b"{}", b"[]", b"null", b'{"tool_name": "", "tool_use_id": "t"}', b'{"tool_name": "Edit"}']
    for line in bad:
        with pytest.raises(InvalidMessage):
            backend_only.decode_request(line)


def test_what_goes_out_is_one_line_whatever_is_in_it() -> None:
    data = {"content": "a\nb\r\u2028\x00 é"}
    line = backend_only.result("read_file", "toolu_1", "550e8400-e29b-41d4-a716-446655440000", data)
    assert b"\n" not in line
    assert json.loads(line)["data"] == data


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["type", "tool_name", "tool_use_id", "uuid", "data", "input"]), JSON))
def test_garbage_raises_nothing_but_the_documented_error(message: dict[str, Any]) -> None:
    for read in (backend_only.decode, backend_only.decode_request, backend_only.decode_hunk):
        with contextlib.suppress(InvalidMessage):
            read(_bytes(message))
