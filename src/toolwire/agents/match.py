"""Finding a pattern in a prompt without the risk of hanging on it.

Python's own engine backtracks, so one unlucky prompt could hold the whole gateway. Rust's regex engine, which comes
inside pydantic-core, takes linear time. A pattern it can't do (look-around, back-references) is the script author's
choice: it goes to Python's engine, on a bounded prefix of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic_core import SchemaError, SchemaValidator, core_schema


def compile_match(pattern: str, prefix: int) -> Callable[[str], bool]:
    """A function that says whether the pattern is found anywhere in a prompt, as `re.search` would."""
    schema = core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")
    try:
        found = SchemaValidator(schema).isinstance_python
    except SchemaError:
        search = re.compile(pattern).search
        return lambda prompt: search(prompt, 0, prefix) is not None
    # Python's `$` also stands before a last newline.
    return lambda prompt: found(prompt) or (prompt.endswith("\n") and found(prompt[:-1]))
