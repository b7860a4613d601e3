"""What the flash.* tools and the plain routes give back, as models, for the registry and for OpenAPI."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from toolwire.server.flash.inputs import AppStatus, AppType, LogStatus


class Draft(BaseModel):
    appId: str
    path: str
    content: str
    bytes: int


class DraftSaved(BaseModel):
    path: str
    bytes: int


class DraftVersion(BaseModel):
    version: int
    bytes: int
    sha256: str
    reason: str
    saved_by: str
    saved_at: str
    content: str | None = None


class DraftVersions(BaseModel):
    appId: str
    path: str
    versions: list[DraftVersion]


class File(BaseModel):
    id: str
    appId: str
    conversationId: str | None
    name: str
    mimeType: str
    size: int
    relativePath: str
    textPreview: str
    uploadedAt: str


class OneFile(BaseModel):
    file: File


class Files(BaseModel):
    files: list[File]


class App(BaseModel):
    id: str
    name: str
    description: str
    category_id: str | None
    app_type: AppType
    source_code: str
    config: dict[str, Any]
    icon: str | None
    status: AppStatus
    version: int
    created_by: str
    created_at: str
    updated_by: str
    updated_at: str


class Route(BaseModel):
    id: str
    app_id: str
    route_path: str
    mount_point: str
    is_active: bool
    created_at: str


class Log(BaseModel):
    id: str
    app_id: str | None
    execution_id: str | None
    task_id: str | None
    tool_id: str | None
    trace_id: str | None
    status: LogStatus
    input_data: dict[str, Any] | None
    output_data: dict[str, Any] | None
    error_message: str | None
    executed_by: str
    executed_at: str


class OneApp(BaseModel):
    app: App


class Apps(BaseModel):
    apps: list[App]


class AppWithRoutes(BaseModel):
    app: App
    routes: list[Route]


class AppWithRoute(BaseModel):
    app: App
    route: Route


class OneRoute(BaseModel):
    route: Route


class Routes(BaseModel):
    routes: list[Route]


class OneLog(BaseModel):
    log: Log


class Logs(BaseModel):
    logs: list[Log]


class Build(BaseModel):
    exitCode: int
    success: bool
    output: str
    truncated: bool
    elapsedMs: int
