"""A process that ends with an error while its store is open."""

from __future__ import annotations

import asyncio
import sys

from toolwire.store import open_store


async def main(url: str) -> None:
    store = open_store(url)
    await store.start()
    await store.open_session("", "s", epoch="e", now=1)
    await store.sessions()
    raise SystemExit(7)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
