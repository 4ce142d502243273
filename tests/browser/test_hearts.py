"""Hearts in the browser: four people at a table, one who drops and comes back, and Learn Hearts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.hearts import HeartsTable
from tests.browser.served import Server

CALM: Final[dict[str, Any]] = {"reduced_motion": "reduce", "viewport": {"width": 480, "height": 640}}
SEATS: Final = range(4)
ONE_HAND: Final = "1"
TWO_OF_CLUBS: Final = 1
QUEEN: Final = 50
GONE: Final = 1
"""The seat of who drops."""


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    """A server that does not wait long for who has lost the connection."""
    server = Server(HEARTROOM_GRACE_SECONDS="2")
    try:
        server.start()
        yield server.url
    finally:
        server.remove()


def four(new_context: NewContext, origin: str, **options: str) -> list[HeartsTable]:
    """Four players at a table that one has made and the others were invited to."""
    tables = [HeartsTable(new_context(**CALM).new_page()) for _ in SEATS]
    link = tables[0].make(origin, **options)
    for seat, table in enumerate(tables[1:], 1):
        table.sit(link, seat)
    tables[0].start()
    for table in tables:
        table.phase("passing")
    return tables


def turn(tables: list[HeartsTable]) -> int:
    """Whose turn it is, when all have seen as much."""
    version = max(table.version for table in tables)
    for table in tables:
        table.as_far_as(version)
    (seat,) = tables[0].turn()
    return seat


def test_four_people_play_a_hand_to_its_end_and_have_the_same_score(
    new_context: NewContext, origin: str
) -> None:
    tables = four(new_context, origin, target=ONE_HAND, pace="0")
    before = [set(table.cards()) for table in tables]
    assert set.union(*before) == set(range(52)), "each has other cards"
    for table in tables:
        table.pass_three()
    for table in tables:
        table.phase("playing")
    after = [set(table.cards()) for table in tables]
    for seat in SEATS:
        expect(tables[seat].hand.locator("[data-fresh]")).to_have_count(3)
        assert before[seat] - after[seat] == after[(seat + 1) % 4] - before[(seat + 1) % 4]

    assert tables[turn(tables)].play() == TWO_OF_CLUBS
    for table in tables:
        led = table.page.locator('[data-role="trick"] [data-led]')
        expect(led).to_have_attribute("data-card", str(TWO_OF_CLUBS))
    played = [tables[turn(tables)].play() for _ in range(3)]
    for table in tables:
        table.play_on()
    for table in tables:
        table.phase("over")
        expect(table.panel).to_have_attribute("data-panel", "over")
    # the last four cards play themselves
    played += [card for table in tables for card in table.played()]
    assert len(played) == len(set(played)) == 47

    sheets = [table.sheet() for table in tables]
    assert all(sheet == sheets[0] for sheet in sheets)
    points = [int(sheets[0][f"total {seat}"]) for seat in SEATS]
    assert sum(points) in (26, 78)
    for seat in SEATS:
        said = tables[seat].panel.locator('[data-role="winners"]')
        expect(said).to_contain_text("You" if points[seat] == min(points) else "Guest")


def test_who_drops_is_replaced_by_a_bot_and_comes_back_to_the_seat(
    new_context: NewContext, origin: str
) -> None:
    tables = four(new_context, origin, pace="0")
    for table in tables:
        table.pass_three()
    for table in tables:
        table.phase("playing")
    gone = tables[GONE]
    others = [table for table in tables if table is not gone]
    for _ in range(5):
        tables[turn(tables)].play()
    if turn(tables) == GONE:
        gone.play()
    held = set(gone.cards())
    for table in others:
        table.record(GONE)
    address, context = gone.page.url, gone.page.context
    gone.page.close()
    for table in others:
        expect(table.seat(GONE)).to_have_attribute("data-status", "away")
        assert table.statuses() == ["here", "lost", "away"]

    # a bot plays for who is not there, and the game goes on
    while (seat := turn(others)) != GONE:
        tables[seat].play()
    for table in others:
        table.play_on()
    others[0].as_far_as(others[0].version + 8)

    back = HeartsTable(context.new_page())
    back.page.goto(address)
    expect(back.seat(GONE)).to_have_attribute("data-own", "")
    for table in (*others, back):
        expect(table.seat(GONE)).to_have_attribute("data-status", "here")
    left = set(back.cards())
    assert left < held
    back.play_on()
    back.page.wait_for_function("played.length")
    assert set(back.played()) <= left
    for table in others:
        table.as_far_as(back.version)


# ---- Learn Hearts


MUST: Final = {
    "twoOfClubs": (27, "must_lead_two_of_clubs"),
    "firstTrick": (QUEEN, "no_points_on_first_trick"),
    "following": (16, "must_follow"),
    "taking": (21, "must_follow"),
    "breaking": (29, "hearts_not_broken"),
    "tips": (16, "must_follow"),
    "omnibus": (29, "must_follow"),
}
"""By step of the guide: a card that is refused, and the code with which."""
STEPS: Final = 13


def test_the_guide_is_walked_through_by_keyboard(new_context: NewContext, base_url: str) -> None:
    page = new_context(**CALM).new_page()
    page.clock.install()
    page.goto("/learn/hearts")
    table = HeartsTable(page)
    lesson = page.locator('[data-role="lesson"]')
    seen = []
    for number in range(1, STEPS + 1):
        expect(lesson).to_have_attribute("data-number", str(number))
        name = lesson.get_attribute("data-step") or ""
        seen.append(name)
        if name == "passing":
            pass_by_keyboard(table)
        elif table.legal.count():
            play_by_keyboard(table, name)
        expect_done(page)
        if number < STEPS:
            table.tab("lesson-next")
            page.keyboard.press("Enter")
    assert len(set(seen)) == STEPS
    assert set(MUST) < set(seen)
    # from the last step one goes on to a real table
    table.tab("play")
    page.keyboard.press("Enter")
    page.wait_for_url("**/g/*")


def pass_by_keyboard(table: HeartsTable) -> None:
    keyboard = table.page.keyboard
    before = table.cards()
    for card in before[-3:]:
        table.walk(card)
        keyboard.press("Enter")
        expect(table.card(card)).to_have_attribute("aria-pressed", "true")
    # until it is confirmed, the choice may be changed
    keyboard.press("Enter")
    expect(table.card(before[-1])).to_have_attribute("aria-pressed", "false")
    keyboard.press("Enter")
    keyboard.press("p")
    expect(table.hand.locator("[data-fresh]")).to_have_count(3)
    assert not set(before[-3:]) & set(table.cards())


def play_by_keyboard(table: HeartsTable, name: str) -> None:
    keyboard = table.page.keyboard
    legal = int(table.legal.first.get_attribute("data-card") or "")
    if name in MUST:
        wrong, code = MUST[name]
        version = table.version
        table.walk(wrong)
        keyboard.press("Enter")
        expect(table.toast(code)).to_be_visible()
        assert table.version == version
        expect(table.card(wrong)).to_be_visible()
    table.walk(legal)
    keyboard.press("Enter")
    expect(table.trick.and_(table.page.locator(f'[data-card="{legal}"]'))).to_be_attached()


def expect_done(page: Page) -> None:
    """What is to be seen in a step is shown to its end."""
    page.clock.run_for(6_000)
    expect(page.locator('[data-role="lesson"]')).to_have_attribute("data-done", "")
