"""Settings, languages, and browsers that keep nothing or want no motion."""

from __future__ import annotations

from typing import Any

import msgspec
from playwright.sync_api import BrowserContext, Page, expect

from heartroom import client as wire
from heartroom.games.heart_to_heart import GAME
from heartroom.games.heart_to_heart.solver import winnable
from tests.browser.conftest import NewContext
from tests.browser.table import CODE, DISCARD, PAIRS_AT_ONCE, TIP, HeartTable, deal, example, share


def choose_norwegian(page: Page) -> None:
    page.locator('[data-role="settings"]').click()
    page.locator('[data-setting="language"]').select_option("nb")
    # the dialog is still there, and speaks the other language
    expect(page.locator('[data-dialog="settings"] h2')).to_have_text("Valg")
    page.locator('[data-dialog="settings"] [data-role="close"]').click()
    # while it is there the keyboard is its own
    expect(page.locator('[data-dialog="settings"]')).to_have_count(0)
    expect(page.locator("html")).to_have_attribute("lang", "nb")


def test_another_language_in_mid_game_keeps_the_game(page: Page) -> None:
    table = deal(page)
    table.play(example()[:10])
    before = table.seen()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    titled = page.title()
    choose_norwegian(page)
    assert table.version(10).seen() == before
    expect(page).to_have_title(titled)
    expect(page.locator(".info-score dt")).to_have_text("Poeng")
    expect(table.undo).to_contain_text("Angre")
    table.draw()
    table.version(11)
    expect(page.locator('[data-role="announcer"]')).to_contain_text("Trakk")
    page.reload()
    expect(table.version(11).undo).to_contain_text("Angre")
    page.goto("/rules/heart-to-heart")
    expect(page.locator("h1")).to_have_text("Reglene for Heart to Heart")


def test_another_language_keeps_who_is_watching_and_watched(page: Page, stranger: Page) -> None:
    table = deal(page)
    share(table, stranger)
    expect(stranger.locator('[data-role="ribbon"]')).to_have_text("You are watching")
    expect(page.locator('[data-role="viewers"]')).to_contain_text("1 other is watching")
    for one in (page, stranger):
        choose_norwegian(one)
    expect(stranger.locator('[data-role="ribbon"]')).to_have_text("Du ser på")
    expect(page.locator('[data-role="viewers"]')).to_contain_text("1")


def test_the_browsers_language_is_spoken_without_asking(new_context: NewContext) -> None:
    page = new_context(locale="nn-NO").new_page()
    table = deal(page)
    expect(page.locator("html")).to_have_attribute("lang", "nb")
    expect(table.place(TIP)).to_have_attribute("aria-label", "Hjerter fire, rad 7, fritt")


def test_settings_survive_a_reload_and_reach_other_tabs(context: BrowserContext, page: Page) -> None:
    table = deal(page)
    other = share(table, context.new_page())
    page.locator('[data-role="settings"]').click()
    page.locator('[data-setting="heart-to-heart.errors"]').check()
    page.locator('[data-setting="heart-to-heart.help"]').uncheck()
    page.locator('[data-setting="pace"]').select_option("off")
    page.keyboard.press("Escape")
    page.reload()
    for one in (table.version(0), other):
        one.tap(TIP, DISCARD)
        expect(one.toast("mismatch")).to_be_visible()
        assert one.marked("data-dim") == []
    page.locator('[data-role="settings"]').click()
    expect(page.locator('[data-setting="pace"]')).to_have_value("off")


def test_letters_do_nothing_where_shortcuts_are_off(page: Page) -> None:
    table = deal(page)
    page.locator('[data-role="settings"]').click()
    page.locator('[data-setting="shortcuts"]').uncheck()
    page.keyboard.press("Escape")
    for key in ("d", "s", "n", "h", "?"):
        page.keyboard.press(key)
    expect(page.locator("dialog")).to_have_count(0)
    # arrows and undo go on working
    table.walk(-1)
    page.keyboard.press("Enter")
    table.version(1)
    page.keyboard.press("u")
    page.keyboard.press("Control+z")
    table.version(2)
    expect(table.info("moves")).to_have_text("0 (2)")


def test_where_nothing_can_be_kept_the_game_is_played_all_the_same(new_context: NewContext) -> None:
    context = new_context()
    context.add_init_script(
        """for (const name of ['localStorage', 'sessionStorage']) {
          const get = () => { throw new DOMException('blocked', 'SecurityError'); };
          Object.defineProperty(window, name, { get });
        }"""
    )
    table = deal(context.new_page(), PAIRS_AT_ONCE)
    choose_norwegian(table.page)
    table.tap(TIP, DISCARD)
    table.version(1).draw()
    table.version(2)
    table.page.reload()
    expect(table.version(2).info("score")).to_have_text("10")
    expect(table.page.locator("html")).to_have_attribute("lang", "en")


def test_new_games_can_be_kept_to_deals_that_can_be_won(page: Page) -> None:
    sent: list[bytes | str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))

    def asked() -> Any:
        """The options of the latest new game."""
        frames = [msgspec.msgpack.decode(frame) for frame in sent if isinstance(frame, bytes)]
        return [frame for frame in frames if frame[0] == wire.NEW][-1][3]

    table = deal(page)
    table.draw()
    table.version(1)
    page.locator('[data-role="new"]').click()
    page.locator('[data-dialog="new"] [data-setting="heart-to-heart.winnable"]').check()
    page.locator('[data-role="new-random"]').click()
    table.ready()
    assert asked() == {"winnable": True}
    setup = GAME.deal({"code": table.info("code").inner_text()}, bytes(32))
    assert winnable(setup.deal)
    table.draw()
    table.version(1)
    page.locator('[data-role="new"]').click()
    page.locator('[data-role="new-same"]').click()
    table.ready()
    assert asked().keys() == {"code"}


FLIGHTS = """
  window.flights = 0;
  new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    window.flights += added.filter((node) => node.classList?.contains('flying')).length;
  }).observe(document, { childList: true, subtree: true });
"""


def test_cards_fly_and_for_who_wants_no_motion_they_do_not(new_context: NewContext) -> None:
    flights = {}
    for wish, moves in (("no-preference", 10), ("reduce", len(example()))):
        page = new_context(reduced_motion=wish).new_page()
        page.add_init_script(FLIGHTS)
        table = deal(page)
        table.play(example()[:moves])
        if moves == len(example()):
            expect(table.dialog("won")).to_be_visible()
        flights[wish] = page.evaluate("flights")
    # 25 that are dealt, 9 that are drawn, 2 of the pair
    assert flights["no-preference"] >= 36
    assert flights["reduce"] == 0


def test_for_who_wants_no_motion_nothing_begins_a_transition_that_it_does_not_name(
    new_context: NewContext,
) -> None:
    """Its duration alone made one of all there is of every element, and a table of Hearts was slow by it."""
    page = new_context(reduced_motion="reduce").new_page()
    deal(page)
    named = page.locator("*").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).transitionProperty)"
    )
    assert "transform" in " ".join(named)
    assert "all" not in named


def test_what_flies_ends_where_it_should(page: Page) -> None:
    table = deal(page)
    table.play(example()[:10])
    expect(page.locator(".flying")).to_have_count(0)
    expect(page.locator("[data-held]")).to_have_count(0)
    expect(HeartTable(page).info("code")).to_have_text(CODE)
