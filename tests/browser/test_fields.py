"""Fields that are typed in: what they say of what is missing or wrong."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.keyboard import tab_to
from tests.browser.table import CODE
from tests.browser.test_focus import elsewhere
from tests.browser.test_screens import boxes, flawless


@pytest.mark.parametrize(
    ("address", "field", "button", "wanted"),
    [
        ("/", "code-input", "code-go", "Type the code of a deal. It looks like HH1-N-AAAAAAM."),
        ("/me", "group-input", "group-enter", "A name has 1 to 20 characters, all of them visible."),
        ("/me", "recovery-input", "recovery-enter", "Type a recovery code of yours."),
    ],
)
def test_an_empty_field_says_what_it_wants(
    new_context: NewContext, address: str, field: str, button: str, wanted: str
) -> None:
    page = new_context(reduced_motion="reduce").new_page()
    page.goto(address)
    empty = tab_to(page, f'[data-role="{field}"]')
    expect(empty).not_to_have_attribute("aria-invalid", "true")
    for at in (field, button):
        tab_to(page, f'[data-role="{at}"]')
        page.keyboard.press("Enter")
        expect(empty).to_have_attribute("aria-invalid", "true")
        expect(empty).to_have_accessible_description(wanted)
        expect(empty).to_be_focused()
    alert = page.locator(f'[role="alert"]:has-text("{wanted}")')
    expect(alert).to_be_visible()
    flawless(page)


def test_a_field_whose_content_is_refused_is_marked_and_says_why(page: Page) -> None:
    page.goto("/")
    code = page.locator("#code-heart-to-heart")
    code.fill("HH1-N-AAAAAA9")
    page.keyboard.press("Enter")
    expect(code).to_have_attribute("aria-invalid", "true")
    expect(code).to_have_accessible_description("This is no deal code. It looks like HH1-N-AAAAAAM.")
    page.locator('[data-role="name"]').click()
    name = page.locator('[data-role="name-input"]')
    page.keyboard.press("Enter")
    expect(name).to_have_attribute("aria-invalid", "true")
    expect(name).to_have_accessible_description(
        "Up to 20 characters. Whoever watches you or plays with you sees it. "
        "A name has 1 to 20 characters, all of them visible."
    )


def test_what_is_wrong_is_said_in_the_language_that_is_chosen_then(page: Page) -> None:
    page.goto("/")
    code = page.locator("#code-heart-to-heart")
    code.fill("HH1-N-AAAAAA9")
    page.keyboard.press("Enter")
    expect(code).to_have_accessible_description("This is no deal code. It looks like HH1-N-AAAAAAM.")
    language = tab_to(page, '[data-role="language"]')
    page.keyboard.press("End")
    expect(page.locator("html")).to_have_attribute("lang", "nb")
    expect(code).to_have_value("HH1-N-AAAAAA9")
    expect(code).to_have_attribute("aria-invalid", "true")
    expect(code).to_have_accessible_description("Dette er ingen givkode. En slik ser ut som HH1-N-AAAAAAM.")
    expect(language).to_be_focused()
    code.fill("")
    page.keyboard.press("Enter")
    tab_to(page, '[data-role="language"]')
    page.keyboard.press("Home")
    expect(code).to_have_accessible_description("Type the code of a deal. It looks like HH1-N-AAAAAAM.")
    # also where the field comes only when something has been fetched
    page.goto("/me")
    recovery = page.locator('[data-role="recovery-input"]')
    recovery.focus()
    page.keyboard.press("Enter")
    expect(recovery).to_have_accessible_description("Type a recovery code of yours.")
    elsewhere(page, "nb")
    expect(recovery).to_have_accessible_description("Skriv en gjenopprettingskode du har.")
    expect(recovery).to_be_focused()
    expect(page.locator('[data-role="group-input"]')).not_to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize(
    ("width", "height", "language"),
    [
        (width, height, language)
        for width, height in ((320, 568), (390, 664), (1280, 800))
        for language in ("en", "nb")
    ],
)
def test_a_refused_code_is_seen_with_its_field_where_it_was_typed(
    new_context: NewContext, width: int, height: int, language: str
) -> None:
    page = new_context(viewport={"width": width, "height": height}, locale=language).new_page()
    page.goto("/")
    code = page.locator("#code-heart-to-heart")
    code.fill("nonsense")
    (before,) = boxes(code)
    page.keyboard.press("Enter")
    expect(code).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#code-error-heart-to-heart")).to_be_in_viewport(ratio=1)
    expect(code).to_be_in_viewport(ratio=1)
    (after,) = boxes(code)
    assert (after[0], after[2]) == (before[0], before[2])


_LINES = """([text, word]) => {
  const nodes = document.createTreeWalker(document.querySelector(text), NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const at = nodes.currentNode.data.indexOf(word);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(nodes.currentNode, at);
    range.setEnd(nodes.currentNode, at + word.length);
    return range.getClientRects().length;
  }
}"""


def test_a_code_is_not_broken_at_its_hyphens(page: Page) -> None:
    page.goto("/")
    page.locator("#code-heart-to-heart").fill("nonsense")
    page.keyboard.press("Enter")
    error = "#code-error-heart-to-heart"
    expect(page.locator(error)).to_contain_text(CODE)
    for width in range(320, 420, 10):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(_LINES, [error, CODE]) == 1
    page.goto("/rules/heart-to-heart")
    page.locator("h1").wait_for()
    for width in range(320, 420, 10):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(_LINES, [".rule:last-child", CODE]) == 1


@pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844)])
def test_a_field_is_as_high_as_its_button_on_a_phone(
    new_context: NewContext, width: int, height: int
) -> None:
    page = new_context(viewport={"width": width, "height": height}).new_page()
    page.goto("/me")
    page.locator('[data-role="recovery-input"]').wait_for()
    for role in ("group", "recovery"):
        (field,) = boxes(page.locator(f'[data-role="{role}-input"]'))
        (button,) = boxes(page.locator(f'[data-role="{role}-enter"]'))
        assert field[3] - field[1] == button[3] - button[1]
