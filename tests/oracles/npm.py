"""Packages of npm that tests measure us by, installed into the cache on first use."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2] / ".cache" / "node"


def installed(package: str, version: str) -> Path:
    """The package's folder. Skips the test where node is missing."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip(f"node and npm are not installed, and npm's {package} is needed here")
    home = HOME / package
    place = home / "node_modules" / package
    if not (place / "package.json").is_file():
        home.mkdir(parents=True, exist_ok=True)
        options = ["--no-save", "--no-audit", "--no-fund", "--silent", "--prefix", str(home)]
        subprocess.run(["npm", "install", *options, f"{package}@{version}"], check=True, timeout=180)
    return place
