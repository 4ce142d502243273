"""Takes the README's picture of Heart to Heart from the running game: `python -m tools.screenshot`.

A desktop and a phone in mid-game, beside each other. The client must be built (`make client`).
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from bench.served import serving
from tools.chromium import install

ROOT: Final = Path(__file__).parents[1]
PICTURE: Final = ROOT / "docs" / "images" / "heart-to-heart.png"
EXAMPLE: Final = ROOT / "server/heartroom/games/heart_to_heart/examples/HH1-N-AAAAAAM.jsonl"

DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 800}
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
MOVES: Final = {"desktop": 29, "phone": 49}
"""So many moves of the example are made before each picture is taken."""

PAGE: Final = """
<style>
  body { margin: 0; display: inline-flex; align-items: center; gap: 24px; padding: 20px; background: #fff }
  img { display: block; border-radius: 12px; box-shadow: 0 2px 8px #0006 }
  img + img { border-radius: 20px }
</style>
<img src="data:image/png;base64,%s" width="640"><img src="data:image/png;base64,%s" width="185">
"""


def main() -> None:
    """Writes the picture and says how large it is."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with serving({}) as served, sync_playwright() as playwright:
        url = f"http://127.0.0.1:{served.port}"
        browser = playwright.chromium.launch(executable_path=install(), args=sandbox)
        desktop = _game(browser, url, DESKTOP, MOVES["desktop"])
        phone = _game(browser, url, PHONE, MOVES["phone"])
        page = browser.new_page()
        page.set_content(PAGE % (_encoded(desktop), _encoded(phone)))
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        page.locator("body").screenshot(path=PICTURE)
        browser.close()
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size // 1024} KiB")


def _game(browser: Browser, url: str, viewport: ViewportSize, moves: int) -> bytes:
    """A picture of the example's deal after so many moves."""
    context = browser.new_context(viewport=viewport, reduced_motion="reduce", base_url=url)
    page = context.new_page()
    page.goto("/d/HH1-N-AAAAAAM")
    page.wait_for_url("**/g/*")
    _at(page, 0)
    actions = [json.loads(line)["action"] for line in EXAMPLE.read_text().splitlines()[1:]]
    for version, (verb, *places) in enumerate(actions[:moves], 1):
        spots = [f'[data-place="{place}"]' for place in places] if verb == "pair" else ['[data-role="stock"]']
        for spot in spots:
            page.locator(spot).click()
        _at(page, version)
    page.mouse.move(0, 0)
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((one) => one.finished))")
    return page.screenshot()


def _at(page: Page, version: int) -> None:
    page.locator(f'[data-role="table"][data-version="{version}"]').wait_for()


def _encoded(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


if __name__ == "__main__":
    main()
