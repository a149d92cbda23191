"""Generated pages in a real browser: nobody elsewhere hears of them, and nothing runs before a person says so."""

import os
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, expect

from tests.browser.conftest import Reader
from tests.browser.listening import NetworkListener, listening
from tests.browser.pages import CHROMIUM_ARGS, Chat, chat_page
from tests.browser.rows import add_artifact, add_reader
from tests.browser.test_artifacts import beside
from tests.browser.ways_out import LEADS_ELSEWHERE, STAYS, WAYS_OUT
from tests.model_server import ModelServer

PAYLOADS = int(os.environ.get("OPENBOOK_TEST_PAYLOADS", "12"))
LOOK_UP = "<script>fetch('http://{name}/').catch(() => fetch('{url}/looked-up'))</script>"
RUN_ALL = """async ([id, contents, run]) => {
    const { renderPage } = await import("/static/artifacts/js/page.js");
    const shown = [];
    for (const [index, content] of contents.entries()) {
        const page = renderPage({ id, title: "Page", kind: "html", number: index + 1, content });
        document.body.append(page);
        if (run) {
            page.querySelector("button")?.click();
            const yes = document.getElementById("confirm-yes");
            yes.click();
            while (page.querySelector("button")?.textContent === "Run its scripts …") {
                await new Promise(requestAnimationFrame);
            }
        }
        const frame = page.querySelector("iframe");
        shown.push(new Promise((resolve) => frame.addEventListener("load", resolve, { once: true })));
    }
    await Promise.all(shown);
}"""
SWITCHED_OFF = """document.addEventListener(
    "DOMContentLoaded", () => document.getElementById("panel")?.removeAttribute("data-run-scripts"));"""
UNHELD = """(contents) => {
    for (const content of contents) {
        const frame = document.createElement("iframe");
        frame.setAttribute("sandbox", "allow-scripts");
        frame.srcdoc = content;
        document.body.append(frame);
    }
}"""


@pytest.fixture
def network_log(tmp_path: Path) -> Path:
    """What the browser's network service writes down: each name that was looked up among it."""
    return tmp_path / "network.json"


@pytest.fixture
def logged_browser(playwright: Playwright, chromium_path: str, network_log: Path) -> Iterator[Browser]:
    arguments = [*CHROMIUM_ARGS, f"--log-net-log={network_log}"]
    browser = playwright.chromium.launch(executable_path=chromium_path, args=arguments)
    yield browser
    browser.close()


def some(payloads: list[str]) -> list[str]:
    return Random(14).sample(payloads, min(PAYLOADS, len(payloads)))


def aimed(payloads: list[str], listener: NetworkListener, name: str) -> list[str]:
    return [payload.format(url=listener.url, port=listener.port, name=name) for payload in payloads]


def show(chat: Chat, database: str, contents: list[str], *, run: bool) -> None:
    """Each content as the panel shows it, all at once."""
    chat.ask("Hello.")
    if run:  # the choice is there for what has a script
        contents = [f"{content}<script></script>" for content in contents]
    artifact = add_artifact(database, chat.thread_id, *contents, title="Page", kind="html")
    chat.page.evaluate(RUN_ALL, [artifact, contents, run])


def show_unheld(page: Page, payloads: list[str], listener: NetworkListener) -> None:
    """The same, held by nothing, which the listener does hear. What was to come before has come by then."""
    contents = aimed([*payloads, LOOK_UP], listener, "name.unheld.test")
    page.evaluate(UNHELD, contents)

    def enough(heard: list[bytes]) -> bool:
        return len(heard) > len(payloads) // 3 and any(each.startswith(b"GET /looked-up") for each in heard)

    with listener.news:
        assert listener.news.wait_for(lambda: enough(listener.heard), 20), listener.heard


def works(listener: NetworkListener) -> bool:
    """Whether it hears at all."""
    before = len(listener.heard)
    urllib.request.urlopen(f"{listener.url}/works").close()  # noqa: S310
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"works", ("127.0.0.1", listener.port))
    listener.wait_for(before + 2)
    return sorted(heard.split(b" HTTP")[0] for heard in listener.heard[before:]) == [b"GET /works", b"works"]


def test_nobody_hears_of_a_page(
    logged_browser: Browser, server_url: str, browser_database: str, model: ModelServer, network_log: Path
) -> None:
    """Neither of whatever leads elsewhere, shown without a click, nor of scripts that stay and are run."""
    for every, run in ((WAYS_OUT, False), (STAYS, True)):
        payloads = some(every)
        with chat_page(logged_browser, server_url) as chat, listening() as listener, listening() as other:
            chat.bring_session(add_reader(browser_database))
            chat.open()
            address = chat.page.url
            show(chat, browser_database, aimed(payloads, listener, "name.outside.test"), run=run)
            show_unheld(chat.page.context.new_page(), payloads, other)
            assert (listener.heard, listener.connections) == ([], 0)
            assert works(listener)
            assert chat.page.url.startswith(address)
    logged_browser.close()
    names = network_log.read_text(errors="replace")
    assert ("outside.test" in names, "unheld.test" in names) == (False, True)


@pytest.mark.wide
def test_of_scripts_that_lead_elsewhere_only_a_connection_is_heard(
    reader: Reader, browser_database: str, browser: Browser
) -> None:
    """It is what the page tells of: the browser opens it before it looks at what the frame may show."""
    payloads = some(LEADS_ELSEWHERE)
    with reader() as chat, listening() as listener, listening() as other:
        address = chat.page.url
        show(chat, browser_database, aimed(payloads, listener, "name.outside.test"), run=True)
        show_unheld(browser.new_page(), payloads, other)
        assert listener.heard == []
        assert works(listener)
        assert chat.page.url.startswith(address)
        chat.page.close()
        chat.problems.clear()


TRIES = """<p>text</p><ol id=log></ol>
<script>
const tries = {{
  document: () => parent.document.title = "taken",
  location: () => top.location = "{url}/top",
  cookie: () => document.cookie,
  storage: () => localStorage.length,
  fetch: () => fetch("{url}/fetch").catch(() => 0),
  rtc: () => new RTCPeerConnection(),
  open: () => {{ if (!window.open("{url}/open")) throw new Error("closed") }},
  frame: () => {{ document.body.insertAdjacentHTML("beforeend", "<iframe></iframe>"); frames[0].name }},
}};
for (const [name, attempt] of Object.entries(tries)) {{
  let end = "ran";
  try {{ attempt() }} catch (error) {{ end = error.name }}
  log.insertAdjacentHTML("beforeend", `<li>${{name}} ${{end}}</li>`);
}}
</script>"""
TRIED = [
    "document SecurityError",
    "location SecurityError",
    "cookie SecurityError",
    "storage SecurityError",
    "fetch ran",
    "rtc ReferenceError",
    "open Error",
    "frame TypeError",
]

AGAIN_AT_ONCE = """() => {
    const asking = [...document.querySelectorAll("button")].find((each) => each.textContent === "Run its scripts …");
    asking.click();
    document.getElementById("confirm").close();
    asking.click();
}"""
"""Asked, left and asked again before the browser tells of the end of the first question."""


def framed(chat: Chat) -> Locator:
    return chat.page.frame_locator("#panel iframe").locator("body")


def test_scripts_run_when_a_person_says_so_for_this_time_only(chat: Chat, browser_database: str) -> None:
    with listening() as listener:
        shown = beside(chat, browser_database, TRIES.format(url=listener.url), title="Plan", kind="html")
        expect(framed(chat)).to_have_text("text")
        shown.get_by_role("button", name="Run its scripts …").press("Enter")
        dialog = chat.page.get_by_role("dialog", name="Run the scripts of “Plan” this once?")
        expect(dialog).to_contain_text("WebRTC")
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        chat.page.keyboard.press("Escape")
        expect(shown.get_by_role("button", name="Run its scripts …")).to_be_focused()
        chat.page.evaluate(AGAIN_AT_ONCE)
        dialog.get_by_role("button", name="Run its scripts").press("Enter")
        expect(framed(chat).locator("#log li")).to_have_text(TRIED)
        expect(shown.get_by_role("status").filter(has_text="Its scripts are running.")).to_be_visible()
        expect(shown.get_by_role("button", name="Stop them")).to_be_focused()
        chat.page.keyboard.press("Enter")
        expect(framed(chat)).to_have_text("text")
        expect(shown.get_by_role("button", name="Run its scripts …")).to_be_focused()
        assert listener.heard == []
        assert works(listener)
    chat.page.close()  # and with it what it still has to complain about
    chat.problems.clear()


@pytest.mark.wide
def test_a_page_without_scripts_offers_nothing_to_run_and_can_be_read(chat: Chat, browser_database: str) -> None:
    page = (
        '<body style="margin: 9px"><h1>Plan</h1><a href="#end">end</a>'
        '<a href="https://example.test/">away</a><p id=end>End'
    )
    shown = beside(chat, browser_database, page, kind="html")
    expect(framed(chat).get_by_role("heading", name="Plan")).to_be_visible()
    expect(framed(chat).get_by_role("link")).to_have_text(["end"])
    expect(framed(chat)).to_have_css("margin", "9px")
    expect(shown.get_by_text("Shown without")).to_have_count(0)


@pytest.mark.wide
def test_where_scripts_are_switched_off_none_can_be_run(chat: Chat, browser_database: str) -> None:
    """Which the page of the chat says, as tests/artifacts/web/test_frames.py shows."""
    chat.page.add_init_script(SWITCHED_OFF)
    shown = beside(chat, browser_database, "<p>text</p><script>document.title = 1</script>", kind="html")
    expect(framed(chat)).to_have_text("text")
    expect(shown).to_contain_text("Shown without its scripts, which are not run here.")
    expect(shown.get_by_role("button", name="Run its scripts …")).to_have_count(0)
    chat.page.close()
    chat.problems.clear()  # the frame may not run the script of this test either


DIAGRAM = """flowchart TD
  accTitle: How an order goes
  A["<img src=x onerror=alert(1)>Oven<br>at <b>three</b>"] --> B
  click A "javascript:alert(1)"
  click B href "{url}/link" _self
"""
LOOK_INTO = """(image) => {
    const text = decodeURIComponent(image.src.split(",").slice(1).join(","));
    const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    return [svg.tagName, image.naturalWidth > 50, svg.textContent.includes("Oven"), svg.textContent.includes("<b>")];
}"""


@pytest.mark.wide
def test_a_diagram_is_a_picture(chat: Chat, browser_database: str) -> None:
    chat.listen("dialog", lambda dialog: pytest.fail(dialog.message))
    with listening() as listener:
        shown = beside(chat, browser_database, DIAGRAM.format(url=listener.url), kind="mermaid")
        picture = shown.get_by_role("img", name="How an order goes")
        expect(picture).to_be_visible()
        assert picture.evaluate(LOOK_INTO) == ["svg", True, True, False]
        expect(chat.page.locator("iframe")).to_have_count(0)
        assert (listener.heard, listener.connections) == ([], 0)
        assert works(listener)
    chat.page.close()
    chat.problems.clear()  # Mermaid tries a label's markup, which the policy of its frame stops


@pytest.mark.wide
def test_a_diagram_that_can_t_be_drawn_says_why(chat: Chat, browser_database: str) -> None:
    shown = beside(chat, browser_database, "flowchart TD\n  A --> --> B[", kind="mermaid")
    expect(shown.get_by_role("alert")).to_contain_text("This diagram can’t be drawn.")
    expect(shown.get_by_role("alert").locator("pre").last).to_have_text("flowchart TD\n  A --> --> B[")


@pytest.mark.wide
def test_a_picture_runs_nothing(chat: Chat, browser_database: str) -> None:
    content = (
        '<svg viewBox="0 0 9 9" onload="top.x=1"><script>document.title="taken"</script><text y="5">Loaf</text></svg>'
    )
    beside(chat, browser_database, content, kind="svg")
    expect(framed(chat).locator("svg")).to_have_text("Loaf")
    expect(framed(chat).locator("script, [onload]")).to_have_count(0)
