"""The languages, as data: where their grammar is, what their names look like, who sees whom without an import.

The engine knows no language by name. What differs between languages stands in a row here or in its query file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Visibility = Literal["file", "package", "global"]
"""Who sees a name without importing it: its own file, every file of its package, or everybody."""
Modules = Literal["path", "package", "folder"]
"""What names a file's module: its path, the package it declares, or the folder it is in."""


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    extensions: tuple[str, ...]
    grammar: str
    """Module of the grammar's wheel and the function in it that gives the grammar."""
    query: str
    """Stem of the query file; several, with spaces, are read one after another."""
    family: str
    """Languages of one family may call each other."""
    visibility: Visibility
    modules: Modules
    members: tuple[str, ...] = (".",)
    """What stands between a receiver and its member; longer ones first."""
    separator: str = "."
    """What separates the parts of a qualified name in imports and types."""
    self_names: frozenset[str] = frozenset({"this"})
    super_names: frozenset[str] = frozenset({"super"})
    implicit_self: bool = True
    """A bare call may reach a method of the enclosing type."""
    function_values: bool = True
    """A variable may hold a function, so a variable hides a function of its name."""
    nested_packages: bool = False
    """A package sees the names of the packages around it."""
    overloads: bool = False
    """Several functions of one name are told apart by their parameters."""
    constructors: frozenset[str] = frozenset()
    """Names a constructor has, where they are fixed."""
    type_named_constructor: bool = False
    """A method with the name of its type builds it."""
    inherits_constructors: bool = False
    """A type without a constructor is built by the one above it."""
    includes: bool = False
    """Imports name files, and make what stands in them visible."""
    structural: bool = False
    """A type that has the methods of an interface is below it without saying so."""
    construct: str = ""
    """The member that builds an instance when it is called on a type (Ruby's `new`)."""
    index_names: frozenset[str] = frozenset()
    """File stems that stand for their folder."""
    relative: Literal["", "dots", "path"] = ""
    """How an import says "from here": leading dots, or a path that begins with a dot."""
    roots: frozenset[str] = frozenset()
    """Leading parts of a module path that mean "the top of this project"."""
    here: frozenset[str] = frozenset()
    """Leading parts that mean "this module"."""
    above: frozenset[str] = frozenset()
    """Leading parts that mean "the module above"."""
    binds: Literal["whole", "last"] = "whole"
    """The name a bare module import gives in its file: the module as written, or its last part."""
    wrappers: frozenset[str] = frozenset()
    """Generic types that stand for what they wrap when a member is looked up."""
    leads: tuple[str, ...] = ("//", "/*", "*", "@")
    """How lines begin that belong to the definition under them: comments, annotations."""


_TYPESCRIPT = Language(
    name="typescript",
    extensions=(".ts", ".mts", ".cts"),
    grammar="tree_sitter_typescript:language_typescript",
    query="typescript",
    family="javascript",
    visibility="file",
    modules="path",
    members=("?.", "."),
    implicit_self=False,
    overloads=True,
    constructors=frozenset({"constructor"}),
    inherits_constructors=True,
    index_names=frozenset({"index"}),
    relative="path",
    wrappers=frozenset({"Promise", "Readonly", "Partial", "Required", "NonNullable"}),
)

LANGUAGES: tuple[Language, ...] = (
    Language(
        name="java",
        extensions=(".java",),
        grammar="tree_sitter_java:language",
        query="java",
        family="jvm",
        visibility="package",
        modules="package",
        members=("::", "."),
        function_values=False,
        overloads=True,
    ),
    Language(
        name="kotlin",
        extensions=(".kt", ".kts"),
        grammar="tree_sitter_kotlin:language",
        query="kotlin",
        family="jvm",
        visibility="package",
        modules="package",
        members=("?.", "::", "."),
        function_values=False,
        overloads=True,
        constructors=frozenset({"constructor"}),
    ),
    Language(
        name="scala",
        extensions=(".scala", ".sc"),
        grammar="tree_sitter_scala:language",
        query="scala",
        family="jvm",
        visibility="package",
        modules="package",
        nested_packages=True,
        function_values=False,
        overloads=True,
    ),
    Language(
        name="python",
        extensions=(".py", ".pyi"),
        grammar="tree_sitter_python:language",
        query="python",
        family="python",
        visibility="file",
        modules="path",
        self_names=frozenset({"self", "cls"}),
        super_names=frozenset({"super()"}),
        implicit_self=False,
        constructors=frozenset({"__init__", "__new__"}),
        inherits_constructors=True,
        index_names=frozenset({"__init__"}),
        relative="dots",
        wrappers=frozenset({"Optional", "Final", "ClassVar", "Annotated", "Type", "type", "Awaitable"}),
        leads=("#", "@"),
    ),
    _TYPESCRIPT,
    replace(
        _TYPESCRIPT,
        name="tsx",
        extensions=(".tsx",),
        grammar="tree_sitter_typescript:language_tsx",
        query="typescript jsx",
    ),
    Language(
        name="javascript",
        extensions=(".js", ".mjs", ".cjs", ".jsx"),
        grammar="tree_sitter_javascript:language",
        query="javascript jsx",
        family="javascript",
        visibility="file",
        modules="path",
        members=("?.", "."),
        implicit_self=False,
        constructors=frozenset({"constructor"}),
        inherits_constructors=True,
        index_names=frozenset({"index"}),
        relative="path",
    ),
    Language(
        name="go",
        extensions=(".go",),
        grammar="tree_sitter_go:language",
        query="go",
        family="go",
        visibility="package",
        modules="folder",
        separator="/",
        self_names=frozenset(),
        super_names=frozenset(),
        implicit_self=False,
        binds="last",
        structural=True,
        leads=("//",),
    ),
    Language(
        name="rust",
        extensions=(".rs",),
        grammar="tree_sitter_rust:language",
        query="rust",
        family="rust",
        visibility="file",
        modules="path",
        members=("::", "."),
        separator="::",
        self_names=frozenset({"self", "Self"}),
        super_names=frozenset(),
        implicit_self=False,
        index_names=frozenset({"mod", "lib", "main"}),
        roots=frozenset({"crate"}),
        here=frozenset({"self"}),
        above=frozenset({"super"}),
        wrappers=frozenset(
            {"Box", "Rc", "Arc", "Option", "Result", "RefCell", "Cell", "Mutex", "RwLock", "Pin", "Cow"}
        ),
        leads=("//", "#["),
    ),
    Language(
        name="c",
        extensions=(".c", ".h"),
        grammar="tree_sitter_c:language",
        query="c",
        family="c",
        visibility="global",
        modules="package",
        members=("->", "."),
        self_names=frozenset(),
        super_names=frozenset(),
        implicit_self=False,
        relative="path",
        includes=True,
    ),
    Language(
        name="cpp",
        extensions=(".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".ipp"),
        grammar="tree_sitter_cpp:language",
        query="cpp",
        family="c",
        visibility="global",
        modules="package",
        members=("->", "::", "."),
        separator="::",
        super_names=frozenset(),
        nested_packages=True,
        overloads=True,
        type_named_constructor=True,
        relative="path",
        includes=True,
        wrappers=frozenset({"unique_ptr", "shared_ptr", "weak_ptr", "optional", "reference_wrapper"}),
        leads=("//", "/*", "*", "template", "[["),
    ),
    Language(
        name="csharp",
        extensions=(".cs",),
        grammar="tree_sitter_c_sharp:language",
        query="csharp",
        family="csharp",
        visibility="package",
        modules="package",
        members=("?.", "."),
        super_names=frozenset({"base"}),
        nested_packages=True,
        function_values=False,
        overloads=True,
        wrappers=frozenset({"Task", "ValueTask", "Nullable", "Lazy"}),
        leads=("//", "/*", "*", "["),
    ),
    Language(
        name="php",
        extensions=(".php",),
        grammar="tree_sitter_php:language_php",
        query="php",
        family="php",
        visibility="package",
        modules="package",
        members=("?->", "->", "::"),
        separator="\\",
        self_names=frozenset({"$this", "self", "static"}),
        super_names=frozenset({"parent"}),
        implicit_self=False,
        function_values=False,
        constructors=frozenset({"__construct"}),
        inherits_constructors=True,
        leads=("//", "/*", "*", "#"),
    ),
    Language(
        name="ruby",
        extensions=(".rb", ".rake"),
        grammar="tree_sitter_ruby:language",
        query="ruby",
        family="ruby",
        visibility="global",
        modules="package",
        members=("&.", "::", "."),
        separator="::",
        self_names=frozenset({"self"}),
        nested_packages=True,
        function_values=False,
        constructors=frozenset({"initialize"}),
        inherits_constructors=True,
        construct="new",
        leads=("#",),
    ),
)

BY_NAME: dict[str, Language] = {language.name: language for language in LANGUAGES}
_BY_EXTENSION: dict[str, Language] = {
    extension: language for language in LANGUAGES for extension in language.extensions
}
EXTENSIONS: tuple[str, ...] = tuple(_BY_EXTENSION)


def language_of(path: str) -> Language | None:
    """The language of a file, by its extension."""
    dot = path.rfind(".")
    return _BY_EXTENSION.get(path[dot:].lower()) if dot > 0 else None
