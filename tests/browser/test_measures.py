"""Every page in every state of its panels fits its window: nothing makes the document taller or wider than what it shows, and
what is to be pressed lies within what holds it."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.long_pdf import long_pdf
from tests.browser.memories import add_memory
from tests.browser.pages import PASSWORD, Chat
from tests.browser.rows import add_artifact, ask_of, offer_models
from tests.browser.test_files import attach, chip, payload
from tests.browser.test_viewer import page_at
from tests.model_scripts import text
from tests.model_server import ModelServer

pytestmark = pytest.mark.wide

WIDTHS = (320, 390, 768, 1280, 1920)
HEIGHT = 800
FAULTS = """() => {
    const root = document.scrollingElement;
    const faults = [];
    const scrolls = ({ overflowX, overflowY }) => [overflowX, overflowY].some((how) => how === "auto" || how === "scroll");
    // Where what stands in the flow ends: what is out of it should make nothing taller.
    const endOf = (element) => {
        const style = getComputedStyle(element);
        if (["absolute", "fixed"].includes(style.position) || style.display === "none") return 0;
        const own = element.getBoundingClientRect().bottom + scrollY;
        return scrolls(style) ? own : Math.max(own, ...[...element.children].map(endOf));
    };
    const end = document.body.classList.contains("chat-page") ? innerHeight : Math.max(innerHeight, endOf(document.body));
    if (root.scrollHeight >= end + 1) faults.push(`${root.scrollHeight} high instead of ${end}`);
    if (root.scrollWidth > innerWidth) faults.push(`${root.scrollWidth} wide instead of ${innerWidth}`);
    for (const element of document.querySelectorAll("body *")) {
        const style = getComputedStyle(element);
        const isOurs = !element.matches("#nav-sidebar, .results, textarea, select, code, pre");
        if (isOurs && scrolls(style) && style.position === "static")
            faults.push(`${element.className || element.id} is not positioned`);
    }
    return faults;
}"""
OUTSIDE = """() => {
    const box = document.querySelector(".composer-box").getBoundingClientRect();
    const inside = ({ left, right, bottom }) => left >= box.left && right <= box.right && bottom <= box.bottom;
    const parts = [...document.querySelectorAll(".composer-row > *")].filter((element) => element.checkVisibility());
    return parts.filter((element) => !inside(element.getBoundingClientRect())).map((element) => element.id);
}"""


def faults(page: Page) -> dict[int, list[str]]:
    """By the width of the window."""
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        found[width] = page.evaluate(FAULTS)
    return {width: each for width, each in found.items() if each}


def test_the_chat_fits_its_window_in_each_state_of_its_panels(
    chat: Chat, model: ModelServer, browser_database: str, reading: None
) -> None:
    assert faults(chat.page) == {}
    chat.page.set_viewport_size({"width": 1280, "height": HEIGHT})
    attach(chat, payload("report.pdf", long_pdf(9)))
    expect(chip(chat, "report.pdf")).to_contain_text("PDF")
    long = "\n\n".join(f"Line {number} of a long answer." for number in range(60))
    model.script(text(f"The costs were 4711 crowns [report.pdf, p. 7].\n\n{long}"))
    chat.ask("What were the costs of quarter seven?")
    chat.page.reload()
    chat.wait_until_ready()
    add_artifact(browser_database, chat.thread_id, "# Costs\n\nNone.", "# Costs\n\nSome.", title="Costs")
    assert faults(chat.page) == {}
    chat.page.set_viewport_size({"width": 1280, "height": HEIGHT})
    chat.page.get_by_role("button", name="report.pdf, p. 7").click()
    expect(page_at(chat, 7).locator("img")).to_be_visible()
    assert faults(chat.page) == {}, "beside an open file"
    expect(chat.page.locator(".panel-head")).to_be_in_viewport()
    chat.page.keyboard.press("Escape")
    chat.page.set_viewport_size({"width": 1280, "height": HEIGHT})
    chat.page.reload()
    chat.wait_until_ready()
    chat.page.get_by_role("button", name="1 artifact", exact=True).click()
    expect(chat.page.locator("#panel")).to_be_visible()
    assert faults(chat.page) == {}, "beside an artifact"
    chat.page.keyboard.press("Escape")
    chat.page.set_viewport_size({"width": 1280, "height": HEIGHT})
    chat.page.get_by_role("button", name="Open the book").click()
    expect(chat.page.locator(".stack-bar")).to_be_visible()
    assert faults(chat.page) == {}, "under the book"


def test_the_other_pages_fit_their_window(chat: Chat, browser_database: str) -> None:
    chat.ask("Hello.")
    add_memory(browser_database, chat.thread_id, "Ada bakes bread.")
    for path in ("/memory/", "/account/", "/account/tokens/", "/api/v1/docs/", "/api/v1/docs/reasons/"):
        chat.open(path)
        assert faults(chat.page) == {}, path


def test_pages_of_staff_fit_their_window_and_name_what_is_on_them(reader: Reader, browser_database: str) -> None:
    with reader() as chat:
        chat.ask("Hello.")
        thread = chat.thread_id
    with reader() as chat:
        asked: list[str] = []
        chat.listen("response", lambda answer: asked.append(answer.url) if answer.status == 404 else None)
        chat.page.context.clear_cookies()
        chat.sign_in("admin", PASSWORD)
        for path in (
            "",
            "system/",
            "conversations/thread/",
            "conversations/contextsnapshot/",
            "conversations/contextsnapshot/overview/",
            f"conversations/thread/{thread}/change/",
            f"conversations/thread/{thread}/map/",
        ):
            chat.open(f"/admin/{path}")
            assert faults(chat.page) == {}, path
            assert violations(chat.page, ["landmark-unique", "label-title-only"]) == [], path
        assert asked == []


def outside(chat: Chat) -> dict[int, list[str]]:
    """What of the composer is not within it, by the width of the window."""
    expect(chat.page.locator("#gauge")).to_be_visible()
    found = {}
    for width in WIDTHS:
        chat.page.set_viewport_size({"width": width, "height": HEIGHT})
        found[width] = chat.page.evaluate(OUTSIDE)
    return {width: each for width, each in found.items() if each}


def test_everything_of_the_composer_lies_within_it(chat: Chat, browser_database: str) -> None:
    """Also with what can be made, with several models and with the gauge."""
    chat.page.get_by_role("radio", name="Analyst").check()
    chat.ask("Hello.")
    expect(chat.page.locator("#presets")).to_be_visible()
    assert outside(chat) == {}
    offer_models(browser_database, "claude-haiku-4-5", "claude-opus-5-5")
    try:
        chat.open()
        chat.ask("Hello.")
        assert outside(chat) == {}
    finally:
        offer_models(browser_database)


def test_all_examples_stand_above_the_composer(reader: Reader, browser_database: str) -> None:
    ask_of(browser_database, "companion", "offline")
    try:
        with reader(viewport={"width": 1280, "height": 800}) as chat:
            expect(chat.page.locator(".answers")).to_be_visible()
            last = chat.page.locator(".examples li").last
            assert last.evaluate("element => element.getBoundingClientRect().bottom") <= chat.page.locator(
                ".composer"
            ).evaluate("element => element.getBoundingClientRect().top")
    finally:
        ask_of(browser_database, "companion", "")
