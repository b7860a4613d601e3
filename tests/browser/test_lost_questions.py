"""A question sent just before the connection broke is asked once, whether it had arrived or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import WebSocketRoute, expect

from browser.conftest import Open, Serve
from browser.looks import Looks
from browser.served import Served

SAYS: list[dict[str, Any]] = [{"steps": [{"say": "Heard."}]}]
Break = Callable[[WebSocketRoute], None]


@pytest.fixture(scope="module")
def gateway(serve: Serve) -> Served:
    return serve(SAYS)


def break_first(page: Looks, how: Break) -> None:
    """Let the first connection break in some way; the ones after it work."""
    seen: list[WebSocketRoute] = []

    def route(socket: WebSocketRoute) -> None:
        seen.append(socket)
        if len(seen) == 1:
            how(socket)
        else:
            socket.connect_to_server()

    page.page.route_web_socket("**/ws/**", route)


def after_it_arrived(socket: WebSocketRoute) -> None:
    server = socket.connect_to_server()
    server.on_message(lambda _: socket.close(code=3001))  # whatever the gateway says first, the page never hears it
    socket.on_message(server.send)


def before_it_arrived(socket: WebSocketRoute) -> None:
    socket.connect_to_server()
    socket.on_message(lambda _: socket.close(code=3001))


@pytest.mark.parametrize("how", [after_it_arrived, before_it_arrived])
def test_a_question_is_asked_once(gateway: Served, open_page: Open, how: Break) -> None:
    page = open_page(gateway.url, viewport={"width": 1000, "height": 700})
    break_first(page, how)
    page.page.reload()
    page.ask("once, please")
    page.expect_turn(0, "completed")
    expect(page.page.locator("article.turn")).to_have_count(1)
    page.page.reload()
    page.expect_turn(0, "completed")
    expect(page.page.locator("article.turn")).to_have_count(1)
