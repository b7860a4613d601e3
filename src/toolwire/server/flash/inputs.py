"""What the flash.* tools are given and give back, as models; their JSON schemas are what the registry shows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from toolwire.server.flash.rows import Page

AppType = Literal["workflow", "data", "flash", "custom"]
AppStatus = Literal["draft", "published", "archived"]
LogStatus = Literal["pending", "running", "completed", "failed"]

Id = Annotated[str, Field(min_length=1, max_length=256)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Label = Annotated[str, Field(max_length=500)]
Prose = Annotated[str, Field(max_length=20_000)]
Source = Annotated[str, Field(max_length=1024 * 1024)]
_SEGMENT = r"[A-Za-z0-9_~!$&'()*+,;=:@%{}-][A-Za-z0-9._~!$&'()*+,;=:@%{}-]*"
ROUTE = rf"^/({_SEGMENT}(/{_SEGMENT})*/?)?$"
"""A path of whole segments, none of which begins with a dot."""
RoutePath = Annotated[str, Field(min_length=1, max_length=500, pattern=ROUTE)]
Count = Annotated[int, Field(ge=0, le=2**31)]
Limit = Annotated[int, Field(ge=1, le=1000)]


class Input(BaseModel):
    """Types are strict, unknown names are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


def _may_be_left_out() -> Any:
    """A field that is said or not, but never null."""
    return Field(default_factory=lambda: None)


class OfApp(Input):
    appId: Id | None = Field(None, description="The app; default: the call's app_id")


class DraftWrite(OfApp):
    content: str
    reason: Label = ""


class DraftHistory(OfApp):
    limit: Limit = 20
    version: Annotated[int, Field(ge=1, le=2**31)] | None = Field(None, description="One version, with its content")


class Upload(OfApp):
    fileName: Name
    mimeType: Name = "application/octet-stream"
    contentBase64: str
    conversationId: Id | None = None


class Listing(Input):
    filters: dict[str, Label] = Field({}, description="column → `eq.value` (also neq, gt, gte, lt, lte)")
    order: Label | None = Field(None, description="`column.desc`; several with commas")
    limit: Limit = 100
    offset: Count = 0

    def page(self, **more: str | None) -> Page:
        """With further columns that must be equal to something, where something is given."""
        equal = {column: f"eq.{value}" for column, value in more.items() if value is not None}
        return Page({**self.filters, **equal}, self.order, self.limit, self.offset)


class AttachmentList(Listing):
    appId: Id | None = None
    conversationId: Id | None = None


class AppList(Listing):
    status: AppStatus | None = None
    app_type: AppType | None = None


class OneApp(Input):
    id: Id | None = Field(None, description="The app; default: the call's app_id")
    app_id: Id | None = Field(None, description="Another name for `id`")


class AppFields(Input):
    name: Name | None = None
    description: Prose | None = None
    category_id: Id | None = None
    app_type: AppType | None = None
    source_code: Source | None = None
    config: dict[str, Any] | None = None
    icon: Label | None = None
    status: AppStatus | None = None


class AppCreate(AppFields):
    id: Id | None = None
    name: Name


class AppSave(AppFields):
    name: Name = _may_be_left_out()
    app_type: AppType = _may_be_left_out()
    status: AppStatus = _may_be_left_out()
    id: Id | None = Field(None, description="The app; default: the call's app_id")
    app_id: Id | None = Field(None, description="Another name for `id`")
    expected_version: Count | None = Field(None, description="Refuse if the app has another version by now")


class AppPublish(OneApp):
    route_path: RoutePath | None = Field(None, description="Default: `/` and the app's id")
    mount_point: Label | None = None


class RouteUpsert(Input):
    app_id: Id
    route_path: RoutePath
    mount_point: Label | None = None
    is_active: bool | None = None


class RouteFields(Input):
    app_id: Id = _may_be_left_out()
    route_path: RoutePath = _may_be_left_out()
    mount_point: Label | None = None
    is_active: bool = _may_be_left_out()


class RouteUpdate(RouteFields):
    id: Id


class RouteResolve(Input):
    route_path: RoutePath


class AuditQuery(Listing):
    trace_id: Id | None = None
    tool_id: Id | None = None
    app_id: Id | None = None
    execution_id: Id | None = None
    status: LogStatus | None = None


class AuditAppend(Input):
    app_id: Id | None = None
    execution_id: Id | None = None
    task_id: Id | None = None
    tool_id: Id | None = None
    trace_id: Id | None = None
    status: LogStatus = "completed"
    input_data: dict[str, Any] | None = None
    output_data: dict[str, Any] | None = None
    error_message: Prose | None = None


class Nothing(Input):
    """No arguments."""
