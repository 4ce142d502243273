"""The table of Hearts as a test sees it in the page, by the hooks that the client's game names.

Reads and waits; what it is to show is said by the tests.
"""

from __future__ import annotations

from typing import Any, Final

from playwright.sync_api import Locator, Page, expect

_CORNER: Final[Any] = {"x": 8, "y": 10}
"""Where a card of a hand can be seen beside the next one and above the one in front."""

_SHEET: Final = """(sheet) => Object.fromEntries(
  [...sheet.querySelectorAll('td[data-seat]')].map((cell) => [
    `${cell.closest('tr').dataset.hand ?? 'total'} ${cell.dataset.seat}`,
    (cell.querySelector('.hand-points') ?? cell).textContent,
  ]),
)"""

_AS_FAR: Final = "(version) => Number(document.querySelector('[data-role=table]').dataset.version) >= version"

_PLAY_ON: Final = """() => {
  const table = document.querySelector('[data-role="table"]');
  let at = '';
  window.played = [];
  const look = () => {
    const card = table.querySelector('[data-mode="play"] [data-legal="true"]');
    if (!card || at === table.dataset.version) return;
    at = table.dataset.version;
    window.played.push(Number(card.dataset.card));
    card.click();
  };
  new MutationObserver(look).observe(table, { attributes: true, subtree: true });
  look();
}"""

_AT: Final = """() => {
  const { role, card } = document.activeElement.dataset;
  return role ?? card ?? '';
}"""

_RECORD: Final = """(seat) => {
  const plate = document.querySelector(`.seat[data-seat="${seat}"]`);
  window.statuses = [plate.dataset.status];
  new MutationObserver(() => {
    if (window.statuses.at(-1) !== plate.dataset.status) window.statuses.push(plate.dataset.status);
  }).observe(plate, { attributeFilter: ['data-status'] });
}"""


class HeartsTable:
    """A table in a page."""

    def __init__(self, page: Page) -> None:
        self.page: Final = page
        self.root: Final = page.locator('[data-role="table"]')
        self.hand: Final = page.locator('[data-role="hand"]')
        self.legal: Final = self.hand.locator('[data-legal="true"]')
        self.panel: Final = page.locator('[data-role="panel"]')
        self.trick: Final = page.locator('[data-role="trick"] [data-card]')

    # ---- before the start

    def make(self, origin: str, **options: str) -> str:
        """Makes a table by the form, with these choices, and returns the link that invites to it."""
        self.page.goto(origin)
        self.page.locator('[data-game="hearts"] [data-role="make-table"]').click()
        for option, value in options.items():
            self.page.locator(f'[data-dialog="table"] [data-option="{option}"]').select_option(value)
        self.page.locator('[data-role="table-make"]').click()
        return self.page.locator('[data-role="invite-link"]').inner_text()

    def sit(self, link: str, seat: int) -> None:
        """Follows the link, takes a seat and waits until it is taken."""
        self.page.goto(link)
        self.page.locator(f'[data-chair="{seat}"] [data-role="sit"]').click()
        expect(self.page.locator("[data-own]")).to_have_attribute("data-chair", str(seat))

    def start(self) -> None:
        self.page.locator('[data-role="start"]').click()

    # ---- what it shows

    def phase(self, phase: str) -> None:
        """Waits for it."""
        expect(self.root).to_have_attribute("data-phase", phase)

    def seat(self, seat: int) -> Locator:
        return self.page.locator(f'.seat[data-seat="{seat}"]')

    def turn(self) -> list[int]:
        """The seats to act."""
        return [int(seat) for seat in (self.root.get_attribute("data-turn") or "").split()]

    def cards(self) -> list[int]:
        """What is in the player's hand."""
        return [
            int(card)
            for card in self.hand.locator("[data-card]").evaluate_all(
                "all => all.map((one) => one.dataset.card)"
            )
        ]

    def sheet(self) -> Any:
        """The points in the score sheet of the panel, by hand (or `total`) and seat."""
        return self.panel.locator('[data-role="sheet"]').evaluate(_SHEET)

    def toast(self, kind: str) -> Locator:
        return self.page.locator(f'.toast[data-kind="{kind}"]')

    def dialog(self, role: str) -> Locator:
        return self.page.locator(f'[data-dialog="{role}"]')

    def record(self, seat: int) -> None:
        """From now on, notes what becomes of a seat; see `statuses`."""
        self.page.evaluate(_RECORD, seat)

    def statuses(self) -> list[str]:
        """All that a recorded seat has been, in order."""
        return list(self.page.evaluate("statuses"))

    # ---- what a player does

    def card(self, card: int) -> Locator:
        """A card of the hand."""
        return self.hand.locator(f'[data-card="{card}"]')

    def tap(self, card: int, *, dimmed: bool = False) -> None:
        """`dimmed`: a card that cannot be played, which nevertheless says why not."""
        self.card(card).click(position=_CORNER, force=dimmed)

    def choose_three(self, *cards: int) -> None:
        """Lifts these cards, by default the first three, and does not pass them yet."""
        expect(self.hand).to_have_attribute("data-mode", "pass")
        for card in cards or self.cards()[:3]:
            self.tap(card)

    def pass_three(self, *cards: int) -> None:
        """Passes these cards, by default the first three."""
        self.choose_three(*cards)
        self.panel.locator('[data-role="pass-confirm"]').click()

    def play(self) -> int:
        """Plays the first card that may be played, waits until it is, and returns it."""
        card = int(self.legal.first.get_attribute("data-card") or "")
        version = self.version
        self.tap(card)
        self.as_far_as(version + 1)
        return card

    def play_on(self) -> None:
        """From now on plays by itself, at once whenever it can."""
        self.page.evaluate(_PLAY_ON)

    def played(self) -> list[int]:
        """What it has played by itself."""
        return list(self.page.evaluate("played"))

    @property
    def version(self) -> int:
        """Of the latest view."""
        return int(self.root.get_attribute("data-version") or 0)

    def as_far_as(self, version: int) -> None:
        """Waits until it has that view, or a later one."""
        self.page.wait_for_function(_AS_FAR, arg=version)

    # ---- by keyboard

    def walk(self, card: int) -> None:
        """Takes the focus to a card of the hand, by arrow keys."""
        self._press_until("ArrowRight", str(card))

    def tab(self, role: str) -> None:
        """Takes the focus to what has this role."""
        self._press_until("Tab", role)

    def _press_until(self, key: str, where: str) -> None:
        for _ in range(60):
            if self.page.evaluate(_AT) == where:
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{key} does not lead to {where}")
