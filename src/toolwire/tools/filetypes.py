"""What `file_type` of a search means: an extension, a language, `config` or `all` (spec README, "grep_file")."""

from __future__ import annotations

import re

from toolwire.errors import ToolError

_LANGUAGES: dict[str, str] = {
    "bash": "sh bash zsh ksh",
    "c": "c h",
    "c#": "cs csx",
    "c++": "cpp cc cxx hpp hh hxx h ipp inl",
    "clojure": "clj cljs cljc edn",
    "cpp": "cpp cc cxx hpp hh hxx h ipp inl",
    "csharp": "cs csx",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "fsharp": "fs fsi fsx",
    "golang": "go",
    "groovy": "groovy gradle",
    "haskell": "hs lhs",
    "html": "html htm xhtml",
    "javascript": "js jsx mjs cjs",
    "js": "js jsx mjs cjs",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "markdown": "md markdown mdx",
    "notebook": "ipynb",
    "objective-c": "m mm h",
    "objectivec": "m mm h",
    "ocaml": "ml mli",
    "perl": "pl pm t",
    "php": "php phtml",
    "powershell": "ps1 psm1 psd1",
    "protobuf": "proto",
    "python": "py pyi pyw",
    "r": "r R Rmd",
    "ruby": "rb rake gemspec",
    "rust": "rs",
    "scala": "scala sc sbt",
    "shell": "sh bash zsh ksh",
    "sql": "sql",
    "swift": "swift",
    "terraform": "tf tfvars hcl",
    "ts": "ts tsx mts cts",
    "typescript": "ts tsx mts cts",
    "vue": "vue",
    "xml": "xml xsd xsl xslt",
    "yaml": "yaml yml",
}
_CONFIG = (
    "*.json", "*.json5", "*.jsonc", "*.yaml", "*.yml", "*.toml", "*.ini", "*.cfg", "*.conf", "*.config",
    "*.properties", "*.xml", "*.env", ".env", ".env.*", "*.editorconfig", "*.gradle", "*.tf", "*.tfvars",
    "Dockerfile", "Makefile", ".*rc", "*.plist",
)  # fmt: skip
_EXTENSION = re.compile(r"[\w+#-]+(?:\.[\w+#-]+)*")


def globs(file_type: str) -> tuple[str, ...]:
    """Name patterns for a file type; several may be given, with commas between. Empty means every file."""
    found: list[str] = []
    for name in (part.strip() for part in file_type.split(",")):
        if name.lower() in ("", "all", "*", "*.*"):
            return ()
        found.extend(_patterns(name, file_type))
    return tuple(dict.fromkeys(found))


def _patterns(name: str, asked: str) -> tuple[str, ...]:
    if name.lower() == "config":
        return _CONFIG
    extensions = _LANGUAGES.get(name.lower())
    if extensions is not None:
        return tuple(f"*.{extension}" for extension in extensions.split())
    bare = name.removeprefix("*").removeprefix(".")
    if not _EXTENSION.fullmatch(bare):
        raise ToolError("unknown_file_type", file_type=asked, field="file_type")
    # `Java` means the language, `R` the extension as it may be written: either case is looked for.
    return tuple(dict.fromkeys((f"*.{bare}", f"*.{bare.lower()}")))
