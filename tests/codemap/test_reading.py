"""Receivers, types and arguments read from the text of a call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.codemap.reading import (
    alternatives,
    argument_texts,
    literal_fits,
    literal_kind,
    segments,
    split_type,
    type_names,
    unwrap,
)

MEMBERS = ("?.", "->", "::", ".")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ["a"]),
        ("self.repo", ["self", "repo"]),
        ("a.b(c.d(1), 'x)').e", ["a", "b()", "e"]),
        ("new Foo(1).bar", ["Foo()", "bar"]),
        ("new a.Foo<B, C>(1)", ["a", "Foo()"]),
        ("items[0].go", ["items[]", "go"]),
        ("a?.b!!.c", ["a", "b", "c"]),
        ("std::make<T>(x)->y", ["std", "make()", "y"]),
        ("await load(x)", ["load()"]),
        ("asyncio", ["asyncio"]),
        ("newline", ["newline"]),
        ("&mut thing", ["thing"]),
        ("$this->store", ["$this", "store"]),
        ("@store", ["@store"]),
        ("Service{store: x}", ["Service()"]),
    ],
)
def test_a_chain_of_names_is_read_step_by_step(text: str, steps: list[str]) -> None:
    found = segments(text, MEMBERS)
    assert found is not None
    assert [one.name + ("()" if one.called else "") + ("[]" if one.indexed else "") for one in found] == steps


@pytest.mark.parametrize("text", ["", "'text'", "1 + 2", "a + b", "(a, b)", "a b"])
def test_what_is_no_chain_of_names_is_not_guessed_at(text: str) -> None:
    assert segments(text, MEMBERS) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("User", ("User",)),
        (": Foo | null", ("Foo",)),
        ("Optional[a.B]", ("a.B",)),
        ("'User'", ("User",)),
        ("List<User>", ("List",)),
        ("&mut dyn Store", ("Store",)),
        ("Box<dyn Store>", ("Store",)),
        ("const shop::User &", ("shop.User",)),
        ("A | B | None", ("A", "B")),
        ("User?", ("User",)),
        ("User[]", ()),
        ("[]User", ()),
        ("\\Shop\\User", ("Shop.User",)),
    ],
)
def test_a_written_type_is_read_down_to_its_name(text: str, names: tuple[str, ...]) -> None:
    assert type_names(text, frozenset({"Optional", "Box"})) == names


def test_casts_and_brackets_are_looked_through() -> None:
    assert unwrap("((Foo) bar)") == ("bar", "Foo")
    assert unwrap("(x as Foo)") == ("x", "Foo")
    assert unwrap("(a.b)") == ("a.b", "")


def test_an_expression_with_a_choice_gives_each_of_its_values() -> None:
    assert alternatives("parser or XMLParser(target=x)") == ("parser", "XMLParser(target=x)")
    assert alternatives("A() if ready else B()") == ("A()", "B()")
    assert alternatives("a ?? b") == ("a", "b")
    assert alternatives("f(a or b)") == ("f(a or b)",)
    assert alternatives("plain") == ("plain",)


def test_arguments_are_split_at_commas_of_their_own() -> None:
    assert argument_texts("(a, f(b, c), 'd,e', [1, 2])") == ("a", "f(b, c)", "'d,e'", "[1, 2]")
    assert argument_texts("()") == ()


def test_literals_choose_among_parameter_types() -> None:
    assert literal_kind('"x"') == "string"
    assert literal_kind("7") == "int"
    assert literal_kind("7.5") == "float"
    assert literal_kind("seven") == ""
    assert literal_fits("string", "String")
    assert not literal_fits("int", "String")


def test_a_constructed_type_is_split_into_qualifier_and_name() -> None:
    assert split_type("a.b.Foo<C>", ".") == ("a.b", "Foo")
    assert split_type("\\A\\B", "\\") == ("A", "B")
    assert split_type("Foo", ".") == ("", "Foo")


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    segments(text, MEMBERS)
    unwrap(text)
    alternatives(text)
    type_names(text, frozenset({"Optional"}))
    argument_texts(text)
    split_type(text, "::")
