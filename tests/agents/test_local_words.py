"""What the local agent understands of a prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.patience import bounded
from toolwire.agents.local.glossary import glossary
from toolwire.agents.local.patterns import Definition, definition_of
from toolwire.agents.local.russian import begins, in_latin, russian_stem
from toolwire.agents.local.stems import english_stem, likeness, words_of
from toolwire.agents.local.words import Question, read_prompt
from toolwire.core.events import Message


def stems(question: Question) -> set[str]:
    return {stem for concept in question.concepts for stem, _ in concept.stems}


@pytest.mark.parametrize(
    ("prompt", "tongue", "expected"),
    [
        ("where are ZIP files read", "en", {"zip", "file", "read"}),
        ("who parses command-line arguments", "en", {"pars", "argpars", "argument"}),
        ("解析命令行参数", "zh", {"pars", "argpars", "getopt"}),
        ("压缩包是怎么解压的？", "zh", {"zip", "compress"}),
        ("谁负责解析 CSV 文件", "zh", {"csv", "pars", "file"}),
        ("где разбираются файлы конфигурации", "ru", {"pars", "file", "config"}),
        ("кто читает архивы", "ru", {"read", "archiv", "zip"}),
        ("как работает декоратор кэша", "ru", {"decorator", "cach"}),
    ],
)
def test_words_of_three_languages_lead_to_stems_of_identifiers(prompt: str, tongue: str, expected: set[str]) -> None:
    question = read_prompt(prompt)
    assert question.tongue == tongue
    assert expected <= stems(question)


@pytest.mark.parametrize(
    ("prompt", "names", "files", "phrases"),
    [
        ("how does ZipFile.open work?", ("ZipFile.open",), (), ()),
        ("谁调用 read_file()", ("read_file",), (), ()),
        ("what is std::vector", ("std::vector",), (), ()),
        ("explain HTTPServer and __init__", ("HTTPServer", "__init__"), (), ()),
        ("Открой файл src/main.py", (), ("src/main.py",), ()),
        ("application.yml 怎么配置？", (), ("application.yml",), ()),
        ('who prints "file not found" here', (), (), ("file not found",)),
        ("see `os.path.join`", ("os.path.join",), (), ()),
        ("«слишком поздно» — кто это пишет", (), (), ("слишком поздно",)),
        ("e.g. ZIP", (), (), ()),
    ],
)
def test_names_files_and_quotes_are_taken_as_written(
    prompt: str, names: tuple[str, ...], files: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    question = read_prompt(prompt)
    assert (question.names, question.files, question.phrases) == (names, files, phrases)


@pytest.mark.parametrize(
    ("prompt", "intent"),
    [
        ("who calls ZipFile", "callers"),
        ("and where is it called?", "callers"),
        ("谁调用 ZipFile", "callers"),
        ("кто вызывает ZipFile", "callers"),
        ("what does this project do", "overview"),
        ("这个项目是做什么的", "overview"),
        ("о чём проект?", "overview"),
        ("where is ZipFile", "where"),
    ],
)
def test_the_kind_of_answer_is_understood(prompt: str, intent: str) -> None:
    assert read_prompt(prompt).intent == intent


def test_words_that_say_nothing_are_left_out() -> None:
    for prompt in ("where is the code of this?", "这个在哪里？", "где это находится?"):
        assert read_prompt(prompt).empty


def test_a_follow_up_without_words_of_its_own_uses_those_before_it() -> None:
    history = [
        Message("user", "where are ZIP files read"),
        Message("assistant", "in zipfile.py"),
        Message("user", "ok"),
    ]
    question = read_prompt("and where is it called?", history[:2])
    assert question.borrowed
    assert question.intent == "callers"
    assert "zip" in stems(question)
    assert not read_prompt("where is tarfile opened", history).borrowed


def test_opening_a_file_is_about_that_file_alone() -> None:
    assert read_prompt("Открой файл main.py").concepts == ()


@pytest.mark.parametrize(
    "prompt", ["слово " * 200_000, "a" * 1_000_000, "配" * 500_000, "a.b" * 300_000, '"' * 999_999]
)
def test_an_endless_prompt_is_read_quickly(prompt: str) -> None:
    with bounded():
        read_prompt(prompt)


@given(st.text(max_size=200))
def test_any_text_can_be_read(prompt: str) -> None:
    read_prompt(prompt, [Message("user", prompt)])


def test_words_meet_in_their_stem() -> None:
    assert {english_stem(word) for word in ("parse", "parses", "parsed", "parsing")} == {"pars"}
    assert {russian_stem(word) for word in ("настройка", "настройки", "настройками")} == {"настройк"}
    assert english_stem("classes") == "class"
    assert english_stem("running") == "run"


def test_a_short_russian_beginning_takes_only_an_ending() -> None:
    assert begins("логи", "лог")
    assert not begins("логотип", "лог")
    assert in_latin("патч") == "patch"


def test_names_are_cut_into_their_words() -> None:
    assert words_of("HTTPServer_base64Decoder") == ("http", "server", "base64", "decoder")
    assert likeness("zip", "ZipFile") == 1.0
    assert likeness("zip", "gzip") == 0.6
    assert likeness("=ini", "init") == 0.0
    assert likeness("=ini", "read_ini") == 1.0


@pytest.mark.parametrize(
    ("line", "kind", "name"),
    [
        ("class ZipFile:", "class", "ZipFile"),
        ("    async def read(self):", "method", "read"),
        ("export default function main() {", "function", "main"),
        ("func (s *Server) Serve() error {", "function", "Serve"),
        ("pub(crate) fn parse(x: i32)", "function", "parse"),
        ("    public static List<String> filterFiles(File dir) {", "method", "filterFiles"),
        ("data class User(val id: Int)", "class", "User"),
        ("    override fun close() {", "method", "close"),
    ],
)
def test_a_definition_is_known_by_its_line(line: str, kind: str, name: str) -> None:
    found = definition_of(line)
    assert isinstance(found, Definition)
    assert (found.kind, found.name) == (kind, name)


@pytest.mark.parametrize("line", ["", "return foo(bar)", "x = ZipFile(y)", "# class of things", "    new Foo(a, b)"])
def test_other_lines_define_nothing(line: str) -> None:
    assert definition_of(line) is None


def test_every_concept_has_stems_and_no_word_means_two_things_in_one_language() -> None:
    known = glossary()
    assert len(known.chinese) > 300
    assert sum(map(len, known.russian.values())) > 300
    assert all(meaning.code for meaning in (*known.english.values(), *known.chinese.values()))
    assert not known.stop_chinese & set(known.chinese)
