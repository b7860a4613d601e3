"""The documentation says what is there."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_of_settings_is_up_to_date() -> None:
    page = runpy.run_path(str(ROOT / "scripts" / "settings_page.py"))["page"]
    kept = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert kept == page(), "run: python scripts/settings_page.py > docs/settings.md"


def test_the_readme_names_both_commands_and_its_links_lead_somewhere() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make run" in readme
    assert "make test" in readme
    for part in readme.split("](")[1:]:
        target = part.partition(")")[0]
        assert (ROOT / target).exists(), target
