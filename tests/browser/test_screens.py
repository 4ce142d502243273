"""Screens from the smallest phone to the largest desk, and people who do not look at them."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewContext
from tests.browser.layout import settles
from tests.browser.table import (
    DESKTOP,
    DISCARD,
    PAIRS_AT_ONCE,
    PHONE,
    STOCK,
    STUCK_AFTER_ONE,
    TIP,
    HeartTable,
    deal,
    example,
)

SCREENS = [(320, 568), (390, 844), (844, 390), (768, 1024), (1280, 800), (2560, 1440)]
FINGER = 40
"""CSS pixels: what is tapped is no smaller than this, either way."""
LEGIBLE = 44
"""Nor is a card narrower than this."""

_BOXES = """(all) => all.map((one) => {
  const { left, top, right, bottom } = one.getBoundingClientRect();
  return [left, top, right, bottom];
})"""

_HIT = """(spot) => {
  const { x, y, width, height } = spot.getBoundingClientRect();
  return spot.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""


ON_TOP = """(one) => {
  one.style.pointerEvents = 'auto';
  const { x, y, width, height } = one.getBoundingClientRect();
  return [...one.closest('[popover]').querySelectorAll('*')].includes(
    document.elementFromPoint(x + width / 2, y + height / 2));
}"""
"""Whether nothing lies over a notice, and it is there for everybody."""


def boxes(what: Locator) -> list[Any]:
    """Left, top, right and bottom of each."""
    return list(what.evaluate_all(_BOXES))


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_all_that_is_needed_to_play_is_seen_without_scrolling(
    new_context: NewContext, width: int, height: int
) -> None:
    small = min(width, height) < 600
    page = new_context(
        viewport={"width": width, "height": height}, has_touch=small, is_mobile=small
    ).new_page()
    table = deal(page)
    assert page.evaluate("[innerWidth, innerHeight]") == [width, height]
    html = page.locator("html")
    assert html.evaluate("html => html.scrollWidth <= innerWidth && html.scrollHeight <= innerHeight")

    cards = boxes(page.locator('[data-role="table"] .spot'))
    assert len(cards) == 27
    tools = boxes(page.locator(".tool, .home-link"))
    facts = boxes(page.locator('[data-role^="info-"]'))
    assert len(facts) == 4
    for left, top, right, bottom in (*cards, *tools, *facts):
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    for left, top, right, bottom in tools:
        assert min(right - left, bottom - top) >= FINGER
    for left, _, right, _ in cards:
        assert right - left >= LEGIBLE
    for place in (TIP, STOCK, DISCARD):
        assert table.place(place).evaluate(_HIT), f"something lies over {place}"
    apart(tools, cards)
    apart(facts, cards)


def apart(some: list[Any], others: list[Any]) -> None:
    """None of these lies over one of the others."""
    for a in some:
        for b in others:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)


def test_the_heart_is_as_large_as_the_screen_allows(new_context: NewContext) -> None:
    widths: dict[tuple[int, int], float] = {}
    texts: dict[tuple[int, int], list[float]] = {}
    page = new_context(reduced_motion="reduce").new_page()
    table = deal(page)
    around = page.locator('.tool-label, [data-role^="info-"]')
    heights = "all => all.map((one) => one.getBoundingClientRect().height)"

    def as_large(size: tuple[int, int]) -> None:
        widths[size] = table.place(TIP).evaluate("tip => tip.getBoundingClientRect().width")
        texts[size] = around.evaluate_all(heights)
        match size:
            case width, 844:
                assert 0.14 * width < widths[size] < 0.2 * width
            case 1280, height:
                assert 0.1 * height < widths[size] < 0.2 * height
            case 2560, 1440:
                assert widths[size] > widths[1280, 800] * 1.5
                # what stands around it is read from as far away
                for large, small in zip(texts[size], texts[1280, 800], strict=True):
                    assert large > small * 1.5

    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        settles(page, as_large, (width, height))


def test_the_board_follows_a_phone_that_is_turned(new_context: NewContext) -> None:
    page = new_context(**PHONE).new_page()
    table = deal(page)
    table.tap(STOCK, touch=True)
    table.version(1)
    page.set_viewport_size({"width": 844, "height": 390})
    page.wait_for_function(
        "() => [...document.querySelectorAll('.spot, .tool')].every((one) =>"
        " one.getBoundingClientRect().bottom <= 390 && one.getBoundingClientRect().right > 0)"
    )
    table.tap(STOCK, touch=True)
    table.version(2)


@pytest.mark.parametrize(("width", "height"), [(320, 568), (844, 390)])
def test_dialogs_and_pages_fit_a_small_screen(new_context: NewContext, width: int, height: int) -> None:
    page = new_context(viewport={"width": width, "height": height}, has_touch=True, is_mobile=True).new_page()
    table = deal(page, STUCK_AFTER_ONE)
    table.tap(TIP, DISCARD, touch=True)
    table.dialog("stuck").wait_for()
    within(page, '[data-role="stuck-undo"]', '[data-role="stuck-new"]')
    page.locator('[data-role="stuck-undo"]').tap()
    table.version(2)
    for tool in ("help", "settings", "share"):
        page.locator(f'[data-role="{tool}"]').tap()
        within(page, f'[data-dialog="{tool}"] [data-role="close"]')
        page.locator(f'[data-dialog="{tool}"] [data-role="close"]').tap()
    page.goto("/examples/heart-to-heart")
    HeartTable(page).version(0)
    within(
        page,
        '[data-role="step-forward"]',
        '[data-role="play"]',
        '[data-role="step-back"]',
        '[data-role="stock"]',
    )
    for address in ("/", "/rules/heart-to-heart"):
        page.goto(address)
        page.locator("h1").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def within(page: Page, *selectors: str) -> None:
    for selector in selectors:
        expect(page.locator(selector)).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("width", [320, 360, 390, 1280])
@pytest.mark.parametrize("language", ["en", "nb"])
def test_what_is_chosen_does_not_lie_on_what_it_is(
    new_context: NewContext, width: int, language: str
) -> None:
    page = new_context(viewport={"width": width, "height": 844}, locale=language).new_page()
    page.goto("/")
    for opener, dialog in (
        ('[data-role="make-table"]', "table"),
        ('.home-foot [data-role="settings"]', "settings"),
    ):
        page.locator(opener).click()
        rows = page.locator(f'[data-dialog="{dialog}"] .setting').evaluate_all(_ROWS)
        assert len(rows) > 4
        for text, apart, whole in rows:
            assert (apart, whole) == (True, True), text
        page.keyboard.press("Escape")


_ROWS = """(rows) => rows.map((row) => {
  const range = document.createRange();
  range.selectNodeContents(row.firstElementChild);
  const [a, b] = [range.getBoundingClientRect(), row.lastElementChild.getBoundingClientRect()];
  const chosen = row.querySelector('select');
  const free = chosen?.cloneNode(true);
  if (free) {
    free.style.cssText = 'position: absolute; max-width: none; visibility: hidden';
    row.append(free);
  }
  const whole = !free || free.offsetWidth <= chosen.offsetWidth;
  free?.remove();
  return [row.textContent, a.right <= b.left || a.bottom <= b.top, whole];
})"""
"""Of each: what it is, whether that and what is chosen are apart, and whether all of the latter is seen."""


# ---- accessibility


def flawless(page: Page) -> None:
    """axe finds nothing in the page as it is that would keep anybody from using it."""
    # colours are judged when nothing is fading in or out any more
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished))")
    found = Axe().run(page).response["violations"]
    grave = [
        (flaw["id"], flaw["impact"], [node["html"] for node in flaw["nodes"]][:3])
        for flaw in found
        if flaw["impact"] in ("serious", "critical")
    ]
    assert grave == []


def test_nothing_on_a_phone_shuts_anybody_out(new_context: NewContext) -> None:
    page = new_context(**PHONE, reduced_motion="reduce").new_page()
    table = deal(page, STUCK_AFTER_ONE)
    flawless(page)
    table.tap(TIP, DISCARD, touch=True)
    table.dialog("stuck").wait_for()
    flawless(page)


def test_nothing_on_the_table_and_in_its_dialogs_shuts_anybody_out(new_context: NewContext) -> None:
    page = new_context(**DESKTOP, reduced_motion="reduce").new_page()
    table = deal(page, STUCK_AFTER_ONE)
    flawless(page)
    table.tap(TIP)
    flawless(page)
    table.tap(DISCARD)
    table.dialog("stuck").wait_for()
    flawless(page)
    page.locator('[data-role="stuck-undo"]').click()
    table.version(2)
    for tool in ("help", "settings", "share"):
        page.locator(f'[data-role="{tool}"]').click()
        table.dialog(tool).wait_for()
        flawless(page)
        page.keyboard.press("Escape")
        table.dialog(tool).wait_for(state="hidden")  # as long as one is open, keys are not the table's
    table.draw()
    table.version(3)
    page.keyboard.press("n")
    table.dialog("new").wait_for()
    flawless(page)


def test_cards_are_solid_and_what_is_selected_is_seen_in_the_colours_of_the_system(
    new_context: NewContext,
) -> None:
    page = new_context(**DESKTOP, forced_colors="active", reduced_motion="reduce").new_page()
    table = deal(page, PAIRS_AT_ONCE)

    cards = page.locator('[data-role="table"] .card.face')
    (canvas,) = set(cards.evaluate_all("all => all.map((one) => getComputedStyle(one).backgroundColor)"))
    assert canvas.startswith("rgb(")  # and not rgba(…), which would show what is below
    veil = "card => getComputedStyle(card, '::after').content"
    assert table.place(1).locator(".card").evaluate(veil) == "none"
    filled = "all => all.map((one) => getComputedStyle(one).backgroundImage !== 'none')"
    assert not any(cards.evaluate_all(filled))
    table.tap(TIP)
    assert table.place(TIP).locator(".card").evaluate_all(filled) == [True]
    page.locator('[data-role="help"]').click()
    expect(table.dialog("help")).to_have_css("background-color", canvas)


def test_nothing_on_a_won_table_and_in_its_replay_shuts_anybody_out(new_context: NewContext) -> None:
    page = new_context(reduced_motion="reduce").new_page()
    table = deal(page)
    table.play(example())
    table.dialog("won").wait_for()
    flawless(page)
    page.locator('[data-role="won-replay"]').click()
    page.wait_for_url("**/r/*")
    table.version(0)
    page.keyboard.press("PageDown")
    table.version(10)
    flawless(page)


def test_nothing_on_the_pages_shuts_anybody_out(new_context: NewContext) -> None:
    page = new_context(reduced_motion="reduce").new_page()
    for address in ("/rules/heart-to-heart", "/examples/heart-to-heart", "/d/nothing", "/"):
        page.goto(address)
        page.locator("h1").first.wait_for()
        flawless(page)
    page.locator('[data-role="name"]').click()
    page.locator('[data-dialog="name"]').wait_for()
    flawless(page)
