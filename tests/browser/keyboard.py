"""What is done by keyboard, on any page."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def tab_to(page: Page, selector: str) -> Locator:
    """Takes the keyboard's focus there."""
    goal = page.locator(selector)
    goal.wait_for()
    for _ in range(60):
        if goal.evaluate("one => one === document.activeElement"):
            return goal
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")
