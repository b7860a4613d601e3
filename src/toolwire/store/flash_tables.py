"""The tables of document 3's resources (server/flash). Every row has a tenant and an owner; times are ISO 8601."""

from __future__ import annotations

FLASH_TABLES: tuple[str, ...] = (
    """
    CREATE TABLE flash_drafts (
        tenant TEXT NOT NULL,
        app_id TEXT NOT NULL,
        version INTEGER NOT NULL,
        content TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        reason TEXT NOT NULL,
        saved_by TEXT NOT NULL,
        saved_at TEXT NOT NULL,
        PRIMARY KEY (tenant, app_id, version)
    )
    """,
    """
    CREATE TABLE flash_attachments (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        owner TEXT NOT NULL,
        app_id TEXT NOT NULL,
        conversation_id TEXT,
        name TEXT NOT NULL,
        mime_type TEXT NOT NULL,
        size INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        relative_path TEXT NOT NULL,
        text_preview TEXT NOT NULL,
        uploaded_at TEXT NOT NULL,
        UNIQUE (tenant, relative_path)
    )
    """,
    "CREATE INDEX flash_attachments_of_app ON flash_attachments (tenant, app_id, uploaded_at)",
    """
    CREATE TABLE flash_apps (
        id TEXT NOT NULL,
        tenant TEXT NOT NULL,
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        category_id TEXT,
        app_type TEXT NOT NULL,
        source_code TEXT NOT NULL,
        config TEXT NOT NULL,
        icon TEXT,
        status TEXT NOT NULL,
        version INTEGER NOT NULL,
        created_by TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_by TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        PRIMARY KEY (tenant, id)
    )
    """,
    """
    CREATE TABLE flash_routes (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        owner TEXT NOT NULL,
        app_id TEXT NOT NULL,
        route_path TEXT NOT NULL,
        mount_point TEXT NOT NULL,
        is_active INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        UNIQUE (tenant, route_path)
    )
    """,
    """
    CREATE TABLE flash_logs (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        app_id TEXT,
        execution_id TEXT,
        task_id TEXT,
        tool_id TEXT,
        trace_id TEXT,
        status TEXT NOT NULL,
        input_data TEXT,
        output_data TEXT,
        error_message TEXT,
        executed_by TEXT NOT NULL,
        executed_at TEXT NOT NULL
    )
    """,
    "CREATE INDEX flash_logs_by_time ON flash_logs (tenant, executed_at)",
    "CREATE INDEX flash_logs_by_trace ON flash_logs (tenant, trace_id)",
    """
    CREATE TRIGGER flash_logs_are_never_changed BEFORE UPDATE ON flash_logs
    BEGIN SELECT RAISE(ABORT, 'execution logs are append-only'); END
    """,
    """
    CREATE TRIGGER flash_logs_are_never_removed BEFORE DELETE ON flash_logs
    BEGIN SELECT RAISE(ABORT, 'execution logs are append-only'); END
    """,
)
