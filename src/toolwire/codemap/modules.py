"""What a file's module is called, and which module an import means."""

from __future__ import annotations

from dataclasses import dataclass

from toolwire.codemap.languages import EXTENSIONS, Language
from toolwire.codemap.sheet import NOWHERE, Definition, Sheet


def module_of(path: str, language: Language, package: str) -> str:
    """The dotted name under which a file's definitions are known."""
    if language.modules == "package":
        return package
    folder, _, name = path.rpartition("/")
    if language.modules == "folder":
        return _folder(folder)
    stem = _stem(name)
    parts = [part.replace(".", "_") for part in folder.split("/") if part]
    if stem not in language.index_names:
        parts.append(stem)
    return ".".join(parts)


def scope_name(module: str, sheet: Sheet, index: int) -> str:
    """The dotted name of the place a definition is in: its module, then the definitions around it."""
    definition = sheet.definitions[index]
    parts: list[str] = []
    if definition.owner:
        parts.append(definition.owner.replace("::", "."))
    parent = definition.parent
    while parent != NOWHERE:
        above = sheet.definitions[parent]
        parts.append(above.name)
        if above.owner:
            parts.append(above.owner.replace("::", "."))
        parent = above.parent
    if module:
        parts.append(module)
    return ".".join(reversed(parts))


def qualified(module: str, sheet: Sheet, index: int) -> str:
    place = scope_name(module, sheet, index)
    name = sheet.definitions[index].name
    return f"{place}.{name}" if place else name


def is_added(sheet: Sheet, definition: Definition) -> bool:
    """Whether a member is written outside its type: in an `impl`, or with the type in front of its name."""
    parent = definition.parent
    return bool(definition.owner) or (parent != NOWHERE and sheet.definitions[parent].kind == "impl")


@dataclass(frozen=True, slots=True)
class Target:
    """The module an import names. `anchored`: its place in the project is known, not only its last parts."""

    parts: tuple[str, ...]
    anchored: bool

    def matches(self, place: str) -> int:
        """How many trailing parts agree; 0 if `place` is another module."""
        parts = place.split(".") if place else []
        if self.anchored:
            return len(parts) + 1 if tuple(parts) == self.parts else 0
        agree = 0
        for mine, theirs in zip(reversed(self.parts), reversed(parts), strict=False):
            if mine != theirs:
                break
            agree += 1
        return agree if agree and agree in (len(self.parts), len(parts)) else 0

    def child(self, name: str) -> Target:
        return Target((*self.parts, name), self.anchored)

    @property
    def last(self) -> str:
        return self.parts[-1] if self.parts else ""


def target_of(module: str, path: str, own_module: str, language: Language) -> Target:
    """The module that `module`, as an import in the file `path` writes it, means."""
    if language.relative == "path" and ("/" in module or "." in module):
        return _by_path(module, path, language)
    if language.relative == "dots" and module.startswith("."):
        return _by_dots(module, path, own_module, language)
    parts = [part for part in module.split(".") if part]
    own = own_module.split(".") if own_module else []
    if parts and parts[0] in language.roots:
        return Target(tuple(parts[1:]), anchored=False)
    if parts and (parts[0] in language.here or parts[0] in language.above):
        while parts and (parts[0] in language.here or parts[0] in language.above):
            if parts[0] in language.above:
                own = own[:-1]
            parts = parts[1:]
        return Target((*own, *parts), anchored=True)
    return Target(tuple(parts), anchored=language.modules == "package")


def _by_path(module: str, path: str, language: Language) -> Target:
    relative = module.startswith(".") or language.visibility == "global"
    folder = path.split("/")[:-1] if relative else []
    for part in module.split("/"):
        if part == "..":
            folder = folder[:-1]
        elif part not in ("", ".", "@", "~"):
            folder.append(part)
    folder = [part.replace(".", "_") for part in folder[:-1]] + folder[-1:]
    if folder:
        stem = _stem(folder[-1])
        folder = folder[:-1] if stem in language.index_names else [*folder[:-1], stem]
    return Target(tuple(folder), anchored=module.startswith("."))


def _by_dots(module: str, path: str, own_module: str, language: Language) -> Target:
    parts = own_module.split(".") if own_module else []
    up = len(module) - len(module.lstrip("."))
    if _stem(path.rpartition("/")[2]) in language.index_names:
        up -= 1
    parts = parts[: len(parts) - up] if up else parts
    return Target((*parts, *(part for part in module.split(".") if part)), anchored=True)


def _stem(name: str) -> str:
    """A file's name without its extension. Dots that are left are no separators."""
    dot = name.rfind(".")
    stem = name[:dot] if dot > 0 and name[dot:].lower() in EXTENSIONS else name
    return stem.replace(".", "_")


def _folder(path: str) -> str:
    return path.replace(".", "_").replace("/", ".")
