"""What `/accessibility/` says was tested by axe: the pages of people, from left to right and from right to left."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.memories import add_fact, add_memory, add_topic
from tests.browser.pages import Chat
from tests.browser.rows import add_artifact
from tests.model_scripts import text
from tests.model_server import ModelServer

ANSWER = """## Bread

A *word* and `code`, a [link](https://a.example/) and $E = mc^2$.

> quoted

```python
def bread(loaves: int = 12) -> str:  # how much
    return f"{loaves} loaves"
```

| one | two |
|---|---|
| 1 | 2 |
"""
STRANGERS = [
    *("accounts/login/", "accounts/signup/", "accounts/password/reset/", "accounts/password/reset/done/"),
    *("accessibility/", "offline/", "s/nothing/", "no/such/page/"),
    *("api/v1/docs/", "api/v1/docs/websocket/", "api/v1/docs/messages/", "api/v1/docs/reasons/", "api/v1/docs/tour/"),
]
OWN = [
    *("memory/", "account/", "account/tokens/", "account/shares/", "account/delete/"),
    *("accounts/password/change/", "accounts/logout/", "threads/{thread}/print/"),
]
WAYS: list[tuple[str, dict[str, Any]]] = [
    ("ltr", {"locale": "en-GB", "viewport": {"width": 1280, "height": 820}, "color_scheme": "light"}),
    ("rtl", {"locale": "ar", "viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}),
]


def menu_of_the_reply(page: Page) -> None:
    page.locator(".turn.assistant .turn-actions [aria-haspopup=menu]").last.click()


def shown(chat: Chat, model: ModelServer, database: str) -> Iterator[str]:
    """The chat and its dialogs, one after the other, by their ids, as their names are of another language each time."""
    page = chat.page
    yield "an empty chat"
    model.script(text(ANSWER))
    page.locator("#text").fill("What do we bake?")
    page.locator("#text").press("Enter")
    expect(chat.replies).to_have_count(1)
    expect(page.locator(".turn.assistant math").first).to_be_attached()
    yield "a conversation"
    menu_of_the_reply(page)
    yield "the menu of a turn"
    page.locator("#menu [role=menuitem]").nth(-2).click()  # to share, before the one that forgets
    page.locator("#share-form button[type=submit]").click()
    expect(page.locator("#share-url")).to_be_visible()
    yield "sharing"
    page.keyboard.press("Escape")
    page.locator(".book-mark").click()
    expect(page.locator(".stack-bar")).to_be_visible()
    yield "the book"
    page.keyboard.press("Escape")
    page.locator("#thread-menu").click()
    yield "the menu of the conversation"
    page.keyboard.press("Escape")
    add_artifact(database, chat.thread_id, "# Plan", title="Plan")
    page.reload()
    page.locator("#artifacts").click()
    expect(page.locator("#panel-body .prose")).to_be_visible()
    yield "an artifact"


@pytest.mark.parametrize(("direction", "look"), WAYS, ids=["ltr", "rtl"])
def test_no_page_breaks_a_rule_that_a_machine_can_check(
    reader: Reader, model: ModelServer, browser_database: str, direction: str, look: dict[str, Any]
) -> None:
    found: dict[str, list[str]] = {}
    with reader(**look) as chat:
        page = chat.page

        def look_at(name: str) -> None:
            english = name.startswith(("api/", "v1/"))
            expect(page.locator("html")).to_have_attribute("dir", "ltr" if english else direction)
            if broken := violations(page):
                found[name] = broken

        for name in shown(chat, model, browser_database):
            look_at(name)
        thread = chat.thread_id
        add_memory(browser_database, thread, "Ada bakes bread.")
        add_fact(browser_database, thread, "She has an oven.", position=1)
        add_topic(browser_database, thread, "Which flour", 9)
        shared = page.evaluate("fetch('/api/v1/shares/').then((answer) => answer.json())")["results"][0]["url"]
        for path in OWN:
            chat.open(f"/{path.format(thread=thread)}")
            look_at(path)
        page.context.clear_cookies()
        chat.problems.clear()  # pages that were left
        for path in [shared.strip("/") + "/", *STRANGERS]:
            chat.open(f"/{path}")
            look_at(path if path in STRANGERS else "what somebody shared")
        chat.problems = [each for each in chat.problems if "404" not in each]
    assert found == {}
