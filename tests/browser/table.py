"""The table of Heart to Heart as a test sees it in the page, by the hooks that the client's game names.

Reads and waits; what it is to show is said by the tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final, Self

import msgspec
from playwright.sync_api import Locator, Page, WebSocket, expect

CODE: Final = "HH1-N-AAAAAAM"
"""The deal of the example: the tip is a four, and so is the ninth card drawn. 25 ≠ the discard's ace."""
PAIRS_AT_ONCE: Final = "HH1-N-AAAAAJW"
"""The tip and the discard are aces, the two cards above are eights."""
STUCK_AFTER_ONE: Final = "HH1-N-AAAAB2F"
"""The tip and the discard are a pair; after it there is none."""
STUCK_AT_ONCE: Final = "HH1-N-AAAAAAA"

PATIENCE_MS: Final = 20_000
"""How long anything that must happen may take. Only a test that fails waits so long."""

TIP: Final = 25
DISCARD: Final = 0
STOCK: Final = -1

PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
DESKTOP: Final[dict[str, Any]] = {"viewport": {"width": 1280, "height": 800}}

Action = list[Any]

ARROWS: Final = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, -1), "ArrowDown": (0, 1)}

_AT_VERSION = "(version) => document.querySelector('[data-role=table]')?.dataset.version === version"

_SEEN = """() => {
  const of = (element, ...names) => names.map((name) => element.dataset[name] ?? null);
  const text = (role) => document.querySelector(`[data-role="info-${role}"]`).textContent;
  const spots = [...document.querySelectorAll('[data-place]')];
  return {
    table: of(document.querySelector('[data-role="table"]'), 'version', 'status'),
    places: Object.fromEntries(spots.map((spot) => [spot.dataset.place, of(spot, 'rank', 'state')])),
    stock: of(document.querySelector('[data-role="stock"]'), 'count', 'state'),
    discard: of(document.querySelector('[data-role="discard"]'), 'count'),
    info: [text('score'), text('moves'), text('code')],
  };
}"""

_WHERE = """(goal) => {
  const at = document.activeElement;
  const spot = at.closest('[data-role="table"] .spot');
  if (!spot) return null;
  const place = (s) => s.dataset.role === 'stock' ? -1 : Number(s.dataset.place);
  const target = goal < 0 ? '[data-role="stock"]' : `[data-place="${goal}"]`;
  const [a, b] = [spot, document.querySelector(target)].map((s) => s.getBoundingClientRect());
  return [place(spot), b.x - a.x, b.y - a.y];
}"""


_PLAY = """async ([actions, patience]) => {
  const table = document.querySelector('[data-role="table"]');
  let version = Number(table.dataset.version);
  const settled = () => new Promise((done, fail) => {
    const notices = () => [...document.querySelectorAll('.toast, [data-role="banner"]')];
    const said = () => notices().map((each) => each.textContent).join(' / ');
    const deadline = performance.now() + patience;
    const look = () => {
      if (Number(table.dataset.version) === version) done();
      else if (performance.now() < deadline) setTimeout(look);
      else fail(new Error(`at ${table.dataset.version} and not ${version}; said: ${said()}`));
    };
    look();
  });
  for (const [verb, ...places] of actions) {
    if (verb === 'pair') await settled();
    const cards = places.map((place) => `[data-place="${place}"]`);
    const tapped = verb === 'pair' ? cards : ['[data-role="stock"]'];
    for (const spot of tapped) table.querySelector(spot).click();
    version += 1;
    if (verb === 'pair') await settled();
  }
  await settled();
}"""


def example() -> list[Action]:
    """The actions of the recorded game that the house shows, a won one."""
    folder = files("heartroom.games.heart_to_heart") / "examples"
    _, *lines = (folder / f"{CODE}.jsonl").read_text().splitlines()
    return [json.loads(line)["action"] for line in lines]


class HeartTable:
    """A table in a page."""

    def __init__(self, page: Page) -> None:
        self.page: Final = page
        self.root: Final = page.locator('[data-role="table"]')
        self.stock: Final = page.locator('[data-role="stock"]')
        self.discard: Final = page.locator('[data-role="discard"]')
        self.undo: Final = page.locator('[data-role="undo"]')

    def place(self, place: int) -> Locator:
        """A card of the heart (1 … 25), `DISCARD` or `STOCK`."""
        return self.stock if place == STOCK else self.page.locator(f'[data-place="{place}"]')

    def info(self, role: str) -> Locator:
        return self.page.locator(f'[data-role="info-{role}"]')

    def dialog(self, role: str) -> Locator:
        return self.page.locator(f'[data-dialog="{role}"]')

    def toast(self, kind: str) -> Locator:
        return self.page.locator(f'.toast[data-kind="{kind}"]')

    def version(self, version: int) -> Self:
        """Waits until the server has told of the action that made this version."""
        self.page.wait_for_function(_AT_VERSION, arg=str(version))
        return self

    def ready(self, version: int = 0) -> Self:
        """Waits until the game is on the table."""
        self.page.wait_for_url("**/g/*")
        return self.version(version)

    def seen(self) -> Any:
        """All that the table shows, to be compared with what another shows."""
        return self.page.evaluate(_SEEN)

    # ---- what a player does

    def play(self, actions: Iterable[Action]) -> None:
        """To get somewhere fast: the clicks of these actions, each pair when all before it is done."""
        self.page.evaluate(_PLAY, [list(actions), PATIENCE_MS])

    def tap(self, *places: int, touch: bool = False) -> None:
        for place in places:
            spot = self.place(place)
            if touch:
                spot.tap()
            else:
                spot.click()

    def draw(self, times: int = 1) -> None:
        """By the keyboard, as fast as it goes; nothing is waited for."""
        for _ in range(times):
            self.page.keyboard.press("d")

    def walk(self, goal: int) -> None:
        """Takes the keyboard's focus to a card or pile, by arrow keys alone."""
        tried: set[tuple[int, str]] = set()
        while (where := self.page.evaluate(_WHERE, goal)) is None or where[0] != goal:
            if where is None:
                self.page.keyboard.press("ArrowDown")
                continue
            at, dx, dy = where
            ways = [key for key in ARROWS if (at, key) not in tried]
            assert ways, f"no way by arrow keys from {at} to {goal}"
            best = max(ways, key=lambda key: ARROWS[key][0] * dx + ARROWS[key][1] * dy)
            tried.add((at, best))
            self.page.keyboard.press(best)

    def is_selected(self, *places: int) -> None:
        """These cards are selected, and no others."""
        expect(self.page.locator("[data-selected]")).to_have_count(len(places))
        for place in places:
            expect(self.place(place)).to_have_attribute("data-selected", "")

    def marked(self, mark: str) -> list[int]:
        """The places that carry a mark (`data-ring`, `data-dim`)."""
        marked = self.page.locator(f"[data-place][{mark}]")
        return [int(place) for place in marked.evaluate_all("all => all.map((one) => one.dataset.place)")]


def deal(page: Page, code: str = CODE, origin: str = "") -> HeartTable:
    """Opens the link of a deal, and waits for the cards."""
    page.goto(f"{origin}/d/{code}")
    return HeartTable(page).ready()


def share(table: HeartTable, other: Page) -> HeartTable:
    """The same session in another page."""
    other.goto(table.page.url)
    return HeartTable(other).ready(int(table.root.get_attribute("data-version") or 0))


def agree(tables: Iterable[HeartTable], version: int) -> None:
    """All of them show the same, and that is this version."""
    first, *others = [table.version(version).seen() for table in tables]
    for other in others:
        assert other == first


class Sent:
    """What a page sends from now on over its websockets, decoded."""

    NEW: Final = 1
    ACT: Final = 3

    def __init__(self, page: Page) -> None:
        self._messages: list[list[Any]] = []
        page.on("websocket", self._listen)

    def of(self, kind: int) -> list[list[Any]]:
        return [message for message in self._messages if message[0] == kind]

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", self._sent)

    def _sent(self, frame: bytes | str) -> None:
        assert isinstance(frame, bytes)
        self._messages.append(msgspec.msgpack.decode(frame))
