"""The pages around the table, their addresses, and the ways between them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import AWAY, Complaints, NewContext
from tests.browser.table import CODE, PHONE, HeartTable, Sent, deal
from tests.browser.test_screens import ON_TOP

OURS = "section:has(#code-heart-to-heart)"
"""The part of the front page that is Heart to Heart's."""


def test_back_and_forward(page: Page) -> None:
    page.goto("/")
    page.locator("#code-heart-to-heart").fill(CODE)
    page.locator(f'{OURS} [data-role="code-go"]').click()
    table = HeartTable(page).ready()
    game = page.url
    table.draw(2)
    table.version(2)
    page.locator('[data-role="help"]').click()
    page.locator('[data-role="help-rules"]').click()
    page.wait_for_url("**/rules/heart-to-heart")
    expect(page.locator("h1")).to_have_text("The rules of Heart to Heart")
    expect(page).to_have_title(re.compile("The rules of Heart to Heart"))

    page.go_back()
    page.wait_for_url(game)
    table.version(2)
    page.go_back()
    page.wait_for_url("**/")
    expect(page.locator(f'{OURS} [data-role="play"]')).to_be_visible()
    page.go_forward()
    page.wait_for_url(game)
    table.version(2).draw()
    table.version(3)
    page.go_forward()
    page.wait_for_url("**/rules/heart-to-heart")
    expect(page.locator("h1")).to_have_text("The rules of Heart to Heart")


def test_back_and_forward_lead_to_where_one_was_in_a_page(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 600})
    page.goto("/rules/heart-to-heart")
    page.locator("h1").wait_for()
    page.evaluate("scrollTo(0, 1500)")
    page.evaluate("document.querySelector('.brand').click()")
    page.wait_for_url("**/")
    page.locator(OURS).wait_for()
    assert page.evaluate("scrollY") == 0
    page.evaluate("scrollTo(0, 120)")
    page.go_back()
    page.locator("h1", has_text="The rules").wait_for()
    page.wait_for_function("() => scrollY === 1500")
    page.go_forward()
    page.locator(OURS).wait_for()
    page.wait_for_function("() => scrollY === 120")
    # a page that has to be fetched first, also to where it is not yet
    page.locator('[data-role="way-me"]').click()
    page.locator('[data-role="recovery-input"]').wait_for()
    assert page.evaluate("scrollY") == 0
    page.locator('[data-role="recovery-input"]').scroll_into_view_if_needed()
    far = page.evaluate("scrollY")
    assert far > 100
    page.evaluate("document.querySelector('.brand').click()")
    page.locator(OURS).wait_for()
    page.go_back()
    page.locator('[data-role="recovery-input"]').wait_for()
    page.wait_for_function("(far) => scrollY === far", arg=far)
    # loaded anew it is where it was, too
    page.goto("/rules/heart-to-heart")
    page.locator("h1").wait_for()
    page.evaluate("scrollTo(0, 900)")
    page.reload()
    page.wait_for_function("() => scrollY === 900")


def test_back_leads_to_where_one_was_in_a_page_also_when_the_present_one_was_loaded_anew(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 600})
    page.goto("/rules/heart-to-heart")
    page.locator("h1").wait_for()
    page.evaluate("scrollTo(0, 1500)")
    page.evaluate("document.querySelector('.brand').click()")
    page.locator(OURS).wait_for()
    page.evaluate("scrollTo(0, 120)")
    page.evaluate("""document.querySelector('[data-role="way-me"]').click()""")
    page.locator('[data-role="recovery-input"]').wait_for()
    page.reload()
    page.locator('[data-role="recovery-input"]').wait_for()
    page.go_back()
    page.locator(OURS).wait_for()
    page.wait_for_function("() => scrollY === 120")
    page.go_back()
    page.locator("h1", has_text="The rules").wait_for()
    page.wait_for_function("() => scrollY === 1500")
    # an address that is typed is one entry more
    page.goto("/rules/hearts")
    page.locator("h1", has_text="The rules").wait_for()
    assert page.evaluate("history.state.entry") == 1
    assert page.evaluate("scrollY") == 0


def test_no_more_places_are_kept_than_anybody_goes_back_to(page: Page) -> None:
    page.goto("/calendar")
    page.locator('[data-role="month"]').wait_for()
    page.evaluate(
        """() => {
          const way = (name) => document.querySelector(`[data-role="way-${name}"]`);
          for (let i = 0; i < 150; i++) way(i % 2 ? 'live' : 'me').click();
        }"""
    )
    kept = "JSON.parse(sessionStorage.getItem('heartroom.places'))"
    assert page.evaluate(f"{kept}.entry") == 150
    assert page.evaluate(f"{kept}.tops.map(([entry]) => entry)") == list(range(50, 150))
    page.evaluate("sessionStorage.setItem('heartroom.places', '{\"entry\": 1, \"tops\": [7]}')")
    page.reload()
    page.locator('[data-role="live-empty"], [data-role="live"]').first.wait_for()


def test_a_game_begins_by_one_click(page: Page) -> None:
    page.goto("/")
    page.locator(f'{OURS} [data-role="play"]').click()
    expect(HeartTable(page).ready().info("code")).to_have_text(re.compile("^HH1-N-[A-Z2-7]{7}$"))


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (320, 568)])
def test_both_games_are_seen_at_once_on_the_front_page(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/")
    expect(page.locator('[data-role="day-go"]')).to_be_in_viewport(ratio=1)
    for game in page.locator("[data-game]").all():
        expect(game.locator("h2")).to_be_in_viewport(ratio=1)
        expect(game.locator('[data-role="play"]')).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-game]")).to_have_count(2)


def test_a_game_just_begun_can_be_continued_from_the_front_page(page: Page) -> None:
    table = deal(page)
    table.draw()
    table.version(1)
    game = page.url
    page.locator(".home-link").click()
    page.wait_for_url("**/")
    page.locator(f'{OURS} [data-role="continue"]').click()
    page.wait_for_url(game)
    table.version(1)


def test_the_link_of_a_deal_makes_one_game_that_back_and_reload_return_to(page: Page) -> None:
    sent = Sent(page)
    page.goto("/")
    table = deal(page)
    game = page.url
    table.draw()
    table.version(1)
    page.go_back()
    page.wait_for_url("**/")
    expect(page.locator(f'{OURS} [data-role="play"]')).to_be_visible()
    page.go_forward()
    page.wait_for_url(game)
    table.version(1)
    page.reload()
    table.version(1)
    assert page.url == game
    assert len(sent.of(Sent.NEW)) == 1


def test_a_code_is_read_however_it_is_typed(page: Page) -> None:
    for code in ("hh1 n aaaaaam", "HH1-N-AAAAAAM", " hh1naaaaaam", "https://cards.example/d/HH1-N-AAAAAAM"):
        page.goto("/")
        page.locator("#code-heart-to-heart").fill(code)
        page.locator(f'{OURS} [data-role="code-go"]').click()
        expect(HeartTable(page).ready().info("code")).to_have_text(CODE)


def test_a_bad_code_is_refused_where_it_was_typed(page: Page) -> None:
    page.goto("/")
    field = page.locator("#code-heart-to-heart")
    error = page.locator(f'{OURS} [data-role="code-error"]')
    field.fill("HH1-N-AAAAAA9")
    page.keyboard.press("Enter")
    expect(error).to_have_text("This is no deal code. It looks like HH1-N-AAAAAAM.")
    assert page.url.endswith("/")
    field.fill(CODE)
    page.keyboard.press("Enter")
    HeartTable(page).ready()


def test_the_link_of_no_deal_says_so(page: Page) -> None:
    for code in ("HH1-N-AAAAAA9", "HH1-N-%3Cscript%3E", "no-code-at-all", "%00"):
        page.goto(f"/d/{code}")
        expect(page.locator("h1")).to_contain_text("This is no deal code.")
        # which is the one way on
        expect(page.locator('[data-role="home"]')).to_have_class("button main")
    page.locator('[data-role="home"]').click()
    expect(page.locator(f'{OURS} [data-role="play"]')).to_be_visible()


def test_an_unknown_address(page: Page, complaints: Complaints) -> None:
    complaints.expect("404")
    for address in ("/nowhere", "/rules/chess", "/examples/chess", "/g/", "/settings/x"):
        page.goto(address)
        expect(page.locator("h1")).to_have_text("There is nothing at this address.")
    page.locator('[data-role="home"]').click()
    expect(page.locator(f'{OURS} [data-role="play"]')).to_be_visible()


def test_a_game_that_there_is_not(page: Page, complaints: Complaints) -> None:
    complaints.expect("404")
    for address in ("/g/nosuchgame", "/r/nosuchgame", "/g/%F0%9F%92%94"):
        page.goto(address)
        expect(page.locator("h1")).to_have_text("There is no such game, or it has expired.")


def test_the_replay_of_a_game_that_goes_on(page: Page, complaints: Complaints) -> None:
    complaints.expect("409")
    deal(page)
    page.goto(page.url.replace("/g/", "/r/"))
    expect(page.locator("h1")).to_have_text("This game is still going on.")


def test_a_replay_that_could_not_be_fetched_is_asked_for_again(page: Page, complaints: Complaints) -> None:
    complaints.expect(f"{AWAY}|status of 502")
    address = "**/api/replays/**"
    page.route(address, lambda route: route.abort())
    page.goto("/examples/heart-to-heart#41")
    expect(page.locator("h1")).to_have_text("The game could not be fetched.")
    page.unroute(address)
    page.route(
        address, lambda route: route.fulfill(status=502, content_type="text/html", body="<h1>Bad Gateway")
    )
    page.locator('[data-role="retry"]').click()
    expect(page.locator("h1")).to_have_text("The server cannot answer just now. Try again in a moment.")
    page.unroute(address)
    page.locator('[data-role="retry"]').click()
    HeartTable(page).version(41)


def test_the_rules_lead_to_a_game_and_to_the_example(page: Page) -> None:
    page.goto("/")
    page.locator(f'{OURS} [data-role="rules"]').click()
    page.wait_for_url("**/rules/heart-to-heart")
    page.locator('[data-role="example"]').click()
    page.wait_for_url("**/examples/heart-to-heart")
    HeartTable(page).version(0)
    page.go_back()
    page.wait_for_url("**/rules/heart-to-heart")
    page.locator('[data-role="play"]').click()
    HeartTable(page).ready()


def test_a_shared_link_deals_the_same_cards_to_somebody_else(
    context: BrowserContext, page: Page, stranger: Page
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    table = deal(page)
    first = table.seen()
    table.draw()
    table.version(1)
    page.locator('[data-role="share"]').click()
    expect(page.locator('[data-role="share-code"]')).to_have_text(CODE)
    page.locator('[data-role="copy-link"]').click()
    expect(table.toast("copied")).to_be_visible()
    stranger.goto(page.evaluate("navigator.clipboard.readText()"))
    assert HeartTable(stranger).ready().seen() == first
    assert stranger.url != page.url

    table.info("code").click()
    page.locator('[data-role="copy-watch"]').click()
    expect(page.locator("dialog")).to_have_count(0)
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_where_nothing_can_be_copied_that_is_said(page: Page) -> None:
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
    table = deal(page)
    page.locator('[data-role="share"]').click()
    page.locator('[data-role="copy-code"]').click()
    told = table.dialog("share").locator('.toast[data-kind="not-copied"]')
    expect(told).to_be_visible()
    assert told.evaluate(ON_TOP)
    expect(page.locator(".share-link")).to_have_text(re.compile(f"/d/{CODE}$"))
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    assert table.toast("not-copied").evaluate(ON_TOP)


def test_the_help_opens_by_key_and_the_keyboard_is_the_dialogs_while_it_is_open(page: Page) -> None:
    table = deal(page)
    page.keyboard.press("?")
    expect(table.dialog("help")).to_be_visible()
    expect(table.dialog("help").locator("kbd").first).to_be_visible()
    page.keyboard.press("d")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.keyboard.press("h")
    page.locator('[data-dialog="help"] [data-role="close"]').click()
    table.draw()
    table.version(1)
    expect(table.stock).to_have_attribute("data-count", "25")


def test_the_help_tells_a_finger_how_to_play_before_keys(new_context: NewContext) -> None:
    page = new_context(**PHONE).new_page()
    table = deal(page)
    page.locator('[data-role="help"]').tap()
    help_ = table.dialog("help")
    expect(help_).to_contain_text("Tap two free cards of the same rank")
    expect(help_).to_contain_text("Tap the stock")
    expect(help_.locator("kbd").first).to_be_hidden()
    # there may be a keyboard all the same
    help_.get_by_text("Keyboard", exact=True).tap()
    expect(help_.locator("kbd").first).to_be_visible()


def test_the_skip_link_goes_to_the_content(page: Page) -> None:
    page.goto("/rules/heart-to-heart")
    expect(page.locator("h1")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator('[data-role="skip"]')).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


# ---- names


def test_a_name_is_shown_to_others_as_text(page: Page, stranger: Page) -> None:
    for name in ("<b>&amp;</b>'\"", "שלום עולם", "👨‍👩‍👧‍👦 Åse"):
        page.goto("/")
        page.locator('[data-role="name"]').click()
        expect(page.locator('[data-role="name-input"]')).to_be_focused()
        page.locator('[data-role="name-input"]').fill(f"  {name} ")
        page.keyboard.press("Enter")
        expect(page.locator("dialog")).to_have_count(0)
        expect(page.locator(".who bdi")).to_have_text(name)
        deal(page)
        stranger.goto(page.url)
        ribbon = stranger.locator('[data-role="ribbon"]')
        expect(ribbon).to_have_text(f"You are watching {name}")
        assert ribbon.locator("bdi").evaluate("bdi => [bdi.textContent, bdi.children.length]") == [name, 0]


def test_a_name_that_is_stored_late_closes_no_other_dialog(page: Page, complaints: Complaints) -> None:
    complaints.expect(AWAY)
    page.goto("/")
    page.locator('[data-role="name"]').click()
    name = page.locator('[data-role="name-input"]')
    name.fill("Late")
    page.context.set_offline(True)
    page.locator('[data-role="name-save"]').click()
    page.keyboard.press("Escape")
    expect(name).to_have_count(0)
    page.locator('[data-role="name"]').click()
    name.fill("Another")
    page.context.set_offline(False)
    expect(page.locator(".who bdi")).to_have_text("Late")
    expect(name).to_have_value("Another")


def test_a_name_that_is_too_long_is_refused_without_asking(page: Page, complaints: Complaints) -> None:
    complaints.expect(AWAY)
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("data-connection", "open")
    page.context.set_offline(True)
    expect(page.locator('[data-role="banner"]')).not_to_be_empty()
    page.locator('[data-role="name"]').click()
    field = page.locator('[data-role="name-input"]')
    for name in ("x" * 21, "y" * 5000):
        field.fill(name)
        page.locator('[data-role="name-save"]').click()
        expect(field).to_have_attribute("aria-invalid", "true")
        field.fill("")
    # as people count: a family is one
    family = "👩‍👩‍👧‍👦" * 20
    field.fill(f" {family} ")
    page.locator('[data-role="name-save"]').click()
    expect(field).not_to_have_attribute("aria-invalid", "true")
    page.context.set_offline(False)
    expect(page.locator(".who bdi")).to_have_text(family)


def test_a_bad_name_is_refused_where_it_was_typed(page: Page) -> None:
    page.goto("/")
    for name in ("", "x" * 21, "a\u202eb", "y" * 5000):
        page.locator('[data-role="name"]').click()
        page.locator('[data-role="name-input"]').fill(name)
        page.locator('[data-role="name-save"]').click()
        expect(page.locator('[data-dialog="name"] [role="alert"]')).to_have_text(
            "A name has 1 to 20 characters, all of them visible."
        )
        page.keyboard.press("Escape")
    page.locator('[data-role="name"]').click()
    page.locator('[data-role="name-input"]').fill("Kari")
    page.locator('[data-role="name-save"]').click()
    expect(page.locator(".who bdi")).to_have_text("Kari")
    page.reload()
    expect(page.locator(".who bdi")).to_have_text("Kari")
