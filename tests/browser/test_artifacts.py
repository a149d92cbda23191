"""What is made beside the conversation, in a real browser: the panel, the frame that nothing leaves, the presets."""

import re
import socket
import urllib.request

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Reader
from tests.browser.listening import Listener, listening
from tests.browser.pages import Chat
from tests.browser.rows import add_artifact, add_version
from tests.model_scripts import (
    Delay,
    Gate,
    Stream,
    Use,
    error,
    message_delta,
    message_start,
    message_stop,
    stream,
    text,
)
from tests.model_server import ModelServer

ONE = (
    "# Bread\n\nOrders close at 18:00.\n\nThe baker sees them at 03:00, in one list, sorted by oven.\n\nNo delivery.\n"
)
TWO = ONE.replace("18:00", "20:00")


def saving(title: str, content: str, gate: Gate | None = None) -> Stream:
    """A call of save_artifact, which may wait at a gate halfway."""
    written = {"title": title, "kind": "document", "content": content}
    steps = Use(name="save_artifact", input=written).steps(0)
    if gate:
        half = len(steps) // 2
        # The server looks at what is being written ten times a second: there must be a piece to look at then.
        steps[half : half + 1] = [Delay(0.15), steps[half], gate]
    return stream(message_start(), *steps, message_delta("tool_use"), message_stop())


def panel(chat: Chat) -> Locator:
    return chat.page.locator("#panel")


def analyst(chat: Chat) -> None:
    chat.page.get_by_role("radio", name="Analyst").check()


def beside(chat: Chat, database: str, *contents: str, title: str = "Plan", kind: str = "document") -> Locator:
    """A thread with one artifact, opened from its card; returns the panel."""
    chat.ask("Hello.")
    add_artifact(database, chat.thread_id, *contents, title=title, kind=kind)
    chat.page.reload()
    chat.page.get_by_role("complementary", name=title).get_by_role("button").click()
    return panel(chat)


def choose(chat: Chat, name: str) -> None:
    panel(chat).get_by_role("button", name="Rename, delete and more").click()
    chat.page.get_by_role("menuitem", name=name).click()


def test_an_artifact_is_watched_while_it_is_written_and_compared_with_its_next_version(
    chat: Chat, model: ModelServer
) -> None:
    analyst(chat)
    gate = Gate()
    model.script(saving("Bread", ONE, gate), text("Here it is."))
    chat.send("Write the rules down.")
    expect(panel(chat).locator(".prose")).to_contain_text("Bread")
    expect(chat.box).to_be_focused()
    expect(chat.live.get_by_role("button", name="Writing “Bread” …")).to_be_visible()
    gate.open()
    expect(chat.replies).to_have_count(1)
    expect(panel(chat).locator(".prose")).to_have_text(re.compile("No delivery."))
    model.script(saving("Bread", TWO), text("Changed."))
    chat.send("Close at 20:00.")
    expect(chat.replies).to_have_count(2)
    chat.page.reload()
    chat.page.get_by_role("button", name="Saved “Bread”, version 2").press("Enter")
    expect(panel(chat).get_by_role("heading", name="Bread").first).to_be_focused()
    panel(chat).get_by_role("button", name="Changes").click()
    expect(panel(chat).locator(".line.removed")).to_have_text("−Orders close at 18:00.")
    expect(panel(chat).locator(".line.added")).to_have_text("+Orders close at 20:00.")
    expect(panel(chat).locator(".line mark")).to_have_text(["18", "20"])
    panel(chat).get_by_role("button", name="Changes").click()
    panel(chat).get_by_label("Version").select_option("1")
    expect(panel(chat).locator(".prose")).to_contain_text("18:00")
    chat.page.keyboard.press("Escape")
    expect(panel(chat)).to_be_hidden()
    expect(chat.page.locator(".card-note")).to_have_count(0)  # the turns tell of it


def test_what_was_typed_survives_a_newer_version_and_is_saved_on_top_of_it(chat: Chat, browser_database: str) -> None:
    shown = beside(chat, browser_database, ONE)
    shown.get_by_role("button", name="Edit", exact=True).click()
    add_version(browser_database, chat.thread_id, 2, "Theirs")
    shown.get_by_label("Content").fill("Mine")
    shown.get_by_role("button", name="Save as a new version").click()
    shown.get_by_role("button", name="Compare with version 2").click()
    expect(shown.locator(".line")).to_have_text(["−Theirs", "+Mine"])
    chat.page.reload()  # whatever happens, it is kept
    chat.page.locator(".card-note button").click()
    shown.get_by_role("button", name="Edit", exact=True).click()
    expect(shown.get_by_label("Content")).to_have_value("Mine")
    shown.get_by_role("button", name="Save as a new version").click()
    expect(shown.locator(".prose")).to_have_text("Mine")
    expect(shown.get_by_label("Version").locator("option")).to_have_count(3)
    chat.problems = [problem for problem in chat.problems if "409" not in problem]


def test_an_artifact_is_renamed_deleted_and_brought_back(chat: Chat, browser_database: str) -> None:
    shown = beside(chat, browser_database, ONE)
    choose(chat, "Rename")
    chat.page.keyboard.type("Rules")
    chat.page.keyboard.press("Enter")
    expect(chat.page.get_by_role("complementary", name="Rules").first).to_be_visible()
    choose(chat, "Delete")
    expect(shown.get_by_role("status")).to_contain_text("“Rules” is deleted.")
    shown.get_by_role("button", name="Undo").click()
    expect(shown.locator(".prose")).to_contain_text("No delivery.")
    choose(chat, "Delete")
    chat.page.reload()
    expect(chat.page.locator(".card-note")).to_contain_text("“Rules” is deleted.")
    chat.page.get_by_role("button", name="Restore “Rules”").click()
    expect(chat.page.locator(".card-note")).to_have_text(re.compile("RulesDocument · version 1"))


def test_on_a_phone_the_panel_is_a_sheet_that_gives_the_focus_back(reader: Reader, browser_database: str) -> None:
    with reader(viewport={"width": 390, "height": 844}) as chat:
        shown = beside(chat, browser_database, ONE, TWO)
        expect(chat.page.locator("#conversation")).to_have_attribute("inert", "")
        shown.get_by_role("button", name="Changes").click()
        expect(shown.locator(".line.added")).to_be_visible()
        assert chat.too_small_targets() == []
        assert chat.page.evaluate("document.documentElement.scrollWidth") == 390
        chat.page.keyboard.press("Escape")
        expect(chat.page.locator(".card-note button")).to_be_focused()


TRIES = """<link rel=stylesheet href="{url}/css"><link rel=prefetch href="{url}/prefetch">
<link rel=preload as=fetch href="{url}/preload"><link rel=preconnect href="{url}"><link rel=dns-prefetch href="{url}">
<style>@import "{url}/import"; @font-face {{ font-family: f; src: url({url}/font) }}
p {{ font-family: f; background: url({url}/bg) }}</style>
<img src="{url}/img"><script src="{url}/script"></script>
<iframe src="{url}/iframe"></iframe><object data="{url}/object"></object>
<iframe srcdoc="<script>const p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}});
p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o))</script>"></iframe>
<a id=blank target=_blank href="{url}/blank">a</a><a id=top target=_top href="{url}/top-link">a</a>
<form id=form action="{url}/form" method=post></form><p>text</p><ol id=log></ol>
<script>
const tries = {{
  document: () => parent.document.title = "taken",
  location: () => top.location = "{url}/top",
  cookie: () => document.cookie,
  storage: () => localStorage.length,
  fetch: () => fetch("{url}/fetch").catch(() => 0),
  beacon: () => navigator.sendBeacon("{url}/beacon"),
  socket: () => new WebSocket("ws://127.0.0.1:{port}"),
  events: () => new EventSource("{url}/events"),
  worker: () => new Worker(URL.createObjectURL(new Blob(["fetch('{url}/worker')"]))),
  rtc: () => new RTCPeerConnection({{ iceServers: [{{ urls: "stun:127.0.0.1:{port}" }}] }}),
  image: () => new Image().src = "{url}/image",
  open: () => {{ if (!window.open("{url}/open")) throw new Error("closed") }},
  links: () => {{ blank.click(); document.getElementById("top").click() }},
  form: () => form.submit(),
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
    "beacon ran",
    "socket ran",
    "events ran",
    "worker ran",
    "rtc ReferenceError",
    "image ran",
    "open Error",
    "links ran",
    "form ran",
]
WAYS_OUT = {
    "by script": '<script>location = "{url}/location"</script>',
    "by itself": '<meta http-equiv=refresh content="0; url={url}/refresh">',
    "by a link": '<a id=a href="{url}/link" ping="{url}/ping">a</a><script>a.click()</script>',
    "to what it made": "<script>location = URL.createObjectURL("
    'new Blob(["<img src={url}/blob>"], {{ type: "text/html" }}))</script>',
}


OUTSIDE = ("css", "prefetch", "img", "script", "fetch", "beacon", "image", "events", "object")
"""What the browser tells of when the policy stops it."""


def outside(listener: Listener, content: str) -> str:
    return content.format(url=listener.url, port=listener.port)


def works(listener: Listener) -> bool:
    """Whether it hears at all."""
    urllib.request.urlopen(f"{listener.url}/works").close()  # noqa: S310
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"works", ("127.0.0.1", listener.port))
    listener.wait_for(2)
    return sorted(said.split(b" HTTP")[0] for said in listener.heard) == [b"GET /works", b"works"]


def test_a_page_reaches_neither_its_parent_nor_anything_outside(chat: Chat, browser_database: str) -> None:
    with listening() as listener:
        beside(chat, browser_database, outside(listener, TRIES), kind="html")
        address, title = chat.page.url, chat.page.title()
        expect(chat.page.frame_locator("#panel iframe").locator("#log li")).to_have_text(TRIED)
        for path in OUTSIDE:  # the browser tried, and was stopped by the policy
            while f"/{path}'" not in " ".join(chat.problems):
                chat.page.wait_for_event("console")
        assert (chat.page.url, chat.page.title(), len(chat.page.context.pages)) == (address, title, 1)
        assert listener.heard == []
        assert works(listener)
    chat.page.close()  # and with it what it still has to complain about
    chat.problems.clear()


def test_a_page_can_t_send_its_frame_elsewhere(chat: Chat, browser_database: str) -> None:
    with listening() as listener:
        shown = beside(
            chat, browser_database, "<p>Home", *(outside(listener, way) for way in WAYS_OUT.values()), kind="html"
        )
        frame = chat.page.frame_locator("#panel iframe").locator("body")
        for number in range(2, len(WAYS_OUT) + 2):
            shown.get_by_label("Version").select_option("1")
            expect(frame).to_have_text("Home")
            shown.get_by_label("Version").select_option(str(number))
            expect(frame).to_contain_text("This content is blocked")
        assert listener.heard == []
        assert works(listener)
    chat.page.close()  # and with it what it still has to complain about
    stopped = [problem for problem in chat.problems if "frame-src 'self'" in problem]
    assert {re.findall(r"/versions/(\d+)/frame/", problem)[-1] for problem in stopped} == {"2", "3", "4", "5"}
    chat.problems.clear()


@pytest.mark.parametrize(
    ("kind", "content", "seen"),
    [
        (
            "svg",
            '<svg viewBox="0 0 9 9" onload="top.x=1"><script>document.title="taken"</script><text>Loaf</text></svg>',
            "Loaf",
        ),
        ("mermaid", "flowchart TD\n  A --> --> B[", "This diagram can’t be drawn."),
        (
            "mermaid",
            'flowchart TD\n  A["<img src=x onerror=alert(1)>Oven"] --> B\n  click A "javascript:alert(1)"',
            "Oven",
        ),
    ],
)
def test_pictures_and_diagrams_run_nothing(
    chat: Chat, browser_database: str, kind: str, content: str, seen: str
) -> None:
    chat.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    beside(chat, browser_database, content, kind=kind)
    frame = chat.page.frame_locator("#panel iframe")
    expect(frame.locator("body")).to_contain_text(seen)
    assert frame.locator("[onload], [onerror], a[href^=javascript]").count() == (1 if kind == "svg" else 0)
    chat.page.close()
    chat.problems = [problem for problem in chat.problems if "Blocked script execution" not in problem]
    chat.problems = [problem for problem in chat.problems if "violates the following Content Security" not in problem]


def test_a_preset_clicked_twice_makes_one_artifact_and_says_nothing_in_the_thread(
    chat: Chat, model: ModelServer
) -> None:
    analyst(chat)
    model.script(text("Bread, then."))
    chat.ask("We sell bread.")
    gate = Gate()
    model.script(*[error(529)] * 3, text("# Requirements\n\nOrders close at 18:00.", gate, "\n\nNo delivery."))
    chat.page.get_by_role("button", name="Make …").click()
    chat.page.get_by_role("menuitem").first.evaluate("item => { item.click(); item.click() }")
    chat.page.get_by_role("button", name="Retry").click()
    card = chat.page.locator(".card-note")
    expect(card).to_contain_text("words so far")
    chat.page.reload()
    expect(card).to_contain_text("words so far")
    chat.page.get_by_role("button", name="Make …").click()
    expect(chat.page.get_by_role("menu")).to_contain_text("A reply is being written.")
    chat.page.keyboard.press("Escape")
    gate.open()
    expect(card).to_have_text(re.compile("Business requirementsDocument · version 1"))
    chat.page.reload()
    card.get_by_role("button").click()
    expect(panel(chat).locator(".prose")).to_contain_text("No delivery.")
    assert chat.said() == ["We sell bread.", "Bread, then."]
