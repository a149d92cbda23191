"""`python -m tests.browser.icons`: makes the pictures of the installed app out of its icon, which is an SVG."""

from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.pages import launch
from tests.services import CHROMIUM, program

STATIC = Path(__file__).resolve().parents[2] / "conversations" / "static" / "conversations"
GREEN = "#1d5c57"
PAGE = (
    "<style>* {{ margin: 0 }} body {{ background: {ground} }} svg {{ display: block; padding: {room}px }}</style>{svg}"
)
SAFE = 0.1
"""Of each side of a maskable icon: what a system may cut off."""


def main() -> None:
    with sync_playwright() as playwright:
        browser = launch(playwright, program("OPENBOOK_TEST_CHROMIUM", *CHROMIUM))
        draw(browser, "icon-192.png", 192)
        draw(browser, "icon-512.png", 512)
        draw(browser, "icon-maskable-512.png", 512, fills=True)
        draw(browser, "apple-touch-icon.png", 180, fills=True)


def draw(browser: Browser, name: str, size: int, *, fills: bool = False) -> None:
    """``fills``: up to its edges, for systems that cut icons to a shape of their own."""
    room = round(size * SAFE) if fills else 0
    side = size - 2 * room
    svg = (STATIC / "icon.svg").read_text().replace("<svg ", f'<svg width="{side}" height="{side}" ')
    page = browser.new_page(viewport={"width": size, "height": size})
    page.set_content(PAGE.format(ground=GREEN if fills else "transparent", room=room, svg=svg))
    page.screenshot(path=STATIC / "icons" / name, omit_background=True)
    page.close()


if __name__ == "__main__":
    main()
