"""The page at `/`: plain files of the console package, no build step."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

router = APIRouter(include_in_schema=False)

TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


@router.get("/")
async def index() -> Response:
    return _file("index.html")


@router.get("/console/{name}")
async def asset(name: str) -> Response:
    return _file(name)


def _file(name: str) -> Response:
    suffix = "." + name.rpartition(".")[2]
    if suffix not in TYPES or "/" in name or name.startswith("."):
        raise HTTPException(404, f"no such file: {name}")
    file = files("toolwire.console").joinpath(name)
    if not file.is_file():
        raise HTTPException(404, f"no such file: {name}")
    return Response(file.read_bytes(), media_type=f"{TYPES[suffix]}; charset=utf-8", headers=HEADERS)
