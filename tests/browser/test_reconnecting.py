"""What the page does when the server goes away and comes back."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import psycopg
import pytest
from playwright.sync_api import Route, expect

from config.server import draining
from tests.browser.conftest import Reader
from tests.browser.pages import Chat
from tests.model_scripts import Gate, text
from tests.model_server import ModelServer
from tests.processes import ServerProcess, started
from tests.services import free_port
from tests.waiting import until

AWAY = "The server can't be reached. Keep writing"
DELETE_HERE = """async () => {
    const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
    const thread = location.pathname.split("/")[2];
    await fetch(`/api/v1/threads/${thread}/`, { method: "DELETE", headers: { "X-CSRFToken": token } });
}"""
"""As another window does it."""


@dataclass
class Address:
    """Where one server after the other listens."""

    servers: ExitStack
    options: dict[str, str]
    port: int = field(default_factory=free_port)
    latest: ServerProcess | None = None

    def start(self) -> ServerProcess:
        arguments = ("serve", "--port", str(self.port), "--skip-checks")
        self.latest = self.servers.enter_context(started(*arguments, **self.options))
        self.latest.wait_until_ready()
        return self.latest

    def running(self) -> ServerProcess:
        """The one that is there, or a new one."""
        return self.latest if self.latest and self.latest.process.poll() is None else self.start()


@pytest.fixture(scope="module")
def address(browser_database: str, server_environment: dict[str, str]) -> Iterator[Address]:
    options = {"DATABASE_URL": browser_database, "DJANGO_SETTINGS_MODULE": "tests.server_settings"}
    with ExitStack() as servers:
        yield Address(servers, {**server_environment, **options})


@pytest.mark.wide
def test_a_reply_cut_off_by_a_killed_server_keeps_its_text_and_can_be_retried(
    reader: Reader, address: Address, model: ModelServer
) -> None:
    model.script(text("The first half", Gate(), " never came."), text("A whole answer."))
    running = address.running()
    with reader(running.url.rstrip("/")) as chat:
        chat.send("Tell me")
        expect(chat.live.locator(".parts > .prose")).to_have_text("The first half")
        running.kill()
        expect(chat.page.get_by_text(AWAY)).to_be_visible()
        address.start()
        note = chat.replies.locator(".turn-note.warning")
        expect(note).to_contain_text("The server was restarted")
        expect(chat.page.get_by_text(AWAY)).to_be_hidden()
        assert chat.said() == ["Tell me", "The first half"]
        note.get_by_role("button", name="Retry").click()
        expect(chat.replies.locator(".parts > .prose")).to_have_text("A whole answer.")
        assert chat.said() == ["Tell me", "A whole answer."]
        chat.problems.clear()  # the browser itself reports the connections that it could not make


@pytest.mark.wide
def test_what_is_sent_while_the_server_is_away_goes_out_once_when_it_is_back(reader: Reader, address: Address) -> None:
    running = address.running()
    with reader(running.url.rstrip("/")) as chat:
        chat.ask("Before")
        running.kill()
        expect(chat.page.get_by_text(AWAY)).to_be_visible()
        chat.send("Meanwhile")
        chat.send("And this too")
        expect(chat.page.get_by_text("Kept here. It is sent as soon as the server is back.")).to_have_count(2)
        address.start()
        expect(chat.replies).to_have_count(3)
        chat.page.reload()
        expect(chat.replies).to_have_count(3)
        assert chat.said()[::2] == ["Before", "Meanwhile", "And this too"]
        chat.problems.clear()


@pytest.mark.operate
def test_a_page_goes_from_a_server_that_is_drained_to_the_next_in_mid_reply(
    reader: Reader, address: Address, model: ModelServer
) -> None:
    gate = Gate()
    model.script(text("Begun by the old, ", gate, "read from the new."))
    old = address.running()
    with reader(old.url.rstrip("/")) as chat:
        chat.send("Go on")
        expect(chat.live.locator(".parts > .prose")).to_have_text("Begun by the old,")
        chat.box.fill("What I was writing")
        old.process.send_signal(draining.SIGNAL)
        expect(chat.page.get_by_text(AWAY)).to_be_visible()
        address.start()
        expect(chat.page.get_by_text(AWAY)).to_be_hidden()
        gate.open()
        expect(chat.replies).to_have_count(1)
        assert chat.said() == ["Go on", "Begun by the old, read from the new."]
        expect(chat.box).to_have_value("What I was writing")
        assert old.process.wait(60) == 0
        chat.problems.clear()  # the browser itself reports the connections that it could not make


@pytest.mark.wide
def test_what_the_database_was_away_for_goes_again_and_is_there_once(
    chat: Chat, browser_server: ServerProcess, browser_database: str
) -> None:
    name, before = urlsplit(browser_database).path[1:], len(browser_server.output)
    chat.ask("Hello")
    with psycopg.connect(browser_database, dbname="postgres", autocommit=True) as administration:
        administration.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        administration.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        try:
            chat.send("Are you there?")
            until(lambda: "database unreachable for a frame" in browser_server.output[before:])
        finally:
            administration.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
    expect(chat.replies).to_have_count(2)
    assert chat.said()[::2] == ["Hello", "Are you there?"]
    chat.problems.clear()


def test_a_reply_that_went_on_while_the_page_was_offline_is_whole_afterwards(chat: Chat, model: ModelServer) -> None:
    gate = Gate()
    model.script(text("Before the tunnel, ", gate, "in the tunnel, ", "and after it."))
    chat.send("Where are you?")
    expect(chat.live.locator(".parts > .prose")).to_have_text("Before the tunnel,")
    chat.page.context.set_offline(True)
    expect(chat.page.get_by_text("You are offline.")).to_be_visible()
    gate.open()
    chat.page.context.set_offline(False)
    expect(chat.replies).to_have_count(1)
    expect(chat.page.get_by_text("You are offline.")).to_be_hidden()
    assert chat.said() == ["Where are you?", "Before the tunnel, in the tunnel, and after it."]
    chat.problems.clear()  # the browser itself reports the connections that it could not make


def test_a_reply_that_ends_while_the_page_reads_its_turns_is_shown(chat: Chat) -> None:
    """The turns are read before their replies: then one is completed, and its answer not among them."""
    torn: list[str] = []

    def tear(route: Route) -> None:
        answer = route.fetch()
        page = answer.json()
        if not torn:
            torn.append(page["results"].pop()["role"])
        route.fulfill(response=answer, json=page)

    chat.ask("Where are you?")
    chat.page.route("**/messages/?before=end*", tear)
    chat.page.reload()
    expect(chat.replies).to_have_count(1)
    assert torn == ["assistant"]


def test_what_was_typed_in_a_conversation_that_is_gone_comes_along_to_a_new_one(chat: Chat) -> None:
    chat.ask("First")
    chat.page.evaluate(DELETE_HERE)
    expect(chat.page.get_by_text("This conversation no longer exists.")).to_be_visible()
    chat.send("Sent too late")
    expect(chat.page.locator(".turn.pending")).to_have_count(0)
    expect(chat.box).to_have_value("Sent too late")
    chat.page.get_by_role("button", name="Open a new conversation").click()
    expect(chat.page).to_have_url(f"{chat.url}/")
    expect(chat.box).to_have_value("Sent too late")
    expect(chat.threads.get_by_role("link")).to_have_count(0)
    chat.wait_until_ready()
    chat.box.press("Enter")
    expect(chat.replies).to_have_count(1)
    assert chat.said()[0] == "Sent too late"
    chat.problems.clear()


def test_a_page_without_one_of_its_scripts_says_so(reader: Reader) -> None:
    with reader() as chat:
        chat.page.route("**/chunk-*.js", lambda route: route.abort())
        chat.page.reload()
        expect(chat.page.get_by_role("alert")).to_have_text(
            "This page was not loaded completely, so that it can't be used. Load it again"
        )
        chat.page.unroute_all()
        chat.page.get_by_role("link", name="Load it again").click()
        chat.wait_until_ready()
        expect(chat.page.get_by_role("alert")).to_have_count(0)
        chat.problems.clear()
