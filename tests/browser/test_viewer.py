"""A file beside the conversation: its pages, tables or picture, what of them each reply was given, and what cites them."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.long_pdf import long_pdf
from tests.browser.pages import Chat
from tests.browser.test_book import open_book
from tests.browser.test_files import DELETE, LARGE, attach, chip, payload, picture, sent_files, slow_network
from tests.model_scripts import text
from tests.model_server import ModelServer

PAGES = 60
TABLE = "City,Loaves,Note\n" + "".join(f"City {row},{row * 3},of the day before\n" for row in range(400))
IN_VIEW = """(selector) => {
    const panel = document.getElementById("panel-body").getBoundingClientRect();
    const { top, bottom } = document.querySelector(selector).getBoundingClientRect();
    return top < panel.bottom && bottom > panel.top;
}"""
ASKED = "performance.getEntriesByType('resource').filter(({ name }) => /files.*pages/.test(name)).length"
CSS_WIDTH = "image => new DOMMatrix(getComputedStyle(image).transform).a"
LEAVES = """() => {
    const event = new Event("beforeunload", { cancelable: true });
    return window.dispatchEvent(event);
}"""


def ask_about(chat: Chat, model: ModelServer, *files: tuple[str, bytes], answer: str = "It says so.") -> None:
    attach(chat, *(payload(name, content) for name, content in files))
    for name, _ in files:
        expect(chip(chat, name)).to_contain_text(re.compile("PDF|Text|Picture"))
    model.script(text(answer))
    chat.ask("What were the costs of quarter seven?")


def card(chat: Chat, name: str) -> Locator:
    return sent_files(chat).filter(has_text=name).get_by_role("button")


def panel(chat: Chat) -> Locator:
    return chat.page.locator("#panel")


def page_at(chat: Chat, number: int) -> Locator:
    return panel(chat).get_by_role("article", name=f"Page {number}", exact=True)


@pytest.mark.wide
def test_a_long_pdf_is_read_page_by_page_and_only_what_is_near_is_drawn(
    chat: Chat, model: ModelServer, reading: None
) -> None:
    ask_about(chat, model, ("report.pdf", long_pdf(PAGES)))
    expect(card(chat, "report.pdf").locator("img")).to_be_visible()
    card(chat, "report.pdf").focus()
    chat.page.keyboard.press("Enter")
    expect(panel(chat)).to_contain_text(f"of {PAGES}")
    expect(page_at(chat, 1).locator("img")).to_be_visible()
    expect(page_at(chat, 1)).to_contain_text("Quarter 1 was quiet.")
    number = panel(chat).get_by_label("Page", exact=True)
    expect(number).to_have_value("1")
    chat.page.keyboard.press("PageDown")
    expect(number).to_have_value("2")
    chat.page.keyboard.press("ArrowRight")
    chat.page.keyboard.press("ArrowLeft")
    expect(number).to_have_value("2")
    number.fill("50")
    number.press("Enter")
    expect(page_at(chat, 50).locator("img")).to_be_visible()
    assert page_at(chat, 50).locator("img").evaluate("image => image.decode().then(() => image.naturalHeight)") == 1568
    expect(page_at(chat, 1).locator("img")).to_have_count(0)
    assert chat.page.evaluate(ASKED) < 30
    assert violations(chat.page) == []
    panel(chat).get_by_role("button", name="Contents").click()
    expect(panel(chat).get_by_role("button", name="Chapter 5")).to_be_focused()
    chat.page.keyboard.press("Home")
    chat.page.keyboard.press("ArrowDown")
    chat.page.keyboard.press("Enter")
    expect(page_at(chat, 11)).to_be_focused()
    panel(chat).get_by_role("button", name="Text of the pages").click()
    words = page_at(chat, 11).get_by_text("Quarter 11 was quiet.")
    words.scroll_into_view_if_needed()
    expect(words).to_be_in_viewport()
    panel(chat).get_by_role("button", name="Zoom in").click()
    assert page_at(chat, 11).bounding_box()["width"] > panel(chat).bounding_box()["width"]  # type: ignore[index]
    chat.page.keyboard.press("0")
    chat.page.keyboard.press("End")
    expect(number).to_have_value(str(PAGES))
    chat.page.keyboard.press("Home")
    expect(number).to_have_value("1")
    chat.page.keyboard.press("Escape")
    expect(panel(chat)).to_be_hidden()
    expect(card(chat, "report.pdf")).to_be_focused()


@pytest.mark.wide
def test_a_citation_leads_to_its_page_which_tells_for_which_reply_it_was_given(
    chat: Chat, model: ModelServer, reading: None
) -> None:
    answer = "They were **4711** [report.pdf, p. 7], see [report.pdf, p. 51] and `[report.pdf, p. 8]`, not [1]."
    ask_about(chat, model, ("report.pdf", long_pdf(PAGES)), answer=answer)
    for _ in range(2):
        cited = chat.replies.last.locator(".prose").get_by_role("button")
        expect(cited).to_have_count(2)
        expect(cited.last).to_have_accessible_name("report.pdf, p. 51 (The model was not given this part)")
        cited.first.focus()
        chat.page.keyboard.press("Enter")
        expect(page_at(chat, 7)).to_be_focused()
        expect(page_at(chat, 7)).to_contain_text("Given for this reply")
        expect(page_at(chat, 7).get_by_text("4711 crowns")).to_be_attached()
        cited.last.click()
        expect(page_at(chat, 51)).to_be_focused()
        expect(page_at(chat, 51)).to_contain_text("Not given")
        chat.page.keyboard.press("Escape")
        expect(panel(chat)).to_be_hidden()
        expect(chat.replies.first).to_contain_text(re.compile(r"From\s*report\.pdf: pages 1"))
        chat.page.reload()
    model.script(text("Nothing more."))
    chat.ask("Which chapter holds quarter 49, and what was it like?")
    chat.replies.first.locator(".turn-given").get_by_role("button").click()
    expect(page_at(chat, 1)).to_contain_text("Given for this reply")
    expect(panel(chat).get_by_label("Given for reply to")).to_contain_text("What were the costs of quarter seven?")
    number = panel(chat).get_by_label("Page", exact=True)
    number.fill("49")
    number.press("Enter")
    expect(page_at(chat, 49)).to_contain_text("Given for a later reply, not for this one")
    panel(chat).get_by_label("Given for reply to").select_option(index=0)
    expect(page_at(chat, 49)).to_contain_text("Given for this reply")
    number.fill("30")
    number.press("Enter")
    expect(page_at(chat, 30)).to_contain_text(re.compile("Not given: (does not bear on what you asked|no room)"))
    assert violations(chat.page) == []
    left_out = open_book(chat).locator(".fate.left-out li")
    told = [line for line in left_out.all_inner_texts() if line.startswith("report.pdf, pages ")]
    assert told, "the book names the pages that were left out"


@pytest.mark.wide
def test_tables_are_tables_whose_head_stays(chat: Chat, model: ModelServer, reading: None) -> None:
    ask_about(chat, model, ("orders.csv", TABLE.encode()), ("notes.txt", b"one\n  two <b>three</b>\n\n# four\n"))
    card(chat, "orders.csv").click()
    table = panel(chat).get_by_role("table").first
    expect(table.get_by_role("columnheader", name="Loaves")).to_be_visible()
    expect(table.get_by_role("cell", name="City 7", exact=True)).to_be_visible()
    chat.page.locator("#panel-body").evaluate("body => body.scrollTo(0, 900)")
    head = table.get_by_role("columnheader", name="Loaves").bounding_box()
    body = chat.page.locator("#panel-body").bounding_box()
    assert head
    assert body
    assert abs(head["y"] - body["y"]) < 2
    assert violations(chat.page) == []
    card(chat, "notes.txt").click()
    expect(panel(chat).get_by_text("# four")).to_be_visible()
    assert panel(chat).locator(".page-plain").inner_text() == "one\n  two <b>three</b>\n\n# four"


@pytest.mark.wide
def test_a_picture_is_zoomed_by_keys_buttons_wheel_and_drag(chat: Chat, model: ModelServer, reading: None) -> None:
    ask_about(chat, model, ("harbour.png", picture(size=(1600, 900))))
    thumbnail = sent_files(chat).get_by_role("button", name="harbour.png")
    thumbnail.click()
    frame = panel(chat).get_by_role("group", name="Picture")
    image = frame.locator("img")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1600
    for key, scale in (("+", 1.5), ("+", 2.25), ("-", 1.5), ("0", 1.0)):
        chat.page.keyboard.press(key)
        assert image.evaluate(CSS_WIDTH) == scale
    panel(chat).get_by_role("button", name="Zoom in").click()
    expect(panel(chat).get_by_role("button", name="150 %")).to_be_visible()
    frame.hover()
    chat.page.mouse.wheel(0, -400)
    chat.page.wait_for_function("new DOMMatrix(document.querySelector('.zoomed img').style.transform).a > 2")
    before = image.evaluate("image => new DOMMatrix(image.style.transform).e")
    chat.page.mouse.down()
    chat.page.mouse.move(900, 400, steps=4)
    chat.page.mouse.up()
    assert image.evaluate("image => new DOMMatrix(image.style.transform).e") != before
    assert violations(chat.page) == []
    chat.page.keyboard.press("Escape")
    expect(thumbnail).to_be_focused()


@pytest.mark.wide
def test_on_a_phone_the_file_is_a_sheet_that_fits(reader: Reader, model: ModelServer, reading: None) -> None:
    with reader(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as chat:
        ask_about(chat, model, ("report.pdf", long_pdf(30)), answer="See [report.pdf, p. 7].")
        card(chat, "report.pdf").tap()
        expect(page_at(chat, 1).locator("img")).to_be_visible()
        assert chat.too_small_targets() == []
        assert chat.page.evaluate("document.documentElement.scrollWidth") == 390
        assert chat.page.evaluate("document.getElementById('panel-body').scrollWidth") == 390
        assert violations(chat.page) == []
        panel(chat).get_by_role("button", name="Close", exact=True).tap()
        expect(panel(chat)).to_be_hidden()
        chat.replies.last.get_by_role("button", name="report.pdf, p. 7").tap()
        expect(page_at(chat, 7)).to_be_focused()
        chat.page.wait_for_function(IN_VIEW, arg="[aria-label='Page 7'] h3")


@pytest.mark.wide
def test_a_deleted_file_and_one_that_cannot_be_read_say_so(chat: Chat, model: ModelServer, reading: None) -> None:
    ask_about(chat, model, ("notes.txt", b"The ferry leaves at nine.\n"))
    chat.page.evaluate(DELETE, "notes.txt")
    card(chat, "notes.txt").click()
    expect(panel(chat).get_by_text("This file is deleted.")).to_be_visible()
    chat.problems.clear()  # the browser reports the status


@pytest.mark.wide
def test_a_file_that_is_still_read_is_shown_as_soon_as_it_is_there(chat: Chat, unread: Callable[[], None]) -> None:
    attach(chat, payload("notes.md", b"# Harbour\n\nThe ferry leaves at nine.\n"))
    expect(chip(chat, "notes.md")).to_contain_text("Reading")
    chat.send("When does it leave?")
    expect(chat.live).to_be_visible()
    card(chat, "notes.md").click()
    expect(panel(chat).get_by_text("Nothing of it is read yet.")).to_be_visible()
    unread()
    expect(panel(chat).get_by_text("The ferry leaves at nine.")).to_be_visible()
    expect(chat.replies).to_have_count(1)
    card(chat, "notes.md").click()
    expect(panel(chat)).to_contain_text("Text · 37 bytes")


@pytest.mark.wide
def test_the_page_is_not_left_in_silence_while_a_file_goes_up(chat: Chat) -> None:
    assert chat.page.evaluate(LEAVES)
    with slow_network(chat):
        attach(chat, payload("large.txt", LARGE))
        expect(chip(chat, "large.txt").get_by_role("progressbar")).to_be_visible()
        assert not chat.page.evaluate(LEAVES)
        chat.page.get_by_role("button", name="Cancel the upload of large.txt").click()
    assert chat.page.evaluate(LEAVES)
