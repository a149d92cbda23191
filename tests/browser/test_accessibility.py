"""What `/accessibility/` says was tested by axe: every page, from left to right and from right to left."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import RULES, violations
from tests.browser.conftest import Reader
from tests.browser.memories import add_fact, add_memory, add_topic
from tests.browser.pages import Chat, call
from tests.browser.rows import add_artifact, add_reader, ids_of
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
    *("accessibility/", "offline/", "s/nothing/", "no/such/page/", "admin/login/"),
]
ENGLISH = [f"api/v1/docs/{page}" for page in ("", "websocket/", "messages/", "reasons/", "tour/")]
OWN = [
    *("memory/", "account/", "account/tokens/", "account/shares/", "account/delete/", "prompts/", "schedules/"),
    *("projects/", "projects/{project}/", "threads/{thread}/print/"),
    *("accounts/password/change/", "accounts/logout/"),
    *("account/invitations/", "account/budgets/", "account/leavers/"),
]
STAFF = [
    *(
        "",
        "system/",
        "auth/user/",
        "conversations/thread/",
        "conversations/contextsnapshot/",
        "conversations/feedback/",
    ),
    *("conversations/contextsnapshot/overview/", "conversations/thread/{thread}/change/"),
    *("conversations/thread/{thread}/map/", "conversations/thread/{thread}/live/"),
    *("conversations/message/{message}/change/", "conversations/message/{message}/why/"),
    *(f"conversations/contextsnapshot/{{request}}/{page}/" for page in ("change", "compare", "what-if", "prove")),
    *("conversations/reply/{reply}/change/", "conversations/feedback/{feedback}/change/"),
    *("conversations/assistant/add/", "conversations/connection/add/", "artifacts/artifact/{artifact}/change/"),
    *("memory/memory/{memory}/change/", "auth/user/{user}/change/", "auth/group/add/", "password_change/"),
    *("conversations/auditevent/", "conversations/budget/add/", "conversations/legalhold/add/"),
    *("conversations/moderator/add/", "conversations/retentionrule/add/", "socialaccount/socialapp/add/"),
]
OF_LOOKS = [
    "color-contrast",
    "html-has-lang",
    "html-lang-valid",
    "link-in-text-block",
    "scrollable-region-focusable",
    "target-size",
]
"""The rules whose verdict depends on colours, room and language. All others look at the same elements both ways."""
WAYS: list[tuple[str, dict[str, Any]]] = [
    ("ltr", {"locale": "en-GB", "viewport": {"width": 1280, "height": 820}, "color_scheme": "light"}),
    ("rtl", {"locale": "ar", "viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}),
]


def shown(chat: Chat, model: ModelServer, database: str) -> Iterator[str]:
    """The chat and its dialogs, one after the other, by their ids, as their names are of another language each time."""
    yield "an empty chat"
    yield from of_new_messages(chat.page)
    model.script(text(ANSWER), text("Rye."))
    chat.page.locator("#text").fill("What do we bake?")
    chat.page.locator("#text").press("Enter")
    expect(chat.replies).to_have_count(1)
    expect(chat.page.locator(".turn.assistant math").first).to_be_attached()
    yield "a conversation"
    yield from of_turns(chat)
    yield from of_the_list(chat.page)
    add_artifact(database, chat.thread_id, "# Plan", "# Plan B", title="Plan")
    chat.page.reload()
    chat.page.locator("#artifacts").click()
    expect(chat.page.locator("#panel-body .prose")).to_be_visible()
    yield "an artifact"
    chat.page.locator("#panel-changes").click()
    expect(chat.page.locator(".line.added")).to_be_visible()
    yield "changes of an artifact"


def of_new_messages(page: Page) -> Iterator[str]:
    call(page, "post", "prompts/", {"name": "Bake", "text": "What do I bake of {{flour}}?"})
    page.locator("#temporary").click()
    expect(page.locator("#temporary-bar")).to_be_visible()
    yield "a temporary chat"
    page.locator("#temporary").click()
    page.locator("#text").fill("/")
    expect(page.locator("#prompt-picker [role=option]").first).to_be_visible()
    yield "the prompts"
    page.locator("#text").press("Enter")
    expect(page.locator("#prompt-dialog")).to_be_visible()
    yield "what a prompt asks for"
    page.keyboard.press("Escape")


def of_turns(chat: Chat) -> Iterator[str]:
    page, reply = chat.page, chat.page.locator(".turn.assistant")
    page.locator(".turn.user .edit").click()
    yield "a message that is edited"
    page.keyboard.press("Escape")
    reply.locator(".again").click()
    expect(page.locator(".version-compare")).to_be_visible()
    page.locator(".version-compare").click()
    expect(page.locator(".compare-body").last).to_have_text("Rye.")
    yield "two answers"
    page.keyboard.press("Escape")
    reply.locator(".thumb").last.click()
    page.locator("#feedback-text").fill("There is no rye.")
    page.locator("#feedback-show").check()
    yield "feedback"
    page.locator("#feedback-form [type=submit]").click()
    expect(page.locator("#feedback")).to_be_hidden()
    reply.locator(".turn-actions [aria-haspopup=menu]").last.click()
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


def of_the_list(page: Page) -> Iterator[str]:
    page.locator("#thread-menu").click()
    yield "the menu of the conversation"
    page.locator("#menu .menu-item").nth(2).click()  # after those that name and pin
    expect(page.locator("#tags-dialog")).to_be_visible()
    page.locator("#tags-new").fill("bread")
    yield "tags"
    page.locator("#tags-new").press("Enter")
    if not page.locator("#sidebar").is_visible():
        page.locator("#open-drawer").click()
    page.locator("#list-view").click()
    expect(page.locator("#menu [role=menuitemradio]").last).to_be_visible()
    yield "what can be listed"
    page.keyboard.press("Escape")
    page.locator("#select").click()
    page.locator("#threads [type=checkbox]").first.check()
    yield "several conversations"
    page.locator("#select").click()
    page.locator("#search").fill("bake")
    expect(page.locator("#threads mark").first).to_be_visible()
    yield "what was found"
    page.locator("#search").fill("")
    page.locator("#me").click()
    yield "the menu of the person"
    page.locator("#show-import").click()
    expect(page.locator("#import-choice")).to_be_visible()
    yield "an import"
    page.keyboard.press("Escape")


class Inspection:
    """What axe finds on the pages that were opened, by their names."""

    def __init__(self, chat: Chat, direction: str) -> None:
        self.chat = chat
        self.direction = direction
        self.found: dict[str, list[str]] = {}

    def look(self, name: str) -> None:
        direction = "ltr" if name in ENGLISH else self.direction
        expect(self.chat.page.locator("html")).to_have_attribute("dir", direction)
        if broken := violations(self.chat.page, RULES if self.direction == "ltr" else OF_LOOKS):
            self.found[name] = broken

    def open(self, path: str, **ids: str) -> None:
        self.chat.open(f"/{path.format_map(ids)}")
        self.look(path)


@pytest.mark.wide
@pytest.mark.parametrize(("direction", "look"), WAYS, ids=["ltr", "rtl"])
def test_no_page_breaks_a_rule_that_a_machine_can_check(
    reader: Reader, model: ModelServer, browser_database: str, direction: str, look: dict[str, Any]
) -> None:
    with reader(**look) as chat:
        inspection = Inspection(chat, direction)
        for name in shown(chat, model, browser_database):
            inspection.look(name)
        thread = chat.thread_id
        add_memory(browser_database, thread, "Ada bakes bread.")
        add_fact(browser_database, thread, "She has an oven.", position=1)
        add_topic(browser_database, thread, "Which flour", 9)
        shared = call(chat.page, "get", "shares/")["results"][0]["url"]
        project = call(chat.page, "post", "projects/", {"name": "Bakery"})["id"]
        call(chat.page, "patch", f"threads/{thread}/", {"project": project})
        for path in OWN:
            inspection.open(path, thread=thread, project=project)
        inspection.open(shared.strip("/") + "/")
        chat.page.context.clear_cookies()
        chat.problems.clear()  # pages that were left
        for path in [shared.strip("/") + "/", *STRANGERS, *(ENGLISH if direction == "ltr" else [])]:
            inspection.open(path)
        chat.problems = [each for each in chat.problems if "404" not in each]
    assert inspection.found == {}


@pytest.mark.wide
@pytest.mark.parametrize(("direction", "look"), WAYS, ids=["ltr", "rtl"])
def test_no_page_of_staff_does(reader: Reader, browser_database: str, direction: str, look: dict[str, Any]) -> None:
    with reader(**look) as chat:
        for words in ("What do we bake?", "And tomorrow?"):
            chat.page.locator("#text").fill(words)
            chat.page.locator("#text").press("Enter")
            expect(chat.replies.last).to_contain_text(words)
        thread = chat.thread_id
        reply = chat.replies.last.get_attribute("data-message")
        said = {"value": -1, "reason": "wrong", "text": "No rye.", "show_conversation": True}
        call(chat.page, "post", f"messages/{reply}/feedback/", said)
        add_artifact(browser_database, thread, "# Plan", title="Plan")
        add_fact(browser_database, thread, "She has an oven.", position=1)
        chat.page.context.clear_cookies()
        chat.bring_session(add_reader(browser_database, is_staff=True))
        inspection = Inspection(chat, direction)
        ids = ids_of(browser_database, thread)
        for path in STAFF:
            inspection.open(f"admin/{path}", **ids)
    assert inspection.found == {}
