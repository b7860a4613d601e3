"""The system's errors about a path, in a tool's words."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import NoReturn

from toolwire.errors import ToolError

_KINDS = {
    errno.ENOENT: "file_not_found",
    errno.ENOTDIR: "file_not_found",
    errno.EXDEV: "outside_workspace",
    errno.ELOOP: "link_refused",
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.EROFS: "permission_denied",
    errno.EISDIR: "not_a_file",
    errno.ENXIO: "not_a_file",  # a socket
    errno.ENODEV: "not_a_file",
    errno.EEXIST: "file_exists",
    errno.EAGAIN: "path_busy",
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
}


def refuse(error: OSError, path: str) -> NoReturn:
    kind = _KINDS.get(error.errno or 0)
    if error.errno == errno.ENAMETOOLONG:
        raise ToolError("bad_path", path=path, reason=str(error.strerror)) from error
    if kind is None:
        raise ToolError("io_error", path=path, reason=str(error.strerror)) from error
    raise ToolError(kind, path=path) from error


@contextlib.contextmanager
def told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        refuse(error, path)
