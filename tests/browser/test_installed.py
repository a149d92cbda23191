"""The chat as an app: it can be installed, and without a server what was typed is there and nothing of anybody's is kept."""

import re

import httpx2
import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader

AWAY = "ERR_INTERNET_DISCONNECTED|WebSocket is closed before"
SIGNED_OUT = "status of 401"
"""For what the page was still asking for."""
CONTROLLED = "() => navigator.serviceWorker.controller !== null"
CACHED = """async () => {
    const caches = await Promise.all((await window.caches.keys()).map((name) => window.caches.open(name)));
    const requests = await Promise.all(caches.map((cache) => cache.keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname).sort();
}"""


@pytest.mark.wide
def test_drafts_are_there_without_a_server_and_nothing_else_is_kept(reader: Reader) -> None:
    with reader(service_workers="allow") as chat:
        page = chat.page
        chat.ask("What is rye?")
        page.wait_for_function(CONTROLLED)
        page.get_by_role("link", name="New conversation").click()
        chat.box.fill("of another conversation")
        chat.threads.get_by_role("link", name="What is rye?").click()
        chat.box.fill("half a thought")
        kept = page.evaluate(CACHED)
        assert kept[-1] == "/static/conversations/js/offline.js"
        assert all(re.fullmatch(r"/offline/|/static/conversations/(css|js)/[a-z-]+\.(css|js)", path) for path in kept)

        page.context.set_offline(True)
        page.reload()
        draft = page.get_by_role("textbox")
        expect(draft).to_have_value("half a thought")
        expect(page.get_by_role("list").get_by_role("link")).to_have_text("of another conversation")
        assert violations(page) == []
        assert chat.too_small_targets() == []
        draft.fill("a whole thought")
        page.context.set_offline(False)
        page.get_by_role("button", name="Try again").click()
        expect(chat.box).to_have_value("a whole thought")
        assert page.evaluate(CACHED) == kept
        chat.problems = [problem for problem in chat.problems if not re.search(AWAY, problem)]

        page.locator("#me").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page).to_have_url(re.compile("/accounts/login/$"))
        page.context.set_offline(True)
        page.reload()
        expect(page.get_by_role("heading", name="can’t be reached")).to_be_visible()
        expect(page.get_by_role("textbox")).to_have_count(0)
        page.context.set_offline(False)  # and the page loads again by itself
        expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
        chat.problems = [problem for problem in chat.problems if not re.search(f"{AWAY}|{SIGNED_OUT}", problem)]


def test_browsers_are_told_how_to_install_it(server_url: str) -> None:
    with httpx2.Client(base_url=server_url) as client:
        manifest = client.get("/manifest.webmanifest")
        assert manifest.headers["content-type"] == "application/manifest+json"
        icons = [client.get(icon["src"]) for icon in manifest.json()["icons"]]
        assert [icon.headers["content-type"] for icon in icons] == ["image/png"] * 3
        worker = client.get("/service-worker.js")
        assert worker.headers["content-type"] == "text/javascript"
        assert worker.headers["cache-control"] == "no-store"
        headers = client.get("/offline/").headers
        assert "worker-src 'self'" in headers["content-security-policy"]
        assert "microphone=(self)" in headers["permissions-policy"]
