"""Reading the short pieces of source text a sheet keeps: receivers, types, argument lists.

These are read when somebody asks, not when a file is indexed. The rules are those that the languages share; what
they don't share comes in as an argument.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}
_PAIRS = "([{"
_CLOSERS = ")]}"
_QUOTES = "\"'`"
_WORD = re.compile(r"[\w$@]+[!?]?(?=\W|$)|[\w$@]+")
_NEW = re.compile(r"^new\s+")
_CAST = re.compile(r"^\(\s*([\w.:\\<>\[\], ]+?)\s*\)\s*(?=[\w(])")
_AS_CAST = re.compile(r"^(.*\S)\s+as[?!]?\s+([\w.:\\]+)$", re.DOTALL)
_PREFIX = re.compile(r"^(?:(?:await|async|return|yield|throw|lateinit|&mut)\s+|[&*!~+-]\s*)(?=[\w($@&*\\])")
_TYPE_PREFIX = re.compile(
    r"^(?:'\w+\s+|(?:const|mut|dyn|impl|final|static|struct|enum|class|union|ref|out|in|readonly|typename|volatile|"
    r"asserts|keyof|typeof|suspend|params|vararg)\s+|->|=>|[:&*?\s])+"
)
_TYPE_SUFFIX = re.compile(r"(?:[?&*!\s]|\bconst\b|\.\.\.)+$")
_ASSIGNED = re.compile(r"^[\w$@.]+\s*=(?![=~>])\s*")
"""`b = ` in front of a value: of `a = b = value` both are set to it."""
_EITHER = re.compile(r"\s+or\s+|\s*\|\|\s*|\s*\?\?\s*|\s*\?:\s*")
_CONDITIONAL = re.compile(r"^(.+?)\s+if\s+.+\s+else\s+(.+)$", re.DOTALL)
_NULLS = frozenset({"None", "null", "undefined", "nil", "void", "NoneType", "never"})
_LITERALS = (
    ("string", re.compile(r"^[a-zA-Z]{0,3}[\"'`]")),
    ("float", re.compile(r"^-?\d[\d_]*\.\d|^-?\d+[fFdD]$")),
    ("int", re.compile(r"^-?\d")),
    ("bool", re.compile(r"^(true|false|True|False)$")),
)
_LITERAL_TYPES = {
    "string": frozenset({"string", "str", "charsequence", "object", "any", "std.string", "string_view", "&str"}),
    "int": frozenset({"int", "integer", "long", "short", "byte", "number", "float", "double", "size_t", "object",
                      "any", "i32", "i64", "u32", "u64", "usize", "uint", "unsigned"}),
    "float": frozenset({"float", "double", "number", "decimal", "f32", "f64", "object", "any"}),
    "bool": frozenset({"bool", "boolean", "object", "any"}),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Segment:
    """One step of an expression: `name`, `name(...)`, `name[...]`, or `new Name(...)`."""

    name: str
    called: bool = False
    indexed: bool = False


@lru_cache(maxsize=65536)
def segments(text: str, members: tuple[str, ...]) -> tuple[Segment, ...] | None:
    """The steps of a receiver (`self.repo.find(1).name`), or None if it is no chain of names."""
    text = text.strip()
    while (prefix := _PREFIX.match(text)) is not None:
        text = text[prefix.end() :]
    if not text or text[0] in _QUOTES:
        return None
    found: list[Segment] = []
    at, length = 0, len(text)
    if (new := _NEW.match(text)) is not None:
        return _construction(text[new.end() :], members)
    if text[0] == "\\":
        at = 1
    while at < length:
        word = _WORD.match(text, at)
        if word is None:
            return None
        at = word.end()
        step, at = _calls_and_indexes(text, at, word.group().rstrip("!?"))
        if step is None:
            return None
        found.append(step)
        at = _skip_space(text, at)
        if at >= length:
            break
        separator = next((mark for mark in members if text.startswith(mark, at)), None)
        if separator is None:
            return None
        at = _skip_space(text, at + len(separator))
    return tuple(found) or None


def _construction(text: str, members: tuple[str, ...]) -> tuple[Segment, ...] | None:
    """`new a.B<C>(…).d`: the type's name is called as if it were a function."""
    end = _balanced_until(text, 0, "({")
    name = _without_generics(text[:end]).strip()
    names = segments(name, members)
    if names is None:
        return None
    made = (*names[:-1], Segment(names[-1].name, called=True))
    if end >= len(text):
        return made
    at = _skip_space(text, _close(text, end))
    if at >= len(text):
        return made
    separator = next((mark for mark in members if text.startswith(mark, at)), None)
    rest = segments(text[at + len(separator) :], members) if separator else None
    return (*made, *rest) if rest else None


def _calls_and_indexes(text: str, at: int, name: str) -> tuple[Segment | None, int]:
    called = indexed = False
    while at < len(text):
        mark = _skip_space(text, at)
        if mark >= len(text):
            break
        character = text[mark]
        if character in "({":
            if called and character == "(":
                return None, mark
            called, at = True, _close(text, mark)
        elif character == "[":
            indexed, at = True, _close(text, mark)
        elif character == "<" and (end := _close_angle(text, mark)) is not None:
            at = end
        elif character == "!" and text.startswith("!!", mark):
            at = mark + 2
        elif character in "!?" and text[mark + 1 : mark + 2] == ".":
            at = mark + (1 if character == "!" else 0)
            break
        else:
            break
    return Segment(name, called, indexed), at


def _close(text: str, at: int) -> int:
    """The position after the bracket that closes the one at `at`; the end if it was cut off."""
    depth, quote = 0, ""
    for index in range(at, len(text)):
        character = text[index]
        if quote:
            if character == quote and text[index - 1] != "\\":
                quote = ""
        elif character in _QUOTES:
            quote = character
        elif character in _PAIRS:
            depth += 1
        elif character in _CLOSERS:
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text)


def _close_angle(text: str, at: int) -> int | None:
    """The position after `<…>` if it is followed by a call or a member, so that it can't be a comparison."""
    depth = 0
    for index in range(at, len(text)):
        character = text[index]
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
            if depth == 0:
                return index + 1 if text[index + 1 : index + 2] in ("(", ".", ":", "{", "") else None
        elif character in "();\"'":
            return None
    return None


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _balanced_until(text: str, at: int, stops: str) -> int:
    depth = 0
    for index in range(at, len(text)):
        character = text[index]
        if depth == 0 and character in stops:
            return index
        if character == "<":
            depth += 1
        elif character == ">":
            depth = max(0, depth - 1)
    return len(text)


def _without_generics(text: str) -> str:
    cut = min((index for index in (text.find("<"), text.find("[")) if index >= 0), default=len(text))
    return text[:cut]


@lru_cache(maxsize=65536)
def unwrap(text: str) -> tuple[str, str]:
    """An expression without its brackets, and the type it is cast to, if it is."""
    cast = ""
    text = text.strip()
    for _ in range(4):
        if text.startswith("(") and _close(text, 0) == len(text):
            text = text[1:-1].strip()
        elif (match := _CAST.match(text)) is not None and not cast:
            cast, text = match.group(1), text[match.end() :]
        elif (match := _AS_CAST.match(text)) is not None and not cast:
            cast, text = match.group(2), match.group(1)
        elif (match := _ASSIGNED.match(text)) is not None:
            text = text[match.end() :]
        else:
            break
    return text, cast


@lru_cache(maxsize=65536)
def alternatives(text: str) -> tuple[str, ...]:
    """The values an expression may turn out to be: `a or B()`, `a ?? b`, `A() if ready else B()`."""
    if (match := _CONDITIONAL.match(text)) is not None:
        return tuple(part.strip() for part in match.groups())
    parts = [part.strip() for part in _EITHER.split(text)]
    whole = all(part.count("(") == part.count(")") and part.count("[") == part.count("]") for part in parts)
    return tuple(parts) if len(parts) > 1 and all(parts) and whole else (text,)


@lru_cache(maxsize=65536)
def type_names(text: str, wrappers: frozenset[str]) -> tuple[str, ...]:
    """The types a written type stands for, dotted: `Optional[a.B]` → `a.B`, `A | None` → `A`, `List<A>` → `List`."""
    text = text.strip().strip("\"'")
    text = _TYPE_SUFFIX.sub("", _TYPE_PREFIX.sub("", text)).strip("\"'")
    if not text or text[0] in "[({":
        return ()
    found: list[str] = []
    for part in split_top(text, "|"):
        found.extend(_one_type(part.strip(), wrappers))
    return tuple(dict.fromkeys(found))


def _one_type(text: str, wrappers: frozenset[str]) -> tuple[str, ...]:
    text = _TYPE_SUFFIX.sub("", _TYPE_PREFIX.sub("", text)).strip("\"'")
    if text.endswith("[]"):
        return ()
    name = _without_generics(text).strip().replace("::", ".").replace("\\", ".").replace("->", ".").strip(".: ")
    if not name or name in _NULLS or not re.fullmatch(r"[\w.$]+", name):
        return ()
    if name.rpartition(".")[2] in wrappers and len(text) > len(name):
        inner = text[len(_without_generics(text)) + 1 : -1]
        parts = split_top(inner, ",")
        return type_names(parts[0], wrappers) if parts else ()
    return (name,)


def split_type(text: str, separator: str) -> tuple[str, str]:
    """The qualifier and the name of a constructed type, without its generics."""
    name = _without_generics(text).strip().lstrip("\\&*")
    for mark in dict.fromkeys((separator, "::", ".")):
        if mark in name:
            qualifier, _, last = name.rpartition(mark)
            return qualifier.strip(), last.strip()
    return "", name


def split_top(text: str, mark: str) -> list[str]:
    """Split at `mark` where no bracket is open."""
    parts: list[str] = []
    depth, last, quote = 0, 0, ""
    for index, character in enumerate(text):
        if quote:
            if character == quote and text[index - 1] != "\\":
                quote = ""
        elif character in _QUOTES:
            quote = character
        elif character in _OPEN:
            depth += 1
        elif character in ")]}>" and not (character == ">" and text[index - 1 : index] in ("-", "=")):
            depth -= 1
        elif character == mark and depth == 0:
            parts.append(text[last:index])
            last = index + 1
    parts.append(text[last:])
    return [part for part in parts if part.strip()]


@lru_cache(maxsize=16384)
def argument_texts(text: str) -> tuple[str, ...]:
    text = text.strip()
    return tuple(part.strip() for part in split_top(text[1:-1] if text[:1] in "([{" else text, ","))


def literal_kind(text: str) -> str:
    """`string`, `int`, `float`, `bool`, or nothing if it is no literal."""
    return next((kind for kind, pattern in _LITERALS if pattern.match(text)), "")


def literal_fits(kind: str, type_text: str) -> bool:
    """Whether a literal may be passed for a parameter of the type as written."""
    lowered = _without_generics(_TYPE_SUFFIX.sub("", _TYPE_PREFIX.sub("", type_text))).lower().replace("::", ".")
    return lowered in _LITERAL_TYPES[kind]
