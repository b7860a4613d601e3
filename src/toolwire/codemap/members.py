"""Members of types: their own, those added elsewhere, those of the types they extend; and who extends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire.codemap.library import Page, Ref
from toolwire.codemap.meaning import OUTSIDE, Instance, Meaning, Things, united
from toolwire.codemap.reading import split_type, type_names
from toolwire.codemap.sheet import TYPE_KINDS
from toolwire.codemap.shelf import DefinitionRow

if TYPE_CHECKING:
    from toolwire.codemap.resolver import Resolver

_DEEPEST = 32
"""Longest line of ancestors followed; a longer one is a cycle."""


class Members:
    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def of_types(self, types: tuple[Ref, ...], name: str, *, values: bool = True) -> Meaning | None:
        """OUTSIDE if the types are known and have no such member: then a foreign ancestor has it."""
        if not types:
            return None
        found = [self.of_type(ref, name, values) for ref in types]
        return united([meaning for meaning in found if meaning is not None]) or OUTSIDE

    def of_type(self, ref: Ref, name: str, values: bool = True) -> Meaning | None:
        """The nearest definition of the member, going up the ancestors breadth first."""
        level, seen = [ref], {ref}
        for _ in range(_DEEPEST):
            here = [meaning for at in level if (meaning := self._own(at, name, values)) is not None]
            if here:
                return united(here) if len(here) > 1 else here[0]
            above = [base for at in level for base in self.bases(at)]
            level = [base for base in dict.fromkeys(above) if base not in seen]
            seen.update(level)
            if not level:
                return None
        return None

    def _own(self, ref: Ref, name: str, values: bool) -> Meaning | None:
        page = self._resolver.page(ref.file)
        if page is None:
            return None
        rows = self.rows(ref, name)
        if rows:
            return Things(tuple(Ref(row.file, row.at) for row in rows))
        if not values:
            return None
        for other in self.same(ref):
            holder = self._resolver.page(other.file)
            fields = holder.variables.get((other.at, name)) if holder else None
            if holder is not None and fields:
                if holder.definitions[other.at].kind == "enum" and not any(f.type or f.value for f in fields):
                    return Instance((ref,))
                return self._resolver.names.of_variables(holder, fields)
            for item in holder.imports.get(name, ()) if holder else ():
                if holder is not None and item.scope == other.at:
                    return self._resolver.names.of_import(holder, item) or OUTSIDE
        return None

    def rows(self, ref: Ref, name: str) -> list[DefinitionRow]:
        """Definitions of that name inside the type, wherever they are written."""
        page = self._resolver.page(ref.file)
        if page is None:
            return []
        family = page.language.family
        own = self._resolver.definitions_in(name, page.qualified(ref.at))
        found = [row for row in own if row.kind != "impl" and self._family(row) == family]
        for row in self._resolver.definitions_added(name, page.definitions[ref.at].name):
            if row not in found and self._added_to(row, ref):
                found.append(row)
        return found

    def _added_to(self, row: DefinitionRow, ref: Ref) -> bool:
        """Written outside the type, in an `impl` or with the type in front of its name."""
        page = self._resolver.page(row.file)
        if page is None:
            return False
        definition = page.definitions[row.at]
        if definition.owner:
            return ref in self._resolver.owner_types(page, row.at)
        parent = definition.parent
        if parent >= 0 and page.definitions[parent].kind == "impl":
            return ref in self._resolver.own_types(page, parent)
        return False

    def _family(self, row: DefinitionRow) -> str:
        page = self._resolver.page(row.file)
        return page.language.family if page else ""

    def same(self, ref: Ref) -> tuple[Ref, ...]:
        """The parts of a type that is written in several places."""
        return self._resolver.remember(("same", ref), lambda: self._same(ref), (ref,))

    def _same(self, ref: Ref) -> tuple[Ref, ...]:
        page = self._resolver.page(ref.file)
        if page is None:
            return (ref,)
        place = page.qualified(ref.at).rpartition(".")[0]
        rows = self._resolver.definitions_in(page.definitions[ref.at].name, place)
        parts = (
            Ref(row.file, row.at)
            for row in rows
            if row.kind in TYPE_KINDS and row.kind != "impl" and self._family(row) == page.language.family
        )
        return tuple(dict.fromkeys((ref, *parts)))

    # Up and down

    def bases(self, ref: Ref) -> tuple[Ref, ...]:
        return self._resolver.remember(("bases", ref), lambda: self._bases(ref), ())

    def _bases(self, ref: Ref) -> tuple[Ref, ...]:
        found: list[Ref] = []
        for part in self.same(ref):
            page = self._resolver.page(part.file)
            if page is None:
                continue
            for text in page.bases.get(part.at, ()):
                found.extend(self._resolver.types(page, page.definitions[part.at].parent, text))
        found.extend(self._impl_bases(ref))
        return tuple(base for base in dict.fromkeys(found) if base != ref)

    def _impl_bases(self, ref: Ref) -> list[Ref]:
        page = self._resolver.page(ref.file)
        if page is None:
            return []
        found: list[Ref] = []
        for row in self._resolver.definitions(page.definitions[ref.at].name):
            holder = self._resolver.page(row.file) if row.kind == "impl" else None
            if holder is None or ref not in self._resolver.own_types(holder, row.at):
                continue
            for text in holder.bases.get(row.at, ()):
                found.extend(self._resolver.types(holder, holder.definitions[row.at].parent, text))
        return found

    def subtypes(self, ref: Ref) -> tuple[Ref, ...]:
        """All types below, however deep."""
        found: dict[Ref, None] = {}
        level = [ref]
        for _ in range(_DEEPEST):
            below = [sub for at in level for sub in self._direct_subtypes(at) if sub not in found and sub != ref]
            level = list(dict.fromkeys(below))
            found.update(dict.fromkeys(level))
            if not level:
                break
        return tuple(found)

    def _direct_subtypes(self, ref: Ref) -> tuple[Ref, ...]:
        return self._resolver.remember(("subtypes", ref), lambda: self._find_subtypes(ref), ())

    def _find_subtypes(self, ref: Ref) -> tuple[Ref, ...]:
        page = self._resolver.page(ref.file)
        if page is None:
            return ()
        name = page.definitions[ref.at].name
        shelf = self._resolver.library.shelf
        files = {(file, name) for file in shelf.extending(name)}
        for file, local in shelf.renaming(name):
            files.add((file, local))
        found: list[Ref] = []
        for file, spelled in sorted(files):
            holder = self._resolver.page(file)
            if holder is not None and holder.language.family == page.language.family:
                found.extend(self._extending(holder, spelled, ref))
        if page.language.structural and page.definitions[ref.at].kind == "interface":
            found.extend(self._satisfying(page, ref))
        return tuple(dict.fromkeys(found))

    def _satisfying(self, page: Page, ref: Ref) -> list[Ref]:
        """Types that have every method of an interface."""
        wanted = [
            name for name, at in page.children.get(ref.at, {}).items() if page.definitions[at[0]].kind == "method"
        ]
        if not wanted:
            return []
        first = [row for row in self._resolver.definitions(wanted[0]) if row.added]
        holders = [(holder, row.at) for row in first if (holder := self._resolver.page(row.file)) is not None]
        types = dict.fromkeys(own for holder, at in holders for own in self._resolver.owner_types(holder, at))
        return [own for own in types if all(self.of_type(own, name, values=False) for name in wanted)]

    def _extending(self, page: Page, spelled: str, ref: Ref) -> list[Ref]:
        found: list[Ref] = []
        for scope, texts in page.bases.items():
            if scope < 0 or not any(split_type(text, page.language.separator)[1] == spelled for text in texts):
                continue
            for own in self._resolver.own_types(page, scope):
                if ref in self.bases(own):
                    found.append(own)
        return found

    def foreign_ancestor(self, ref: Ref) -> bool:
        """True if a type above is not of this project, so that members may come from there."""
        seen, level = {ref}, [ref]
        while level:
            at = level.pop()
            page = self._resolver.page(at.file)
            if page is None:
                return True
            for text in page.bases.get(at.at, ()):
                for name in type_names(text, page.language.wrappers):
                    if not self._resolver.types(page, page.definitions[at.at].parent, name):
                        return True
            for base in self.bases(at):
                if base not in seen:
                    seen.add(base)
                    level.append(base)
        return False
