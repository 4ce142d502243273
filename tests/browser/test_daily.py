"""The deal of the day, its boards, live games and the player's own pages, as they are seen and used."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from heartroom.sessions import record
from tests.browser.conftest import Complaints, NewContext
from tests.browser.daily import Action, Guest, behind
from tests.browser.table import DESKTOP, PHONE, HeartTable, deal
from tests.browser.test_connection import REACH_FOR_A_CARD
from tests.browser.test_screens import flawless

PAGES = ("/", "/daily", "/calendar", "/all-time", "/live", "/me")
REFUSED = "status of 40[34]"


@cache
def winning(url: str, _date: str) -> list[Action]:
    """The fewest actions that win the deal of the day."""
    return Guest(url).find_out()


@pytest.fixture
def today(base_url: str) -> str:
    return str(Guest(base_url).ask("/api/daily")["date"])


@pytest.fixture
def actions(base_url: str, today: str) -> list[Action]:
    return winning(base_url, today)


def role(page: Page, name: str) -> Locator:
    return page.locator(f'[data-role="{name}"]')


def open_day(page: Page, state: str) -> Locator:
    page.goto("/daily")
    day = role(page, "day")
    expect(day).to_have_attribute("data-state", state)
    return day


def start(page: Page) -> HeartTable:
    """Starts the attempt; its beginning is the first action."""
    open_day(page, "new")
    role(page, "day-start").click()
    return HeartTable(page).ready(1)


def winner(context: BrowserContext, url: str, actions: list[Action], name: str) -> None:
    """Makes the player of this browser one who has just won today."""
    guest = Guest(url)
    guest.arrive(name)
    guest.win(actions)
    guest.sits_at(context)


@cache
def champion(url: str, date: str) -> Guest:
    """One who has won today, for tests that only look."""
    guest = Guest(url)
    guest.arrive("W" * 20)
    guest.win(winning(url, date))
    return guest


@pytest.fixture
def won(context: BrowserContext, page: Page, base_url: str, today: str) -> Page:
    """The page of one who has won today."""
    champion(base_url, today).sits_at(context)
    return page


# ---- the attempt


def test_the_rule_is_said_before_the_cards_are_seen(page: Page) -> None:
    open_day(page, "new")
    expect(role(page, "day-rule")).to_contain_text("There is no second one.")
    expect(role(page, "day-rule")).to_contain_text("also while you are away")
    expect(role(page, "countdown")).to_have_text(re.compile(r"^(\d+:)?\d+:\d\d$"))
    expect(role(page, "day-practice")).to_have_count(0)
    assert "par " not in role(page, "day").inner_text()


def test_the_first_start_is_the_attempt_in_every_tab(
    page: Page, context: BrowserContext, base_url: str
) -> None:
    table = start(page)
    attempt = page.url
    expect(role(page, "ranked-mark")).to_be_visible()
    expect(role(page, "new")).to_be_hidden()
    page.keyboard.press("n")
    expect(page.locator("dialog")).to_have_count(0)
    table.draw()
    table.version(2)
    page.reload()
    assert HeartTable(page).version(2).seen()["stock"] == ["25", "full"]

    other = context.new_page()
    open_day(other, "running")
    role(other, "day-continue").click()
    HeartTable(other).ready(2)
    assert other.url == attempt
    other.goto("/")
    card = role(other, "day-card")
    expect(card).to_have_attribute("data-state", "running")
    expect(role(other, "day-go")).to_have_attribute("href", attempt.removeprefix(base_url))
    # the card goes on with it, so nothing else does
    expect(role(other, "continue")).to_have_count(0)
    assert attempt.endswith(behind(context, base_url).start())


def test_a_win_by_taps_is_entered_and_told(
    new_context: NewContext, base_url: str, today: str, actions: list[Action]
) -> None:
    context = new_context(
        permissions=["clipboard-read", "clipboard-write"], locale="en-GB", reduced_motion="reduce"
    )
    page = context.new_page()
    table = start(page)
    table.play(actions)
    table.dialog("won").wait_for()
    expect(role(page, "won-new")).to_have_count(0)
    role(page, "won-result").click()

    expect(role(page, "day")).to_have_attribute("data-state", "won")
    expect(role(page, "result-moves")).to_have_text(str(len(actions)))
    expect(role(page, "result-over")).to_have_text("0")
    expect(role(page, "result-over-more")).to_have_text(f"par {len(actions)}")
    expect(role(page, "result-streak")).to_have_text("1")
    time = role(page, "result-time").inner_text()
    assert re.fullmatch(r"\d+:\d\d\.\d", time)
    expect(page.locator("tr[data-me] td.time")).to_have_text(time)

    role(page, "day-share-copy").click()
    expect(page.locator('.toast[data-kind="copied"]')).to_be_visible()
    told = page.evaluate("navigator.clipboard.readText()")
    assert f"{time} · {len(actions)} moves, on par\nStreak: 1 day\n" in told
    assert told.endswith(f"{base_url}/daily/{today}")
    assert "HH1" not in told
    page.goto("/")
    expect(role(page, "day-result")).to_contain_text(time)


def test_the_moves_that_count_lead_where_a_ranked_game_is_won(calm: Page, actions: list[Action]) -> None:
    table = start(calm)
    table.draw()
    table.version(2)
    calm.keyboard.press("u")
    table.version(3)
    table.play(actions)
    dialog = table.dialog("won")
    shown = [role(calm, f"won-{name}").inner_text() for name in ("counted", "moves")]
    assert shown == [str(len(actions) + 2), str(len(actions))]
    assert [line.split() for line in dialog.locator("dl > div").all_inner_texts()][2:] == [
        ["Moves", shown[0]],
        ["Without", "undos", shown[1]],
    ]


def test_whoever_has_finished_may_practise_and_look_at_replays(won: Page) -> None:
    open_day(won, "won")
    role(won, "day-practice").click()
    HeartTable(won).ready()
    expect(role(won, "new")).to_be_visible()
    expect(role(won, "ranked-mark")).to_have_count(0)
    won.go_back()
    won.locator("tr[data-me]").first.locator('[data-role="row-replay"]').click()
    won.wait_for_url("**/r/*")
    HeartTable(won).version(0)
    expect(role(won, "ribbon")).to_be_visible()
    assert not won.evaluate(REACH_FOR_A_CARD), "nothing is expected of a replay"


def test_a_link_to_a_move_and_the_file_of_a_game(
    won: Page, context: BrowserContext, base_url: str, today: str, actions: list[Action], tmp_path: Path
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    won.goto("/r/" + champion(base_url, today).ask("/api/daily")["session"])
    replay = HeartTable(won).version(0)
    role(won, "scrubber").fill("31")
    places = replay.version(31).seen()["places"]
    role(won, "replay-share").click()
    with won.expect_download() as downloading:
        role(won, "replay-file").click()
    downloading.value.save_as(tmp_path / "game.jsonl")
    read = record.read((tmp_path / "game.jsonl").read_bytes())
    assert [list(step.action) for step in read.steps] == actions
    role(won, "copy-move").click()
    expect(won.locator('.toast[data-kind="copied"]')).to_be_visible()
    link = won.evaluate("navigator.clipboard.readText()")
    assert link == f"{won.url}#31"

    other = context.new_page()
    other.goto(link)
    assert HeartTable(other).version(31).seen()["places"] == places
    role(other, "step-back").click()
    HeartTable(other).version(30)
    other.goto(f"{won.url}#9999")
    HeartTable(other).version(len(actions))


def test_nobody_else_sees_anything_of_an_attempt(
    page: Page, stranger: Page, today: str, complaints: Complaints
) -> None:
    complaints.expect(REFUSED)
    start(page)
    code = "HH1-D-" + today.replace("-", "")
    for address in (page.url, page.url.replace("/g/", "/r/"), f"/d/{code}"):
        stranger.goto(address)
        expect(stranger.locator("h1")).to_contain_text("part of a contest that is still going on")
        expect(role(stranger, "to-day")).to_be_visible()
    role(stranger, "to-day").click()
    expect(role(stranger, "day")).to_have_attribute("data-state", "new")


def test_there_is_no_deal_of_tomorrow(page: Page, today: str, complaints: Complaints) -> None:
    complaints.expect(REFUSED)
    page.goto("/daily/2999-01-01")
    day = role(page, "no-day")
    expect(day).to_contain_text("There is no deal of that day.")
    expect(day).to_contain_text(re.compile("January.* 2999"))
    # which trying again would not change
    expect(role(page, "retry")).to_have_count(0)
    page.get_by_role("link", name="The last deal before").click()
    expect(role(page, "day")).to_have_attribute("data-date", today)


def test_a_day_without_a_deal_leads_to_those_beside_it(page: Page, complaints: Complaints) -> None:
    complaints.expect(REFUSED)
    days = [{"date": f"2020-05-{day}", "state": "new", "result": None} for day in ("04", "09")]
    month = {"month": "2020-05", "today": "2026-11-30", "days": days}
    page.route("**/api/daily/calendar?month=2020-05", lambda route: route.fulfill(json=month))
    page.goto("/daily/2020-05-06")
    before, after = (
        page.get_by_role("link", name=name) for name in ("The last deal before", "The next deal after")
    )
    expect(before).to_have_attribute("href", "/daily/2020-05-04")
    expect(after).to_have_attribute("href", "/daily/2020-05-09")
    expect(role(page, "day-calendar")).to_have_attribute("href", "/calendar/2020-05")
    page.goto("/daily/yesterday")
    expect(role(page, "failure")).to_be_visible()


# ---- midnight


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/New_York"])
def test_the_countdown_ends_at_the_player_s_own_time(new_context: NewContext, today: str, zone: str) -> None:
    page = new_context(timezone_id=zone, locale="en-GB").new_page()
    open_day(page, "new")
    midnight = datetime.fromisoformat(today).replace(tzinfo=UTC) + timedelta(days=1)
    local = midnight.astimezone(ZoneInfo(zone))
    expect(page.locator(".next-deal")).to_contain_text(f"at {local.hour}:{local.minute:02}")
    expect(role(page, "day")).to_have_attribute("data-date", today)


def test_a_countdown_that_is_over_too_early_goes_on(page: Page) -> None:
    """As on a device whose clock runs faster than the server's."""
    page.clock.install()
    open_day(page, "new")
    page.clock.fast_forward("24:00:00")
    expect(role(page, "countdown")).to_have_text(re.compile("[1-9]"))
    expect(role(page, "day")).to_have_attribute("data-state", "new")


def test_the_day_ends_while_it_is_looked_at(page: Page, base_url: str, today: str) -> None:
    champion(base_url, today)
    page.clock.install()
    open_day(page, "new")
    expect(page.locator("td.replay")).to_have_count(0)

    def tomorrow(route: Route) -> None:
        later = {"over": True, "open": True, "ends_in_ms": 0, "par": 60}
        route.fulfill(json=route.fetch().json() | later)

    page.route(f"**/api/daily/{today}**", tomorrow)
    page.clock.fast_forward("24:00:00")
    expect(role(page, "day")).to_have_attribute("data-over", "")
    expect(role(page, "day-par")).to_contain_text("Par is 60")
    expect(role(page, "day-practice")).to_be_visible()
    expect(role(page, "countdown")).to_have_count(0)
    expect(page.get_by_role("link", name="The day after")).to_be_visible()
    expect(role(page, "row-replay").first).to_be_visible()
    page.unroute_all()
    role(page, "day-today").click()
    expect(role(page, "day")).not_to_have_attribute("data-over", "")
    expect(role(page, "day-start")).to_be_visible()


# ---- boards


def test_a_board_changes_while_it_is_looked_at(page: Page, base_url: str, actions: list[Action]) -> None:
    open_day(page, "new")
    page.locator('[data-role="standings"], [data-role="board-empty"]').first.wait_for()
    other = Guest(base_url)
    other.arrive("<i>Ingrid</i>")
    other.win([["draw"], ["undo"], *actions])
    row = page.locator("tr", has_text="<i>Ingrid</i>")
    expect(row).to_be_visible()
    expect(row.locator("td.moves")).to_have_text(str(len(actions) + 2))
    assert row.locator("bdi").evaluate("bdi => bdi.children.length") == 0
    # what others have done is no help to whoever has not finished
    expect(role(page, "row-replay")).to_have_count(0)


@pytest.mark.parametrize("over", [False, True])
def test_that_nobody_has_finished_is_said_once(page: Page, today: str, over: bool) -> None:
    nobody = {"players": 0, "rows": [], "around": [], "me": None, "over": over}
    page.route(f"**/api/daily/{today}**", lambda route: route.fulfill(json=route.fetch().json() | nobody))
    page.goto(f"/daily/{today}")
    expect(role(page, "board-empty")).to_have_text("Nobody finished." if over else "Nobody has finished yet.")
    text = role(page, "day").inner_text()
    assert "have finished" not in text
    assert "0 players" not in text


def test_a_board_says_how_many_it_shows_only_if_there_are_more(page: Page, base_url: str, today: str) -> None:
    champion(base_url, today)
    caption = page.locator(".standings caption").first
    players = 3
    page.route(
        f"**/api/daily/{today}/board**",
        lambda route: route.fulfill(
            json=(board := route.fetch().json()) | {"rows": board["rows"][:1], "players": players}
        ),
    )
    open_day(page, "new")
    expect(caption).to_have_text("By time: the first 1")
    players = 1
    page.reload()
    expect(caption).to_have_text("By time")


def test_tabs_by_the_keyboard(page: Page, base_url: str, actions: list[Action]) -> None:
    Guest(base_url).win(actions)
    open_day(page, "new")
    time, moves = page.locator('[data-tab="time"]'), page.locator('[data-tab="moves"]')
    time.focus()
    page.keyboard.press("ArrowRight")
    expect(moves).to_be_focused()
    expect(moves).to_have_attribute("aria-selected", "true")
    expect(page.locator(".standings caption").first).to_contain_text("By moves")
    page.keyboard.press("Home")
    expect(page.locator(".standings caption").first).to_contain_text("By time")


def test_a_group_has_boards_of_its_own(
    page: Page,
    context: BrowserContext,
    stranger: Page,
    base_url: str,
    actions: list[Action],
    complaints: Complaints,
) -> None:
    winner(context, base_url, actions, "Åse")
    page.goto("/me")
    role(page, "group-input").fill("Vi & <b>dere</b>")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Vi & <b>dere</b>")

    stranger.goto(page.url)
    role(stranger, "group-join").click()
    # its board is what one has come for
    stranger.wait_for_url("**/daily?group=*")
    group = page.url.rsplit("/", 1)[1]
    expect(role(stranger, "board-group")).to_have_value(group)
    expect(role(stranger, "board-count")).to_contain_text("1 of 2 members")
    expect(stranger.locator("tbody tr")).to_have_count(1)
    role(stranger, "board-group").select_option(label="Everybody")
    expect(role(stranger, "board-count")).not_to_contain_text("members")
    stranger.go_back()
    expect(role(stranger, "group")).to_have_attribute("data-member", "")
    expect(role(stranger, "group-members")).to_contain_text("Åse")
    role(stranger, "group-board").click()
    expect(role(stranger, "board-count")).to_contain_text("1 of 2 members")
    role(stranger, "way-daily").click()
    expect(role(stranger, "board-group")).to_have_value("")

    stranger.goto(page.url)
    role(stranger, "group-leave").click()
    role(stranger, "group-leave-sure").click()
    stranger.wait_for_url("**/me")
    expect(role(stranger, "group-link")).to_have_count(0)
    # whoever is not in it sees the board of all
    complaints.expect(REFUSED)
    stranger.goto(f"/daily?group={group}")
    expect(role(stranger, "board-count")).not_to_contain_text("members")
    expect(stranger.locator(".standings caption").first).to_contain_text("By time")


def test_all_time_and_the_players_own_numbers(won: Page) -> None:
    won.goto("/all-time")
    expect(won.locator("tr[data-me] td.wins").first).to_have_text("1")
    numbers = role(won, "stats")
    expect(numbers.locator('[data-stat="wins"]').first).to_have_text("1")
    expect(numbers.locator('[data-stat="best-over"]')).to_have_text("0")
    expect(numbers.locator('[data-stat="games"]')).to_have_text("1")
    won.locator('[data-tab="best"]').click()
    expect(won.locator("th.by")).to_have_text("Best")


def test_the_calendar_leads_to_the_day_and_shows_what_was_done(won: Page, today: str) -> None:
    won.goto("/calendar")
    cell = won.locator(f'[data-date="{today}"]')
    expect(cell).to_have_attribute("data-state", "won")
    expect(cell).to_have_attribute("aria-label", re.compile("won in .* moves"))
    cell.click()
    expect(role(won, "day")).to_have_attribute("data-date", today)
    won.go_back()
    role(won, "month-back").click()
    expect(role(won, "month-forward")).to_be_visible()


# ---- the player


def test_a_recovery_code_brings_a_player_to_another_browser(
    context: BrowserContext,
    page: Page,
    stranger: Page,
    base_url: str,
    actions: list[Action],
    complaints: Complaints,
) -> None:
    complaints.expect(REFUSED)
    winner(context, base_url, actions, "Kari")
    page.goto("/me")
    make = role(page, "recovery-make")
    expect(make).to_have_text("Make a recovery code")
    make.click()
    code = role(page, "recovery-code").inner_text()
    page.keyboard.press("Escape")
    expect(role(page, "recovery-code")).to_have_count(0)
    expect(role(page, "recovery-has")).to_contain_text("You have a recovery code.")
    page.reload()
    expect(role(page, "recovery-has")).to_contain_text("A new one ends it.")
    expect(make).to_have_text("Make a new recovery code")
    make.click()
    role(page, "recovery-cancel").click()

    stranger.goto("/me")
    field = role(stranger, "recovery-input")
    field.fill("7K3QD-0XM4W-7K3QD-0XM4W")
    stranger.keyboard.press("Enter")
    expect(role(stranger, "recovery-error")).to_have_text("This recovery code is not valid, or no longer.")
    field.fill(f" {code.lower()} ")
    stranger.keyboard.press("Enter")
    expect(role(stranger, "me-name")).to_have_text("Kari")
    open_day(stranger, "won")


def test_data_are_downloaded_and_deleted(
    context: BrowserContext,
    page: Page,
    stranger: Page,
    base_url: str,
    today: str,
    actions: list[Action],
    tmp_path: Path,
) -> None:
    winner(context, base_url, actions, "Going Soon")
    stranger.goto("/daily")
    expect(stranger.locator("tr", has_text="Going Soon").first).to_be_visible()
    page.goto("/me")
    with page.expect_download() as downloading:
        role(page, "export").click()
    downloading.value.save_as(tmp_path / "heartroom.json")
    exported = json.loads((tmp_path / "heartroom.json").read_text())
    assert exported["name"] == "Going Soon"
    assert [one["date"] for one in exported["daily"]] == [today]

    role(page, "delete").click()
    expect(role(page, "delete-cancel")).to_be_focused()
    role(page, "delete-sure").click()
    page.wait_for_url("**/")
    expect(role(page, "name")).to_have_text("Choose a name")
    expect(stranger.locator("tr", has_text="Going Soon")).to_have_count(0)
    open_day(page, "new")


# ---- live games


def test_a_game_is_watched_from_the_list_until_it_is_private(page: Page, stranger: Page) -> None:
    table = deal(page)
    table.draw()
    table.version(1)
    session = page.url.rsplit("/", 1)[1]
    stranger.goto("/live")
    game = stranger.locator(f'[data-session="{session}"]')
    expect(game).to_be_visible()
    game.locator('[data-role="watch"]').click()
    HeartTable(stranger).ready(1)
    expect(role(page, "viewers")).to_have_text(re.compile("1"))
    stranger.go_back()
    expect(game).to_be_visible()
    role(page, "share").click()
    role(page, "private").click()
    expect(game).to_have_count(0)
    page.keyboard.press("Escape")
    role(page, "share").click()
    expect(role(page, "private")).to_be_checked()


# ---- what may go wrong, and screens


@pytest.mark.parametrize("address", ["/", "/daily", "/calendar", "/all-time", "/live", "/me"])
def test_where_the_server_cannot_be_asked_that_is_said_and_tried_again(
    page: Page, address: str, complaints: Complaints
) -> None:
    complaints.expect("Failed to load resource")
    page.route("**/api/**", lambda route: route.abort())
    page.goto(address)
    retry = role(page, "retry").first
    expect(retry).to_be_visible()
    expect(page.locator('[role="alert"]', has_text="The server cannot be reached").first).to_be_visible()
    # what has failed is also tried again by itself when it has changed, so the last one may be gone
    page.route("**/api/**", lambda route: route.fulfill(status=503, json={"code": "unavailable"}))
    retry.click()
    expect(page.locator('[role="alert"]', has_text="The server cannot answer").first).to_be_visible()
    page.unroute("**/api/**")
    page.evaluate("document.querySelectorAll('[data-role=retry]').forEach((button) => button.click())")
    expect(role(page, "retry")).to_have_count(0)


def test_the_days_deal_and_play_are_seen_at_once_on_a_phone(new_context: NewContext) -> None:
    page = new_context(**PHONE).new_page()
    page.goto("/")
    role(page, "day-go").wait_for()
    for name in ("day-card", "play"):
        expect(role(page, name).first).to_be_in_viewport(ratio=1)


_STICKING_OUT = """() => {
  const wide = () => document.documentElement.scrollWidth > innerWidth;
  if (!wide()) return [];
  // what makes the page fit when it is gone; the last is the innermost
  return [...document.querySelectorAll('body *')].filter((element) => {
    const { display } = element.style;
    element.style.display = 'none';
    const fits = !wide();
    element.style.display = display;
    return fits;
  }).map((element) => element.outerHTML.split('>', 1)[0] + '>').slice(-3);
}"""

_FIRST_FRAME_STICKING_OUT = f"""
  const sticking = {_STICKING_OUT};
  window.stuckOut = [];
  const look = () => {{
    if (document.documentElement) window.stuckOut = sticking();
    if (!window.stuckOut.length) requestAnimationFrame(look);
  }};
  look();
"""


def settled(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator('[data-role="loading"], [data-state="loading"]')).to_have_count(0)


@pytest.mark.parametrize(("who", "locale"), [("new", "nb-NO"), ("won", "en-GB")])
def test_no_page_is_wider_than_the_screen(
    new_context: NewContext, base_url: str, today: str, who: str, locale: str
) -> None:
    context = new_context(locale=locale)
    if who == "won":
        champion(base_url, today).sits_at(context)
    page = context.new_page()
    for address in PAGES:
        settled(page, address)
        for width in (320, 390, 600, 760, 820, 900, 1280, 2560):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(_STICKING_OUT) == [], (address, width)


@pytest.mark.parametrize("width", [320, 390])
def test_nor_is_the_front_page_while_its_cards_come_in(new_context: NewContext, width: int) -> None:
    page = new_context(viewport={"width": width, "height": 800}, locale="nb-NO").new_page()
    page.add_init_script(_FIRST_FRAME_STICKING_OUT)
    settled(page, "/")
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished))")
    assert page.evaluate("window.stuckOut") == []


def test_nothing_on_these_pages_shuts_anybody_out(new_context: NewContext, base_url: str, today: str) -> None:
    context = new_context(reduced_motion="reduce")
    page = context.new_page()

    def look() -> None:
        for screen in (DESKTOP, PHONE):
            page.set_viewport_size(screen["viewport"])
            flawless(page)

    open_day(page, "new")
    look()
    champion(base_url, today).sits_at(context)
    for address in PAGES:
        settled(page, address)
        look()
    for dialog in ("recovery-make", "delete"):
        role(page, dialog).click()
        page.locator("dialog").wait_for()
        look()
        page.keyboard.press("Escape")
