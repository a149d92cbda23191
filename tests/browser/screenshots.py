"""`python -m tests.browser.screenshots FOLDER`: pictures of the running product, the README's among them."""

import argparse
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import psycopg
from httpx2 import Client
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, FilePayload, expect, sync_playwright

from tests.browser.long_pdf import long_pdf
from tests.browser.memories import add_day, add_fact, add_memory, add_topic
from tests.browser.pages import PASSWORD, Chat, call, chat_page, launch
from tests.model_scripts import Gate, error, text, tool_use
from tests.model_server import ModelServer
from tests.processes import server, started
from tests.services import CHROMIUM, postgres, program

DESKTOP = {"viewport": {"width": 1280, "height": 820}, "device_scale_factor": 2}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
EARLIER = [
    ("Weekend in Lisbon", 1),
    ("Explain monads without burritos", 1),
    ("Rye sourdough, second try", 4),
    ("Letter to the landlord", 6),
    ("Reading list on typography", 40),
]
KNOWN = ["She is learning functional programming.", "Her sourdough is called Bruno.", "Mira lives in Lisbon."]
FOUND = {
    "Weekend in Lisbon": "Her sister Inês comes to Lisbon for the first weekend of December.",
    "Explain monads without burritos": "She wants explanations by example, and no more burritos.",
    "Rye sourdough, second try": "Allergic to hazelnuts; bakes with coarse rye flour instead.",
    "Letter to the landlord": "The heating in the flat in Graça has been broken since October.",
    "Reading list on typography": "She reads about typography on the train, in the morning.",
}
OPEN = {"The landlord’s answer about the heating": 1, "Which flour for the panettone": 3, "Train or car to Porto": 9}
DAYS = {
    0: "Mira compared two kinds of rye flour and ordered the coarser one. Then she planned what to test first in the orders of"
    " the bakery: the oven plan.",
    **dict.fromkeys((1, 4, 6, 9, 12, 13, 18, 20, 26), "Mira wrote to the landlord, and baked."),
}
PASSING = "By the way, we're building a FastAPI app for a small bakery. What should we test first?"
ADVICE = """Start where a mistake would cost bread or money:

1. **Placing an order**: totals, sold-out items, the cut-off time.
2. **The oven plan**: two orders must never share one tray.
3. **Paying**: a repeated request must not charge twice.

The second is the one people forget. A first test could look like this:

```python
def test_two_orders_never_share_a_tray(client, oven):
    first = client.post("/orders", json={"loaves": 12})
    second = client.post("/orders", json={"loaves": 12})

    assert first.json()["tray"] != second.json()["tray"]
    assert oven.free_trays() == 2  # of 4
```

`client` is FastAPI's own test client, so nothing needs to listen on a port."""
FIRST_FOLLOW_UP = "who notices the first?"
FOLLOW_UP = "why the second?"
WHY = """Because it fails quietly. A wrong total is noticed at the counter, and a double charge by the bank; two orders on one \
tray are noticed at five in the morning, when nothing can be done.

| What breaks | Who notices | When |
|---|---|---|
| Total | the customer | at once |
| Payment | the bank | within days |
| Tray | the baker | too late |"""

RULES = """# Orders at the bakery

## Purpose

Customers order bread until {cut_off} for the next morning. Today that happens by telephone and on slips of paper; one order
in twelve is lost, or baked twice.

## Requirements

| Id | Requirement | Priority |
|---|---|---|
| R1 | A customer orders without an account | must |
| R2 | The cut-off time can differ by weekday | should |
| R3 | A repeated payment request charges once | must |

## Open questions

- Who decides about orders of more than {most} loaves?
"""
SAID = "It is beside our conversation now. The open question at its end is the one I would settle first."
CHANGED = "Orders close at 20:00 now. Nothing else has changed."


SAID_BEFORE = (
    "UPDATE conversations_message SET created_at = now() - make_interval(days => %(days)s) WHERE thread_id = %(thread)s"
)


LONG = (
    "Day {day}: we sold {day}0 loaves of the dark rye and four trays of buns, and the oven was too hot in the morning again.",
    "What should the bakery bake on day {day}, and in which order, so that no two orders share a tray?",
    "The landlord wrote on day {day}. He says that the heating is fine, which it is not; what do I answer?",
    "why?",
    "Sum up day {day} for the book, please, in three lines that I understand in a year.",
)


class Album:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def take(self, chat: Chat, name: str) -> None:
        chat.page.evaluate("document.fonts.ready")
        chat.page.screenshot(path=self.folder / f"{name}.png", animations="disabled", caret="hide")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    album = Album(parser.parse_args().folder)
    with served() as (url, model, database), sync_playwright() as playwright:
        browser = launch(playwright, program("OPENBOOK_TEST_CHROMIUM", *CHROMIUM))
        address = talk(browser, url, model, database)
        with chat_page(browser, url, color_scheme="light", **DESKTOP) as chat:
            inspect(chat, album, talk_long(url, model))
        for scene in (rest, shoot_memory, share, motion, make, attach):
            for theme, (size, options) in product(("light", "dark"), (("desktop", DESKTOP), ("phone", PHONE))):
                with chat_page(browser, url, color_scheme=theme, reduced_motion="reduce", **options) as chat:
                    scene(chat, model, album, address, f"{size}-{theme}")
        browser.close()
    wanted = {
        "thread-desktop-light": "chat",
        "thread-phone-dark": "chat-dark-phone",
        "book-desktop-light": "book",
        "artifact-desktop-light": "artifacts",
        "memory-desktop-light": "memory",
        "shared-desktop-light": "shared",
        "viewer-desktop-light": "files",
    }
    for made, name in wanted.items():
        (album.folder / f"{made}.png").replace(album.folder / f"{name}.png")


@contextmanager
def served() -> Iterator[tuple[str, ModelServer, str]]:
    """Nothing of the caller's own environment reaches the pictures."""
    with postgres() as database, ModelServer() as model:
        environment = {
            "ANTHROPIC_API_KEY": "key-of-the-tests",
            "ANTHROPIC_BASE_URL": model.url,
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "OPENBOOK_SIGNUP": "on",
            "OPENBOOK_SHARING": "on",
            "OPENBOOK_PROVIDER": "anthropic",
        }
        with (
            server(database, **environment) as running,
            started("work", "--queue", "files", DATABASE_URL=database, **environment),
        ):
            yield running.url.rstrip("/"), model, database


def talk(browser: Browser, url: str, model: ModelServer, database: str) -> str:
    """A few days of somebody's threads; returns the path of the newest."""
    with chat_page(browser, url) as chat:
        chat.sign_up("Mira")
        with psycopg.connect(database) as connection:
            for title, days in EARLIER:
                chat.open()
                chat.ask(title)
                connection.execute("SET LOCAL session_replication_role = replica")  # turns never change otherwise
                connection.execute(SAID_BEFORE, {"thread": chat.thread_id, "days": days})
                connection.commit()
                add_fact(database, chat.thread_id, FOUND[title], position=1)
                moved = (
                    "UPDATE conversations_thread SET updated_at = now() - make_interval(days => %s) WHERE title = %s"
                )
                connection.execute(moved, (days, title))
        for fact in KNOWN:
            add_memory(database, chat.thread_id, fact)
        for topic, days in OPEN.items():
            add_topic(database, chat.thread_id, topic, days)
        for days, told in DAYS.items():
            add_day(database, chat.thread_id, datetime.now(UTC).date() - timedelta(days=days), told)
        model.script(text(ADVICE), text("The customer, at once."), text(WHY))
        chat.open()
        chat.ask(PASSING)
        chat.ask(FIRST_FOLLOW_UP)
        chat.box.press("ArrowUp")
        editor = chat.page.locator("textarea.edit-text")
        editor.fill(FOLLOW_UP)
        editor.press("Enter")
        expect(chat.replies.last).to_contain_text("Because it fails quietly.")
        arrange(chat)
        return chat.page.url.removeprefix(url)


def arrange(chat: Chat) -> None:
    """A project, a pinned conversation and tags."""
    project = call(chat.page, "post", "projects/", {"name": "Bakery", "colour": "green"})
    threads = {thread["title"]: thread["id"] for thread in call(chat.page, "get", "threads/")["results"]}
    for title, changes in {
        "Weekend in Lisbon": {"pinned": True, "add_tags": ["travel"]},
        "Rye sourdough, second try": {"project": project["id"]},
        "Letter to the landlord": {"add_tags": ["flat"]},
    }.items():
        call(chat.page, "patch", "threads/", {"ids": [threads[title]], **changes})


def rest(chat: Chat, model: ModelServer, album: Album, address: str, suffix: str) -> None:
    """What is there before anything else is said."""
    chat.open()
    album.take(chat, f"sign-in-{suffix}")
    chat.sign_in("Mira", PASSWORD)
    expect(chat.page.locator("#threads a")).not_to_have_count(0)
    album.take(chat, f"empty-{suffix}")
    chat.open(address)
    expect(chat.replies).to_have_count(2)
    expect(chat.page.locator("#gauge")).to_be_visible()
    album.take(chat, f"thread-{suffix}")
    if "phone" in suffix:
        chat.page.get_by_role("button", name="Show the conversations").click()
        album.take(chat, f"drawer-{suffix}")
        chat.page.keyboard.press("Escape")
    chat.replies.last.get_by_role("button", name="open what the model was given").click()
    expect(chat.page.locator(".stack-bar")).to_be_visible()
    album.take(chat, f"book-{suffix}")


def shoot_memory(chat: Chat, model: ModelServer, album: Album, address: str, suffix: str) -> None:
    """What is remembered, and what forgetting one thing would do."""
    chat.sign_in("Mira", PASSWORD)
    if "desktop" in suffix:
        chat.page.set_viewport_size({"width": 1280, "height": 1000})
    chat.open("/memory/")
    expect(chat.page.locator("#memory[data-ready]")).to_be_visible()
    album.take(chat, f"memory-{suffix}")
    chat.page.get_by_role("button", name="Forget: Allergic").click()
    expect(chat.page.locator("#forget-yes")).to_be_enabled()
    album.take(chat, f"forget-{suffix}")


def share(chat: Chat, model: ModelServer, album: Album, address: str, suffix: str) -> None:
    """Two answers beside one another, a link that is made, and what whoever has it reads."""
    chat.sign_in("Mira", PASSWORD)
    chat.open(address)
    expect(chat.replies).to_have_count(2)
    chat.page.get_by_role("button", name="What to do with this conversation", exact=True).click()
    chat.page.get_by_role("menuitem", name="Share…").click()
    for words in ("The title", "How much each reply was given"):
        chat.page.get_by_role("checkbox", name=words).check()
    chat.page.get_by_role("button", name="Make a link").click()
    link = chat.page.get_by_role("textbox", name="The link")
    expect(link).to_be_visible()
    album.take(chat, f"share-{suffix}")
    shared = link.input_value()
    chat.page.context.clear_cookies()
    chat.page.goto(shared)
    album.take(chat, f"shared-{suffix}")


def motion(chat: Chat, model: ModelServer, album: Album, address: str, suffix: str) -> None:
    """A reply that streams, and one that fails."""
    chat.sign_in("Mira", PASSWORD)
    gate = Gate()
    model.script(text("Two orders on one tray are noticed at five in the morning, when ", gate, "nothing can be done."))
    chat.send("Remind me: why the oven plan?")
    expect(chat.live.locator(".parts > .prose")).to_contain_text("when")
    album.take(chat, f"streaming-{suffix}")
    gate.open()
    expect(chat.replies).to_have_count(1)
    model.script(*[error(529)] * 3)
    chat.open()
    chat.ask("What did we say about trays?")
    album.take(chat, f"error-{suffix}")


def make(chat: Chat, model: ModelServer, album: Album, address: str, suffix: str) -> None:
    """A document beside the conversation, and what changed in it."""
    chat.sign_in("Mira", PASSWORD)
    chat.page.get_by_role("radio", name="Analyst").check()
    album.take(chat, f"analyst-{suffix}")
    for asked, cut_off, said in (("Write down how orders work.", "18:00", SAID), ("Close at 20:00.", "20:00", CHANGED)):
        content = RULES.format(cut_off=cut_off, most=40)
        model.script(
            tool_use("save_artifact", {"title": "Orders at the bakery", "kind": "document", "content": content}),
            text(said),
        )
        chat.ask(asked)
    chat.page.get_by_role("button", name="version 2").click()
    expect(chat.page.locator("#panel .prose")).to_contain_text("20:00")
    album.take(chat, f"artifact-{suffix}")
    chat.page.get_by_role("button", name="Changes").click()
    expect(chat.page.locator("#panel .line.added")).to_be_visible()
    album.take(chat, f"changes-{suffix}")


def attach(chat: Chat, model: ModelServer, album: Album, address: str, suffix: str) -> None:
    """Files in a turn, beside the chat and above the message box; one of them can't be read."""
    chat.sign_in("Mira", PASSWORD)
    harbour = FilePayload(name="harbour.png", mimeType="image/png", buffer=picture())
    timetable = FilePayload(name="timetable.md", mimeType="", buffer=b"# Ferries\n\nThe first one leaves at nine.\n")
    tune = FilePayload(name="tune.mp3", mimeType="", buffer=b"ID3" + bytes(100))
    choose = chat.page.locator("#file-input").set_input_files
    report = FilePayload(name="report.pdf", mimeType="", buffer=long_pdf(60))
    choose([harbour, timetable, report])
    expect(chat.page.locator(".chip")).to_contain_text(["Picture", "Text", "PDF"])
    model.script(
        text("At nine, from the pier on the left; the costs of the seventh quarter were 4711 [report.pdf, p. 7].")
    )
    chat.ask("When does the first ferry leave, and what were the costs of quarter seven?")
    chat.page.get_by_role("button", name="report.pdf, p. 7").click()
    expect(chat.page.get_by_role("article", name="Page 7", exact=True).locator("img")).to_be_visible()
    album.take(chat, f"viewer-{suffix}")
    chat.page.keyboard.press("Escape")
    choose([harbour, timetable, tune])
    expect(chat.page.locator(".chip.failed")).to_be_visible()
    expect(chat.page.locator(".chip")).to_contain_text(["Picture", "Text", "can't be read"])
    chat.box.fill("And what about the one on Sunday?")
    album.take(chat, f"files-{suffix}")


def picture() -> bytes:
    """Of a harbour, as PNG."""
    image = Image.new("RGB", (1200, 800), "#7fb3c8")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 500, 1200, 800), fill="#2b5d78")
    draw.polygon([(300, 560), (800, 560), (740, 640), (360, 640)], fill="#c0392b")
    draw.rectangle((420, 470, 700, 560), fill="#fdf6e3")
    draw.ellipse((950, 80, 1080, 210), fill="#f7dc6f")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def inspect(chat: Chat, album: Album, long: str) -> None:
    """What support staff see of the newest request of a thread, and of all requests of a long one."""
    chat.sign_in("admin", PASSWORD)
    chat.page.goto(f"{chat.url}/admin/conversations/contextsnapshot/?q=Mira")
    chat.page.locator("#result_list tbody a:visible[href*=contextsnapshot]").first.click()
    chat.page.get_by_label("Why do you need to read it?").fill("Ticket 4711: it forgot what she builds")
    chat.page.get_by_role("button", name="Show content").click()
    chat.page.set_viewport_size({"width": 1280, "height": 1100})
    album.take(chat, "admin")
    chat.page.goto(f"{chat.url}/admin/conversations/thread/{long}/map/")
    chat.page.set_viewport_size({"width": 1280, "height": 1000})
    album.take(chat, "map")


def talk_long(url: str, model: ModelServer) -> str:
    """A thread of many turns; returns its id."""
    api = Client(base_url=f"{url}/api/v1/", timeout=60)
    token = api.post("auth/token/", json={"username": "Mira", "password": PASSWORD}).json()["token"]
    api.headers["Authorization"] = f"Token {token}"
    thread = "new"
    for day, what in product(range(1, 19), LONG):
        model.script(
            text(
                "Bake the dark rye first: it keeps the oven evenly warm for the buns. I have noted the rest for tomorrow."
            )
        )
        answer = api.post(f"threads/{thread}/messages/", json={"content": what.format(day=day)})
        thread = answer.json()["thread"]
    return thread


if __name__ == "__main__":
    os.environ.pop("DATABASE_URL", None)
    main()
