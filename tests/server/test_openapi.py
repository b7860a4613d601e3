"""The HTTP API against its own OpenAPI document, by generated requests: no 500, no answer outside the schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from crash.serving import gateway
from support.patience import PATIENCE

CHECKS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
EXAMPLES = 8
STREAMS = ("/api/sessions/{name}/events", "/api/sessions/{name}/edits")
"""These may go on for ever: a session that is not there is all that is asked of them here."""
UPSTREAM = (502, 504)
"""Document 3: the tool behind a call failed, not the gateway."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("api")
    (folder / "demo").mkdir()
    (folder / "demo" / "main.py").write_text("print('hi')\n")
    with gateway(folder) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture(scope="module")
def api(address: str) -> Any:
    return schemathesis.openapi.from_url(f"{address}/openapi.json")


def operations(api: Any) -> Iterator[Any]:
    for found in api.get_all_operations():
        operation = found.ok()
        if operation.path not in STREAMS:
            yield operation


def check(case: Any) -> None:
    response = case.call(timeout=PATIENCE)
    if response.status_code not in UPSTREAM:
        case.validate_response(response, checks=[not_a_server_error, *CHECKS])
    else:
        case.validate_response(response, checks=CHECKS)


def test_generated_requests_find_no_500_and_no_answer_outside_the_schema(api: Any) -> None:
    quick = settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    tried = 0
    for operation in operations(api):
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                quick(given(case=operation.as_strategy(generation_mode=mode))(check))()
                tried += 1
            except Unsatisfiable:  # a request without anything in it can't be wrong
                assert mode is GenerationMode.NEGATIVE
    assert tried > 30


@pytest.mark.parametrize("tool", ["read_file", "Replace", "flash.draft.write", "flash.app.list", "flash.app.create"])
def test_generated_arguments_of_a_tool_find_no_500(api: Any, tool: str) -> None:
    """Random tool ids are never those of tools: name one, and let the rest be generated."""
    quick = settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate])
    call = api["/agent/flash/tools/call"]["POST"]

    def with_tool(case: Any) -> None:
        if isinstance(case.body, dict):
            case.body["tool_id"] = tool
        check(case)

    quick(given(case=call.as_strategy())(with_tool))()


def test_a_session_that_is_not_there_is_within_the_schema(api: Any) -> None:
    for path in STREAMS:
        case = api[path]["GET"].Case(path_parameters={"name": "nobody"}, query={})
        response = case.call(timeout=PATIENCE)
        assert response.status_code == 404
        case.validate_response(response, checks=CHECKS)
