"""A text file survives being read: whatever it is made of, the same text gives the same bytes again."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwire.errors import ToolError
from toolwire.tools.textfile import Text, content_hash, decode

MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@settings(deadline=None)
@given(PLAIN)
def test_utf_8_comes_back_as_it_was(text: str) -> None:
    data = text.encode()
    if data.startswith(tuple(MARKS.values())):
        return
    found = decode(data)
    assert (found.text, found.encoding, found.bom) == (text, "utf-8", b"")
    assert found.encode(found.text) == data


@settings(deadline=None)
@given(PLAIN, st.sampled_from(sorted(MARKS)))
def test_a_byte_order_mark_is_kept_apart_and_put_back(text: str, encoding: str) -> None:
    data = MARKS[encoding] + text.encode(encoding)
    found = decode(data)
    assert found.encode(found.text) == data
    if not (encoding == "utf-16-le" and text.startswith("\0")):
        assert (found.text, found.bom) == (text, MARKS[encoding])


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_text_that_gives_them_back_or_are_refused_as_binary(data: bytes) -> None:
    try:
        found = decode(data, "some/path")
    except ToolError as error:
        kind, path = error.kind, error.facts["path"]
    else:
        assert found.encode(found.text) == data
        return
    assert (kind, path) == ("binary_file", "some/path")


SAMPLES = {
    "gb18030": [
        "// 文件过滤\nint a = 1;\n",
        "/** 处理用户登录请求，返回令牌。 */\npublic class Login {\n  // 检查密码是否正确\n}\n",
        "x = 1  # 中\n",
        "# 繁體字與简体字混排，也要认得。\n",
    ],
    "cp1251": [
        "# Открываю файл main.py и читаю его содержимое\nprint('привет, мир')\n",
        "# привет\nx=1\n",
        "# ОШИБКА: НЕТ ФАЙЛА\n",
    ],
    "koi8_r": ["# Открываю файл main.py и читаю его содержимое\n"],
    "cp866": ["rem Открываю файл main.py и читаю его содержимое\n"],
    "cp1252": ["# déjà vu, garçon, naïve café\n", "/* Größe der Übergabe für die Prüfung */\n", "// é\n"],
    "cp1250": ["# Žluťoučký kůň úpěl ďábelské ódy\n"],
    "shift_jis": ["// ファイルを読み込みます。エラーが発生しました\nint a;\n"],
    "euc_jp": ["// ファイルを読み込みます。エラーが発生しました\nint a;\n"],
    "euc_kr": ["// 파일을 읽을 수 없습니다. 오류가 발생했습니다\nint a;\n"],
    "big5": ["// 檔案過濾的程式碼，處理使用者登入請求\nint a;\n"],
}


@pytest.mark.parametrize(("encoding", "text"), [(name, text) for name, texts in SAMPLES.items() for text in texts])
def test_legacy_encodings_are_recognised_in_source_files(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    found = decode(data)
    assert (found.encoding, found.text) == (encoding, text)
    assert found.encode(found.text) == data


@pytest.mark.parametrize(
    "data",
    [b"\x7fELF\x02\x01\x01\0", b"abc\0def", b"\x89PNG\r\n\x1a\n\0\0", b"\xff\xfe\x00", b"\x1f\x8b\x08\xb5\x02\x03"],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(ToolError, match="binary_file"):
        decode(data)


@pytest.mark.parametrize(
    ("text", "newline", "mixed"),
    [
        ("", "\n", False),
        ("one", "\n", False),
        ("a\nb\n", "\n", False),
        ("a\r\nb\r\n", "\r\n", False),
        ("a\rb\r", "\r", False),
        ("a\r\nb\nc\n", "\n", True),
        ("a\r\nb\r\nc\n", "\r\n", True),
    ],
)
def test_the_line_end_of_a_file_is_that_of_most_lines(text: str, newline: str, mixed: bool) -> None:
    found = Text(text)
    assert (found.newline, found.mixed_newlines) == (newline, mixed)
    assert found.with_newlines("x\ny\r\nz") == f"x{newline}y{newline}z"


def test_a_character_the_encoding_lacks_is_named() -> None:
    russian = decode("# привет\n".encode("cp1251"))
    with pytest.raises(ToolError) as refusal:
        russian.encode("中", "a.py")
    assert refusal.value.kind == "not_encodable"
    assert refusal.value.facts == {"path": "a.py", "encoding": "cp1251", "char": "'中' (U+4E2D)"}


def test_the_hash_is_sha_256_of_the_bytes() -> None:
    assert content_hash(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
