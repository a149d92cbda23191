"""The chat as a person meets it: one signed-in browser page, and what can be seen and done there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Playwright, expect

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
CALL = """async ([method, path, body]) => {
    const { api } = await import("/static/conversations/js/api.js");
    return api[method](path, body);
}"""
BLOCKED = "Service Worker registration blocked by Playwright"
UNKNOWN_YET = "Unrecognized Content-Security-Policy directive 'webrtc'"
"""No browser knows it yet; it is there for those to come."""
PATIENCE = 120_000
"""Milliseconds, for busy machines: what comes at once costs no more."""
PASSWORD = "correct-horse-battery-9"
DESK: dict[str, Any] = {
    "viewport": {"width": 1280, "height": 820},
    "color_scheme": "light",
    "service_workers": "block",  # but where it is about them: else each page would bring one
}


def call(page: Page, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Of the REST API, by whoever is signed in on the page: ``method`` is "get", "post" or "patch"."""
    return page.evaluate(CALL, [method, path, body])


def launch(playwright: Playwright, executable: str) -> Browser:
    return playwright.chromium.launch(executable_path=executable, args=CHROMIUM_ARGS)


class Chat:
    """A page on the chat. ``problems`` collects what the browser complained about."""

    def __init__(self, page: Page, url: str) -> None:
        self.url = url
        self.problems: list[str] = []
        self._listening: list[tuple[Page, str, Callable[[Any], object]]] = []
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
        return self.page.get_by_role("navigation", name="Your conversations")

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
        self.page.get_by_role("button", name="Sign in", exact=True).click()
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        expect(self.page.locator("main:not([aria-busy])")).to_be_visible()

    def send(self, text: str) -> None:
        self.box.fill(text)
        self.box.press("Enter")

    def ask(self, text: str) -> str:
        """Send, wait for the whole reply and return what it says."""
        self.wait_until_ready()  # after a reload the replies of before may still come
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

    def listen(self, event: str, listener: Callable[[Any], object]) -> None:
        """Hear of what happens on the page, until it is left."""
        self.page.on(event, listener)  # type: ignore[call-overload]
        self._listening.append((self.page, event, listener))

    def leave(self) -> None:
        for page, event, listener in self._listening:
            page.remove_listener(event, listener)
        self._listening.clear()

    def _watch(self, page: Page) -> None:
        self.page = page
        self.listen("console", self._heard)
        self.listen("pageerror", lambda error: self.problems.append(str(error)))

    def _words(self, turn: Locator) -> str:
        return turn.locator(".bubble, .parts").first.inner_text()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and UNKNOWN_YET not in message.text and BLOCKED not in message.text:
            self.problems.append(f"{message.text} ({message.location.get('url', '')})")


@contextmanager
def chat_page(browser: Browser, url: str, **options: Any) -> Iterator[Chat]:
    page = new_page(browser, **options)
    try:
        yield Chat(page, url)
    finally:
        page.context.close()


def new_page(browser: Browser, **options: Any) -> Page:
    context = browser.new_context(**(DESK | options))
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    return context.new_page()


class KeptPages:
    """Pages that were left, to go on with for somebody else: to open the chat in a new one takes five times as much."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._left: dict[str, list[Page]] = {}

    @contextmanager
    def chat(self, url: str, **options: Any) -> Iterator[Chat]:
        """The chat in a page of which nobody can tell that it isn't new. One in which something failed is closed."""
        left = self._left.setdefault(repr(sorted(options.items())), [])
        page = left.pop() if left else new_page(self._browser, **options)
        is_kept = False
        try:
            chat = Chat(page, url)
            yield chat
            chat.leave()
            if not page.is_closed():
                make_as_new(page, DESK | options)
                left.append(page)
                is_kept = True
        finally:
            if not is_kept:
                page.context.close()


def make_as_new(page: Page, options: dict[str, Any]) -> None:
    context = page.context
    page.set_viewport_size(options["viewport"])
    page.emulate_media(color_scheme=options["color_scheme"], media="null")
    for other in context.pages:
        if other is not page:
            other.close()
    page.unroute_all()
    # From within, so that the empty page is of the same site: else the browser starts a new process.
    page.evaluate("location.replace('about:blank')")
    page.wait_for_url("about:blank")
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    context.clear_cookies()
    context.clear_permissions()
