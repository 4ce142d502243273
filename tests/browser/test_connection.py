"""Several pages at one game, lost connections, and a server that is killed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.browser.conftest import AWAY, Complaints, NewContext
from tests.browser.hearts import HeartsTable
from tests.browser.layout import settles
from tests.browser.served import Server
from tests.browser.table import (
    DISCARD,
    PAIRS_AT_ONCE,
    STOCK,
    TIP,
    HeartTable,
    Sent,
    agree,
    deal,
    example,
    share,
)
from tests.browser.test_screens import ON_TOP, boxes, flawless
from tests.support.stores import BINARIES, StoreProcess

LOST = "Connection lost"
ASKED = "Your new game begins when it is back."


class Cable:
    """Stands between a page and the server: holds back what the server says, and cuts the connection."""

    DIFF = 0
    ACK = 2

    def __init__(self, page: Page) -> None:
        self._held: list[tuple[WebSocketRoute, bytes | str]] = []
        self._holding: set[int] = set()
        self._open: WebSocketRoute | None = None
        page.route_web_socket("**/ws", self._connect)

    def hold(self, *kinds: int) -> None:
        """From now on these messages do not arrive, nor does anything that comes after them."""
        self._holding = set(kinds)

    def release(self) -> None:
        self._holding = set()
        for route, message in self._held:
            route.send(message)
        self._held = []

    def cut(self) -> None:
        """The connection is gone, with all that is held; the next one works."""
        assert self._open is not None
        self._holding = set()
        self._held = []
        self._open.close(code=1012)

    def holds(self, kind: int) -> bool:
        return any(_kind(message) == kind for _, message in self._held)

    def _connect(self, route: WebSocketRoute) -> None:
        self._open = route
        server = route.connect_to_server()

        def heard(message: bytes | str) -> None:
            if self._held or _kind(message) in self._holding:
                self._held.append((route, message))
            else:
                route.send(message)

        server.on_message(heard)


REACH_FOR_A_CARD = """() => {
  document.querySelector('[data-place="25"]').click();
  return document.querySelector('[data-role="ribbon"]').hasAttribute('data-heed');
}"""
"""Whether it shows at once in the line over the board."""


def _kind(message: bytes | str) -> Any:
    assert isinstance(message, bytes)
    return msgspec.msgpack.decode(message)[0]


def until(page: Page, cable: Cable, kind: int) -> None:
    """Returns when the cable holds such a message."""
    while not cable.holds(kind):
        page.evaluate("() => new Promise(requestAnimationFrame)")


# ---- several pages


def test_a_reload_in_mid_game_keeps_everything(page: Page) -> None:
    table = deal(page)
    table.play(example()[:10])
    table.undo.click()
    table.version(11)
    before = table.seen()
    page.reload()
    assert table.version(11).seen() == before
    expect(page.locator(".flying")).to_have_count(0)
    table.undo.click()
    expect(table.version(12).info("moves")).to_have_text("8 (12)")


def test_two_tabs_of_one_player_are_one_game(context: BrowserContext, page: Page) -> None:
    first = deal(page)
    second = share(first, context.new_page())
    first.draw(9)
    agree([first, second], 9)
    second.tap(TIP, DISCARD)
    agree([first, second], 10)
    first.undo.click()
    agree([first, second], 11)
    expect(first.info("moves")).to_have_text("9 (11)")


def test_a_stranger_with_the_link_watches_and_cannot_act(page: Page, stranger: Page) -> None:
    table = deal(page)
    watched = share(table, stranger)
    expect(stranger.locator('[data-role="ribbon"]')).to_have_text("You are watching")
    expect(page.locator('[data-role="viewers"]')).to_contain_text("1 other is watching")
    expect(stranger.locator('[data-role="table"] button')).to_have_count(0)
    for tool in ("undo", "new"):
        expect(stranger.locator(f'[data-role="{tool}"]')).to_have_count(0)

    table.play(example()[:9])
    agree([table, watched], 9)
    watched.tap(TIP, DISCARD, STOCK)
    for key in ("d", "u", "n", "Enter", "ArrowUp"):
        stranger.keyboard.press(key)
    watched.is_selected()
    expect(stranger.locator("dialog")).to_have_count(0)
    ribbon = stranger.locator('[data-role="ribbon"]')
    assert stranger.evaluate(REACH_FOR_A_CARD), "it is said why nothing happens"
    expect(ribbon).not_to_have_attribute("data-heed", "")
    table.tap(TIP, DISCARD)
    agree([table, watched], 10)
    expect(watched.place(23)).to_have_attribute("data-state", "free")

    stranger.goto("/")
    expect(page.locator('[data-role="viewers"]')).to_have_count(0)


def test_a_game_made_private_is_gone_for_who_watches_until_it_is_public_again(
    page: Page, stranger: Page
) -> None:
    table = deal(page)
    watched = share(table, stranger)
    private = page.locator('[data-role="private"]')
    retry = stranger.locator('[data-role="retry"]')

    def switch() -> None:
        with page.expect_response("**/private"):
            private.click()

    page.locator('[data-role="share"]').click()
    switch()
    said = stranger.locator("h1", has_text="Only those at the table may watch this game.")
    expect(said).to_be_visible()
    for gone in (watched.root, watched.info("time"), stranger.locator('[data-role="ribbon"]')):
        expect(gone).to_have_count(0)
    expect(stranger.locator('[data-role="home"]')).to_be_visible()
    retry.click()
    expect(said).to_be_visible()
    # a player looks for it in the settings, too
    page.keyboard.press("Escape")
    page.locator('[data-role="settings"]').click()
    expect(private).to_be_checked()
    switch()
    page.keyboard.press("Escape")
    retry.click()
    watched.version(2)
    expect(stranger.locator('[data-role="ribbon"]')).to_have_text("You are watching")
    table.draw()
    agree([table, watched], 3)


def test_a_selection_is_not_shared_and_goes_with_its_card(context: BrowserContext, page: Page) -> None:
    first = deal(page, PAIRS_AT_ONCE)
    second = share(first, context.new_page())
    second.tap(TIP)
    first.is_selected()
    first.tap(TIP, DISCARD)
    second.version(1).is_selected()


def test_two_tabs_at_once_one_is_refused_and_both_show_the_same(context: BrowserContext, page: Page) -> None:
    first = deal(page)
    slow = context.new_page()
    cable = Cable(slow)
    second = share(first, slow)
    cable.hold(Cable.DIFF)
    first.draw()
    first.version(1)
    until(slow, cable, Cable.DIFF)
    # meant on what is seen here, which is not how it is
    slow.keyboard.press("d")
    until(slow, cable, 3)
    cable.release()
    expect(second.toast("stale")).to_have_text("The game had already changed. Have another look.")
    agree([first, second], 1)
    slow.keyboard.press("d")
    agree([first, second], 2)


def test_an_action_between_its_diff_and_its_ack_does_not_count_twice(page: Page) -> None:
    """The last card of the stock was taken for drawn already, and the next tap was a recycle."""
    cable = Cable(page)
    table = deal(page)
    table.play([["draw"]] * 24)
    cable.hold(Cable.ACK)
    table.draw()
    table.version(25)
    expect(table.stock).to_have_attribute("data-count", "1")
    table.draw(2)
    until(page, cable, Cable.ACK)
    cable.release()
    table.version(27)
    expect(table.stock).to_have_attribute("data-count", "27")
    expect(page.locator(".toast")).to_have_count(0)


# ---- lost connections


def test_actions_in_flight_when_the_connection_is_cut_are_done_once(page: Page) -> None:
    cable = Cable(page)
    table = deal(page)
    table.draw(2)
    table.version(2)
    cable.hold(Cable.DIFF)
    table.draw(3)
    until(page, cable, Cable.DIFF)
    cable.cut()
    table.version(5)
    expect(table.stock).to_have_attribute("data-count", "21")
    table.draw()
    table.version(6)
    expect(table.info("moves")).to_have_text("6")
    expect(page.locator(".toast")).to_have_count(0)


def test_a_diff_that_is_lost_is_asked_for(page: Page) -> None:
    cable = Cable(page)
    table = deal(page)
    cable.hold(Cable.DIFF)
    table.draw()
    until(page, cable, Cable.DIFF)
    cable._held.clear()
    cable._holding.clear()
    table.draw()
    table.version(2)
    expect(table.stock).to_have_attribute("data-count", "24")


@pytest.mark.parametrize("reload", [False, True], ids=["the same page", "reloaded meanwhile"])
def test_a_server_that_is_killed_and_started_again_goes_on_with_the_game(
    page: Page, server: Server, complaints: Complaints, reload: bool
) -> None:
    complaints.expect(AWAY)
    table = deal(page, origin=server.url)
    table.play(example()[:12])
    before = table.seen()
    server.kill()
    banner = page.locator('[data-role="banner"]')
    expect(banner).to_contain_text(LOST)
    # what is tapped meanwhile is kept
    expect(banner).not_to_contain_text("kept")
    table.draw(2)
    table.tap(STOCK)
    expect(banner).to_contain_text("What you did is kept: 3 moves.")
    assert table.seen()["places"] == before["places"]
    server.start()
    if reload:
        page.reload()
    table.version(15)
    expect(banner).not_to_contain_text(LOST)
    expect(page.locator("html")).to_have_attribute("data-connection", "open")
    expect(table.info("moves")).to_have_text("15")
    expect(table.stock).to_have_attribute("data-count", str(int(before["stock"][0]) - 3))
    expect(page.locator(".toast")).to_have_count(0)
    table.undo.click()
    expect(table.version(16).info("score")).to_have_text("10")


def test_a_pair_tapped_while_the_server_is_away_is_made_once(
    page: Page, server: Server, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    table = deal(page, PAIRS_AT_ONCE, origin=server.url)
    server.kill()
    expect(page.locator('[data-role="banner"]')).to_contain_text(LOST)
    table.tap(TIP, DISCARD)
    expect(table.place(TIP)).to_have_attribute("data-going", "")
    expect(table.root).to_have_attribute("data-version", "0")
    server.start()
    table.version(1)
    expect(table.info("score")).to_have_text("10")
    expect(table.place(TIP)).to_have_attribute("data-state", "empty")


def test_a_new_game_asked_for_while_the_server_is_away_begins_when_it_is_back(
    page: Page, server: Server, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    page.goto(server.url)
    expect(page.locator("html")).to_have_attribute("data-connection", "open")
    server.kill()
    expect(page.locator('[data-role="banner"]')).to_contain_text(LOST)
    page.locator("#code-heart-to-heart").fill(PAIRS_AT_ONCE)
    page.keyboard.press("Enter")
    expect(page.locator('[data-role="banner"]')).to_contain_text(ASKED)
    server.start()
    HeartTable(page).ready()


def test_who_goes_elsewhere_is_not_taken_to_the_game_that_was_asked_for_before(
    page: Page, server: Server, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    sent = Sent(page)
    page.goto(server.url)
    expect(page.locator("html")).to_have_attribute("data-connection", "open")
    server.kill()
    banner = page.locator('[data-role="banner"]')
    expect(banner).to_contain_text(LOST)
    expect(banner).to_have_css("opacity", "1")
    page.locator('[data-role="play"]').first.click()
    expect(banner).to_contain_text(ASKED)
    page.locator('[data-role="rules"]').first.click()
    expect(banner).not_to_contain_text(ASKED)
    server.start()
    expect(page.locator("html")).to_have_attribute("data-connection", "open")
    # what is asked now is answered after all that was asked before
    page.locator('[data-role="play"]').click()
    HeartTable(page).ready()
    assert len(sent.of(Sent.NEW)) == 1
    page.go_back()
    expect(page).to_have_url(f"{server.url}/rules/heart-to-heart")


def test_of_two_games_asked_for_while_the_server_is_away_the_last_begins(
    page: Page, server: Server, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    page.goto(server.url)
    expect(page.locator("html")).to_have_attribute("data-connection", "open")
    server.kill()
    expect(page.locator('[data-role="banner"]')).to_contain_text(LOST)
    page.locator('[data-role="play"]').first.click()
    page.locator("#code-heart-to-heart").fill(PAIRS_AT_ONCE)
    page.keyboard.press("Enter")
    server.start()
    table = HeartTable(page).ready()
    expect(table.info("code")).to_have_text(PAIRS_AT_ONCE)
    page.go_back()
    expect(page.locator('[data-role="continue"]')).to_have_count(1)
    expect(page.locator('[data-role="continue-older"]')).to_have_count(0)


def test_who_plays_on_while_the_server_is_away_stays_at_the_table(
    page: Page, server: Server, complaints: Complaints
) -> None:
    """A new game was asked for before that, and its coming left the moves behind."""
    complaints.expect(AWAY)
    table = deal(page, origin=server.url)
    table.draw()
    address = table.version(1).page.url
    server.kill()
    banner = page.locator('[data-role="banner"]')
    expect(banner).to_contain_text(LOST)
    # What is lost for a moment moves nothing: only then does the page make room, and what is pressed moves.
    expect(banner).to_have_css("opacity", "1")
    page.locator('[data-role="new"]').click()
    page.locator('[data-role="new-random"]').click()
    expect(banner).to_contain_text(ASKED)
    table.draw(2)
    expect(banner).to_contain_text("What you did is kept: 2 moves.")
    expect(banner).not_to_contain_text(ASKED)
    server.start()
    table.version(3)
    expect(page).to_have_url(address)
    expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.parametrize("then", ["new game", "home"])
def test_moves_that_are_kept_are_made_though_the_player_has_left_the_table(
    context: BrowserContext, page: Page, server: Server, complaints: Complaints, then: str
) -> None:
    complaints.expect(AWAY)
    table = deal(page, origin=server.url)
    other = share(table, context.new_page())
    server.kill()
    banner = page.locator('[data-role="banner"]')
    expect(banner).to_contain_text(LOST)
    expect(banner).to_have_css("opacity", "1")
    table.draw(2)
    if then == "home":
        page.locator(".home-link").click()
    else:
        page.locator('[data-role="new"]').click()
    expect(banner).to_contain_text("What you did is kept: 2 moves." if then == "home" else ASKED)
    server.start()
    other.version(2)
    if then == "home":
        expect(page.locator("html")).to_have_attribute("data-connection", "open")
        page.locator('[data-role="play"]').first.click()
    table.ready().draw()
    table.version(1)
    expect(page.locator(".toast")).to_have_count(0)
    expect(other.root).to_have_attribute("data-version", "2")


def test_moves_that_are_kept_are_made_though_the_page_was_loaded_anew_elsewhere(
    context: BrowserContext, page: Page, server: Server, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    table = deal(page, origin=server.url)
    other = share(table, context.new_page())
    server.kill()
    banner = page.locator('[data-role="banner"]')
    expect(banner).to_contain_text(LOST)
    table.draw(2)
    expect(banner).to_contain_text("What you did is kept: 2 moves.")
    page.goto("about:blank")
    server.start()
    page.goto(server.url)
    other.version(2)
    page.locator('[data-role="play"]').first.click()
    table.ready().draw()
    table.version(1)
    expect(page.locator(".toast")).to_have_count(0)
    expect(other.root).to_have_attribute("data-version", "2")


@pytest.mark.parametrize(("width", "height"), [(320, 568), (1280, 800)])
@pytest.mark.parametrize("what", ["a table", "a deal"])
def test_a_table_that_cannot_be_fetched_says_so_and_comes_when_it_can(
    new_context: NewContext, server: Server, complaints: Complaints, what: str, width: int, height: int
) -> None:
    complaints.expect(AWAY)
    page = new_context(viewport={"width": width, "height": height}).new_page()
    page.goto(server.url)
    if what == "a table":
        page.locator('[data-role="play"]').first.click()
        HeartTable(page).ready()
        page.locator(".home-link").click()
    else:
        page.evaluate("(path) => history.replaceState(null, '', path)", f"/d/{PAIRS_AT_ONCE}")
        page.evaluate("(path) => history.pushState(null, '', path)", "/")
    expect(page.locator(".home")).to_be_visible()
    server.kill()
    expect(page.locator('[data-role="banner"]')).to_contain_text(LOST)
    page.go_back()
    lost = page.locator('[data-role="no-connection"]')
    expect(lost.locator("h1")).to_have_text("No connection just now")
    flawless(page)
    home = lost.locator('[data-role="home"]')
    home.click()
    expect(page.locator(".home")).to_be_visible()
    page.go_back()
    expect(lost).to_be_visible()
    server.start()
    HeartTable(page).ready()


def test_the_banner_speaks_the_language_that_is_chosen(
    page: Page, server: Server, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    page.goto(server.url)
    expect(page.locator("html")).to_have_attribute("data-connection", "open")
    server.kill()
    banner = page.locator('[data-role="banner"]')
    expect(banner).to_contain_text(LOST)
    page.locator('[data-role="language"]').select_option("nb")
    expect(banner).to_have_text("Mistet forbindelsen – kobler til igjen …")
    server.start()
    expect(banner).to_be_empty()


@pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844), (844, 390), (1280, 800)])
def test_the_banner_is_over_a_dialog_and_covers_nothing_of_it(
    new_context: NewContext, server: Server, complaints: Complaints, width: int, height: int
) -> None:
    complaints.expect(AWAY)
    page = new_context(viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    table = deal(page, origin=server.url)
    page.locator('[data-role="settings"]').click()
    dialog = table.dialog("settings")
    banner = page.locator('[data-role="banner"]')
    expect(banner).to_be_hidden()
    server.kill()
    expect(dialog.locator('[data-role="banner"]')).to_contain_text(LOST)
    assert banner.evaluate(ON_TOP)
    settles(page, below, lambda: boxes(banner), lambda: boxes(dialog), height)
    flawless(page)
    # also where it takes more lines, and it stays when the dialog goes
    page.locator('[data-setting="language"]').select_option("nb")
    expect(dialog.locator('[data-role="banner"]')).to_contain_text("Mistet forbindelsen")
    settles(page, below, lambda: boxes(banner), lambda: boxes(dialog), height)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    assert banner.evaluate(ON_TOP)


@pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844), (844, 390), (1280, 800)])
def test_the_banner_covers_nothing_of_a_page(
    new_context: NewContext, server: Server, complaints: Complaints, width: int, height: int
) -> None:
    complaints.expect(AWAY)
    context = new_context(viewport={"width": width, "height": height}, locale="nb", reduced_motion="reduce")
    table = deal(context.new_page(), origin=server.url)
    hearts = HeartsTable(context.new_page())
    hearts.make(server.url)
    hearts.start()
    hearts.phase("passing")
    pages = [table.page, hearts.page]
    for address, what in (("/", ".home"), ("/daily", '[data-role="day"]'), ("/learn/hearts", ".hand")):
        pages.append(context.new_page())
        pages[-1].goto(server.url + address)
        pages[-1].locator(what).wait_for()
    server.kill()
    for page in pages:
        banner = page.locator('[data-role="banner"]')
        expect(banner).to_contain_text("Mistet forbindelsen")
        settles(page, apart_from, lambda: boxes(banner), lambda: boxes(page.locator("#page > *")))  # noqa: B023
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for part in (table.place(TIP), table.stock, table.undo, hearts.hand, hearts.page.locator(".tool").last):
        expect(part).to_be_in_viewport(ratio=1)
    # nor of the way past what is at the top of each page
    pages[2].keyboard.press("Tab")
    skip = pages[2].locator('[data-role="skip"]')
    expect(skip).to_be_focused()
    settles(
        pages[2], apart_from, lambda: boxes(pages[2].locator('[data-role="banner"]')), lambda: boxes(skip)
    )


def apart_from(over: list[Any], under: list[Any]) -> None:
    """All of the page lies below the banner."""
    assert over[0][1] == 0
    assert over[0][3] <= min(top for _, top, _, _ in under)


def below(over: list[Any], under: list[Any], height: int) -> None:
    """One lies below the other, and on the screen."""
    assert over[0][3] <= under[0][1]
    assert under[0][3] <= height


def test_the_lobby_and_who_only_looks_on_say_that_the_store_is_away(
    page: Page, stranger: Page, complaints: Complaints
) -> None:
    complaints.expect(AWAY)  # at the end, of the server
    store = StoreProcess(BINARIES["valkey"])
    store.start()
    server = Server(HEARTROOM_REDIS_URL=store.url, HEARTROOM_SECRET="a secret of these tests")
    try:
        server.start()
        table = deal(page, origin=server.url)
        stranger.goto(page.url)
        HeartTable(stranger).ready()
        page.goto(server.url)
        expect(page.locator("html")).to_have_attribute("data-connection", "open")
        store.freeze()
        for each in (page, stranger):
            expect(each.locator('[data-role="banner"]')).to_contain_text("cannot save just now")
        page.locator('[data-role="language"]').select_option("nb")
        expect(page.locator('[data-role="banner"]')).to_contain_text("Tjeneren kan ikke lagre akkurat nå")
        page.locator('[data-role="language"]').select_option("en")
        store.thaw()
        for each in (page, stranger):
            expect(each.locator('[data-role="banner"]')).to_be_empty()
        page.go_back()
        table.ready().draw()
        table.version(1)
        HeartTable(stranger).version(1)
    finally:
        server.remove()
        store.remove()


def test_a_page_without_network_says_so_soon_and_goes_on_when_it_is_back(
    page: Page, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    table = deal(page)
    table.draw()
    table.version(1)
    page.context.set_offline(True)
    expect(page.locator('[data-role="banner"]')).to_contain_text(LOST)
    page.context.set_offline(False)
    table.draw()
    table.version(2)
    expect(page.locator('[data-role="banner"]')).not_to_contain_text(LOST)


def test_a_game_that_the_house_ends_is_over_and_says_what_can_be_done(
    page: Page, stranger: Page, server: Server, complaints: Complaints
) -> None:
    complaints.expect(AWAY)
    table = deal(page, origin=server.url)
    watched = share(table, stranger)
    table.draw(3)
    agree([table, watched], 3)
    session = page.url.rsplit("/", 1)[1]
    server.admin("end", "--reason", "for a test", "--", session)
    said = "Those who run this card room have ended the game."
    for each in (page, stranger):
        expect(each.locator('[data-dialog="ended"]')).to_contain_text(said)
        expect(each.locator('[data-role="ribbon"]')).to_have_text(said)
    expect(stranger.locator('[data-role="ended-new"]')).to_have_count(0)
    stranger.locator('[data-role="ended-replay"]').click()
    expect(stranger).to_have_url(f"{server.url}/r/{session}")

    page.reload()
    page.locator('[data-dialog="ended"] [data-role="close"]').click()
    page.locator('[data-role="settings"]').click()
    page.locator('[data-setting="language"]').select_option("nb")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    ribbon = page.locator('[data-role="ribbon"]')
    expect(ribbon).to_have_text("De som driver dette kortrommet, har avsluttet partiet.")
    page.keyboard.press("n")
    expect(page).not_to_have_url(f"{server.url}/s/{session}")
    again = HeartTable(page)
    again.version(0).draw(1)
    page.goto(server.url)
    expect(page.locator(f'a[href="/s/{session}"]')).to_have_count(0)
