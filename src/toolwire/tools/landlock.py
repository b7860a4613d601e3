"""Starting a program that can open nothing but given folders and files: Landlock, where the Linux kernel has it.

A search program walks a tree by names, and a name may become a link while it looks. With this the kernel refuses what
lies outside, whatever the tree does. Restrictions belong to a thread and are inherited by what it starts, so a thread
is made for one start and ends with it.
"""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_EVERYTHING = (1 << 13) - 1
"""All rights of the first version: executing, reading, writing, making and removing."""
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/nix/store")
"""What a dynamically linked program needs before it runs at all."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def start(command: Sequence[str], readable: Sequence[int], **options: Any) -> subprocess.Popen[bytes]:
    """Popen that, where Landlock is there, may read beneath the `readable` descriptors and run its own program only.

    Standard streams must be pipes or open descriptors: nothing can be opened in the restricted thread.
    """
    if not available(command[0]):
        return subprocess.Popen(command, **options)
    return _restricted(command, readable, options)


def _restricted(command: Sequence[str], readable: Sequence[int], options: dict[str, Any]) -> subprocess.Popen[bytes]:
    started: list[subprocess.Popen[bytes]] = []
    failed: list[BaseException] = []

    def in_thread() -> None:
        try:
            _restrict(command[0], readable)
            started.append(subprocess.Popen(command, **options))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=in_thread, name="landlock-start")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return started[0]


@cache
def available(program: str) -> bool:
    """True if the kernel has Landlock and the program runs under it."""
    if sys.platform != "linux":
        return False
    if _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG) < 1:
        return False
    try:
        probe = _restricted([program, "--version"], (), {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE})
        probe.communicate(timeout=10)
    except (OSError, subprocess.SubprocessError):
        return False
    return probe.returncode == 0


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: Any) -> int:
    result: int = _library().syscall(number, *arguments)
    return result


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _restrict(program: str, readable: Sequence[int]) -> None:
    """From here on, and for good, for the calling thread."""
    rules = _Ruleset(_EVERYTHING)
    ruleset = _checked(_call(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), 0))
    try:
        for descriptor in readable:
            _allow(ruleset, descriptor, _READ_FILE)
        for path in (program, *_LIBRARIES):
            _allow_path(ruleset, path)
        _checked(_library().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_call(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow_path(ruleset: int, path: str) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        _allow(ruleset, descriptor, _EXECUTE | _READ_FILE)
    finally:
        os.close(descriptor)


def _allow(ruleset: int, descriptor: int, access: int) -> None:
    folder = _READ_DIR if stat.S_ISDIR(os.fstat(descriptor).st_mode) else 0
    rule = _PathBeneath(access | folder, descriptor)
    _checked(_call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0))
