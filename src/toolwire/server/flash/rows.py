"""Rows of document 3's resources: which columns they have, who may see them, and how they are asked for.

A row belongs to a tenant and an owner (spec README, "Roles"). Nobody sees another tenant's rows. Within a tenant the
owner and a super_admin see a row, and everybody what is published. Only the owner and a super_admin change it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from toolwire.errors import FlashError
from toolwire.server.clock import now_ms
from toolwire.server.security import Caller
from toolwire.store.notes import note_execution_log

Row = dict[str, Any]
OPERATORS = {"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
"""As in `?field=eq.value`."""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[str, ...]
    """What is shown of a row."""
    owner: str
    """The column with its owner."""
    order: str
    """Newest first by this, if nothing else is asked for."""
    public: str = ""
    """SQL: true of rows that everybody in the tenant sees."""
    objects: tuple[str, ...] = ()
    """Columns that hold JSON."""
    booleans: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def shown(self, values: tuple[Any, ...]) -> Row:
        row = dict(zip(self.columns, values, strict=True))
        for name in self.objects:
            row[name] = orjson.loads(row[name]) if row[name] is not None else None
        for name in self.booleans:
            row[name] = bool(row[name])
        return row

    def stored(self, row: Mapping[str, Any]) -> Row:
        return {name: _packed(name, value) if name in self.objects else value for name, value in row.items()}


APPS = Table(
    "flash_apps",
    (
        *(
            "id",
            "name",
            "description",
            "category_id",
            "app_type",
            "source_code",
            "config",
            "icon",
            "status",
            "version",
        ),
        *("created_by", "created_at", "updated_by", "updated_at"),
    ),
    owner="created_by",
    order="created_at",
    public="status = 'published'",
    objects=("config",),
    numbers=("version",),
)
ROUTES = Table(
    "flash_routes",
    ("id", "app_id", "route_path", "mount_point", "is_active", "created_at"),
    owner="owner",
    order="created_at",
    public="is_active = 1",
    booleans=("is_active",),
)
LOGS = Table(
    "flash_logs",
    (
        *("id", "app_id", "execution_id", "task_id", "tool_id", "trace_id", "status"),
        *("input_data", "output_data", "error_message", "executed_by", "executed_at"),
    ),
    owner="executed_by",
    order="executed_at",
    objects=("input_data", "output_data"),
)
ATTACHMENTS = Table(
    "flash_attachments",
    (
        *("id", "app_id", "conversation_id", "name", "mime_type", "size"),
        *("relative_path", "text_preview", "uploaded_at"),
    ),
    owner="owner",
    order="uploaded_at",
    numbers=("size",),
)


@dataclass(frozen=True, slots=True)
class Page:
    """Which rows are asked for."""

    filters: Mapping[str, str]
    """Column → `operator.value`."""
    order: str | None = None
    """`column`, `column.asc` or `column.desc`; several with commas."""
    limit: int = 100
    offset: int = 0


def now_text(now_ms: int) -> str:
    return datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _packed(name: str, value: Any) -> str | None:
    try:
        return orjson.dumps(value).decode() if value is not None else None
    except TypeError as error:  # a number of more than 64 bits
        raise FlashError("VALIDATION_FAILED", f"{name}: {error}", field=name) from None


def insert(connection: sqlite3.Connection, table: Table, tenant: str, row: Mapping[str, Any]) -> None:
    values = {"tenant": tenant, **table.stored(row)}
    marks = ", ".join("?" for _ in values)
    connection.execute(f"INSERT INTO {table.name} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
    if table is LOGS:
        note_execution_log(connection, row["id"], row.get("trace_id") or "", now_ms())


def update(
    connection: sqlite3.Connection, table: Table, tenant: str, row_id: str, changes: Mapping[str, Any]
) -> None:
    values = table.stored(changes)
    settings = ", ".join(f"{name} = ?" for name in values)
    connection.execute(
        f"UPDATE {table.name} SET {settings} WHERE tenant = ? AND id = ?", (*values.values(), tenant, row_id)
    )


def select(connection: sqlite3.Connection, table: Table, caller: Caller, page: Page) -> list[Row]:
    """The rows the caller may see, filtered and in order."""
    where, values = _seen_by(table, caller)
    for column, condition in page.filters.items():
        operator, value = _condition(table, column, condition)
        where += f" AND {column} {operator} ?"
        values.append(value)
    found = connection.execute(
        f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {where}"
        f" ORDER BY {_order(table, page.order)} LIMIT ? OFFSET ?",
        (*values, page.limit, page.offset),
    )
    return [table.shown(values) for values in found]


def one(
    connection: sqlite3.Connection,
    table: Table,
    caller: Caller,
    row_id: str,
    *,
    field: str = "id",
    write: bool = False,
) -> Row:
    """A row the caller may see (`write`: may change). Raises RLS_DENIED, the same whether or not there is one."""
    found = connection.execute(
        f"SELECT {', '.join(table.columns)}, {table.owner}, {table.public or '0'} FROM {table.name}"
        " WHERE tenant = ? AND id = ?",
        (caller.tenant, row_id),
    ).fetchone()
    if found is None:
        elsewhere = connection.execute(f"SELECT 1 FROM {table.name} WHERE id = ?", (row_id,)).fetchone()
        raise denied(field) if elsewhere else missing(caller, field, row_id)
    *values, owner, public = found
    if not (may_change(caller, owner) or (public and not write)):
        raise denied(field)
    return table.shown(tuple(values))


def may_change(caller: Caller, owner: str) -> bool:
    return caller.name == owner or caller.role == "super_admin"


def denied(field: str) -> FlashError:
    return FlashError("RLS_DENIED", "无权访问该数据", field=field)


def missing(caller: Caller, field: str, row_id: str) -> FlashError:
    """A row that is not there: only a super_admin, who sees all of them, is told so."""
    if caller.role == "super_admin":
        return FlashError("VALIDATION_FAILED", f"{field}: 不存在 {row_id[:100]!r}", field=field, reason="NOT_FOUND")
    return denied(field)


def _seen_by(table: Table, caller: Caller) -> tuple[str, list[Any]]:
    if caller.role == "super_admin":
        return "tenant = ?", [caller.tenant]
    public = f" OR {table.public}" if table.public else ""
    return f"tenant = ? AND ({table.owner} = ?{public})", [caller.tenant, caller.name]


def _condition(table: Table, column: str, condition: str) -> tuple[str, Any]:
    operator, dot, value = condition.partition(".")
    if column not in table.columns or column in table.objects:
        raise FlashError("VALIDATION_FAILED", f"{column}: 不能按此字段过滤", field=column)
    if not dot or operator not in OPERATORS:
        known = ", ".join(OPERATORS)
        raise FlashError("VALIDATION_FAILED", f"{column}: 过滤条件应为 eq.值 ({known})", field=column)
    return OPERATORS[operator], _typed(table, column, value)


def _typed(table: Table, column: str, value: str) -> Any:
    if column in table.booleans:
        if value not in ("true", "false"):
            raise FlashError("VALIDATION_FAILED", f"{column}: 应为 true 或 false", field=column)
        return int(value == "true")
    if column in table.numbers:
        if not value.isascii() or not value.isdigit() or len(value) > 18:
            raise FlashError("VALIDATION_FAILED", f"{column}: 应为数字", field=column)
        return int(value)
    return value


def _order(table: Table, order: str | None) -> str:
    if not order:
        return f"{table.order} DESC, id DESC"
    parts = []
    for part in order.split(","):
        column, _, direction = part.strip().partition(".")
        if column not in table.columns or column in table.objects or direction not in ("", "asc", "desc"):
            raise FlashError("VALIDATION_FAILED", f"order: 不能按 {part[:80]!r} 排序", field="order")
        parts.append(f"{column} {direction.upper() or 'ASC'}")
    return ", ".join([*dict.fromkeys(parts), "id"])
