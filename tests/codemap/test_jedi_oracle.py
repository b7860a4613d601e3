"""A small, fixed part of the comparison with jedi; `benchmarks/jedi_callers.py` runs the whole of it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "jedi_callers.py"
SAMPLE = 10
LEAST = 0.8
"""The aim is nine in ten of two hundred; so few may miss one more."""


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("jedi_callers", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "jedi_callers", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.typeshed, "TYPESHED_PATH", module.typeshed.TYPESHED_PATH)
    return module


def test_callers_agree_with_jedi_on_the_standard_library(oracle: ModuleType, tmp_path: Path) -> None:
    root = (tmp_path / "lib").resolve()
    oracle.copy_library(root)
    oracle.show_source_not_stubs(root, tmp_path / "typeshed")
    verdicts = oracle.judge(root, tmp_path / "state", SAMPLE)
    assert len(verdicts) == SAMPLE
    apart = [(one.function.full_name, one.jedi ^ one.ours) for one in verdicts if not one.agree]
    assert 1 - len(apart) / SAMPLE >= LEAST, apart
