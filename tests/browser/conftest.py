"""A real browser against a real server process, with a database and a model server of their own."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from conversations.schedule import WORKER
from tests.browser.embedding_site import SECRET, EmbeddingSite, embedding_site
from tests.browser.pages import Chat, KeptPages, launch
from tests.browser.rows import add_reader
from tests.model_server import ModelServer
from tests.other_services import Elsewhere, elsewhere
from tests.processes import ServerProcess, server, started
from tests.services import fresh_database
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def browser_database(migrated: str) -> Iterator[str]:
    with fresh_database(migrated) as url:
        yield url


@pytest.fixture(scope="session")
def static_files() -> None:
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput"], cwd=ROOT, check=True, capture_output=True
    )


@pytest.fixture(scope="session")
def shared_model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        yield model


@pytest.fixture
def model(shared_model: ModelServer) -> ModelServer:
    """The model behind the server; it quotes the newest message unless a test scripts it."""
    shared_model.forget_scripts()  # what a failed test left would fail others
    return shared_model


@pytest.fixture(scope="session")
def shop() -> Iterator[EmbeddingSite]:
    """A site of others that shows the chat."""
    with embedding_site() as site:
        yield site


@pytest.fixture(scope="session")
def searches() -> Iterator[Elsewhere]:
    """A service that finds four pages, whatever it is asked."""
    titles = ("<img src=x onerror=alert(1)>", "Caulk", "Tar", "Rivets")
    found = [
        {"title": title, "url": f"https://boats.example/{place}?a=1&b='2'", "content": ""}
        for place, title in enumerate(titles)
    ]
    with elsewhere({"*": (200, {}, json.dumps({"results": found}))}) as service:
        yield service


@pytest.fixture(scope="session")
def server_environment(
    static_files: None, shared_model: ModelServer, shop: EmbeddingSite, searches: Elsewhere
) -> dict[str, str]:
    return {
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-tests",
        "ANTHROPIC_BASE_URL": shared_model.url,
        "DJANGO_SUPERUSER_PASSWORD": "correct-horse-battery-9",
        "OPENBOOK_SIGNUP": "on",
        "OPENBOOK_SHARING": "on",
        "OPENBOOK_SEARCH_SERVICE": "searxng",
        "OPENBOOK_SEARCH_URL": searches.url,
        "OPENBOOK_RUN_PYTHON": "1",
        "OPENBOOK_INNER_NETWORKS": "127.0.0.0/8",
        "OPENBOOK_EMBED_SITES": json.dumps({"shop": {"secret": SECRET, "origins": [shop.url]}}),
    }


@pytest.fixture(scope="session")
def browser_server(browser_database: str, server_environment: dict[str, str]) -> Iterator[ServerProcess]:
    with server(browser_database, **server_environment) as running:
        yield running


@pytest.fixture(scope="session")
def server_url(browser_server: ServerProcess) -> str:
    return browser_server.url.rstrip("/")


@pytest.fixture(scope="package")
def files_worker(browser_database: str) -> Iterator[ServerProcess]:
    with started("work", "--queue", "files", "--skip-checks", DATABASE_URL=browser_database) as worker:
        until(lambda: is_at_work(browser_database))
        yield worker


def is_at_work(database: str) -> bool:
    """Whether a worker lives."""
    with psycopg.connect(database) as connection:
        found = connection.execute("SELECT 1 FROM conversations_lease WHERE starts_with(name, %s)", [WORKER])
        return found.fetchone() is not None


@pytest.fixture
def reading(files_worker: ServerProcess) -> None:
    """What is uploaded is read."""


@pytest.fixture
def unread(files_worker: ServerProcess) -> Iterator[Callable[[], None]]:
    """What is uploaded is not read until this is called."""

    def read() -> None:
        files_worker.process.send_signal(signal.SIGCONT)

    files_worker.process.send_signal(signal.SIGSTOP)
    yield read
    read()


# Not for the session: while Playwright runs, no other test of this process can have an event loop.
@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright, chromium_path: str) -> Iterator[Browser]:
    browser = launch(playwright, chromium_path)
    yield browser
    browser.close()


@pytest.fixture(scope="package")
def kept_pages(browser: Browser) -> KeptPages:
    return KeptPages(browser)


Reader = Callable[..., AbstractContextManager[Chat]]


@pytest.fixture
def reader(kept_pages: KeptPages, server_url: str, browser_database: str, model: ModelServer) -> Reader:
    """Opens the chat as somebody new who is signed in. The browser must have nothing to complain about in the end."""

    @contextmanager
    def opened(url: str = server_url, **options: Any) -> Iterator[Chat]:
        with kept_pages.chat(url, **options) as chat:
            chat.bring_session(add_reader(browser_database))
            chat.open()
            yield chat
            assert chat.problems == []

    return opened


@pytest.fixture
def chat(reader: Reader) -> Iterator[Chat]:
    with reader() as chat:
        yield chat
