"""Tools that a project or a package adds: a command, an HTTP request, an entry point; a bad entry is refused."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from server.programs import program, service
from toolwire.errors import ConfigError
from toolwire.server import plugins, project_tools, tools_file
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.registered import catalogue_of
from toolwire.settings import Settings
from toolwire.tools.registry import default_registry

NAMED = 'input = {type = "object", properties = {name = {type = "string"}}, required = ["name"]}\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "toolwire.toml"
    path.write_text(text)
    return path


def command(*words: str) -> str:
    return f"command = {json.dumps([sys.executable, *words])}\n"


# Commands --------------------------------------------------------------------------------------------------


async def test_a_command_gets_its_arguments_as_words_and_on_stdin_and_never_through_a_shell(tmp_path: Path) -> None:
    show = (
        "import json, os, sys; told = {'argv': sys.argv[1:], 'stdin': json.load(sys.stdin), 'env': dict(os.environ)};"
        " json.dump(told, sys.stdout)"
    )
    write(tmp_path, '[[tool]]\nid = "shop.echo"\nreads = true\n' + NAMED + command("-c", show, "--to={name}"))
    nasty = "$(touch pwned); `id` && x"
    async with program(tmp_path) as it:
        response = await it.call("shop.echo", {"name": nasty})
        wrong = await it.call("shop.echo", {"name": 1})
    data = response["data"]
    assert data["argv"] == [f"--to={nasty}"]
    assert data["stdin"] == {"name": nasty}
    assert data["env"]["TOOLWIRE_TRACE_ID"] == "tr-1"
    assert not {name for name in data["env"] if "TOKEN" in name or "KEY" in name}
    assert not (tmp_path / "pwned").exists()
    assert set(wrong["error"]["fields"]) == {"arguments.name"}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import sys; sys.exit('it broke')", "COMMAND_FAILED"),
        ("print('x' * 10_000)", "OUTPUT_TOO_LARGE"),
    ],
)
async def test_a_command_that_fails_is_an_upstream_error(tmp_path: Path, code: str, kind: str) -> None:
    write(tmp_path, '[[tool]]\nid = "shop.fail"\nreads = true\n' + command("-c", code))
    async with program(tmp_path, settings=Settings(project_tool_output=1000)) as it:
        response = await it.call("shop.fail")
    assert (response["code"], response["error"]["reason_code"]) == ("UPSTREAM_ERROR", kind)


async def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    write(
        tmp_path,
        '[[tool]]\nid = "shop.hang"\nreads = true\ntimeout = 0.3\n' + command("-c", "import time; time.sleep(60)"),
    )
    async with program(tmp_path) as it:
        response = await it.call("shop.hang")
    assert response["code"] == "TIMEOUT"


# HTTP ------------------------------------------------------------------------------------------------------


class Upstream(BaseHTTPRequestHandler):
    seen: list[dict[str, Any]] = []  # noqa: RUF012 - the test's own

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        self.seen.append({"path": self.path, "headers": dict(self.headers), "body": self.rfile.read(size)})
        if self.path.startswith("/away"):
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            return
        self.send_response(500 if self.path.startswith("/bad") else 200)
        self.end_headers()
        self.wfile.write(b'{"stock": 7}')

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def upstream() -> Iterator[str]:
    Upstream.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_request_has_its_arguments_in_path_and_query_and_the_trace_in_a_header(
    tmp_path: Path, upstream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "s3cret")
    write(
        tmp_path,
        f'[[tool]]\nid = "shop.stock"\nreads = true\n{NAMED}'
        f'http = {{method = "GET", url = "{upstream}/stock/{{name}}", headers = {{X-Shop = "${{SHOP_TOKEN}}"}}}}\n',
    )
    async with program(tmp_path) as it:
        response = await it.call("shop.stock", {"name": "a/../b?c", "size": 4})
    assert response["data"] == {"stock": 7}
    seen = Upstream.seen[0]
    assert seen["path"] == "/stock/a%2F..%2Fb%3Fc?size=4"
    assert (seen["headers"]["X-Trace-Id"], seen["headers"]["X-Shop"]) == ("tr-1", "s3cret")


async def test_a_write_goes_in_the_body_and_happens_once(tmp_path: Path, upstream: str) -> None:
    write(tmp_path, f'[[tool]]\nid = "shop.order"\nhttp = {{method = "POST", url = "{upstream}/orders"}}\n')
    async with program(tmp_path) as it:
        for _ in range(2):
            response = await it.call("shop.order", {"sku": "x"}, idempotency_key="k")
    assert response["meta"]["idempotent_replay"] is True
    assert [json.loads(seen["body"]) for seen in Upstream.seen] == [{"sku": "x"}]


@pytest.mark.parametrize(("path", "kind"), [("/bad", "HTTP_500"), ("/away", "HTTP_302")])
async def test_a_refusal_or_a_redirect_of_the_server_is_an_upstream_error(
    tmp_path: Path, upstream: str, path: str, kind: str
) -> None:
    write(tmp_path, f'[[tool]]\nid = "shop.x"\nreads = true\nhttp = {{method = "GET", url = "{upstream}{path}"}}\n')
    async with program(tmp_path) as it:
        response = await it.call("shop.x")
    assert (response["code"], response["error"]["reason_code"]) == ("UPSTREAM_ERROR", kind)


async def test_a_server_that_is_not_there_is_an_upstream_error(tmp_path: Path) -> None:
    write(tmp_path, '[[tool]]\nid = "shop.x"\nreads = true\nhttp = {method = "GET", url = "http://127.0.0.1:1/"}\n')
    async with program(tmp_path) as it:
        assert (await it.call("shop.x"))["code"] == "UPSTREAM_ERROR"


# The file --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("[[tool]\n", 1, "TOML"),
        ("x = 1\n", 1, "'x'"),
        ("[tool]\nid = 1\n", 1, "two brackets"),
        ('[[tool]]\nid = "a"\n', 1, "exactly one of"),
        ('\n[[tool]]\nid = "a b"\ncommand = ["x"]\n', 3, "id"),
        ('[[tool]]\nid = "a"\ncommand = ["x"]\n\n[[tool]]\nid = "b"\nriks = "low"\ncommand = ["x"]\n', 7, "riks"),
        ('[[tool]]\nid = "a"\ncommand = ["x"]\n[[tool]]\nid = "a"\ncommand = ["x"]\n', 5, "two tools"),
        ('[[tool]]\nid = "a"\ncommand = ["x", "{name}"]\n', 3, "{name}"),
        ('[[tool]]\nid = "a"\ncommand = ["x"]\ninput = {type = "nonsense"}\n', 4, "schema"),
        ('[[tool]]\nid = "a"\nhttp = {method = "GET", url = "https://{host}/"}\n', 3, "url"),
        (
            '[[tool]]\nid = "a"\nhttp = {method = "GET", url = "https://x/", headers = {A = "${NOPE_X}"}}\n',
            3,
            "NOPE_X",
        ),
        ('[roles]\n"read_file" = "root"\n', 2, "root"),
    ],
)
def test_a_bad_entry_is_refused_with_its_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tools_file.find(None, {"demo": write(tmp_path, text).parent})
    assert what in caught.value.message
    if what != "TOML":
        assert f"line {line}:" in caught.value.message


def test_a_file_that_was_found_may_not_make_itself_harmless(tmp_path: Path) -> None:
    tool = '[[tool]]\nid = "a"\nrisk = "low"\nrole = "viewer"\ncommand = ["x"]\n'
    text = '[roles]\n"Edit" = "viewer"\n"read_file" = "editor"\n' + tool
    path = write(tmp_path, text)
    registry, settings = default_registry(), Settings()
    found = catalogue_of(registry, settings, tools_file.find(None, {"demo": tmp_path}))
    named = catalogue_of(registry, settings, tools_file.find(path, {}))
    shown = [(c.find("a"), c.find("Edit"), c.find("read_file")) for c in (found, named)]
    assert [[(e.risk, e.role) for e in entries if e] for entries in shown] == [
        [("high", "editor"), ("medium", "editor"), ("low", "editor")],
        [("low", "viewer"), ("medium", "viewer"), ("low", "editor")],
    ]


def test_a_role_for_a_tool_there_is_not_is_refused(tmp_path: Path) -> None:
    file = tools_file.find(write(tmp_path, '[roles]\n"nope" = "editor"\n'), {})
    with pytest.raises(ConfigError, match="nope"):
        catalogue_of(default_registry(), Settings(), file)


def test_no_file_is_no_tools(tmp_path: Path) -> None:
    assert project_tools.entries(tools_file.find(None, {"demo": tmp_path})) == []


# Packages --------------------------------------------------------------------------------------------------


async def fine(_: CallContext, __: dict[str, Any]) -> ServiceResult:
    return ServiceResult({})


ENTRY = service(fine, tool_id="package.tool")
NOT_A_TOOL = 7


def broken() -> None:
    raise RuntimeError("no database")


def several() -> list[Any]:
    return [ENTRY, default_registry().get("read_file")]


def point(name: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{name}", plugins.GROUP)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or __import__(__name__))


def test_an_entry_point_is_a_tool_or_gives_some() -> None:
    assert plugins.load([point("ENTRY")]) == [ENTRY]
    assert len(plugins.load([point("several")])) == 2


@pytest.mark.parametrize(("name", "what"), [("NOT_A_TOOL", "int"), ("broken", "no database"), ("absent", "absent")])
def test_an_entry_point_that_is_no_tool_is_refused_by_name(name: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what) as caught:
        plugins.load([point(name)])
    assert repr(name) in caught.value.message


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            '\n[[tool]]\n\nid = "flash.draft.write"\ncommand = ["x"]',
            4,
            "there is a tool called flash.draft.write already",
        ),
        ('\n[[tool]]\nid = "read_file"\ncommand = ["x"]', 3, "there is a tool called read_file already"),
        ('[roles]\n"flash.app.list" = "editor"\n"no.such" = "viewer"', 3, "there is no such tool"),
        ('[[tool]]\nid = "a"\ncommand = ["x"]\ninput = {"$ref" = "http://evil.example/x"}', 4, "which is not in it"),
        ('[[tool]]\nid = "a"\ncommand = ["x"]\ninput = {"$ref" = "#/nowhere"}', 4, "which is not in it"),
        ('[[tool]]\nid = "a"\ncommand = ["x"]\ninput = {type = "nothing"}', 4, "is not a JSON schema"),
    ],
)
def test_an_entry_that_is_refused_later_is_named_with_its_line_too(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        catalogue_of(default_registry(), Settings(), tools_file.read(path, trusted=True))
    assert refused.value.message.startswith(f"{path}, line {line}: ")
    assert said in refused.value.message


def test_references_within_a_schema_are_fine(tmp_path: Path) -> None:
    parts = '"$defs" = {"b/c" = {type = "string"}}'
    schema = 'input = {type = "object", properties = {a = {"$ref" = "#/$defs/b~1c"}}, ' + parts + "}"
    path = write(tmp_path, f'[[tool]]\nid = "a"\ncommand = ["x"]\n{schema}')
    assert [tool.id for tool in tools_file.read(path, trusted=True).tools] == ["a"]


async def test_a_command_that_does_not_read_what_it_is_given_is_fine(tmp_path: Path) -> None:
    write(tmp_path, '[[tool]]\nid = "shop.deaf"\nreads = true\ncommand = ["/bin/true"]\n')
    async with program(tmp_path) as it:
        for _ in range(30):
            assert (await it.call("shop.deaf", {"text": "x" * 300_000}))["ok"]
