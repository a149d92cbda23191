"""Files in the chat: how they come to a message, what is said of them until it is sent, and how a turn shows them."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Locator, Route, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.pages import Chat
from tests.browser.rows import offer_models, set_reading, takes_images
from tests.browser.test_models import pick
from tests.model_server import ModelServer
from tests.waiting import until

SLOW = 4_000
"""Bytes a second: an upload of LARGE takes minutes."""
LARGE = b"The ferry leaves at nine.\n" * 40_000
DROP = """([element, files]) => {
    const data = new DataTransfer();
    for (const [name, content] of files) data.items.add(new File([content], name));
    const at = (type) => element.dispatchEvent(
        new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
    at("dragover");
    return () => at("drop");
}"""
COPY = """async (bytes) => {
    const picture = new Blob([new Uint8Array(bytes)], { type: "image/png" });
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
}"""


DELETE = """async (name) => {
    const { results } = await (await fetch("/api/v1/files/")).json();
    const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
    const { id } = results.find((file) => file.name === name);
    await fetch(`/api/v1/files/${id}/`, { method: "DELETE", headers: { "X-CSRFToken": token } });
}"""


def payload(name: str, content: bytes = b"The ferry leaves at nine.\n") -> FilePayload:
    return FilePayload(name=name, mimeType="", buffer=content)


def picture(colour: str = "teal", size: tuple[int, int] = (320, 240)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


def chips(chat: Chat) -> Locator:
    return chat.page.get_by_role("list", name="Attached files").get_by_role("listitem")


def chip(chat: Chat, name: str) -> Locator:
    return chips(chat).filter(has_text=name)


def attach(chat: Chat, *files: FilePayload) -> None:
    chat.page.locator("#file-input").set_input_files(files)


def uploaded(chat: Chat) -> list[str]:
    """The names of the reader's files on the server, newest first."""
    answer = chat.page.evaluate("fetch('/api/v1/files/').then((answer) => answer.json())")
    return [file["name"] for file in answer["results"]]


def sent_files(chat: Chat) -> Locator:
    return chat.page.locator(".turn.user").get_by_role("list", name="Files").get_by_role("listitem")


def offers_images(chat: Chat) -> bool:
    """Whether a model that takes images is offered; the server looks every few seconds."""
    chat.page.reload()
    found: bool = chat.page.evaluate(
        "JSON.parse(document.getElementById('page').textContent).choices.some(c => c.images)"
    )
    return found


@contextmanager
def slow_network(chat: Chat) -> Iterator[None]:
    """What the page sends takes its time."""
    session = chat.page.context.new_cdp_session(chat.page)

    def send_at(bytes_a_second: int) -> None:
        conditions = {
            "offline": False,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": bytes_a_second,
        }
        session.send("Network.emulateNetworkConditions", conditions)

    send_at(SLOW)
    try:
        yield
    finally:
        send_at(-1)
        session.detach()


@contextmanager
def held_uploads(chat: Chat) -> Iterator[None]:
    """Uploads reach the server at the end of it."""
    held: list[Route] = []
    chat.page.route("**/api/v1/files/", lambda route: held.append(route))
    yield
    for route in held:
        route.continue_()


def test_files_are_chosen_by_keyboard_and_sent_with_a_message(
    chat: Chat, model: ModelServer, reading: None, tmp_path: Path
) -> None:
    (tmp_path / "timetable.md").write_text("# Ferries\n\nThe ferry leaves at nine.\n")
    (tmp_path / "harbour.png").write_bytes(picture())
    expect(chat.box).to_be_focused()  # the page gives it the focus once it is there
    button = chat.page.get_by_role("button", name="Attach files")
    button.focus()
    with chat.page.expect_file_chooser() as chooser:
        button.press("Enter")
    assert chooser.value.is_multiple()
    chooser.value.set_files([tmp_path / "timetable.md", tmp_path / "harbour.png"])
    expect(chat.box).to_be_focused()
    expect(chip(chat, "timetable.md")).to_contain_text("Text · 37 bytes")
    expect(chip(chat, "harbour.png").locator("img")).to_be_visible()
    assert violations(chat.page) == []
    chat.ask("When does it leave?")
    expect(chips(chat)).to_have_count(0)
    expect(sent_files(chat)).to_have_count(2)
    expect(sent_files(chat).first).to_contain_text("Text · 37 bytes")
    thumbnail = sent_files(chat).last.get_by_role("img", name="harbour.png")
    expect(thumbnail).to_be_visible()
    assert thumbnail.evaluate("image => image.decode().then(() => image.naturalWidth)") == 320
    assert "The ferry leaves at nine." in str(model.bodies[-1]["messages"])
    chat.page.reload()
    expect(sent_files(chat)).to_have_count(2)
    expect(sent_files(chat).last.get_by_role("img", name="harbour.png")).to_be_visible()
    assert violations(chat.page) == []
    sent_files(chat).first.get_by_role("button").click()
    with chat.page.expect_download() as download:
        chat.page.get_by_role("link", name="Download the file").click()
    assert download.value.suggested_filename == "timetable.md"


@pytest.mark.wide
def test_a_message_may_be_files_alone(chat: Chat, reading: None) -> None:
    send = chat.page.get_by_role("button", name="Send", exact=True)
    expect(send).to_be_disabled()
    attach(chat, payload("notes.txt"))
    send.click()
    expect(chat.replies).to_have_count(1)
    chat.page.reload()
    expect(sent_files(chat)).to_have_text([re.compile("notes.txt")])
    expect(chat.page.locator(".turn.user .bubble")).to_be_hidden()


def test_what_is_pasted_and_dropped_is_attached(chat: Chat) -> None:
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.page.evaluate(COPY, list(picture()))
    chat.box.click()
    chat.page.keyboard.press("Control+v")
    expect(chips(chat)).to_have_count(1)
    expect(chips(chat).locator(".chip-name")).to_have_text(re.compile(r"^Screenshot \d\d\.\d\d\.png$"))
    frame = chat.page.get_by_text("Drop files here")
    expect(frame).to_be_hidden()
    scroller = chat.page.locator("#scroller").element_handle()
    drop = chat.page.evaluate_handle(DROP, [scroller, [["a.txt", "one"], ["b.txt", "two"]]])
    expect(frame).to_be_visible()
    drop.evaluate("drop => drop()")
    expect(frame).to_be_hidden()
    expect(chips(chat)).to_have_count(3)
    expect(chips(chat).locator(".chip-name")).to_have_text([re.compile("Screenshot"), "a.txt", "b.txt"])
    beside = chat.page.locator("#sidebar").element_handle()
    chat.page.evaluate_handle(DROP, [beside, [["c.txt", "three"]]]).evaluate("drop => drop()")
    chat.page.evaluate("navigator.clipboard.writeText('just words')")
    chat.box.click()
    chat.page.keyboard.press("Control+v")
    expect(chat.box).to_have_value("just words")
    expect(chips(chat)).to_have_count(3)


@pytest.mark.wide
def test_an_upload_shows_how_far_it_is_and_can_be_cancelled(chat: Chat) -> None:
    with slow_network(chat):
        attach(chat, payload("large.txt", LARGE), payload("larger.txt", LARGE))
        bar = chip(chat, "large.txt").get_by_role("progressbar", name="Upload of large.txt")
        expect(bar).to_be_visible()
        assert violations(chat.page) == []
        cancel = chat.page.get_by_role("button", name="Cancel the upload of large.txt")
        cancel.focus()
        chat.page.keyboard.press("Enter")
        expect(chips(chat)).to_have_count(1)
        expect(chat.page.get_by_role("button", name="Cancel the upload of larger.txt")).to_be_focused()
        chat.page.wait_for_function("() => document.querySelector('.chip-bar').value > 0")
    expect(chip(chat, "larger.txt").get_by_role("progressbar")).to_be_hidden()
    assert uploaded(chat) == ["larger.txt"]
    chat.page.get_by_role("button", name="Remove larger.txt").click()
    expect(chips(chat)).to_have_count(0)
    expect(chat.box).to_be_focused()
    until(lambda: uploaded(chat) == [])
    expect(chat.page.locator("#announcer")).to_contain_text("Removed: “larger.txt”.")


@pytest.mark.wide
def test_a_message_waits_for_its_uploads_but_not_for_their_reading(chat: Chat, unread: Callable[[], None]) -> None:
    with held_uploads(chat):
        attach(chat, payload("notes.txt"))
        chat.send("Read this")
        waiting = chat.page.get_by_role("button", name="Uploading…")
        expect(waiting).to_be_visible()
        expect(chat.page.get_by_text("Your message goes out as soon as its files are uploaded.")).to_be_visible()
        waiting.click()
        expect(chat.page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        expect(chat.box).to_have_value("Read this")
        chat.box.press("Enter")
        expect(waiting).to_be_visible()
        assert chat.said() == []
    expect(chat.turns.first).to_contain_text("Read this")
    expect(sent_files(chat)).to_contain_text(["Reading"])
    expect(chat.live).to_be_visible()
    unread()
    expect(chat.replies).to_have_count(1)
    expect(sent_files(chat)).to_contain_text(["Text · 26 bytes"])


@pytest.mark.wide
def test_a_long_file_tells_its_pages_and_the_draft_survives_a_reload(
    chat: Chat, browser_database: str, unread: Callable[[], None]
) -> None:
    name = f"report-{id(chat)}.md"
    attach(chat, payload(name), payload("beside.txt"))
    expect(chip(chat, name)).to_contain_text("Reading")
    set_reading(browser_database, name, read=12, of=300)
    expect(chip(chat, name)).to_contain_text("Reading, page 12 of 300")
    chat.box.fill("What does it say?")
    chat.page.reload()
    expect(chips(chat)).to_have_count(2)
    expect(chip(chat, name)).to_contain_text("Reading, page 12 of 300")
    chat.page.get_by_role("button", name="Remove beside.txt").click()
    expect(chips(chat)).to_have_count(1)
    chat.page.reload()
    expect(chat.box).to_have_value("What does it say?")
    expect(chips(chat)).to_have_count(1)
    assert "%" not in chat.page.locator("#announcer").inner_text()


@pytest.mark.wide
def test_a_file_that_cannot_be_taken_says_why_and_holds_the_message_back(chat: Chat) -> None:
    attach(chat, payload("tune.mp3", b"ID3" + bytes(2000)), payload("empty.txt", b""))
    expect(chip(chat, "tune.mp3")).to_contain_text("This is a film or a recording, which can't be read.")
    expect(chip(chat, "empty.txt")).to_contain_text("The file is empty.")
    chat.send("Listen")
    expect(chat.page.get_by_role("alert")).to_contain_text(
        "“tune.mp3” can't be sent. Remove it, then send your message."
    )
    expect(chat.page.get_by_role("button", name="Remove tune.mp3")).to_be_focused()
    assert violations(chat.page) == []
    assert chat.said() == []
    expect(chat.box).to_have_value("Listen")
    chat.page.keyboard.press("Enter")
    expect(chat.page.get_by_role("button", name="Remove empty.txt")).to_be_focused()
    chat.page.keyboard.press("Enter")
    expect(chat.box).to_be_focused()
    chat.page.keyboard.press("Enter")
    expect(chat.replies).to_have_count(1)
    chat.problems.clear()  # the browser reports the status


@pytest.mark.wide
def test_a_file_that_could_not_be_read_says_why_and_can_be_tried_again(chat: Chat, reading: None) -> None:
    attach(chat, payload("torn.pdf", b"%PDF-1.7\nnothing follows"))
    expect(chip(chat, "torn.pdf")).to_have_class(re.compile("failed"))
    expect(chip(chat, "torn.pdf").locator(".chip-state")).not_to_contain_text("Reading")
    chip(chat, "torn.pdf").get_by_role("button", name="Try again").click()
    expect(chip(chat, "torn.pdf")).not_to_have_class(re.compile("failed"))
    expect(chip(chat, "torn.pdf")).to_have_class(re.compile("failed"))
    assert len(uploaded(chat)) == 1


def test_uploads_go_on_when_the_network_is_back(chat: Chat) -> None:
    chat.ask("Hello")
    chat.page.context.set_offline(True)
    attach(chat, payload("notes.txt"))
    expect(chip(chat, "notes.txt")).to_contain_text("Waits for the connection")
    chat.send("Read this")
    expect(chat.page.get_by_role("button", name="Uploading…")).to_be_visible()
    chat.page.context.set_offline(False)
    expect(sent_files(chat)).to_have_count(1)
    expect(chips(chat)).to_have_count(0)
    chat.problems.clear()  # the browser reports the connections that it could not make


def test_a_message_brings_no_more_files_than_it_may(chat: Chat) -> None:
    attach(chat, *[payload(f"{number}.txt") for number in range(23)])
    expect(chips(chat)).to_have_count(20)
    expect(chat.page.get_by_role("alert")).to_have_text("A message may bring 20 files. 3 files were not added.")


@pytest.mark.wide
def test_where_the_model_sees_no_pictures_that_is_said_before_sending(chat: Chat, browser_database: str) -> None:
    note = chat.page.get_by_text(re.compile("can't see pictures: it is only told that they are there."))
    takes_images(browser_database, taken=False)
    try:
        until(lambda: not offers_images(chat))
        attach(chat, payload("notes.txt"))
        expect(chips(chat)).to_have_count(1)
        expect(note).to_have_count(0)
        attach(chat, payload("harbour.png", picture()))
        expect(note).to_be_visible()
        chat.page.get_by_role("button", name="Remove harbour.png").click()
        expect(note).to_have_count(0)
    finally:
        takes_images(browser_database, taken=True)


@pytest.mark.wide
def test_the_preview_of_another_model_counts_the_files(chat: Chat, browser_database: str, reading: None) -> None:
    offer_models(browser_database, "claude-opus-5-5")
    try:
        chat.ask("Hello")
        attach(chat, payload("notes.txt", LARGE[:20_000]))
        expect(chip(chat, "notes.txt")).to_contain_text("Text")
        chat.page.reload()
        expect(chip(chat, "notes.txt")).to_contain_text("Text")
        with chat.page.expect_response("**/context/") as preview:
            pick(chat, "Claude Opus 5.5")
        assert preview.value.json()["total_tokens"] > 3_000
    finally:
        offer_models(browser_database)


def test_a_refused_message_gives_its_files_back(chat: Chat, unread: Callable[[], None]) -> None:
    chat.ask("Hello")
    attach(chat, payload("kept.txt"), payload("gone.txt"))
    expect(chip(chat, "gone.txt")).to_contain_text("Reading")
    chat.page.evaluate(DELETE, "gone.txt")
    chat.send("Read these")
    expect(chat.box).to_have_value("Read these")
    expect(chips(chat)).to_have_count(2)
    expect(chip(chat, "gone.txt")).to_contain_text("It is no longer here. Add it again.")
    chat.page.get_by_role("button", name="Remove gone.txt").click()
    chat.box.press("Enter")
    expect(sent_files(chat)).to_have_count(1)
    chat.problems.clear()  # the browser reports the status


@pytest.mark.wide
def test_on_a_phone_files_fit_and_can_be_hit(reader: Reader, reading: None) -> None:
    with reader(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as chat:
        chat.ask("Hello")
        long = f"{'a-long-name-' * 12}.txt"
        attach(chat, payload(long), payload("harbour.png", picture()))
        expect(chip(chat, "harbour.png").locator("img")).to_be_visible()
        assert chat.too_small_targets() == []
        chat.ask("See?")
        expect(sent_files(chat).last.get_by_role("img")).to_be_visible()
        assert chat.too_small_targets() == []
        assert chat.page.evaluate("document.documentElement.scrollWidth") == 390
