"""Hearts in the browser: four people at a table, one who drops and comes back, and Learn Hearts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import msgspec
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, WebSocketRoute, expect

from heartroom.client import NEW
from tests.browser.conftest import AWAY, Complaints, NewContext
from tests.browser.hearts import HeartsTable
from tests.browser.keyboard import tab_to
from tests.browser.layout import TWO_FRAMES, settles
from tests.browser.served import Server
from tests.browser.test_screens import apart, boxes

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


def together(new_context: NewContext, origin: str, players: int, **options: str) -> list[HeartsTable]:
    """Players at a table that the first has made and invited the others to; bots have the other seats."""
    tables = [HeartsTable(new_context(**CALM).new_page()) for _ in range(players)]
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
    tables = together(new_context, origin, 4, target=ONE_HAND, pace="0")
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
    begun = tables[0].version
    for table in tables:
        table.play_on()
    for trick in range(1, 12):  # however slow the machine is, it goes on
        tables[0].as_far_as(begun + 4 * trick)
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

    one = tables[2]
    one.panel.locator('[data-role="replay"]').click()
    one.page.wait_for_url("**/r/*")
    expect(one.page.locator(".seat[data-own] .name")).to_have_text("You")
    expect(one.seat(2)).to_have_attribute("data-own", "")
    expect(one.seat(0).locator(".name")).to_have_text("Guest 1")
    for width, height in (*SCREENS, (568, 320)):
        one.page.set_viewport_size({"width": width, "height": height})
        # of every card at the sides, the corner with its rank
        one.page.wait_for_function(_READABLE, arg=[width, height])


_SPEAK_NORWEGIAN_AT_THE_FEAST: Final = """() => new MutationObserver((_, observer) => {
  if (!document.querySelector('.rising')) return;
  observer.disconnect();
  window.hearts = document.querySelectorAll('.rising .emblem').length;
  localStorage.setItem('heartroom.settings', JSON.stringify({ language: 'nb' }));
  dispatchEvent(new StorageEvent('storage', { key: 'heartroom.settings' }));
}).observe(document, { childList: true, subtree: true })"""
"""Another tab chooses it as soon as the feast has begun."""


def test_a_feast_goes_on_in_another_language(new_context: NewContext, origin: str) -> None:
    tables = together(new_context, origin, 4, target=ONE_HAND, pace="0")
    for table in tables:
        table.page.evaluate(_SPEAK_NORWEGIAN_AT_THE_FEAST)
        table.pass_three()
    for table in tables:
        table.phase("playing")
        table.play_on()
    begun = tables[0].version
    for trick in range(1, 12):  # however slow the machine is, it goes on
        tables[0].as_far_as(begun + 4 * trick)
        if trick == 8:
            for table in tables:
                table.page.emulate_media(reduced_motion="no-preference")
    for table in tables:
        table.phase("over")
        expect(table.panel).to_have_attribute("data-panel", "over")
    points = [int(tables[0].sheet()[f"total {seat}"]) for seat in SEATS]
    for seat in SEATS:
        feast = tables[seat].page.locator(".rising")
        if points[seat] > min(points):
            expect(feast).to_have_count(0)
            continue
        expect(tables[seat].page.locator("html")).to_have_attribute("lang", "nb")
        expect(tables[seat].panel.locator('[data-role="winners"]')).to_contain_text("Du")
        expect(feast).to_have_count(1)
        assert feast.locator(".emblem").count() == tables[seat].page.evaluate("hearts") > 0
        assert feast.evaluate("one => one.getAnimations({ subtree: true }).length") > 0


def test_who_drops_is_replaced_by_a_bot_and_comes_back_to_the_seat(
    new_context: NewContext, origin: str
) -> None:
    one, gone, another = together(new_context, origin, 3, pace="0", level="easy")
    others = (one, another)
    for table in (*others, gone):
        table.pass_three()
    for table in others:
        table.record(GONE)
        table.play_on()
    gone.legal.first.wait_for()
    gone.play()
    held = set(gone.cards())
    address, context = gone.page.url, gone.page.context
    gone.page.close()
    for table in others:
        expect(table.seat(GONE)).to_have_attribute("data-status", "away")
        assert table.statuses() == ["here", "lost", "away"]
    # a bot plays for who is not there, and the game goes on
    one.as_far_as(one.version + 8)

    back = HeartsTable(context.new_page())
    back.page.goto(address)
    expect(back.seat(GONE)).to_have_attribute("data-own", "")
    for table in (*others, back):
        expect(table.seat(GONE)).to_have_attribute("data-status", "here")
    left = set(back.cards())
    assert left < held
    back.play_on()
    back.page.wait_for_function("() => played.length")
    assert set(back.played()) <= left
    for table in others:
        table.as_far_as(back.version)


def test_a_server_killed_in_mid_trick_goes_on_with_it(
    page: Page, server: Server, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    table = HeartsTable(page)
    table.make(server.url, pace="0", level="easy")
    table.start()
    table.pass_three()
    table.phase("playing")
    status = page.locator('[data-role="status"]')
    table.legal.first.wait_for()
    while status.inner_text() != "Your turn":  # but to lead
        table.play()
        table.legal.first.wait_for()
    version, held = table.version, set(table.cards())
    card = int(table.legal.first.get_attribute("data-card") or "")
    server.kill()
    banner = page.locator('[data-role="banner"]')
    expect(banner).to_contain_text("Connection lost")
    # what is played meanwhile is kept, and said to be on its way
    table.tap(card)
    expect(table.card(card)).to_have_attribute("data-going", "")
    expect(status).to_have_text("Sending…")
    server.start()
    table.as_far_as(version + 1)
    expect(banner).to_be_empty()
    table.legal.first.wait_for()
    assert set(table.cards()) == held - {card}
    table.play()


def test_who_let_the_time_run_out_is_back_by_reaching_for_a_card(
    new_context: NewContext, origin: str
) -> None:
    page = new_context(**CALM).new_page()
    hurry(page)
    table = HeartsTable(page)
    table.make(origin, level="easy")
    table.start()
    table.phase("passing")
    table.record(0)
    expect(table.seat(0)).to_have_attribute("data-status", "away")
    expect(page.locator('[data-role="ribbon"]')).to_contain_text("A bot is playing for you")
    table.tap(table.cards()[0], dimmed=True)
    # as nothing more is done, the time runs out again
    page.wait_for_function("() => statuses.join(' ').includes('away here')")


def hurry(page: Page) -> None:
    """The tables that this page makes leave a second for a turn, less than it lets one choose."""

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def said(message: bytes | str) -> None:
            assert isinstance(message, bytes)
            kind, *more = msgspec.msgpack.decode(message)
            if kind == NEW:
                more[3]["pace"] = 1
            server.send(msgspec.msgpack.encode([kind, *more]))

        route.on_message(said)

    page.route_web_socket("**/ws", connect)


SCREENS: Final = [(320, 568), (390, 844), (844, 390), (1280, 800)]


def test_every_screen_shows_all_of_the_table_and_notices_keep_off_the_hand(
    new_context: NewContext, origin: str
) -> None:
    page = new_context(locale="nb", has_touch=True, is_mobile=True, **CALM).new_page()
    table = HeartsTable(page)
    table.make(origin, pace="0", level="easy")
    start, hint = page.locator('[data-role="start"]'), page.locator(".waiting-room .hint")
    for width, height in SCREENS:
        resize(page, width, height)
        settles(page, inside, lambda: boxes(start) + boxes(hint), width, height)
    start.focus()
    page.keyboard.press("Enter")
    table.phase("passing")
    expect(table.hand.locator(":focus")).to_have_count(1)
    held, tools = page.locator(".held-card"), page.locator(".tool, .home-link")
    confirm = table.panel.locator('[data-role="pass-confirm"]')
    toast = table.toast("choose-three")
    for width, height in SCREENS:
        resize(page, width, height)

        def said() -> list[Any]:
            confirm.click(force=True)  # a notice is gone after some seconds, and comes again
            return boxes(toast)

        settles(page, inside, said, width, height)
        settles(page, inside, lambda: boxes(held) + boxes(tools), width, height)
        settles(page, apart, lambda: boxes(held) + boxes(confirm), lambda: boxes(tools) + said())
    assert Axe().run(page).violations_count == 0
    for card in table.cards()[:3]:
        table.tap(card)
    lifted = page.locator("[data-chosen] > .card")
    expect(lifted).to_have_count(3)
    for width, height in SCREENS:
        resize(page, width, height)
        settles(page, apart, lambda: boxes(lifted), lambda: boxes(table.seat(0)))

    page.goto(f"{origin}/learn/hearts")
    lesson = page.locator('[data-role="lesson"]')
    width, height = SCREENS[0]
    resize(page, width, height)
    for number in range(1, STEPS + 1):
        expect(lesson).to_have_attribute("data-number", str(number))
        assert page.evaluate("() => document.documentElement.scrollWidth") == width, number
        inside(boxes(page.locator(".lesson-nav .button:visible")), width, height)
        page.keyboard.press("PageDown")


_READABLE: Final = """([width, height]) => {
  const cards = [...document.querySelectorAll('.side:not(.own) > .fan > .card')];
  const read = cards.filter((card) => {
    const { left, top, width: wide } = card.getBoundingClientRect();
    const [x, y] = [left + wide * 0.25, top + wide * 0.4];
    return x < width && y < height && document.elementFromPoint(x, y)?.closest('.card') === card;
  });
  return cards.length === 39 && read.length === 39;
}"""


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(TWO_FRAMES)


def inside(all_of_them: list[Any], width: int, height: int) -> None:
    """All of it is on the screen."""
    assert all_of_them
    for left, top, right, bottom in all_of_them:
        assert left >= -0.5
        assert top >= -0.5
        assert right <= width + 0.5
        assert bottom <= height + 0.5


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


_AT_ITS_END: Final = """(text) => {
  const { scrollTop, clientHeight, scrollHeight } = document.querySelector(text);
  return scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 1;
}"""


@pytest.mark.parametrize(("width", "height"), [(320, 568), (568, 320), (1280, 800)])
def test_the_guide_has_a_way_home_and_text_that_can_be_scrolled_by_keyboard(
    new_context: NewContext, base_url: str, width: int, height: int
) -> None:
    page = new_context(viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    page.goto(f"{base_url}/learn/hearts")
    HeartsTable(page).hand.wait_for()
    expect(page.get_by_role("heading", level=1)).to_have_text("Learn Hearts")
    assert Axe().run(page).response["violations"] == []
    text = page.locator(".lesson-text")
    if text.evaluate("one => one.scrollHeight > one.clientHeight"):
        tab_to(page, ".lesson-text")
        page.keyboard.press("End")
        page.wait_for_function(_AT_ITS_END, arg=".lesson-text")
        # another step begins at its beginning
        page.locator('[data-role="lesson-next"]').click()
        assert text.evaluate("one => one.scrollTop") == 0
    page.locator(".brand").click()
    expect(page.locator(".home")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "nb"])
def test_words_of_the_table_are_not_cut_on_the_smallest_phone(
    new_context: NewContext, origin: str, language: str
) -> None:
    page = new_context(**{**CALM, "viewport": {"width": 320, "height": 568}, "locale": language}).new_page()
    table = HeartsTable(page)
    table.make(origin, target=ONE_HAND, pace="0")
    table.start()
    table.phase("passing")
    table.pass_three()
    table.phase("playing")
    table.play_on()
    begun = table.version
    for trick in range(1, 12):
        table.as_far_as(begun + 4 * trick)
    table.phase("over")
    expect(table.panel).to_have_attribute("data-panel", "over")
    assert table.panel.locator("thead th").evaluate_all(_CUT) == []
    table.panel.locator('[data-role="replay"]').click()
    page.locator('[data-role="scrubber"]').wait_for()
    words = page.locator(".info dt, .info dd")
    assert words.evaluate_all(_CUT) == []
    for row in (page.locator(".info dt"), page.locator(".info dd")):
        across = boxes(row)
        assert all(one[2] + 3 <= other[0] for one, other in pairwise(across))


_CUT: Final = """(all) => all.map((one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  const [text, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
  return [one.textContent, text.left < box.left - 1 || text.right > Math.min(innerWidth, box.right + 1)];
}).filter(([, cut]) => cut).map(([text]) => text)"""
"""What does not fit in where it stands."""


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
    # it is on the table, or with whoever took the trick
    expect(table.hand.locator(f'[data-card="{legal}"]')).to_have_count(0)


def expect_done(page: Page) -> None:
    """What is to be seen in a step is shown to its end."""
    page.clock.run_for(6_000)
    expect(page.locator('[data-role="lesson"]')).to_have_attribute("data-done", "")
