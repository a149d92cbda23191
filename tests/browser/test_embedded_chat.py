"""The chat in a page of another site, in a real browser: asked, cut off by a reload, gone on, stopped, shut to others."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import violations
from tests.browser.embedding_site import EmbeddingSite
from tests.browser.pages import DESK, PATIENCE
from tests.model_scripts import Gate, text
from tests.model_server import ModelServer


@pytest.fixture
def page(browser: Browser, shop: EmbeddingSite, server_url: str) -> Iterator[Page]:
    shop.server = server_url
    expect.set_options(timeout=PATIENCE)
    with browser.new_context(**DESK) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(shop.url)
        yield page


def test_a_visitor_asks_and_a_reload_goes_on_with_the_reply(
    page: Page, model: ModelServer, shop: EmbeddingSite
) -> None:
    field, log = page.get_by_label("Message"), page.get_by_role("log")
    gate = Gate()
    model.script(text("Take **hemp**, ", gate, "and [varnish](https://rope.example)."))
    field.fill("Which rope?")
    field.press("Enter")
    expect(log.locator("strong")).to_have_text("hemp")
    page.reload()
    expect(log.locator("strong")).to_have_text("hemp")  # the question, and the reply from its beginning
    gate.open()
    expect(log.get_by_role("link", name="varnish")).to_be_visible()
    expect(log.get_by_role("listitem")).to_have_text(["You: Which rope?", "Answer: Take hemp, and varnish."])
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    assert violations(page) == [] and page.context.cookies() == []

    held = Gate()
    model.script(text("So far", held, " and on."))
    field.fill("And how long?")
    field.press("Enter")
    expect(log.get_by_role("listitem").last).to_contain_text("So far")
    page.get_by_role("button", name="Stop").click()
    expect(log.get_by_text("Stopped.")).to_be_visible()
    held.open()

    shop.visitor = "eve@shop.example"  # another visitor, in the same browser
    page.reload()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    model.script(text("Good morning."))
    field.fill("Hello")
    field.press("Enter")
    expect(log.get_by_text("Good morning.")).to_be_visible()
    expect(log.get_by_text("Which rope?")).to_have_count(0)
