"""What taps and keys do on the table, and what they do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.table import (
    CODE,
    DISCARD,
    PAIRS_AT_ONCE,
    STOCK,
    STUCK_AFTER_ONE,
    STUCK_AT_ONCE,
    TIP,
    HeartTable,
    deal,
    example,
)


def choose(page: Page, **settings: bool) -> None:
    """Sets switches of the game in the settings dialog."""
    page.locator('[data-role="settings"]').click()
    for name, on in settings.items():
        page.locator(f'[data-setting="heart-to-heart.{name}"]').set_checked(on)
    page.locator('[data-dialog="settings"] [data-role="close"]').click()
    expect(page.locator("dialog")).to_have_count(0)


# ---- selecting


def test_the_selected_card_tapped_again_is_deselected(page: Page) -> None:
    table = deal(page)
    table.tap(TIP)
    table.is_selected(TIP)
    expect(table.place(TIP)).to_have_attribute("aria-pressed", "true")
    table.tap(TIP)
    table.is_selected()
    table.tap(TIP)
    page.keyboard.press("Escape")
    table.is_selected()


def test_a_covered_card_does_nothing(page: Page) -> None:
    table = deal(page)
    before = table.seen()
    tap_covered(table, 23, 5)
    table.is_selected()
    table.tap(TIP)
    tap_covered(table, 24)
    table.is_selected(TIP)
    assert table.seen() == before
    # nor does it to the server, whose next version is the first
    table.tap(STOCK)
    table.version(1)


def tap_covered(table: HeartTable, *places: int) -> None:
    """Taps near the top edge of cards, where no other lies on them. Forced, as they say they are disabled."""
    for place in places:
        expect(table.place(place)).to_have_attribute("data-state", "covered")
        table.place(place).click(position={"x": 20, "y": 12}, force=True)


def test_two_ranks_with_move_errors_off_say_nothing_and_select_the_second(page: Page) -> None:
    table = deal(page)
    table.tap(TIP, DISCARD)
    table.is_selected(DISCARD)
    expect(page.locator(".toast")).to_have_count(0)
    table.tap(TIP)
    table.is_selected(TIP)


def test_two_ranks_with_move_errors_on_must_have_the_same_rank(page: Page) -> None:
    table = deal(page)
    choose(page, errors=True)
    table.tap(TIP, DISCARD)
    expect(table.toast("mismatch")).to_have_text("Must have the same rank")
    table.is_selected(DISCARD)
    expect(table.root).to_have_attribute("data-version", "0")


def test_placement_help_rings_partners_and_darkens_what_does_not_fit(new_context: NewContext) -> None:
    page = new_context(reduced_motion="reduce").new_page()
    table = deal(page, PAIRS_AT_ONCE)
    assert sorted(table.marked("data-ring")) == [DISCARD, TIP]
    table.tap(TIP, DISCARD)
    table.version(1)
    assert sorted(table.marked("data-ring")) == [23, 24]
    table.tap(STOCK)
    table.version(2)
    assert table.marked("data-dim") == []
    table.tap(23)
    dark = table.marked("data-dim")
    assert 23 not in dark
    assert 24 not in dark
    assert DISCARD in dark
    assert sorted(table.marked("data-ring")) == [23, 24]

    choose(page, help=False)
    assert table.marked("data-dim") == []
    assert table.marked("data-ring") == []
    table.is_selected(23)


def test_placement_help_rings_a_place_when_its_card_lies_there(page: Page) -> None:
    page.add_init_script(
        """window.early = [];
        new MutationObserver((changes) => {
          for (const { target } of changes) {
            if (target.matches('[data-held][data-ring]')) early.push(target.dataset.place);
          }
        }).observe(document, { subtree: true, attributeFilter: ['data-held', 'data-ring'] });"""
    )
    table = deal(page, PAIRS_AT_ONCE)
    ringed = page.locator("[data-ring]")
    # the deal, a pair that comes back, a card that is drawn and goes back
    expect(ringed).to_have_count(2)
    table.tap(TIP, DISCARD)
    table.version(1).undo.click()
    table.version(2)
    expect(ringed).to_have_count(2)
    table.draw()
    table.version(3).undo.click()
    table.version(4)
    expect(ringed).to_have_count(2)
    assert sorted(table.marked("data-ring")) == [DISCARD, TIP]
    assert page.evaluate("early") == []


# ---- many at once


def clicks(table: HeartTable) -> None:
    """Ten clicks of a mouse, as fast as it goes."""
    points = []
    for place in (23, 24):
        box = table.place(place).bounding_box()
        assert box is not None
        points.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 3))
    for k in range(10):
        table.page.mouse.click(*points[k % 2])


def clicks_at_once(table: HeartTable) -> None:
    """Ten clicks with no time for the server to answer in between."""
    table.page.evaluate(
        """() => {
          const pair = [23, 24].map((place) => document.querySelector(`[data-place="${place}"]`));
          for (let k = 0; k < 10; k++) pair[k % 2].click();
        }"""
    )


@pytest.mark.parametrize("ten", [clicks, clicks_at_once])
def test_ten_clicks_on_one_pair_make_one_pair(page: Page, ten: Callable[[HeartTable], None]) -> None:
    table = deal(page, PAIRS_AT_ONCE)
    table.tap(TIP, DISCARD)
    table.version(1)
    ten(table)
    table.version(2)
    expect(table.info("score")).to_have_text("30")
    table.is_selected()
    # whatever else they had sent would be answered by now
    page.keyboard.press("d")
    table.version(3)
    expect(table.info("moves")).to_have_text("3")
    expect(page.locator(".toast")).to_have_count(0)


def test_taps_on_the_stock_are_not_lost_however_fast(page: Page) -> None:
    table = deal(page)
    table.draw(20)
    table.version(20)
    expect(table.stock).to_have_attribute("data-count", "6")
    expect(table.discard).to_have_attribute("data-count", "21")
    expect(page.locator(".toast")).to_have_count(0)


# ---- stock and discard


def test_the_discard_goes_back_and_comes_in_the_same_order(page: Page) -> None:
    table = deal(page)
    first = [table.discard.get_attribute("data-rank"), *turned(table, 26)]
    expect(table.stock).to_have_attribute("data-state", "empty")
    expect(table.stock).to_have_attribute("aria-label", "Stock, empty. Put the discard back")
    table.tap(STOCK)
    table.version(27)
    expect(table.stock).to_have_attribute("data-count", "27")
    expect(table.discard).to_have_attribute("data-state", "empty")
    assert turned(table, 27) == first


def turned(table: HeartTable, cards: int) -> list[str | None]:
    """Draws cards, one after the other, and looks at each."""
    version = int(table.root.get_attribute("data-version") or 0)
    ranks = []
    for k in range(1, cards + 1):
        table.draw()
        ranks.append(table.version(version + k).discard.get_attribute("data-rank"))
    return ranks


# ---- undo


def test_undo_out_of_stuck(page: Page) -> None:
    table = deal(page, STUCK_AFTER_ONE)
    before = table.seen()
    table.tap(TIP, DISCARD)
    expect(table.dialog("stuck")).to_be_visible()
    expect(table.dialog("stuck").locator("h2")).to_have_text("No more moves")
    expect(table.root).to_have_attribute("data-status", "stuck")
    expect(table.info("score")).to_have_text("10")
    page.locator('[data-role="stuck-undo"]').click()
    table.version(2)
    expect(page.locator("dialog")).to_have_count(0)
    after = table.seen()
    assert after["places"] == before["places"]
    assert after["table"] == ["2", "play"]
    assert after["info"] == ["0", "0 (2)", STUCK_AFTER_ONE]

    # and so does undo when the dialog was only closed
    table.tap(TIP, DISCARD)
    table.dialog("stuck").wait_for()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator('[data-role="ribbon"]')).to_have_text("No more moves")
    page.keyboard.press("u")
    expect(table.version(4).root).to_have_attribute("data-status", "play")
    expect(page.locator('[data-role="ribbon"]')).to_have_count(0)


def test_stuck_stays_stuck_over_a_reload(page: Page) -> None:
    table = deal(page, STUCK_AFTER_ONE)
    table.tap(TIP, DISCARD)
    table.dialog("stuck").wait_for()
    page.reload()
    expect(table.dialog("stuck")).to_be_visible()
    page.locator('[data-role="stuck-undo"]').click()
    expect(table.version(2).root).to_have_attribute("data-status", "play")


def test_a_deal_without_a_pair_is_stuck_at_once_and_has_nothing_to_undo(page: Page) -> None:
    table = deal(page, STUCK_AT_ONCE)
    expect(table.dialog("stuck")).to_be_visible()
    expect(page.locator('[data-role="stuck-undo"]')).to_have_count(0)
    address = page.url
    page.locator('[data-role="stuck-new"]').click()
    page.wait_for_url(lambda url: "/g/" in url and url != address)


def test_a_new_game_where_no_more_moves_are_begins_without_asking(page: Page) -> None:
    table = deal(page, STUCK_AFTER_ONE)
    table.tap(TIP, DISCARD)
    table.dialog("stuck").wait_for()
    address = page.url
    page.locator('[data-role="stuck-new"]').click()
    page.wait_for_url(lambda url: "/g/" in url and url != address)
    table.ready()
    expect(table.dialog("new")).to_have_count(0)


def test_undo_takes_back_a_hundred_moves_and_no_more(page: Page) -> None:
    table = deal(page)
    expect(table.undo).to_have_attribute("aria-disabled", "true")
    table.play([["draw"]] * 102)
    expect(table.info("moves")).to_have_text("102")
    expect(table.undo).not_to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Control+z")
    table.undo.click()
    table.version(104)
    for _ in range(98):
        page.keyboard.press("u")
    table.version(202)
    expect(table.info("moves")).to_have_text("2 (202)")
    expect(table.undo).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("u")
    table.undo.click(force=True)
    table.draw()
    table.version(203)
    expect(page.locator(".toast")).to_have_count(0)


def test_undo_puts_both_cards_of_a_pair_back_with_their_points(page: Page) -> None:
    table = deal(page)
    table.play(example()[:9])
    before = table.seen()
    table.tap(TIP, DISCARD)
    table.version(10)
    expect(table.place(23)).to_have_attribute("data-state", "free")
    expect(table.info("score")).to_have_text("10")
    table.undo.click()
    table.version(11)
    after = table.seen()
    assert after["places"] == before["places"]
    assert after["discard"] == before["discard"]
    assert after["info"] == ["0", "9 (11)", CODE]


# ---- another game


def test_a_new_game_asks_first_and_the_same_deal_is_another_game(page: Page) -> None:
    table = deal(page)
    table.draw()
    table.version(1)
    address = page.url
    page.keyboard.press("n")
    page.locator('[data-role="new-cancel"]').click()
    expect(page.locator("dialog")).to_have_count(0)
    assert page.url == address
    page.keyboard.press("n")
    page.locator('[data-role="new-same"]').click()
    page.wait_for_url(lambda url: "/g/" in url and url != address)
    expect(table.ready(0).info("code")).to_have_text(CODE)
    # nothing was done yet: no need to ask
    same = page.url
    page.locator('[data-role="new"]').click()
    page.wait_for_url(lambda url: "/g/" in url and url not in (address, same))


def test_what_happens_is_told_to_who_does_not_see_it(page: Page) -> None:
    table = deal(page, PAIRS_AT_ONCE)
    told = page.locator('[data-role="announcer"]')
    expect(table.place(TIP)).to_have_attribute("aria-label", "Ace of hearts, row 7, free")
    expect(table.place(23)).to_have_attribute("aria-label", "Eight of hearts, row 6, covered")
    expect(table.stock).to_have_attribute("aria-label", "Stock, 26 cards. Draw")
    table.tap(TIP, DISCARD)
    expect(told).to_contain_text("Pair of aces removed. Score 10.")
    table.tap(STOCK)
    expect(told).to_contain_text("Drew nine. 25 cards left.")
    table.undo.click()
    expect(told).to_contain_text("Undone: nine is back in the stock.")
