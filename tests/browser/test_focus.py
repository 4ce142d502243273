"""What a reader has at hand (the focus, what is typed, how far is scrolled, what is selected) stays with
them: in another language, after a dialog, and on the way from one page to the next."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import NewContext
from tests.browser.hearts import HeartsTable
from tests.browser.keyboard import tab_to
from tests.browser.table import DISCARD, STUCK_AFTER_ONE, TIP, HeartTable, deal, example
from tests.browser.test_pages import OURS
from tests.browser.test_screens import boxes

SMALL = {"viewport": {"width": 320, "height": 568}}

_BEYOND = "(version) => Number(document.querySelector('[data-role=table]').dataset.version) > version"
_RINGED = "(one) => one.matches(':focus-visible')"


def elsewhere(page: Page, language: str) -> None:
    """Another tab of the same browser chooses a language on the front page."""
    other = page.context.new_page()
    other.goto("/")
    other.locator('[data-role="language"]').select_option(language)
    expect(other.locator("html")).to_have_attribute("lang", language)
    other.close()


def speaks(page: Page, language: str) -> None:
    expect(page.locator("html")).to_have_attribute("lang", language)


def scrolled(dialog: Locator) -> int:
    return int(dialog.evaluate("one => one.scrollTop"))


# ---- another language


def test_a_language_chosen_on_the_front_page_leaves_the_focus_where_it_was_chosen(page: Page) -> None:
    page.goto("/")
    page.locator("#code-heart-to-heart").fill("HH1-N-A")
    choice = tab_to(page, '[data-role="language"]')
    page.keyboard.press("ArrowDown")
    speaks(page, "nb")
    expect(choice).to_be_focused()
    expect(choice).to_have_value("nb")
    assert choice.evaluate(_RINGED)
    expect(page.locator("#code-heart-to-heart")).to_have_value("HH1-N-A")
    page.keyboard.press("ArrowUp")
    speaks(page, "en")
    expect(choice).to_be_focused()


def test_a_language_chosen_in_the_settings_leaves_them_as_they_were(new_context: NewContext) -> None:
    page = new_context(**SMALL).new_page()
    table = deal(page)
    tab_to(page, '[data-role="settings"]')
    page.keyboard.press("Enter")
    settings = table.dialog("settings")
    choice = tab_to(page, '[data-setting="language"]')
    at = scrolled(settings)
    assert at > 0
    page.keyboard.press("End")
    speaks(page, "nb")
    expect(settings.locator("h2")).to_have_text("Valg")
    expect(choice).to_be_focused()
    assert choice.evaluate(_RINGED)
    assert scrolled(settings) == at
    page.keyboard.press("Escape")
    expect(settings).to_have_count(0)
    tool = page.locator('[data-role="settings"]')
    expect(tool).to_be_focused()
    expect(tool).to_have_text("Valg")


def test_a_language_chosen_where_no_more_moves_are_does_not_say_that_again(page: Page) -> None:
    table = deal(page, STUCK_AFTER_ONE)
    table.tap(TIP, DISCARD)
    table.dialog("stuck").wait_for()
    page.keyboard.press("Escape")
    expect(table.dialog("stuck")).to_have_count(0)
    tab_to(page, '[data-role="settings"]')
    page.keyboard.press("Enter")
    choice = tab_to(page, '[data-setting="language"]')
    page.keyboard.press("End")
    speaks(page, "nb")
    expect(choice).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator('[data-role="settings"]')).to_be_focused()
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator('[data-role="ribbon"]')).to_have_text("Ingen flere mulige trekk")
    # what was taken back is found anew
    page.keyboard.press("u")
    table.version(2).tap(TIP, DISCARD)
    expect(table.dialog("stuck")).to_be_visible()


def test_a_language_chosen_in_another_tab_waits_for_a_dialog(page: Page) -> None:
    page.goto("/")
    tab_to(page, '[data-role="name"]')
    page.keyboard.press("Enter")
    name = page.locator('[data-role="name-input"]')
    page.keyboard.type("Kari No")
    elsewhere(page, "nb")
    page.keyboard.type("rd")
    expect(name).to_be_focused()
    expect(name).to_have_value("Kari Nord")
    speaks(page, "en")
    page.keyboard.press("Escape")
    expect(name).to_have_count(0)
    speaks(page, "nb")
    expect(page.locator('[data-role="name"]')).to_be_focused()
    expect(page.locator('[data-role="name"]')).to_have_text("Velg et navn")


def test_what_a_dialog_is_closed_with_is_done_though_the_language_waits_for_it(page: Page) -> None:
    table = deal(page, STUCK_AFTER_ONE)
    table.tap(TIP, DISCARD)
    stuck = table.dialog("stuck")
    stuck.wait_for()
    elsewhere(page, "nb")
    expect(stuck.locator("h2")).to_have_text("No more moves")
    expect(page.locator('[data-role="stuck-undo"]')).to_be_focused()
    page.keyboard.press("Enter")
    speaks(page, "nb")
    expect(table.version(2).root).to_have_attribute("data-status", "play")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_language_chosen_in_another_tab_reaches_the_settings_at_once(page: Page) -> None:
    table = deal(page)
    page.locator('[data-role="settings"]').click()
    choice = tab_to(page, '[data-setting="language"]')
    elsewhere(page, "nb")
    expect(table.dialog("settings").locator("h2")).to_have_text("Valg")
    expect(choice).to_have_value("nb")
    expect(choice).to_be_focused()


def test_another_setting_in_another_tab_draws_nothing_anew_but_settings(page: Page) -> None:
    table = deal(page)
    table.root.evaluate("one => (one.dataset.same = '')")
    page.locator('[data-role="settings"]').click()
    other = page.context.new_page()
    other.goto("/")
    other.locator('[data-role="settings"]').click()
    other.locator('[data-setting="sound"]').check()
    expect(page.locator('[data-setting="sound"]')).to_be_checked()
    expect(table.root).to_have_attribute("data-same", "")


def test_what_was_typed_in_a_page_stays_when_another_tab_chooses_a_language(page: Page) -> None:
    page.goto("/")
    code = page.locator("#code-heart-to-heart")
    code.click()
    page.keyboard.type("HH1-N-AAA")
    elsewhere(page, "nb")
    speaks(page, "nb")
    expect(code).to_be_focused()
    page.keyboard.type("AAAM")
    expect(code).to_have_value("HH1-N-AAAAAAM")
    # also where the field comes only when something has been fetched
    page.goto("/me")
    group = page.locator('[data-role="group-input"]')
    group.click()
    page.keyboard.type("Friday")
    elsewhere(page, "en")
    speaks(page, "en")
    expect(group).to_have_value("Friday")
    expect(group).to_be_focused()


def test_the_caret_stays_where_it_was_when_another_tab_chooses_a_language(page: Page) -> None:
    page.goto("/")
    code = page.locator("#code-heart-to-heart")
    code.click()
    page.keyboard.type("HH1-N-AAAM")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    elsewhere(page, "nb")
    speaks(page, "nb")
    page.keyboard.type("AAA")
    expect(code).to_have_value("HH1-N-AAAAAAM")
    # also where the field comes only when something has been fetched, and with what is selected
    page.goto("/me")
    group = page.locator('[data-role="group-input"]')
    group.click()
    page.keyboard.type("Friday")
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    elsewhere(page, "en")
    speaks(page, "en")
    expect(group).to_be_focused()
    page.keyboard.type("Mon")
    expect(group).to_have_value("Monriday")


def test_what_comes_late_does_not_take_the_focus_from_who_goes_on(page: Page) -> None:
    page.goto("/me")
    page.locator('[data-role="group-input"]').click()
    page.keyboard.type("Friday")
    held: list[Route] = []
    page.route("**/api/me", lambda route: held.append(route))
    elsewhere(page, "nb")
    speaks(page, "nb")
    expect(page.locator("main")).to_be_focused()
    way = tab_to(page, '[data-role="way-me"]')
    held[0].continue_()
    page.locator('[data-role="group-input"]').wait_for()
    expect(way).to_be_focused()


def test_a_replay_stands_where_it_stood_in_another_language(page: Page) -> None:
    page.goto("/examples/heart-to-heart")
    replay = HeartTable(page).version(0)
    page.locator('[data-role="step-forward"]').click(click_count=3)
    replay.version(3)
    elsewhere(page, "nb")
    speaks(page, "nb")
    replay.version(3)
    expect(page.locator('[data-role="step-forward"]')).to_be_focused()


def test_a_replay_at_its_beginning_does_not_go_to_where_its_link_led(page: Page) -> None:
    page.goto("/examples/heart-to-heart#41")
    replay = HeartTable(page).version(41)
    page.keyboard.press("Home")
    replay.version(0)
    # nothing more is needed of the server
    page.route("**/api/**", lambda route: route.abort())
    elsewhere(page, "nb")
    speaks(page, "nb")
    expect(page.locator('[data-role="step"]')).to_have_text(f"0 av {len(example())}")
    page.keyboard.press("ArrowRight")
    replay.version(1)


def test_a_replay_that_plays_goes_on_in_another_language(page: Page) -> None:
    page.goto("/examples/heart-to-heart")
    replay = HeartTable(page).version(0)
    page.locator('[data-role="speed"]').select_option("fast")
    page.locator('[data-role="play"]').click()
    page.wait_for_function(_BEYOND, arg=0)
    elsewhere(page, "nb")
    speaks(page, "nb")
    expect(page.locator('[data-role="play"]')).to_have_accessible_name("Stans")
    expect(page.locator('[data-role="speed"]')).to_have_value("fast")
    at = int(replay.root.get_attribute("data-version") or 0)
    assert at > 0
    page.wait_for_function(_BEYOND, arg=at)


def test_a_feast_goes_on_in_another_language(page: Page) -> None:
    # another tab chooses it as soon as the feast has begun
    page.add_init_script(
        """new MutationObserver((_, observer) => {
          if (!document.querySelector('.hh-feast')) return;
          observer.disconnect();
          window.hearts = document.querySelectorAll('.hh-feast .emblem').length;
          localStorage.setItem('heartroom.settings', JSON.stringify({ language: 'nb' }));
          dispatchEvent(new StorageEvent('storage', { key: 'heartroom.settings' }));
        }).observe(document, { childList: true, subtree: true });"""
    )
    table = deal(page)
    table.play(example())
    speaks(page, "nb")
    feast = page.locator(".hh-feast")
    expect(feast.locator(".card")).to_have_count(25)
    assert feast.locator(".emblem").count() == page.evaluate("hearts") > 0
    won = table.dialog("won")
    expect(won.locator("h2")).to_have_text("Du tømte hjertet!")
    expect(feast).to_have_count(1)
    assert feast.evaluate("one => one.getAnimations({ subtree: true }).length") > 0
    page.keyboard.press("Escape")
    expect(feast).to_have_count(0)


def test_what_was_picked_and_unfolded_stays_so_in_another_language(page: Page) -> None:
    for _ in range(2):
        deal(page)
    page.goto("/")
    page.locator("summary").click()
    tab_to(page, '[data-role="language"]')
    page.keyboard.press("End")
    speaks(page, "nb")
    expect(page.locator('[data-role="continue-older"]')).to_be_visible()
    page.goto("/all-time")
    page.locator('[data-tab="wins"]').click()
    page.keyboard.press("ArrowRight")
    elsewhere(page, "en")
    speaks(page, "en")
    streak = page.locator('[data-tab="streak"]')
    expect(streak).to_have_attribute("aria-selected", "true")
    expect(streak).to_be_focused()


def test_a_selected_card_stays_selected_in_another_language(page: Page) -> None:
    table = deal(page)
    table.play(example()[:9])
    table.walk(TIP)
    page.keyboard.press("Enter")
    table.is_selected(TIP)
    elsewhere(page, "nb")
    expect(table.version(9).place(TIP)).to_have_attribute("aria-label", "Hjerter fire, rad 7, fritt")
    table.is_selected(TIP)
    expect(table.place(TIP)).to_be_focused()
    # and by one's own settings, where the keyboard's place is kept though the focus is elsewhere
    page.locator('[data-role="settings"]').click()
    page.locator('[data-setting="language"]').select_option("en")
    page.keyboard.press("Escape")
    table.is_selected(TIP)
    tapped = table.place(DISCARD)
    tapped.click()
    table.version(10)


def test_cards_chosen_to_be_passed_stay_chosen_in_another_language(page: Page) -> None:
    table = begin_hearts(page)
    table.phase("passing")
    chosen = table.cards()[1:4]
    for card in chosen:
        table.walk(card)
        page.keyboard.press("Enter")
    elsewhere(page, "nb")
    speaks(page, "nb")
    expect(table.hand.locator("[data-chosen]")).to_have_count(3)
    expect(table.card(chosen[-1])).to_be_focused()
    page.keyboard.press("p")
    expect(table.panel).not_to_have_attribute("data-panel", "pass")


def begin_hearts(page: Page) -> HeartsTable:
    """Starts a game of Hearts with bots, by keyboard."""
    page.goto("/")
    tab_to(page, '[data-game="hearts"] [data-role="make-table"]')
    page.keyboard.press("Enter")
    page.locator('[data-option="pace"]').select_option("0")
    tab_to(page, '[data-role="table-make"]')
    page.keyboard.press("Enter")
    page.locator('[data-role="waiting-room"]').wait_for()
    tab_to(page, '[data-role="start"]')
    page.keyboard.press("Enter")
    return HeartsTable(page)


def test_the_ring_around_what_changes_the_name_does_not_lie_on_the_name(page: Page) -> None:
    page.goto("/")
    tab_to(page, '[data-role="name"]')
    page.keyboard.press("Enter")
    page.keyboard.type("Kari")
    page.keyboard.press("Enter")
    change = tab_to(page, '[data-role="name"]')
    assert change.evaluate(_RINGED)
    (name,) = boxes(page.locator(".who bdi"))
    (ringed,) = boxes(change)
    width, offset = (
        change.evaluate(f"one => parseFloat(getComputedStyle(one).outline{its})")
        for its in ("Width", "Offset")
    )
    assert ringed[0] - width - offset >= name[2]


# ---- from page to page


def test_who_comes_to_a_table_by_keyboard_plays_at_once(page: Page) -> None:
    page.goto("/")
    tab_to(page, f'{OURS} [data-role="play"]')
    page.keyboard.press("Enter")
    table = HeartTable(page).ready()
    expect(table.place(TIP)).to_be_focused()
    assert table.place(TIP).evaluate(_RINGED)
    page.keyboard.press("Enter")
    table.is_selected(TIP)
    page.go_back()
    page.wait_for_url("**/")
    expect(page.locator("main")).to_be_focused()
    page.go_forward()
    expect(table.ready().place(TIP)).to_be_focused()
    # to another one from this one
    table.draw()
    table.version(1)
    page.keyboard.press("n")
    expect(page.locator('[data-role="new-random"]')).to_be_focused()
    page.keyboard.press("Enter")
    table.ready(0)
    expect(table.place(TIP)).to_be_focused()


def test_who_comes_to_a_table_by_mouse_sees_no_ring(page: Page) -> None:
    page.goto("/")
    page.locator(f'{OURS} [data-role="play"]').click()
    tip = HeartTable(page).ready().place(TIP)
    expect(tip).to_be_focused()
    assert not tip.evaluate(_RINGED)


def test_who_comes_to_a_table_by_a_link_is_at_the_table(page: Page) -> None:
    table = deal(page)
    board = page.locator("main")
    for _ in range(2):
        expect(board).to_be_focused()
        expect(board).to_have_accessible_name("Heart to Heart")
        expect(board).to_have_css("outline-style", "none")
        page.reload()
        table.ready()
    page.keyboard.press("Tab")
    expect(table.place(TIP)).to_be_focused()


def test_who_comes_to_hearts_by_keyboard_is_at_the_hand(page: Page) -> None:
    table = begin_hearts(page)
    table.phase("passing")
    first = table.card(table.cards()[0])
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    expect(first).to_have_attribute("aria-pressed", "true")
    page.go_back()
    page.wait_for_url("**/")
    expect(page.locator("main")).to_be_focused()
    page.go_forward()
    expect(first).to_be_focused()
    page.reload()
    table.phase("passing")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(first).to_be_focused()


def test_the_pages_that_are_read_begin_at_their_content(page: Page) -> None:
    page.goto("/")
    main = page.locator("main")
    expect(page.locator(f'{OURS} [data-role="play"]')).to_be_visible()
    # who has just opened the house is where the browser begins, before the skip link
    assert page.evaluate("document.activeElement === document.body")
    for role in ("way-daily", "way-all-time", "way-live", "way-me"):
        tab_to(page, f'[data-role="{role}"]')
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/{role.removeprefix('way-')}")
        expect(page.locator("h1").first).to_be_visible()
        expect(main).to_be_focused()
    page.go_back()
    page.wait_for_url("**/live")
    expect(main).to_be_focused()
    page.goto("/")
    tab_to(page, f'{OURS} [data-role="example"]')
    page.keyboard.press("Enter")
    HeartTable(page).version(0)
    expect(main).to_be_focused()
    page.keyboard.press("ArrowRight")
    HeartTable(page).version(1)


def test_a_dialog_gives_the_focus_back_though_what_opened_it_was_drawn_anew(page: Page) -> None:
    page.goto("/")
    tab_to(page, '[data-role="name"]')
    page.keyboard.press("Enter")
    page.keyboard.type("Kari")
    page.keyboard.press("Enter")
    expect(page.locator(".who bdi")).to_have_text("Kari")
    expect(page.locator('[data-role="name"]')).to_be_focused()


def test_a_dialog_goes_with_its_page(page: Page) -> None:
    page.goto("/")
    tab_to(page, f'{OURS} [data-role="rules"]')
    page.keyboard.press("Enter")
    page.wait_for_url("**/rules/heart-to-heart")
    page.locator(".brand").click()
    page.locator('[data-role="settings"]').click()
    page.locator("dialog").wait_for()
    page.go_back()
    expect(page.locator("h1")).to_have_text("The rules of Heart to Heart")
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator("main")).to_be_focused()
