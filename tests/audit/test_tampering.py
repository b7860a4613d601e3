"""Changing anything the audit covers is detected by `toolwire audit verify`, each time, and the place is named."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from audit.recorded import KEYS, Recorded

DROP_TRIGGERS = ("DROP TRIGGER flash_logs_are_never_changed", "DROP TRIGGER flash_logs_are_never_removed")

TABLES = {
    "log": "id",
    "notes": "id",
    "call_records": "id",
    "flash_logs": "number",
    "approvals": "id",
    "messages": "id",
    "writes": "id",
}
"""What is covered, and the key of each."""


def columns(recorded: Recorded, table: str) -> list[str]:
    return [name for _, name, *_ in recorded.ask(f"PRAGMA table_info({table})", file=where(recorded, table))]


def where(recorded: Recorded, table: str) -> Path:
    return recorded.inverses if table == "writes" else recorded.store


def prepare(table: str) -> tuple[str, ...]:
    return DROP_TRIGGERS if table == "flash_logs" else ()


def keys(recorded: Recorded, table: str) -> list[int]:
    found = recorded.ask(f"SELECT {TABLES[table]} FROM {table} ORDER BY 1", file=where(recorded, table))
    return [key for (key,) in found]


def one_byte(column: str) -> str:
    """The last byte of a value made another one, whatever its type."""
    rest = f"coalesce(substr({column}, 1, length({column}) - 1), '')"
    return (
        f"{column} = CASE typeof({column}) WHEN 'integer' THEN {column} + 1 WHEN 'null' THEN 'x'"
        f" WHEN 'blob' THEN CAST({rest} || CASE WHEN hex(substr({column}, -1)) = '5D' THEN x'5B' ELSE x'5D' END"
        " AS BLOB)"
        f" ELSE {rest} || CASE WHEN substr({column}, -1) = 'x' THEN 'y' ELSE 'x' END END"
    )


def test_an_untouched_record_is_whole(recorded: Recorded) -> None:
    report = recorded.verify()
    assert report["whole"], report
    assert report["checked"]["events"] > 40
    assert report["checked"]["notes"] >= KEYS
    assert report["checked"]["writes"] == KEYS
    assert report["checked"]["heads"] > 5
    assert report["remarks"] == []


@pytest.mark.parametrize("table", TABLES)
def test_one_byte_changed_anywhere_is_detected(recorded: Recorded, table: str) -> None:
    file, key, tried = where(recorded, table), TABLES[table], 0
    for number in keys(recorded, table):
        for column in columns(recorded, table):
            if column == key:
                continue
            change = f"UPDATE {table} SET {one_byte(column)} WHERE {key} = {number}"
            with recorded.changed(*prepare(table), change, file=file) as found:
                tried += 1
                assert found, change
    assert tried >= 10


@pytest.mark.parametrize("table", TABLES)
def test_one_row_removed_is_detected(recorded: Recorded, table: str) -> None:
    for number in keys(recorded, table):
        change = f"DELETE FROM {table} WHERE {TABLES[table]} = {number}"
        with recorded.changed(*prepare(table), change, file=where(recorded, table)) as found:
            assert found, change


@pytest.mark.parametrize("table", TABLES)
def test_two_rows_swapped_are_detected(recorded: Recorded, table: str) -> None:
    """All columns but the key: the two rows change places."""
    key, file = TABLES[table], where(recorded, table)
    numbers = keys(recorded, table)
    for one, other in pairwise(numbers):
        same = [name for name in columns(recorded, table) if name != key]
        rows = recorded.ask(f"SELECT {', '.join(same)} FROM {table} WHERE {key} IN ({one}, {other})", file=file)
        swap = (
            f"UPDATE {table} SET {key} = -1 WHERE {key} = {one}",
            f"UPDATE {table} SET {key} = {one} WHERE {key} = {other}",
            f"UPDATE {table} SET {key} = {other} WHERE {key} = -1",
        )
        with recorded.changed(*prepare(table), *swap, file=file) as found:
            harmless = table == "call_records" or rows[0] == rows[1]
            assert found or harmless, (table, one, other)


def test_two_responses_swapped_are_detected(recorded: Recorded) -> None:
    for one, other in pairwise(keys(recorded, "call_records")):
        swap = f"(SELECT response FROM kept WHERE kept.id = {one + other} - call_records.id)"
        with recorded.changed(
            "CREATE TEMP TABLE kept AS SELECT id, response FROM call_records",
            f"UPDATE call_records SET response = {swap} WHERE id IN ({one}, {other})",
        ) as found:
            assert any("was changed after it was stored" in finding for finding in found)


@pytest.mark.parametrize("table", TABLES)
def test_a_cut_tail_is_detected(recorded: Recorded, table: str) -> None:
    for number in keys(recorded, table):
        change = f"DELETE FROM {table} WHERE {TABLES[table]} >= {number}"
        with recorded.changed(*prepare(table), change, file=where(recorded, table)) as found:
            assert found, change


def test_the_log_and_everything_made_from_it_cut_together_is_detected(recorded: Recorded) -> None:
    for number in keys(recorded, "log"):
        with recorded.changed(
            f"DELETE FROM notes WHERE id > (SELECT coalesce(max(noted), 0) FROM log WHERE id < {number})",
            f"DELETE FROM log WHERE id >= {number}",
            "DELETE FROM messages",
            "DELETE FROM places",
            f"UPDATE meta SET indexed = min(indexed, {number - 1})",
            "DELETE FROM call_records",
        ) as found:
            assert any(f"log: row {number}: missing" in finding for finding in found), (number, found)


@pytest.mark.parametrize("column", ["tenant", "name", "epoch"])
def test_a_session_given_to_somebody_else_is_detected(recorded: Recorded, column: str) -> None:
    for (number,) in recorded.ask("SELECT number FROM sessions"):
        if not recorded.ask(f"SELECT 1 FROM log WHERE runs LIKE '%[{number},%'"):
            continue
        with recorded.changed(f"UPDATE sessions SET {column} = {column} || 'x' WHERE number = {number}") as found:
            assert found


def test_what_another_program_adds_is_detected(recorded: Recorded) -> None:
    added = {
        "log": "INSERT INTO log SELECT id + 1, runs, body, noted, chain FROM log ORDER BY id DESC LIMIT 1",
        "notes": "INSERT INTO notes SELECT id + 1, at, kind, subject, trace, digest, until, chain FROM notes"
        " ORDER BY id DESC LIMIT 1",
        "call_records": "INSERT INTO call_records SELECT id + 99, tenant, caller, tool, 'other', digest, trace,"
        " call_id, owner, expires, response FROM call_records LIMIT 1",
        "flash_logs": "INSERT INTO flash_logs SELECT number + 99, id || 'x', tenant, app_id, execution_id, task_id,"
        " tool_id, trace_id, status, input_data, output_data, error_message, executed_by, executed_at"
        " FROM flash_logs LIMIT 1",
        "messages": "INSERT INTO messages SELECT id + 99, tenant, conversation, role, text FROM messages LIMIT 1",
    }
    for change in added.values():
        with recorded.changed(change) as found:
            assert found, change


def test_a_response_put_back_to_running_is_detected(recorded: Recorded) -> None:
    with recorded.changed("UPDATE call_records SET response = NULL") as found:
        assert len(found) >= KEYS


@pytest.mark.parametrize("column", ["response", "trace", "key", "tool"])
def test_a_response_whose_columns_got_another_type_is_detected(recorded: Recorded, column: str) -> None:
    with recorded.changed(f"UPDATE call_records SET {column} = CAST({column} AS BLOB)") as found:
        assert len(found) >= KEYS


def test_the_index_of_the_log_is_checked_against_it(recorded: Recorded) -> None:
    with recorded.changed("UPDATE meta SET indexed = (SELECT max(id) FROM log)", "DELETE FROM places") as found:
        assert any("readers may miss events" in finding for finding in found)


def test_the_first_broken_record_is_shown(recorded: Recorded) -> None:
    third = keys(recorded, "log")[2]
    recorded.change(
        f"UPDATE log SET body = CAST(replace(CAST(body AS TEXT), 'alpha', 'alphb') AS BLOB) WHERE id >= {third}"
    )
    recorded.change(f"UPDATE log SET {one_byte('body')} WHERE id = {third}")
    code, told = recorded.audit("verify")
    assert code == 1
    assert "✗ broken: log: row 3, events" in told
    assert "of session" in told
