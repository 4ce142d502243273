"""Players of the deal of the day who have no browser: they find out what is dealt, and win.

They speak to the server as any program may, with the cookie of somebody whose browser looks on, if need be.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from playwright.sync_api import BrowserContext

from heartroom.client import COOKIE, Client
from heartroom.games.heart_to_heart.solver import fewest_moves

Action = list[Any]

_HEART, _STOCK, _TOP, _RANKS = 25, 26, 27, 16
"""Fields of the view, see docs/protocol.md; free cards are numbered after the covered ones."""

T = TypeVar("T")


class Guest:
    """Somebody who plays by program."""

    def __init__(self, url: str, cookie: str | None = None) -> None:
        self.url: Final = url
        self.cookie = cookie

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """What the HTTP API answers, or its refusal, `{"code": …}`. With a `body` it is a *POST*."""
        headers = {"Origin": self.url, "Content-Type": "application/json"}
        if self.cookie is not None:
            headers["Cookie"] = f"{COOKIE}={self.cookie}"
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(self.url + path, data, headers)) as response:
                return json.load(response)
        except HTTPError as refused:
            return json.load(refused)

    def arrive(self, name: str = "") -> None:
        """Becomes somebody, with this name."""

        async def arrive(client: Client) -> None:
            self.cookie = client.cookie or self.cookie
            if name:
                await client.rename(name)

        self._connected(arrive)

    def start(self) -> str:
        """Begins the ranked attempt of today, or finds it."""
        if self.cookie is None:
            self.arrive()
        return str(self.ask("/api/daily/start", {})["session"])

    def win(self, actions: list[Action]) -> str:
        """Wins the attempt by these actions, if nothing has been done in it."""
        session = self.start()

        async def win(client: Client) -> None:
            await client.join(session)
            await asyncio.gather(*(client.act(*action) for action in actions))  # they are sent in this order

        self._connected(win)
        return session

    def find_out(self) -> list[Action]:
        """The fewest actions that win today's deal: draws the whole stock in an attempt, and thinks."""
        session = self.start()

        async def cards(client: Client) -> list[int]:
            await client.join(session)
            view = client.table.view
            heart = [value % _RANKS for value in view[:_HEART]]
            discard = view[_TOP]
            stock = []
            for _ in range(_STOCK):
                await client.act("draw")
                stock.append(client.table.view[_TOP])
            return [*heart, *stock, discard]

        return [list(action) for action in fewest_moves(self._connected(cards)).moves]

    def _connected(self, do: Callable[[Client], Awaitable[T]]) -> T:
        async def connected() -> T:
            async with await Client.connect(self.url.replace("http", "ws", 1), self.cookie) as client:
                return await do(client)

        # the browser's driver keeps an event loop in the thread of the tests
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(connected())).result()

    def sits_at(self, context: BrowserContext) -> None:
        """Is the player of a browser from now on."""
        assert self.cookie is not None
        context.add_cookies([{"name": COOKIE, "value": self.cookie, "url": self.url, "httpOnly": True}])


def behind(context: BrowserContext, url: str) -> Guest:
    """The player of a browser, once it has opened a page."""
    (cookie,) = [cookie["value"] for cookie in context.cookies(url) if cookie["name"] == COOKIE]
    return Guest(url, cookie)
