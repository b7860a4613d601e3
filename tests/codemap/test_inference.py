"""What an untyped value is: read off calls, defaults, chained assignments and imports in odd places."""

from __future__ import annotations

import pytest

from codemap.conftest import Project
from toolwire.codemap.codemap import Codemap

LIBRARY = """
class Store:
    def save(self): pass

class Other:
    def save(self): pass

DEFAULT = Store()
"""


def callers(codemap: Codemap, owner: str, name: str = "save") -> dict[str, str]:
    """Who calls it, and how surely; what is known by name only is left out."""
    (target,) = codemap.functions(name, owner)
    edges = codemap.edges(target, "callers")
    return {edge.caller.title: edge.certainty for edge in edges if edge.certainty != "name only"}


@pytest.mark.parametrize(
    ("code", "caller", "certainty"),
    [
        # The object itself handed to what it makes.
        (
            "from library import Store\n"
            "class Window(Store):\n    def open(self):\n        Panel(self, 1)\n"
            "class Panel:\n    def __init__(self, owner, size):\n        self.owner = owner\n"
            "    def close(self):\n        self.owner.save()\n",
            "Panel.close",
            "likely",
        ),
        # The receiver written out, which is no argument.
        (
            "from library import Store\n"
            "class Base:\n    def __init__(self, store):\n        self.store = store\n"
            "    def close(self):\n        self.store.save()\n"
            "class Sub(Base):\n    def __init__(self):\n        Base.__init__(self, Store())\n",
            "Base.close",
            "likely",
        ),
        # Set together with another name.
        (
            "from library import Store\n"
            "class Window:\n    def open(self):\n        self.store = store = Store()\n"
            "    def close(self):\n        self.store.save()\n",
            "Window.close",
            "exact",
        ),
        # Imported into the class.
        (
            "class Window:\n    from library import Store\n    def open(self):\n        self.store = self.Store()\n"
            "    def close(self):\n        self.store.save()\n",
            "Window.close",
            "exact",
        ),
        # What it is where nothing is passed, also beside what is.
        ("from library import DEFAULT\ndef close(store=DEFAULT):\n    store.save()\n", "close", "likely"),
        (
            "from library import Store\ndef close(store=None):\n    store.save()\n\nclose(Store())\n",
            "close",
            "likely",
        ),
        # Through several hands.
        (
            "from library import Store\n"
            "def first():\n    second(Store())\n"
            "def second(s):\n    third(s)\n"
            "def third(s):\n    fourth(s)\n"
            "def fourth(s):\n    s.save()\n",
            "fourth",
            "likely",
        ),
    ],
)
def test_the_type_of_an_untyped_value_is_found(project: Project, code: str, caller: str, certainty: str) -> None:
    _, codemap = project({"library.py": LIBRARY, "app.py": code})
    assert callers(codemap, "Store") == {caller: certainty}
    assert callers(codemap, "Other") == {}


def test_a_name_that_is_imported_or_else_defined_means_either(project: Project) -> None:
    fallback = (
        "try:\n    from library import save\nexcept ImportError:\n    def save(): pass\n\ndef use():\n    save()\n"
    )
    _, codemap = project({"library.py": "def save(): pass\n", "app.py": fallback})
    for symbol in codemap.functions("save"):
        edges = codemap.edges(symbol, "callers")
        assert [(edge.caller.title, edge.certainty) for edge in edges] == [("use", "likely")], symbol.path
