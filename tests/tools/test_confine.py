"""The two ways of opening beneath a folder keep one contract, but for links inside, which only the kernel follows."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolwire.tools import confine
from toolwire.tools.confine import FOLDER, O_PATH, READ, Beneath, KernelBeneath, WalkBeneath


@pytest.fixture(params=[confine.beneath, WalkBeneath], ids=["kernel", "walk"])
def beneath(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Beneath]:
    (tmp_path / "ws" / "a" / "b").mkdir(parents=True)
    (tmp_path / "ws" / "a" / "b" / "f").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    for name, target in {"up": "..", "abs": str(tmp_path), "loop": "loop", "inside": "a/b", "file": "a/b/f"}.items():
        (tmp_path / "ws" / name).symlink_to(target)
    root = os.open(tmp_path / "ws", FOLDER)
    yield request.param(root)
    os.close(root)


def read(beneath: Beneath, path: str) -> bytes:
    descriptor = beneath.open(path, READ)
    try:
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)


def refused(beneath: Beneath, path: str, flags: int) -> int:
    with pytest.raises(OSError) as refusal:
        os.close(beneath.open(path, flags))
    assert refusal.value.errno is not None
    return refusal.value.errno


def test_files_and_folders_inside_open(beneath: Beneath) -> None:
    assert read(beneath, "a/b/f") == b"inside"
    for path in (".", "a", "a/b"):
        os.close(beneath.open(path, FOLDER))


@pytest.mark.parametrize("flags", [READ, O_PATH], ids=["read", "path"])
@pytest.mark.parametrize("path", ["up/secret", "abs/secret", "up/ws/a/b/f", "loop/x"])
def test_links_that_leave_are_refused(beneath: Beneath, path: str, flags: int) -> None:
    assert refused(beneath, path, flags) in (errno.EXDEV, errno.ELOOP)


def test_links_inside_are_followed_only_where_the_kernel_keeps_them_inside(beneath: Beneath) -> None:
    if isinstance(beneath, KernelBeneath):
        assert read(beneath, "inside/f") == read(beneath, "file") == b"inside"
        return
    for path, flags in (("inside/f", READ), ("file", READ), ("file", O_PATH), ("inside", FOLDER)):
        assert refused(beneath, path, flags) == errno.ELOOP


def test_what_is_missing_or_no_folder_is_said(beneath: Beneath) -> None:
    assert refused(beneath, "nope", READ) == errno.ENOENT
    assert refused(beneath, "a/b/f/x", READ) == errno.ENOTDIR
    assert refused(beneath, "a/b/f", FOLDER) == errno.ENOTDIR


def test_descriptors_are_not_inherited(beneath: Beneath) -> None:
    descriptor = beneath.open("a/b/f", READ)
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_a_kernel_without_the_call_gets_the_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def missing(self: KernelBeneath, path: str, flags: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(KernelBeneath, "open", missing)
    root = os.open(tmp_path, FOLDER)
    assert isinstance(confine.beneath(root), WalkBeneath)
    os.close(root)


def test_a_path_that_keeps_changing_is_given_up_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = os.open(tmp_path, FOLDER)
    kernel = KernelBeneath(root)
    calls = []

    def busy(*arguments: object) -> int:
        calls.append(arguments)
        ctypes.set_errno(errno.EAGAIN)
        return -1

    monkeypatch.setattr(kernel, "_syscall", busy)
    assert refused(kernel, "x", READ) == errno.EAGAIN
    assert len(calls) == confine.ATTEMPTS
    os.close(root)
