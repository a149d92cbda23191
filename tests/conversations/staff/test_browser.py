"""The admin in a real browser, under the site's own Content-Security-Policy."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from artifacts.models import Preset
from conversations.accounts.tokens import issue
from conversations.context.record import snapshots
from conversations.models import Assistant
from memory.models import Consolidation
from tests.artifacts.factories import make_artifact
from tests.browser.accessibility import violations
from tests.browser.pages import launch
from tests.conversations.factories import make_snapshot, make_thread
from tests.conversations.staff.conftest import StaffReader, list_url, page_url
from tests.conversations.staff.test_traces import long_thread, make_requests_of_turns
from tests.memory.factories import make_memory, make_thread_summary

pytestmark = pytest.mark.django_db(transaction=True)

type Scheme = Literal["light", "dark"]

SIZES: list[tuple[int, Scheme]] = [(1280, "light"), (390, "dark")]


class Staff:
    """A superuser at a browser. Collects every complaint of the browser."""

    def __init__(self, browser: Browser, address: str, session: str) -> None:
        self.address = address
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": address}])
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self.listen)

    def listen(self, message: ConsoleMessage) -> None:
        # Which icon the site has is not the admin's business. (To answer for it would do without the browser's cache.)
        if message.type == "error" and not message.location.get("url", "").endswith("/favicon.ico"):
            self.complaints.append(message.text)

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)

    def sideways(self, width: int, scheme: Scheme) -> int:
        """By how many pixels the page is wider than a window of this width."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme)
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@contextmanager
def signed_in_at(chromium_path: str, server: LiveServer, client: StaffReader) -> Iterator[Staff]:
    """Within, the database can't be asked: Playwright runs an event loop. The browser must have nothing to complain about."""
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    with sync_playwright() as playwright:
        at = Staff(launch(playwright, chromium_path), server.url, session)
        yield at
        assert at.complaints == []


def paths(user: User) -> list[str]:
    """Pages of every kind that is ours or that we changed."""
    thread = make_thread(user, ["Hello?", "word " * 3_000, "Who?"], title="A title of many words " * 6)
    snapshot = make_snapshot(thread)
    artifact = make_artifact(thread, "word " * 3_000, "x" * 500, title="A title " * 20, reply_id=snapshot.reply_id)
    memory = make_memory(user, "word " * 300, sources=[snapshot.message_id])
    summary = make_thread_summary(thread, thread.created_at, "x" * 500, sources=[snapshot.message_id])
    Consolidation.objects.create(
        user=user, failures=2, error="ProviderError (overloaded) at a place", through=thread.created_at
    )
    issue(user=user, name="script")
    models = ["thread", "reply", "message", "contextsnapshot", "apitoken", "assistant", "artifact", "preset"]
    models += ["consolidation", "memory", "threadsummary", "dailysummary", "topic", "contentaccess"]
    rows = [
        page_url("thread", thread.pk),
        page_url("thread", thread.pk, "delete"),
        page_url("reply", snapshot.reply_id),
        page_url("message", snapshot.message_id),
        page_url("contextsnapshot", snapshot.pk),
        page_url("apitoken", user.api_tokens.get().pk),
        page_url("artifact", artifact.pk),
        page_url("memory", memory.pk),
        page_url("threadsummary", summary.pk),
        page_url("preset", Preset.objects.get(slug="brd").pk),
        page_url("assistant", Assistant.objects.get(slug="companion").pk),
    ]
    users = ["/admin/auth/user/", f"/admin/auth/user/{user.pk}/change/", f"/admin/auth/user/{user.pk}/delete/"]
    return ["/admin/", *map(list_url, models), *rows, *users]


def inspecting(user: User) -> list[str]:
    """The pages that tell what a request was given, what was not and why, and who looked; but the one that watches a reply,
    as this server can't stream."""
    thread = long_thread(user=user)
    made = make_requests_of_turns(thread, 7)
    named = [("thread", "map"), *(("contextsnapshot", name) for name in ("compare", "prove"))]
    own = {"thread": thread.pk, "contextsnapshot": made[-1].pk}
    what_if = page_url("contextsnapshot", made[-1].pk, "what_if") + "?history_tokens_high=40"
    return [
        *(page_url(model, own[model], name) for model, name in named),
        page_url("message", thread.messages.get(position=3).pk, "why"),
        page_url("thread", thread.pk),
        page_url("contextsnapshot", made[-1].pk),
        what_if,
        list_url("contextsnapshot"),
        list_url("contextsnapshot") + "overview/",
        list_url("contentaccess"),
        "/admin/system/",
        "/admin/system/runbooks/queue-old/",
    ]


@pytest.mark.wide
def test_no_page_breaks_the_policy_or_grows_sideways_and_everybody_can_use_those_that_inspect(
    chromium_path: str, staff: StaffReader, root: User, live_server: LiveServer
) -> None:
    plain, inspected, found = paths(root), inspecting(root), {}
    with signed_in_at(chromium_path, live_server, staff.opened()) as at:
        for number, url in enumerate(plain + inspected):
            at.open(url)
            # Now in one size and scheme, now in the other.
            widths = [at.sideways(*size) for size in SIZES[:: 1 - number % 2 * 2]]
            found[url] = (widths, violations(at.page) if url in inspected else [], list(at.complaints))
    assert found == dict.fromkeys(plain + inspected, ([0, 0], [], []))


def test_keys_lead_through_the_requests_of_a_thread_and_the_exact_one_can_be_copied_and_downloaded(
    chromium_path: str, staff: StaffReader, live_server: LiveServer
) -> None:
    thread = make_thread(turns=["<b>Hello?</b>"])
    requests = [make_snapshot(thread) for _ in range(2)]
    first, second = (page_url("contextsnapshot", each.pk) for each in requests)
    exact = snapshots.rebuild(requests[0])
    with signed_in_at(chromium_path, live_server, staff.opened()) as at:
        page = at.page
        at.open(first)
        page.get_by_role("button", name="Copy").click()
        page.get_by_text("Copied.").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download JSON").click()
        downloaded = download.value.path().read_bytes()
        assert (json.loads(copied), json.loads(downloaded)) == (exact, exact)
        assert download.value.suggested_filename == f"request-{requests[0].pk}.json"
        page.locator("h1").first.click()  # the focus leaves the button
        page.keyboard.press("k")
        page.keyboard.press("j")
        page.wait_for_url(live_server.url + second)
        page.keyboard.press("?")
        page.get_by_role("dialog", name="Keys").wait_for()
        page.keyboard.press("k")
        page.keyboard.press("Escape")
        page.get_by_role("dialog", name="Keys").wait_for(state="hidden")
        assert page.url == live_server.url + second
        page.keyboard.press("k")
        page.wait_for_url(live_server.url + first)
        page.keyboard.press("j")
        page.wait_for_url(live_server.url + second)
        page.keyboard.press("d")
        page.wait_for_url(live_server.url + page_url("contextsnapshot", requests[1].pk, "compare"))
