"""The flash.* tools (document 3, section 3) as entries of the catalogue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from toolwire.errors import FlashError
from toolwire.server.catalogue import CallContext, Entry, ServiceResult
from toolwire.server.flash import apps, attachments, build, drafts, inputs, logs, outputs
from toolwire.server.roles import Role
from toolwire.settings import Settings
from toolwire.tools.base import Risk

I = TypeVar("I", bound=inputs.Input)  # noqa: E741
Api = tuple[str, str]

DRAFT = "/agent/flash/draft"
ATTACHMENTS = "/agent/flash/attachments"
APPS = "/api/apps"
ROUTES = "/api/published_routes"
LOGS = "/api/execution_logs"
CALL: Api = ("/agent/flash/tools/call", "POST")


@dataclass(frozen=True, slots=True)
class Flash:
    """What an entry is but for its two models and its function."""

    tool_id: str
    name_zh: str
    name_en: str
    intent: str
    object: str
    api: Api = CALL
    risk: Risk = "low"
    role: Role = "viewer"
    reads: bool = True
    atomic: bool = True
    timeout: float | None = None

    def entry(
        self,
        takes: type[I],
        gives: type[BaseModel],
        run: Callable[[CallContext, I], Awaitable[ServiceResult]],
    ) -> Entry:
        async def called(context: CallContext, arguments: dict[str, Any]) -> ServiceResult:
            return await run(context, fitted(takes, arguments))

        return Entry(
            tool_id=self.tool_id,
            name_zh=self.name_zh,
            name_en=self.name_en,
            intent=self.intent,
            object=self.object,
            risk=self.risk,
            reads=self.reads,
            role=self.role,
            input_schema=_schema(takes),
            output_schema=_schema(gives),
            placement="service",
            api=self.api,
            run=called,
            atomic=self.atomic,
            content_kept=self.atomic,
            timeout=self.timeout,
        )


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def fitted(model: type[I], arguments: dict[str, Any]) -> I:
    """Arguments as the tool takes them; raises VALIDATION_FAILED that names every field."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        faults = {".".join(("arguments", *map(str, fault["loc"]))): fault["msg"] for fault in error.errors()}
    told = "; ".join(f"{place}: {what}" for place, what in faults.items())
    raise FlashError("VALIDATION_FAILED", f"参数校验失败: {told}", field=next(iter(faults)), fields=faults)


def entries(settings: Settings) -> list[Entry]:
    return [*_drafts(), *_attachments(), *_apps(), *_routes(), *_logs(), _build(settings)]


def _drafts() -> list[Entry]:
    return [
        Flash("flash.draft.read", "读取闪念草稿", "Read a draft", "read", "flash_draft", (DRAFT, "GET")).entry(
            inputs.OfApp, outputs.Draft, lambda context, given: drafts.read(context, given.appId or context.app_id)
        ),
        Flash(
            *("flash.draft.write", "保存闪念草稿", "Save a draft", "save", "flash_draft", (DRAFT, "POST")),
            risk="medium",
            role="editor",
            reads=False,
        ).entry(
            inputs.DraftWrite,
            outputs.DraftSaved,
            lambda context, given: drafts.write(context, given.appId or context.app_id, given.content, given.reason),
        ),
        Flash("flash.draft.history", "查看草稿历史", "Versions of a draft", "list", "flash_draft").entry(
            inputs.DraftHistory,
            outputs.DraftVersions,
            lambda context, given: drafts.history(context, given.appId or context.app_id, given.limit, given.version),
        ),
    ]


def _attachments() -> list[Entry]:
    return [
        Flash(
            *("flash.attachment.upload", "上传附件", "Upload a file", "upload", "flash_attachment"),
            (ATTACHMENTS, "POST"),
            risk="medium",
            role="editor",
            reads=False,
        ).entry(
            inputs.Upload,
            outputs.OneFile,
            lambda context, given: attachments.upload(
                context,
                given.appId or context.app_id,
                given.fileName,
                given.mimeType,
                given.contentBase64,
                given.conversationId,
            ),
        ),
        Flash(
            *("flash.attachment.list", "列出附件", "List files", "list", "flash_attachment", (ATTACHMENTS, "GET"))
        ).entry(
            inputs.AttachmentList,
            outputs.Files,
            lambda context, given: attachments.listed(
                context, given.page(app_id=given.appId, conversation_id=given.conversationId)
            ),
        ),
    ]


def _apps() -> list[Entry]:
    return [
        Flash("flash.app.list", "列出应用", "List apps", "list", "flash_app", (APPS, "GET")).entry(
            inputs.AppList,
            outputs.Apps,
            lambda context, given: apps.listed(context, given.page(status=given.status, app_type=given.app_type)),
        ),
        Flash("flash.app.detail", "查看应用详情", "Look at an app", "read", "flash_app").entry(
            inputs.OneApp,
            outputs.AppWithRoutes,
            lambda context, given: apps.detail(context, given.id or given.app_id or context.app_id),
        ),
        Flash(
            *("flash.app.create", "创建应用", "Create an app", "create", "flash_app", (APPS, "POST")),
            risk="medium",
            role="editor",
            reads=False,
        ).entry(inputs.AppCreate, outputs.OneApp, lambda context, given: apps.create(context, _given(given))),
        Flash(
            *("flash.app.save", "保存应用", "Save an app", "save", "flash_app", (APPS, "PATCH")),
            risk="medium",
            role="editor",
            reads=False,
        ).entry(
            inputs.AppSave,
            outputs.OneApp,
            lambda context, given: apps.save(
                context,
                given.id or given.app_id or context.app_id,
                _changes(given, "id", "app_id", "expected_version"),
                given.expected_version,
            ),
        ),
        Flash(
            *("flash.app.publish", "发布应用", "Publish an app", "publish", "flash_app"),
            risk="high",
            role="publisher",
            reads=False,
        ).entry(
            inputs.AppPublish,
            outputs.AppWithRoute,
            lambda context, given: apps.publish(
                context, given.id or given.app_id or context.app_id, given.route_path, given.mount_point
            ),
        ),
    ]


def _routes() -> list[Entry]:
    return [
        Flash("flash.route.list", "列出路由", "List routes", "list", "flash_route", (ROUTES, "GET")).entry(
            inputs.Listing, outputs.Routes, lambda context, given: apps.routes_listed(context, given.page())
        ),
        Flash(
            *("flash.route.upsert", "保存发布路由", "Save a route", "save", "flash_route", (ROUTES, "POST")),
            risk="high",
            role="publisher",
            reads=False,
        ).entry(
            inputs.RouteUpsert, outputs.OneRoute, lambda context, given: apps.route_upsert(context, _given(given))
        ),
        Flash(
            *("flash.route.update", "修改发布路由", "Change a route", "save", "flash_route", (ROUTES, "PATCH")),
            risk="high",
            role="publisher",
            reads=False,
        ).entry(
            inputs.RouteUpdate,
            outputs.OneRoute,
            lambda context, given: apps.route_update(context, given.id, _changes(given, "id")),
        ),
        Flash("flash.route.resolve", "解析路由", "Resolve a route", "read", "flash_route").entry(
            inputs.RouteResolve, outputs.AppWithRoute, lambda context, given: apps.resolve(context, given.route_path)
        ),
    ]


def _logs() -> list[Entry]:
    return [
        Flash("flash.audit.query", "查询执行日志", "Query execution logs", "list", "flash_log", (LOGS, "GET")).entry(
            inputs.AuditQuery,
            outputs.Logs,
            lambda context, given: logs.queried(
                context,
                given.page(
                    trace_id=given.trace_id,
                    tool_id=given.tool_id,
                    app_id=given.app_id,
                    execution_id=given.execution_id,
                    status=given.status,
                ),
            ),
        ),
        Flash(
            *(
                "flash.audit.append",
                "写入执行日志",
                "Add to the execution log",
                "create",
                "flash_log",
                (LOGS, "POST"),
            ),
            role="editor",
            reads=False,
        ).entry(inputs.AuditAppend, outputs.OneLog, lambda context, given: logs.append(context, _given(given))),
    ]


def _build(settings: Settings) -> Entry:
    words = build.words_of(settings.flash_build_command)
    return Flash(
        *("flash.build.run", "运行构建", "Run the build", "run", "flash_build"),
        risk="high",
        role="publisher",
        reads=False,
        atomic=False,
        timeout=settings.flash_build_timeout + build.KILL_PATIENCE * 2,
    ).entry(inputs.Nothing, outputs.Build, lambda context, _: build.run(context, words))


def _given(model: inputs.Input, *leave_out: str) -> dict[str, Any]:
    """What was really said; null counts as not said."""
    return model.model_dump(exclude_unset=True, exclude_none=True, exclude=set(leave_out))


def _changes(model: inputs.Input, *leave_out: str) -> dict[str, Any]:
    """What was really said; null means that a field becomes empty."""
    return model.model_dump(exclude_unset=True, exclude=set(leave_out))
