"""What a reply found on the web and the files that it made: below it, behind a link, and on paper."""

from playwright.sync_api import Browser, Locator, expect

from tests import model_scripts as scripts
from tests.browser.conftest import Reader
from tests.browser.pages import DESK, call
from tests.browser.rows import with_tools
from tests.model_server import ModelServer

PROGRAM = "open('plan.csv', 'w').write('day,work')"
HOSTILE = "<img src=x onerror=alert(1)>"


def links(place: Locator) -> Locator:
    return place.get_by_role("navigation", name="Sources").get_by_role("link", include_hidden=True)


def expect_sources(place: Locator) -> None:
    expect(links(place)).to_have_count(4)
    expect(links(place).first).to_contain_text(HOSTILE)
    expect(links(place).first).to_have_attribute("href", "https://boats.example/0?a=1&b='2'")
    for link in links(place).all():
        assert "noopener" in (link.get_attribute("rel") or "").split()


def test_sources_and_made_files_stand_below_a_reply_behind_its_link_and_on_paper(
    reader: Reader, browser: Browser, browser_database: str, model: ModelServer, server_url: str
) -> None:
    with reader() as chat, with_tools(browser_database, "search_web", "run_python"):
        page = chat.page
        model.script(
            scripts.tool_use("search_web", {"query": "leaks"}, tool_id="toolu_1"),
            scripts.tool_use("run_python", {"program": PROGRAM}, tool_id="toolu_2"),
            scripts.text("Caulk it, by the plan."),
        )
        chat.ask("Our boat leaks.")
        reply = chat.replies.last
        expect_sources(reply)
        expect(links(reply).last).to_be_hidden()
        reply.locator("summary", has_text="1 more source").click()
        expect(links(reply).last).to_be_visible()
        expect(reply.get_by_text("plan.csv").last).to_be_visible()

        thread = chat.thread_id
        made = call(page, "post", f"threads/{thread}/shares/", {"shows": {"files": True}})
        hidden = call(page, "post", f"threads/{thread}/shares/", {})
        context = browser.new_context(**DESK, java_script_enabled=False)
        other = context.new_page()
        other.goto(f"{server_url}{made['url']}")
        expect_sources(other.locator(".turn.assistant"))
        with other.expect_download() as saving:
            other.get_by_role("link", name="plan.csv").click()
        assert saving.value.path().read_text() == "day,work"
        other.goto(f"{server_url}{hidden['url']}")
        expect_sources(other.locator(".turn.assistant"))
        expect(other.get_by_text("Files were made here.")).to_be_visible()
        assert "plan.csv" not in other.content()
        context.close()

        chat.open(f"/threads/{thread}/print/")
        expect(page.get_by_role("status")).to_have_text("2 turns, ready to print.")
        expect_sources(page.locator(".sheet-turn.assistant"))
        expect(page.get_by_text("With plan.csv")).to_be_visible()
