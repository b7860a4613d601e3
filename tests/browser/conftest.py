"""Chromium, a project to ask about, and gateways on it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.looks import Looks
from browser.served import Served

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

Serve = Callable[..., Served]
Open = Callable[..., Looks]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs chromium (Debian: apt-get install chromium)")
    # A module at a time: while it runs, Playwright's own event loop is the running one of this thread.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(chromium: Browser) -> Iterator[Looks]:
    """One tab for all tests of a module that need nothing special: a new one costs more than most of them."""
    looks = looks_of(chromium)
    yield looks
    looks.close()


@pytest.fixture
def open_page(chromium: Browser, tab: Looks) -> Iterator[Open]:
    """Opens pages; at the end none of them may have reported an error or a violation of the page's policy."""
    opened: list[Looks] = []

    def open_(address: str, **context: Any) -> Looks:
        looks = looks_of(chromium, **context) if context else tab
        opened.append(looks)
        looks.go(address)
        return looks

    yield open_
    complaints = [complaint for looks in opened for complaint in looks.complaints()]
    for looks in opened:
        looks.leave()
        if looks is not tab:
            looks.close()
    assert complaints == []


def looks_of(chromium: Browser, **context: Any) -> Looks:
    # Without animations: drawing them in software is most of what these tests would cost.
    return Looks(chromium.new_context(reduced_motion="reduce", **context))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    (root / "main.py").write_text('from cart import Cart\n\n\ndef main():\n    cart = Cart()\n    cart.add("tea")\n')
    (root / "cart.py").write_text("class Cart:\n    def add(self, name):\n        self.items.append(name)\n")
    (root / "evil.html").write_text("<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>\n")
    return root


@pytest.fixture(scope="module")
def cellar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cellar")
    (root / "main.py").write_text("BARRELS = 12\n")
    return root


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory, shop: Path) -> Iterator[Serve]:
    """Starts gateways, each with a store of its own; `script` is what its agent does."""
    started: list[Served] = []

    def serve_(script: list[dict[str, Any]] | None = None, **more: Any) -> Served:
        folder = tmp_path_factory.mktemp("gateway")
        agent = "local"
        if script is not None:
            file = folder / "script.json"
            file.write_text(json.dumps({"turns": script}))
            agent = f"script:{file}"
        store = f"sqlite:///{folder}/store.db"
        usual: dict[str, Any] = {
            "projects": {"shop": shop},
            "agent": agent,
            "store": store,
            "log": folder / "log.txt",
        }
        served = Served(**(usual | more))
        started.append(served)
        served.start()
        return served

    yield serve_
    for served in started:
        served.stop()
        sys.stderr.write(served.log.read_text())  # pytest shows it with a test that has failed
