"""read_class, read_method, call_chain, find_usages and search_code on a small Java project (documents 1 and 2)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.desk import Desk
from toolwire.tools.registry import as_markdown, as_object

FIXTURE = Path(__file__).parents[1] / "codemap" / "fixtures" / "java"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    shutil.copytree(FIXTURE / "src", desk.root / "src")
    yield desk
    desk.workspace.close()


def test_a_class_is_read_in_the_shape_of_document_2(desk: Desk) -> None:
    text = as_markdown(desk.call("read_class", className="SqlRepository", mode="structure"))
    assert text.startswith(
        "## SqlRepository.java\n\n- **类名**: `SqlRepository`\n- **路径**: `src/com/shop/store/SqlRepository.java`\n"
    )
    assert "- `@Override public void save(Order order, int times)` (L18-23)" in text


def test_a_class_that_is_not_there_is_told_in_the_words_of_document_2(desk: Desk) -> None:
    assert as_markdown(desk.call("read_class", className="FileFilter")) == "类未找到: FileFilter"
    assert as_markdown(desk.call("read_class", className="FileFilter"), "en") == "Class not found: FileFilter"


def test_every_class_of_a_name_is_given_and_a_qualified_name_narrows_it(desk: Desk) -> None:
    both = desk.done("read_class", className="User").classes
    assert [one.qualified for one in both] == ["com.other.User", "com.shop.model.User"]
    (one,) = desk.done("read_class", className="shop.model.User").classes
    assert one.path == "src/com/shop/model/User.java"


def test_the_modes_of_read_class(desk: Desk) -> None:
    (full,) = desk.done("read_class", className="com.shop.model.User", mode="full").classes
    assert full.source.startswith("/** A customer. */\npublic class User {")
    assert full.source_line == 3
    (brief,) = desk.done("read_class", className="Service", mode="imports_fields").classes
    assert brief.imports[0] == "import static com.shop.app.Names.tidy;"
    assert [field.name for field in brief.fields] == ["repository"]
    assert brief.methods is None
    assert desk.refused("read_class", className="User", mode="half").kind == "bad_arguments"


def test_what_was_shown_counts_as_read(desk: Desk) -> None:
    desk.done("read_class", className="Names", mode="full")
    edited = desk.call("Edit", file_path="src/com/shop/app/Names.java", old_string="trim", new_string="strip")
    assert edited.success


def test_all_overloads_or_one_by_its_types(desk: Desk) -> None:
    every = desk.done("read_method", className="SqlRepository", methodName="save").methods
    assert [one.parameter_types for one in every] == [["User"], ["Order"], ["Order", "int"]]
    (one,) = desk.done(
        "read_method", className="SqlRepository", methodName="save", parameterTypes=["com.shop.model.Order"]
    ).methods
    assert one.source.splitlines()[0].strip() == "@Override"
    assert (one.source_line, one.end_line) == (12, 16)
    wrong = desk.refused("read_method", className="SqlRepository", methodName="save", parameterTypes=["long"])
    assert wrong.kind == "overload_not_found"
    assert "(Order, int)" in wrong.facts["known"]


def test_a_method_from_above_is_found_and_marked(desk: Desk) -> None:
    found = desk.done("read_method", className="SqlRepository", methodName="audit").methods
    assert [one.inherited for one in found] == [True, True]
    assert {one.container for one in found} == {"BaseRepository"}


def test_a_missing_method_and_a_missing_class_are_told_apart(desk: Desk) -> None:
    assert desk.refused("read_method", className="User", methodName="nope").kind == "method_not_found"
    assert desk.refused("read_method", className="Nope", methodName="name").kind == "class_not_found"


def test_a_call_chain_follows_every_overload_in_both_directions(desk: Desk) -> None:
    output = desk.done("call_chain", method="SqlRepository.save", depth=2)
    assert [root.symbol.line for root in output.methods] == [7, 12, 18]
    first = output.methods[0]
    assert [(step.symbol.name, step.certainty, step.override) for step in first.callers] == [
        ("save", "exact", False),
        ("register", "likely", True),
    ]
    assert first.callers[0].steps[0].symbol.line == 18
    assert first.callees[0].sites == ["src/com/shop/store/SqlRepository.java:9"]


def test_a_bare_name_and_a_class_can_be_asked_for_as_well(desk: Desk) -> None:
    (root,) = desk.done("call_chain", method="tidy", direction="callers").methods
    assert [step.symbol.name for step in root.callers] == ["register"]
    assert root.callees is None
    (built,) = desk.done("call_chain", method="SqlRepository", direction="callers").methods
    assert [step.symbol.name for step in built.callers] == ["Service"]
    assert desk.refused("call_chain", method="Nope.nothing").kind == "method_not_found"


def test_include_source_adds_the_source_of_each_node(desk: Desk) -> None:
    (root,) = desk.done("call_chain", method="Names.tidy", includeSource=True).methods
    assert "return name.trim();" in root.source
    assert "repository.save(user);" in root.callers[0].source


def test_a_call_chain_reads_well_in_both_languages(desk: Desk) -> None:
    outcome = desk.call("call_chain", method="Order.label")
    chinese, english = as_markdown(outcome), as_markdown(outcome, "en")
    assert chinese.startswith("## 调用链: Order.label\n\n**方向**: both\n**深度**: 1\n")
    assert "[仅同名] src/com/shop/app/Service.java:25" in chinese
    assert "[name only] src/com/shop/app/Service.java:25" in english


def test_document_5_gets_the_typed_fields_beside_the_text(desk: Desk) -> None:
    found = as_object(desk.call("call_chain", method="tidy"))
    assert found["content"].startswith("## 调用链: tidy")
    assert found["methods"][0]["symbol"]["qualified"] == "com.shop.app.Names.tidy"
    assert "index" not in found


def test_usages_leave_out_comments_and_strings_and_tell_calls_from_mentions(desk: Desk) -> None:
    desk.put("src/Talk.java", 'class Talk { // tidy\n  String a = "tidy"; int tidy; }\n')
    output = desk.done("find_usages", symbol="Names.tidy")
    kinds = {(one.path.rpartition("/")[2], one.line): one.kind for one in output.usages}
    assert kinds == {
        ("Names.java", 4): "definition",
        ("Service.java", 3): "import",
        ("Service.java", 13): "call",
        ("Talk.java", 2): "reference",
    }
    cut = desk.done("find_usages", symbol="tidy", limit=2)
    assert (cut.count, cut.total, cut.truncated) == (2, 4, True)


def test_search_gives_symbols_first_then_the_best_lines(desk: Desk) -> None:
    output = desk.done("search_code", query="save order")
    assert output.symbols[0].name == "Order"
    assert {one.name for one in output.symbols} == {"Order", "save"}
    assert output.text
    assert all("order" in hit.text.lower() or "save" in hit.text for hit in output.text)
    nothing = desk.done("search_code", query="zzzzqqqq")
    assert (nothing.symbols, nothing.text) == ([], [])


def test_an_edit_is_seen_by_the_next_question(desk: Desk) -> None:
    desk.done("read_file", path="src/com/shop/app/Names.java")
    desk.done(
        "Edit",
        file_path="src/com/shop/app/Names.java",
        old_string="return name.trim();",
        new_string="return polish(name.trim());\n    }\n\n    static String polish(String a) {\n        return a;",
    )
    (root,) = desk.done("call_chain", method="polish", direction="callers").methods
    assert [step.symbol.name for step in root.callers] == ["tidy"]
