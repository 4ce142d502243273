"""A whole game, from the first card to the replay."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.table import CODE, DISCARD, PHONE, STOCK, TIP, HeartTable, deal, example, share
from tests.browser.test_screens import boxes


@pytest.mark.timeout(300)
def test_a_game_is_won_by_the_keyboard_alone(new_context: NewContext) -> None:
    page = new_context(reduced_motion="reduce").new_page()
    page.goto("/")
    code = page.locator("#code-heart-to-heart")
    code.wait_for()
    while not code.evaluate("input => input === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.type(CODE)
    page.keyboard.press("Enter")
    table = HeartTable(page).ready()
    for before, (verb, *places) in enumerate(example()):
        if verb == "pair":
            table.version(before)
            for place, key in zip(places, ("Enter", "Space"), strict=True):
                table.walk(place)
                page.keyboard.press(key)
            table.version(before + 1)
        elif before % 8 == 0:
            table.walk(STOCK)
            page.keyboard.press("Enter")
        else:
            page.keyboard.press("d" if before % 2 else "s")

    is_won(table)
    expect(page.locator('[data-role="won-new"]')).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator('[data-role="won-replay"]')).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/r/*")
    replay = HeartTable(page).version(0)
    page.keyboard.press("End")
    expect(replay.version(len(example())).root).to_have_attribute("data-status", "won")


@pytest.mark.timeout(300)
def test_a_game_is_won_by_taps_on_a_phone(new_context: NewContext) -> None:
    table = deal(new_context(**PHONE).new_page())
    stock = table.stock.bounding_box()
    assert stock is not None
    for before, (verb, *places) in enumerate(example()):
        if verb == "pair":
            table.version(before).tap(*places, touch=True)
            table.version(before + 1)
        else:
            table.page.touchscreen.tap(stock["x"] + stock["width"] / 2, stock["y"] + stock["height"] / 2)

    is_won(table)
    session = table.page.url.rsplit("/", 1)[1]
    table.page.locator('[data-role="won-replay"]').tap()
    table.page.wait_for_url(f"**/r/{session}")
    replay = HeartTable(table.page).version(0)
    expect(replay.info("code")).to_have_text(CODE)
    for _ in range(10):
        table.page.locator('[data-role="step-forward"]').tap()
    expect(replay.version(10).place(TIP)).to_have_attribute("data-state", "empty")
    table.page.locator('[data-role="step-back"]').tap()
    expect(replay.version(9).place(TIP)).to_have_attribute("data-rank", "4")


def is_won(table: HeartTable) -> None:
    expect(table.root).to_have_attribute("data-status", "won")
    expect(table.dialog("won")).to_be_visible()
    expect(table.page.locator('[data-role="won-score"]')).to_have_text("250")
    expect(table.page.locator('[data-role="won-moves"]')).to_have_text(str(len(example())))
    time = table.page.locator('[data-role="won-time"]')
    expect(time).to_have_text(re.compile(r"^\d+:\d\d$"))
    expect(table.info("time")).to_have_text(time.inner_text())


def test_a_won_game_is_still_won_after_a_reload_and_the_next_one_needs_no_asking(calm: Page) -> None:
    table = deal(calm)
    table.play(example())
    table.dialog("won").wait_for()
    calm.reload()
    is_won(HeartTable(calm))
    expect(table.undo).to_have_attribute("aria-disabled", "true")
    address = calm.url
    calm.locator('[data-role="won-new"]').click()
    calm.wait_for_url(lambda url: "/g/" in url and url != address)
    expect(HeartTable(calm).ready().info("score")).to_have_text("0")


def test_that_a_game_is_won_is_still_said_when_the_dialog_is_closed(page: Page) -> None:
    table = deal(page)
    end = page.locator('[data-role="end"]')
    table.play(example())
    table.dialog("won").wait_for()
    expect(end).to_be_empty()
    page.keyboard.press("Escape")
    expect(end.locator("h2")).to_have_text("You cleared the heart!")
    page.locator('[data-role="settings"]').click()
    page.locator('[data-setting="language"]').select_option("nb")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(end.locator("h2")).to_have_text("Du tømte hjertet!")
    page.reload()
    table.dialog("won").wait_for()
    expect(end).to_be_empty()
    page.keyboard.press("Escape")
    page.locator('[data-role="end-replay"]').click()
    page.wait_for_url("**/r/*")
    page.go_back()
    table.dialog("won").wait_for()
    page.keyboard.press("Escape")
    address = page.url
    page.locator('[data-role="end-new"]').click()
    page.wait_for_url(lambda url: "/g/" in url and url != address)
    expect(table.ready().root).to_have_attribute("data-status", "play")
    expect(end).to_be_empty()


def test_who_looks_on_when_all_is_over_sees_that_it_is(calm: Page, stranger: Page) -> None:
    table = deal(calm)
    table.play(example())
    table.dialog("won").wait_for()
    other = share(table, stranger)
    end = stranger.locator('[data-role="end"]')
    expect(end).to_have_text("The heart is cleared.")
    expect(end.locator("button")).to_have_count(0)
    stranger.goto(calm.url.replace("/g/", "/r/") + f"#{len(example())}")
    expect(end).to_have_text("The heart is cleared.")
    stranger.keyboard.press("ArrowLeft")
    other.version(len(example()) - 1)
    expect(end).to_be_empty()


@pytest.mark.parametrize(("width", "undone"), [(320, False), (320, True), (390, True), (1280, True)])
def test_no_fact_of_a_won_game_stands_alone_in_its_line(
    new_context: NewContext, width: int, undone: bool
) -> None:
    page = new_context(viewport={"width": width, "height": 844}, reduced_motion="reduce").new_page()
    table = deal(page)
    if undone:
        table.draw()
        table.version(1).undo.click()
        table.version(2)
    table.play(example())
    table.dialog("won").wait_for()
    lines = Counter(top for _, top, _, _ in boxes(page.locator('[data-dialog="won"] dd')))
    assert sum(lines.values()) == (4 if undone else 3)
    assert min(lines.values()) > 1
    assert page.locator(".facts").evaluate("one => one.scrollWidth <= one.clientWidth")


def test_the_example_game_is_stepped_through_by_the_keyboard(page: Page) -> None:
    page.goto("/examples/heart-to-heart")
    table = HeartTable(page).version(0)
    caption = page.locator('[data-role="caption"]')
    step = page.locator('[data-role="step"]')
    expect(table.info("code")).to_have_text(CODE)
    for at in range(1, 10):
        page.keyboard.press("ArrowRight")
        expect(step).to_have_text(f"{at} of {len(example())}")
    expect(table.place(TIP)).to_have_attribute("data-rank", "4")
    expect(table.place(DISCARD)).to_have_attribute("data-rank", "4")
    page.keyboard.press("ArrowRight")
    expect(caption).to_have_text("A pair of fours, one of them from the discard.")
    expect(table.place(TIP)).to_have_attribute("data-state", "empty")
    expect(table.info("score")).to_have_text("10")

    page.keyboard.press("ArrowLeft")
    expect(table.place(TIP)).to_have_attribute("data-state", "free")
    expect(table.info("score")).to_have_text("0")
    page.keyboard.press("Home")
    expect(step).to_have_text(f"0 of {len(example())}")
    page.keyboard.press("PageDown")
    expect(step).to_have_text(f"10 of {len(example())}")
    page.keyboard.press("End")
    expect(table.root).to_have_attribute("data-status", "won")
    expect(table.info("score")).to_have_text("250")
    page.keyboard.press("PageUp")
    expect(step).not_to_have_text(f"{len(example())} of {len(example())}")
    expect(table.stock).to_have_accessible_name("Stock, 16 cards")
    # looking on is all that can be done
    expect(page.locator('[data-role="table"] button')).to_have_count(0)
    expect(page.locator('[data-role="undo"]')).to_have_count(0)


def test_the_example_plays_by_itself_until_it_is_paused(page: Page) -> None:
    page.goto("/examples/heart-to-heart")
    table = HeartTable(page).version(0)
    page.locator('[data-role="speed"]').select_option("fast")
    page.locator("main").focus()
    page.keyboard.press("Space")
    expect(page.locator('[data-role="play"]')).to_have_attribute("aria-label", "Pause")
    page.wait_for_function("() => Number(document.querySelector('[data-role=table]').dataset.version) >= 2")
    page.keyboard.press("Space")
    expect(page.locator('[data-role="play"]')).to_have_attribute("aria-label", "Play")
    # the last step played by itself goes on where the first one played begins again
    page.keyboard.press("End")
    table.version(len(example()))
    page.locator('[data-role="play"]').click()
    table.version(0)
