"""The languages are data: each has a grammar and a query that makes sense, and costs nothing until it is met."""

from __future__ import annotations

import subprocess
import sys

import pytest

from toolwire.codemap.extract import extract
from toolwire.codemap.grammar import ROLES, grammar
from toolwire.codemap.languages import BY_NAME, LANGUAGES, Language, language_of

NAMES = [language.name for language in LANGUAGES]


@pytest.mark.parametrize("name", NAMES)
def test_every_language_has_a_grammar_and_a_query_with_one_role_a_pattern(name: str) -> None:
    loaded = grammar(name)
    assert set(loaded.roles) <= ROLES
    assert {"call"} <= set(loaded.roles)
    assert loaded.compiled.abi_version >= 13


@pytest.mark.parametrize("language", LANGUAGES, ids=NAMES)
@pytest.mark.parametrize("source", [b"", b"\n\n", b"}{)(", bytes(range(1, 256)), "名字(".encode() * 50])
def test_any_bytes_give_a_sheet(language: Language, source: bytes) -> None:
    assert extract(language, source).language == language.name


def test_a_file_belongs_to_the_language_of_its_extension() -> None:
    assert language_of("a/b.KT") is BY_NAME["kotlin"]
    assert language_of("view.tsx") is BY_NAME["tsx"]
    assert language_of("README") is None
    assert language_of(".py") is None


def test_no_grammar_is_imported_before_a_file_needs_it() -> None:
    program = (
        "import sys; import toolwire.codemap.codemap, toolwire.tools.call_chain; "
        "print([name for name in sys.modules if name.startswith('tree_sitter')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_the_engine_names_no_language() -> None:
    """What differs between languages stands in their descriptions and queries alone."""
    from importlib.resources import files

    for file in files("toolwire.codemap").iterdir():
        if file.name.endswith(".py") and file.name != "languages.py":
            text = file.read_text(encoding="utf-8")
            named = [name for name in NAMES if f'"{name}"' in text]
            assert not named, f"{file.name} names {named}"
