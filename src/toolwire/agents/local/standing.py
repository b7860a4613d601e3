"""How a file stands by its path alone: tests, vendored, generated and written-about files stand back."""

from __future__ import annotations

import re

_TEST_FOLDERS = (
    "test tests testing __tests__ spec specs testdata fixtures idle_test example examples sample samples demo demos "
    "benchmark benchmarks"
)
_VENDORED = "vendor vendored _vendor third_party node_modules site-packages dist-packages bower_components .venv venv"
_GENERATED = "build dist out target generated gen __pycache__ .next"
_PROSE = "doc docs pydoc_data changelog news"
_OLD = "deprecated legacy compat _compat attic old"


def _folders(names: str) -> str:
    return rf"(^|/)({'|'.join(map(re.escape, names.split()))})/"


_TESTS = re.compile(
    _folders(_TEST_FOLDERS) + r"|(^|/)(test_|conftest)|_test\.|\.test\.|\.spec\.|Tests?\.(java|kt|cs)$"
)
_STANDING = (
    (re.compile(_folders(_VENDORED)), 0.3),
    (
        re.compile(
            _folders(_GENERATED)
            + r"|\.min\.(js|css)$|_pb2\.py$|\.generated\.|\.g\.dart$|package-lock\.json$|\.lock$|\.(dist|egg)-info/"
        ),
        0.3,
    ),
    (
        re.compile(
            _folders(_PROSE)
            + r"|\.(md|rst|txt|po|pot|csv|json|xml|html|svg)$|(^|/)(LICENSE|CHANGELOG|NEWS|README)[^/]*$",
            re.IGNORECASE,
        ),
        0.6,
    ),
    (re.compile(_folders(_OLD)), 0.7),
)
TEST = 0.25


def is_test(path: str) -> bool:
    return _TESTS.search(path) is not None


def standing(path: str, *, about_tests: bool = False) -> float:
    """What a file's score is multiplied by. For a question about tests, tests stand in front like any other file."""
    factor = 1.0 if about_tests or not is_test(path) else TEST
    for pattern, worth in _STANDING:
        if pattern.search(path):
            factor *= worth
    return factor
