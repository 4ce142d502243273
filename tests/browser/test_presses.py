"""What others do at the moment does not take away what somebody is pressing, or is at."""

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


def call_oneself(page: Page, name: str) -> None:
    """In the dialog that asks for it."""
    role(page, "name-input").fill(name)
    page.keyboard.press("Enter")


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


def test_who_was_about_to_take_a_seat_is_at_another_when_it_is_taken(
    new_context: NewContext, base_url: str
) -> None:
    host, guest, other = (HeartsTable(new_context().new_page()) for _ in range(3))
    link = host.make(base_url)
    guest.page.goto(link)
    guest.page.locator('[data-chair="1"] [data-role="sit"]').focus()
    other.sit(link, 1)
    expect(guest.page.locator('[data-chair="2"] [data-role="sit"]')).to_be_focused()


def test_a_whole_board_keeps_the_focus_when_it_changes(
    page: Page, base_url: str, today: str, actions: list[Action]
) -> None:
    row = {
        "player": "",
        "name": "",
        "me": False,
        "rank": 1,
        "time_ms": 1000,
        "moves": 99,
        "session": "",
        "at_ms": 0,
    }
    more = [row | {"player": f"p{n}"} for n in range(20)]
    page.route(
        f"**/api/daily/{today}/board**",
        lambda route: route.fulfill(json=(board := route.fetch().json()) | {"rows": board["rows"] + more}),
    )
    open_day(page, "new")
    role(page, "board-more").click()
    expect(page.locator(".standings").first).to_be_focused()
    champion = Guest(base_url)
    champion.arrive("Late Bird")
    champion.win(actions)
    expect(page.locator("tr", has_text="Late Bird")).to_be_visible()
    expect(page.locator(".standings").first).to_be_focused()


def test_what_was_unfolded_stays_so(page: Page) -> None:
    for _ in range(3):
        table = deal(page)
        table.draw()
        table.version(1)
    page.goto("/")
    older = page.locator("details.older")
    older.locator("summary").click()
    role(page, "name").click()
    call_oneself(page, "Unfolder")
    expect(page.locator(".who")).to_contain_text("Unfolder")
    expect(older).to_have_attribute("open", "")


def test_who_has_chosen_a_name_is_not_asked_for_one_any_more(
    page: Page, base_url: str, actions: list[Action]
) -> None:
    guest = Guest(base_url)
    guest.arrive()
    guest.win(actions)
    guest.sits_at(page.context)
    open_day(page, "won")
    role(page, "day-name").click()
    call_oneself(page, "Named Now")
    expect(role(page, "day-name")).to_have_count(0)
