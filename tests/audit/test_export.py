"""An export verifies elsewhere with nothing but the file; a trace is told as a story; secrets are in neither."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from audit.recorded import KEYS, PROMPTS, SECRET, TRACE, Recorded, flipped
from toolwire.audit import signing
from toolwire.audit.exported import ExportCheck
from toolwire.cli import main


@pytest.fixture(scope="module")
def exported(original: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    recorded = original.copy(tmp_path_factory.mktemp("exporting") / "copy")
    file = recorded.folder / "audit.jsonl"
    code, told = recorded.audit("export", "-o", str(file))
    assert code == 0, told
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "audit.jsonl"
    elsewhere.write_bytes(file.read_bytes())
    return elsewhere


def lines(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


def check(content: list[bytes], signed_by: str = "") -> list[str]:
    return [str(finding) for finding in ExportCheck().run(content, signed_by).broken]


def test_an_export_verifies_with_nothing_but_the_file(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "verify", str(exported), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["whole"]
    assert report["signed_by"]
    assert report["checked"]["notes"] >= KEYS
    assert report["checked"]["runs"] > report["checked"]["redacted runs"] > 0


def test_no_secret_is_in_it(exported: Path) -> None:
    assert SECRET not in exported.read_text()
    assert exported.read_text().count("[redacted: ") >= PROMPTS


def test_every_changed_line_is_detected(exported: Path) -> None:
    content = lines(exported)
    for number, line in enumerate(content):
        for at in (1, len(line) // 2, len(line) - 3):
            changed = [*content[:number], flipped(line, at), *content[number + 1 :]]
            assert check(changed), (number, at)


def test_removed_swapped_and_cut_lines_are_detected(exported: Path) -> None:
    content = lines(exported)
    for number in range(len(content)):
        assert check(content[:number] + content[number + 1 :]), number
        assert check(content[:number]), number
        if number + 1 < len(content):
            swapped = [*content[:number], content[number + 1], content[number], *content[number + 2 :]]
            assert check(swapped), number


def test_text_that_is_changed_with_the_digest_of_the_whole_made_to_fit_is_detected(exported: Path) -> None:
    """Whoever can make the last line anew still can't make an event say something else."""
    for number, line in enumerate(lines(exported)):
        value: dict[str, Any] = json.loads(line)
        if "run" not in value or "stored" not in value["run"]:
            continue
        value["run"]["stored"] = value["run"]["stored"].replace("1", "2", 1)
        content = lines(exported)
        content[number] = json.dumps(value).encode() + b"\n"
        end = {"lines": len(content) - 1, "sha256": hashlib.sha256(b"".join(content[:-1])).hexdigest()}
        content[-1] = json.dumps({"end": end}).encode() + b"\n"
        assert any("not what was stored" in finding for finding in check(content))


def test_the_signer_can_be_demanded(exported: Path) -> None:
    reader = ExportCheck()
    reader.run(lines(exported))
    assert check(lines(exported), reader.signer) == []
    assert "is signed by" in check(lines(exported), "0000:1111")[0]


def test_without_cryptography_an_export_is_whole_and_says_that_it_is_not_signed(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing, "available", lambda: False)
    file = recorded.folder / "plain.jsonl"
    assert recorded.audit("export", "-o", str(file))[0] == 0
    report = ExportCheck().run(lines(file))
    assert report.whole
    assert any("not signed" in remark for remark in report.remarks)


def test_one_trace_can_be_exported_with_the_rest_as_digests(recorded: Recorded) -> None:
    file = recorded.folder / "trace.jsonl"
    assert recorded.audit("export", "--trace", TRACE, "-o", str(file))[0] == 0
    assert check(lines(file)) == []
    text = file.read_text()
    assert "what is in a.txt?" not in text
    assert "apply_change" in text


def test_one_session_can_be_exported(recorded: Recorded) -> None:
    file = recorded.folder / "beta.jsonl"
    assert recorded.audit("export", "--session", "beta", "-o", str(file))[0] == 0
    assert check(lines(file)) == []
    assert '"name":"alpha"' not in file.read_text()


def test_a_broken_record_is_not_exported(recorded: Recorded) -> None:
    recorded.change("DELETE FROM log WHERE id = 2")
    code, told = recorded.audit("export", "-o", str(recorded.folder / "no.jsonl"))
    assert code == 1
    assert "row 2: missing" in told
    assert not (recorded.folder / "no.jsonl").exists()


@pytest.mark.parametrize(
    "garbage", [b"", b"{}\n", b"[]\n", b"not json\n", b'{"end":{}}\n', b'{"run":{"session":1}}\n', b"\xff\n"]
)
def test_what_is_no_export_is_not_whole(garbage: bytes) -> None:
    assert check([garbage] if garbage else [])


def test_a_trace_is_told_as_a_story(recorded: Recorded) -> None:
    code, told = recorded.audit("show", "--trace", TRACE)
    assert code == 0
    assert told.count("apply_change in the gateway") == KEYS
    assert told.count("apply_change: ok") == KEYS
    assert told.count("a.txt: ") == KEYS
    assert "ms)" in told
    assert "response of" in told


def test_a_trace_is_told_to_programs(recorded: Recorded) -> None:
    code, told = recorded.audit("show", "--trace", TRACE, "--json")
    steps = [json.loads(line) for line in told.splitlines()]
    assert code == 0
    results = [step for step in steps if step["kind"] == "result" and step["text"].startswith("apply_change")]
    assert len(results) == KEYS
    for before, after in pairwise(results):
        assert before["files"][0]["after"] == after["files"][0]["before"]


def test_an_unknown_trace_is_an_error(recorded: Recorded) -> None:
    code, told = recorded.audit("show", "--trace", "nobody's")
    assert code == 1
    assert "no trace" in told
