"""The chat as a person meets it: one signed-in browser page, and what can be seen and done there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Playwright, expect

CHROMIUM_ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TOO_SMALL = """() => [...document.querySelectorAll("button, input, textarea, a")]
    .filter((element) => element.checkVisibility({visibilityProperty: true}) && !element.closest(".prose, [inert], .skip"))
    .filter((element) => !element.matches(".scrim"))
    .map((element) => [element, element.getBoundingClientRect()])
    .filter(([, box]) => box.width < 44 || box.height < 44)
    .map(([element, box]) => `${element.outerHTML.slice(0, 80)} ${box.width} x ${box.height}`)"""
UNKNOWN_YET = "Unrecognized Content-Security-Policy directive 'webrtc'"
"""No browser knows it yet; it is there for those to come."""
PATIENCE = 45_000
"""Milliseconds, for busy machines: what comes at once costs no more."""
PASSWORD = "correct-horse-battery-9"


def launch(playwright: Playwright, executable: str) -> Browser:
    return playwright.chromium.launch(executable_path=executable, args=CHROMIUM_ARGS)


class Chat:
    """A page on the chat. ``problems`` collects what the browser complained about."""

    def __init__(self, page: Page, url: str) -> None:
        self.url = url
        self.problems: list[str] = []
        self._watch(page)

    @property
    def turns(self) -> Locator:
        return self.page.locator(".turn")

    @property
    def replies(self) -> Locator:
        return self.page.locator(".turn.assistant:not(.live)")

    @property
    def live(self) -> Locator:
        return self.page.locator(".turn.assistant.live")

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Your message")

    @property
    def threads(self) -> Locator:
        return self.page.get_by_role("navigation", name="Your threads")

    @property
    def thread_id(self) -> str:
        return self.page.url.rstrip("/").rsplit("/", 1)[-1]

    def reopen(self, page: Page, address: str) -> None:
        """Go on in another tab."""
        self._watch(page)
        page.goto(address)

    def open(self, path: str = "/") -> None:
        self.page.goto(self.url + path)

    def bring_session(self, key: str) -> None:
        self.page.context.add_cookies([{"name": "sessionid", "value": key, "url": self.url}])

    def sign_up(self, name: str) -> None:
        self.open("/accounts/signup/")
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_label("Password (again)").fill(PASSWORD)
        self.page.get_by_role("button", name="Create account").click()
        self.wait_until_ready()

    def sign_in(self, name: str, password: str) -> None:
        self.open("/accounts/login/")
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        expect(self.page.locator("main:not([aria-busy])")).to_be_visible()

    def send(self, text: str) -> None:
        self.box.fill(text)
        self.box.press("Enter")

    def ask(self, text: str) -> str:
        """Send, wait for the whole reply and return what it says."""
        before = self.replies.count()
        self.send(text)
        expect(self.replies).to_have_count(before + 1)
        return self.replies.last.locator(".parts").inner_text()

    def said(self) -> list[str]:
        """Every turn on the page, in order, without times and buttons."""
        return [self._words(turn) for turn in self.turns.all()]

    def too_small_targets(self) -> list[str]:
        """Visible buttons, fields and links (those within a text aside) that a finger can't hit."""
        found: list[str] = self.page.evaluate(TOO_SMALL)
        return found

    def _watch(self, page: Page) -> None:
        self.page = page
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.problems.append(str(error)))

    def _words(self, turn: Locator) -> str:
        return turn.locator(".bubble, .parts").first.inner_text()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and UNKNOWN_YET not in message.text:
            self.problems.append(f"{message.text} ({message.location.get('url', '')})")


@contextmanager
def chat_page(browser: Browser, url: str, **options: Any) -> Iterator[Chat]:
    context: BrowserContext = browser.new_context(**({"viewport": {"width": 1280, "height": 820}} | options))
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    try:
        yield Chat(context.new_page(), url)
    finally:
        context.close()
