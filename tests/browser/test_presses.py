"""What others do at the moment does not take away what somebody is pressing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewContext
from tests.browser.daily import Action, Guest
from tests.browser.hearts import HeartsTable
from tests.browser.table import HeartTable, deal
from tests.browser.test_daily import actions, open_day, role, today
from tests.browser.test_hearts import together

__all__ = ["actions", "today"]  # fixtures


@contextmanager
def pressed(what: Locator) -> Iterator[None]:
    """The mouse's button goes down on it before what is done here, and up in the same place afterwards."""
    what.hover()
    what.page.mouse.down()
    yield
    what.page.mouse.up()


def test_a_seat_is_taken_while_another_is(new_context: NewContext, base_url: str) -> None:
    host, guest, other = (HeartsTable(new_context().new_page()) for _ in range(3))
    link = host.make(base_url)
    guest.page.goto(link)
    with pressed(guest.page.locator('[data-chair="1"] [data-role="sit"]')):
        other.sit(link, 2)
        expect(guest.page.locator('[data-chair="2"]')).to_have_attribute("data-status", "here")
    expect(guest.page.locator("[data-own]")).to_have_attribute("data-chair", "1")


def test_cards_are_passed_while_another_passes(new_context: NewContext, base_url: str) -> None:
    first, second = together(new_context, base_url, 2, pace="0")
    first.choose_three()
    with pressed(first.panel.locator('[data-role="pass-confirm"]')):
        second.pass_three()
        expect(first.root).to_have_attribute("data-turn", "0")
    first.phase("playing")


def test_a_game_is_watched_while_another_comes_to_watch(page: Page, new_context: NewContext) -> None:
    deal(page).draw()
    game = f'[data-session="{page.url.rsplit("/", 1)[1]}"]'
    one, other = (new_context().new_page() for _ in range(2))
    for spectator in (one, other):
        spectator.goto("/live")
    with pressed(one.locator(game).locator('[data-role="watch"]')):
        other.locator(game).locator('[data-role="watch"]').click()
        expect(one.locator(game).locator('[data-role="live-viewers"]')).to_have_text(re.compile("1"))
    HeartTable(one).ready(1)


def test_the_day_is_begun_while_another_finishes(page: Page, base_url: str, actions: list[Action]) -> None:
    open_day(page, "new")
    with pressed(role(page, "day-start")):
        champion = Guest(base_url)
        champion.arrive("Early Bird")
        champion.win(actions)
        expect(page.locator("tr", has_text="Early Bird")).to_be_visible()
        expect(page.locator(".day-panel .hint")).to_have_text(re.compile(r"\d"))
    HeartTable(page).ready(1)
