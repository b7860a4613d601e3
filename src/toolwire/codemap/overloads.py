"""Which of several functions of one name a call fits: by the number of arguments, then by what is known of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire.codemap.library import Page, Ref
from toolwire.codemap.meaning import Certainty, Instance
from toolwire.codemap.reading import argument_texts, literal_fits, literal_kind
from toolwire.codemap.sheet import Call, Variable

if TYPE_CHECKING:
    from toolwire.codemap.resolver import Resolver


def select(
    resolver: Resolver, page: Page, call: Call, refs: tuple[Ref, ...], sure: Certainty
) -> tuple[tuple[Ref, ...], Certainty]:
    """The functions that fit, and how sure that is when more than one does."""
    refs = _without_declarations(resolver, refs)
    if len(refs) < 2:
        return refs, sure
    fitting = tuple(ref for ref in refs if _fits_count(_parameters(resolver, ref), call.count))
    if not fitting:
        return refs, min(sure, Certainty.LIKELY)
    if len(fitting) > 1 and call.count > 0:
        fitting = _by_types(resolver, page, call, fitting)
    return fitting, sure if len(fitting) == 1 else min(sure, Certainty.LIKELY)


def _without_declarations(resolver: Resolver, refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """A declared head stands for the body found elsewhere."""
    if any(resolver.definition(ref).kind == "declaration" for ref in refs):
        bodies = tuple(dict.fromkeys(body for ref in refs for body in resolver.bodies(ref)))
        return bodies or refs
    return refs


def _parameters(resolver: Resolver, ref: Ref) -> list[Variable]:
    page = resolver.page(ref.file)
    return page.parameters.get(ref.at, []) if page else []


def _fits_count(parameters: list[Variable], count: int) -> bool:
    if count < 0:
        return True
    most = len(parameters)
    least = sum(1 for parameter in parameters if not parameter.flag)
    open_ended = any(parameter.flag == "*" for parameter in parameters)
    return least <= count and (open_ended or count <= most)


def _by_types(resolver: Resolver, page: Page, call: Call, refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """The best fit by types; all of those that fit equally well."""
    arguments = argument_texts(call.arguments)
    scores = [(_score(resolver, page, call, arguments, ref), ref) for ref in refs]
    best = max(score for score, _ in scores)
    return tuple(ref for score, ref in scores if score == best) if best > _IMPOSSIBLE else refs


_IMPOSSIBLE = -1


def _score(resolver: Resolver, page: Page, call: Call, arguments: tuple[str, ...], ref: Ref) -> int:
    total = 0
    for text, parameter in zip(arguments, _parameters(resolver, ref), strict=False):
        fit = _fit(resolver, page, call, text, parameter, ref)
        if fit < 0:
            return _IMPOSSIBLE
        total += fit
    return total


def _fit(resolver: Resolver, page: Page, call: Call, text: str, parameter: Variable, ref: Ref) -> int:
    """2 fits as written, 1 may fit by an ancestor, 0 unknown, -1 does not fit."""
    kind = literal_kind(text)
    if kind:
        return 2 if literal_fits(kind, parameter.type) else _IMPOSSIBLE
    written = resolver.written_type(page, call.scope, text)
    if written and written == parameter.type:
        return 2
    other = resolver.page(ref.file)
    given = resolver.expressions.meaning(page, call.scope, text)
    if not isinstance(given, Instance) or not given.refs or other is None:
        return _IMPOSSIBLE if written and _both_plain(written, parameter.type) else 0
    wanted = resolver.types(other, ref.at, parameter.type)
    if not wanted:
        return 0 if len(parameter.type) < 2 else _IMPOSSIBLE
    if set(given.refs) & set(wanted):
        return 2
    above = {base for at in given.refs for base in resolver.ancestors(at)}
    return 1 if above & set(wanted) else _IMPOSSIBLE


def _both_plain(one: str, other: str) -> bool:
    """Two different types of the language itself: no ancestor makes one fit the other."""
    plain = {"int", "long", "short", "byte", "char", "float", "double", "boolean", "bool", "String", "string", "Int",
             "Long", "Double", "Boolean", "Float", "number"}  # fmt: skip
    return one in plain and other in plain
