"""Texts and icons of the pages stand out from their ground, by light and by dark."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Reader
from tests.browser.contrast import faint
from tests.browser.memories import add_day, add_fact, add_memory, add_topic
from tests.browser.pages import PASSWORD, Chat
from tests.model_scripts import error, text
from tests.model_server import ModelServer

pytestmark = pytest.mark.wide

ANSWER = """## Heading

A *word* and `code`, a [link](https://a.example/) and more.

> quoted

```python
def bread(loaves: int = 12) -> str:  # how much
    return f"{loaves} loaves"
```

| one | two |
|---|---|
| 1 | 2 |
"""
FAINT_TEXTS = """<p style="color: #777">Faint.</p><p style="color: #767676">Seen.</p>
<div style="opacity: 0.5"><p style="color: #000">Faded.</p></div>
<h1 style="color: #888; font-size: 24px">Large.</h1><p style="color: #888" hidden>Hidden.</p>
<button style="color: #888; background: #888" disabled>Disabled.</button><input placeholder="Grey on grey" class="field">
<style>body { background: #fff } .field { background: #777 } .field::placeholder { color: #888 }</style>"""


def test_what_is_faint_is_found(chat: Chat) -> None:
    page = chat.page.context.new_page()
    page.set_content(FAINT_TEXTS)
    assert faint(page)["light"] == [
        "4.48 < 4.5: body > p “Faint.”",
        "3.98 < 4.5: div > p “Faded.”",
        "1.26 < 4.5: body > input.field “Grey on grey”",
    ]


def test_the_chat_its_book_and_what_is_remembered_stand_out(
    chat: Chat, model: ModelServer, browser_database: str
) -> None:
    assert faint(chat.page) == {}, "an empty chat"
    model.script(text(ANSWER))
    chat.ask("What do we bake?")
    assert faint(chat.page) == {}, "a reply"
    chat.page.get_by_role("button", name="Open the book").click()
    expect(chat.page.locator(".stack-bar")).to_be_visible()
    assert faint(chat.page) == {}, "the book"
    chat.page.keyboard.press("Escape")
    model.script(*[error(529)] * 3)
    chat.ask("And now?")
    assert faint(chat.page) == {}, "a failure"
    add_memory(browser_database, chat.thread_id, "Ada bakes bread.")
    add_fact(browser_database, chat.thread_id, "She has an oven.", position=1)
    add_topic(browser_database, chat.thread_id, "Which flour", 9)
    today = datetime.now(UTC).date()
    for ago in (0, 2):
        add_day(browser_database, chat.thread_id, today - timedelta(days=ago), "Ada baked.")
    chat.open("/memory/")
    assert faint(chat.page) == {}, "what is remembered"
    chat.open("/account/")
    assert faint(chat.page) == {}, "the account"


def test_requests_stand_out_for_staff(reader: Reader) -> None:
    with reader() as chat:
        chat.ask("Hello.")
        chat.page.context.clear_cookies()
        chat.sign_in("admin", PASSWORD)
        chat.open("/admin/conversations/contextsnapshot/")
        assert faint(chat.page) == {}, "all requests"
        chat.page.locator("#result_list tbody a:visible[href*=contextsnapshot]").first.click()
        expect(chat.page.locator(".ob-verdict")).to_be_visible()
        assert faint(chat.page) == {}, "a request"
