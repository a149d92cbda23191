"""What a stranger wrote is text wherever it is shown: none of it becomes markup, and nobody elsewhere hears of it."""

import os
from random import Random

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Reader
from tests.browser.listening import listening
from tests.browser.markup import ONCE_MARKUP, TEXTS
from tests.browser.memories import add_memory, add_today, add_topic
from tests.browser.pages import Chat
from tests.browser.rows import add_artifact, add_said, add_titles, name_reader

ON_A_PAGE = 18
PAYLOADS = int(os.environ.get("OPENBOOK_TEST_PAYLOADS", "12"))
STRANGE = r"""() => {
    const OWN = /^(?:\/(?:static|artifacts|admin)\/|data:image)/;
    const PLACE = /^(?:#|\/|\?|https?:|mailto:|$)/;
    const strange = (element, name, value) => name.startsWith("on")
        || (/^(?:src|srcset|data|background|poster)$/.test(name) && !OWN.test(value))
        || (/^(?:xlink:href|href|action|formaction)$/.test(name) && !PLACE.test(value.trim()));
    const NEVER = "object, embed, base, meta[http-equiv], template[shadowrootmode], marquee, math, foreignObject, style";
    const SCRIPTS = "[src], [type=importmap], [type='application/json']";
    return [...document.querySelectorAll("*")].filter((element) => element.matches(NEVER)
        || (element.matches("iframe") && !element.matches(".artifact-frame[sandbox='']"))
        || (element.matches("script") && !element.matches(SCRIPTS))
        || element.getAttributeNames().some((name) => strange(element, name, element.getAttribute(name))),
    ).map((element) => element.outerHTML.slice(0, 200));
}"""
"""What no page of ours has, and a stranger's markup would."""


def texts() -> list[str]:
    return [ONCE_MARKUP, *Random(14).sample(TEXTS, min(PAYLOADS, len(TEXTS)))]


def expect_only_text(chat: Chat) -> None:
    assert chat.page.evaluate(STRANGE) == []


@pytest.mark.wide
@pytest.mark.parametrize("start", range(0, len(texts()), ON_A_PAGE))
def test_what_was_written_stays_text(reader: Reader, browser_database: str, start: int) -> None:
    with reader(color_scheme="light") as chat, listening() as listener:
        chat.listen("dialog", lambda dialog: pytest.fail(dialog.message))
        some = [text.format(url=listener.url) for text in texts()[start : start + ON_A_PAGE]]
        chat.ask("Hello.")
        thread = chat.thread_id
        add_said(browser_database, thread, [text for text in some for _ in ("user", "assistant")])
        for index, kind in enumerate(("document", "table", "code")):
            add_artifact(browser_database, thread, "\n\n".join(some), title=some[index][:200], kind=kind)
            if index == 0:
                add_titles(browser_database, thread, some)
        for text in some:
            add_memory(browser_database, thread, text)
            add_topic(browser_database, thread, text[:200])
        add_today(browser_database, thread, "\n".join(some))
        name_reader(browser_database, thread, some[0][:100])

        chat.open(f"/threads/{thread}/")
        expect(chat.turns).to_have_count(2 + 2 * len(some))
        expect(chat.threads.get_by_role("link")).to_have_count(1 + len(some))
        expect_only_text(chat)
        chat.page.locator("#artifacts").click()
        entries = chat.page.locator(".shelf-entry")
        expect(entries).to_have_count(3 + len(some))
        for index in range(3):
            entries.filter(has_text=("Document", "Table", "Code")[index]).first.click()
            expect(chat.page.locator("#panel-body")).to_contain_text("taken")
            expect_only_text(chat)
            chat.page.locator("#panel-list").click()
        expect_only_text(chat)
        for address in ("/memory/", "/?q=taken", "/account/tokens/"):
            chat.open(address)
            chat.page.wait_for_load_state("networkidle")
            expect_only_text(chat)
        assert (listener.heard, listener.connections) == ([], 0)


def test_what_was_written_stays_text_for_staff(reader: Reader, browser_database: str) -> None:
    with reader() as chat, listening() as listener:
        chat.listen("dialog", lambda dialog: pytest.fail(dialog.message))
        some = [text.format(url=listener.url) for text in texts()[:ON_A_PAGE]]
        chat.ask("Hello.")
        add_said(browser_database, chat.thread_id, some)
        add_artifact(browser_database, chat.thread_id, *some, title=some[0][:200], kind="html")
        add_titles(browser_database, chat.thread_id, some)
        for text in some:
            add_topic(browser_database, chat.thread_id, text[:200])
        name_reader(browser_database, chat.thread_id, some[0][:100])
        own = f"/admin/conversations/thread/{chat.thread_id}/change/"
        chat.page.context.clear_cookies()
        chat.sign_in("admin", "correct-horse-battery-9")
        for address in (
            own,
            "/admin/conversations/thread/",
            "/admin/memory/topic/",
            "/admin/auth/user/",
            "/admin/",
        ):
            chat.open(address)
            chat.page.wait_for_load_state("networkidle")
            expect_only_text(chat)
        assert (listener.heard, listener.connections) == ([], 0)
        chat.problems = [problem for problem in chat.problems if "/favicon.ico" not in problem]  # the admin has none
