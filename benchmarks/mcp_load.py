"""The load for FastMCP, with its own client: `python benchmarks/mcp_load.py PORT CLIENTS COUNT`."""

from __future__ import annotations

import asyncio
import json
import sys
import time

from fastmcp import Client


async def main(port: int, clients: int, count: int) -> dict[str, float]:
    async def one() -> None:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            await ready.put(client)
            await start.wait()
            for _ in range(count):
                await client.call_tool("read_file", {"path": "src/main.py"})

    ready: asyncio.Queue[object] = asyncio.Queue()
    start = asyncio.Event()
    tasks = [asyncio.create_task(one()) for _ in range(clients)]
    for _ in range(clients):
        await ready.get()
    began = time.perf_counter()
    start.set()
    await asyncio.gather(*tasks)
    return {"seconds": time.perf_counter() - began, "count": clients * count}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*map(int, sys.argv[1:])))))
