"""Exports of elsewhere with files, in a real browser: what came along is shown, and what did not is named."""

import io
import json
import zipfile

import pytest
from playwright.sync_api import FilePayload, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.pages import Chat
from tests.browser.test_endings import SIZES
from tests.browser.test_files import picture

pytestmark = pytest.mark.wide


def exported() -> FilePayload:
    """A conversation in which a picture was shown and one painted; a document that it names is not there."""
    shown = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Shown"}
    painted = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00painted"}
    mapping = {
        "root": {"message": None, "parent": None},
        "a": {
            "parent": "root",
            "message": {
                "id": "a",
                "author": {"role": "user"},
                "content": {"content_type": "multimodal_text", "parts": [shown, "Paint it in other colours."]},
                "metadata": {
                    "attachments": [
                        {"id": "file-Shown", "name": "boat.png"},
                        {"id": "file-Gone", "name": "a-plan-of-the-harbour.docx"},
                    ]
                },
            },
        },
        "b": {
            "parent": "a",
            "message": {
                "id": "b",
                "author": {"role": "tool"},
                "content": {"content_type": "multimodal_text", "parts": [painted]},
            },
        },
        "c": {
            "parent": "b",
            "message": {
                "id": "c",
                "author": {"role": "assistant"},
                "content": {"content_type": "text", "parts": ["Here it is."]},
            },
        },
    }
    conversation = {"title": "The painted boat", "mapping": mapping, "current_node": "c"}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("conversations.json", json.dumps([conversation]))
        archive.writestr("file-Shown-boat.png", picture())
        archive.writestr("user-1/file_00painted-sanitized.png", picture())
    return FilePayload(name="export.zip", mimeType="application/zip", buffer=file.getvalue())


def open_import(chat: Chat, *, phone: bool) -> None:
    if phone:
        chat.page.get_by_role("button", name="Show the conversations").click()
    chat.page.locator("#me").click()
    chat.page.get_by_role("button", name="Import conversations…").click()


@pytest.mark.wide
def test_pictures_of_an_export_are_shown_and_missing_files_are_named(reader: Reader, reading: None) -> None:
    """On a phone, and then beside it at a desk."""
    with reader(**SIZES["phone"]) as chat:
        open_import(chat, phone=True)
        dialog = chat.page.get_by_role("dialog", name="Import conversations")
        expect(dialog).to_contain_text("a ZIP file of at most 2560 MB")
        dialog.locator("input[type=file]").set_input_files(exported())
        expect(dialog.get_by_text("2 files came along, and are read in the background.")).to_be_visible()
        missing = dialog.get_by_text("1 file could not be taken")
        missing.focus()
        chat.page.keyboard.press("Enter")
        item = dialog.get_by_role("listitem").filter(has_text="a-plan-of-the-harbour.docx")
        expect(item).to_contain_text("The import does not hold its bytes.")
        assert violations(chat.page) == []
        assert chat.too_small_targets() == []
        dialog.get_by_role("link", name="The painted boat").click()
        user, assistant = chat.turns.nth(0), chat.turns.nth(1)
        expect(user).to_contain_text("[attached: a-plan-of-the-harbour.docx – it is not here]")
        for turn in (user, assistant):
            files = turn.get_by_role("list", name="Files")
            expect(files.get_by_role("img")).to_be_visible()
        expect(assistant).to_contain_text("Here it is.")
        for size in SIZES.values():
            chat.page.set_viewport_size(size["viewport"])
            assert violations(chat.page) == []
            assert chat.page.evaluate("document.documentElement.scrollWidth") == size["viewport"]["width"]


def talk(*messages: tuple[str, str, str]) -> FilePayload:
    """One conversation of Claude's export, of messages each with who says it, its time and its text."""
    said = [
        {"uuid": f"m{number}", "sender": who, "created_at": at, "text": text}
        for number, (who, at, text) in enumerate(messages)
    ]
    content = json.dumps({"uuid": "talk", "name": "The harbour", "model": "claude-opus-4", "chat_messages": said})
    return FilePayload(name="talk.json", mimeType="application/json", buffer=content.encode())


def test_a_newer_export_goes_on_and_days_are_named(reader: Reader) -> None:
    first = [("human", "2026-03-01T12:00:00Z", "When?"), ("assistant", "2026-03-01T12:01:00Z", "At noon.")]
    next_day = [("human", "2026-03-02T12:00:00Z", "And today?")]
    with reader() as chat:
        open_import(chat, phone=False)
        dialog = chat.page.get_by_role("dialog", name="Import conversations")
        chosen = dialog.locator("input[type=file]")
        chosen.set_input_files(talk(*first))
        expect(dialog.get_by_text("1 conversation with 2 messages is here now.")).to_be_visible()
        dialog.get_by_role("button", name="Choose another file").click()
        chosen.set_input_files(talk(*first, *next_day))
        expect(dialog.get_by_text("1 conversation that you had went on: 1 message came to it.")).to_be_visible()
        dialog.get_by_role("link", name="The harbour").click()
        expect(chat.turns).to_have_count(3)
        expect(chat.page.locator(".turn .model-mark")).to_have_text(["claude-opus-4"])
        expect(chat.page.locator(".turn-day")).to_have_text(["Sunday, March 1, 2026", "Monday, March 2, 2026"])
        above = chat.page.evaluate(
            "[...document.querySelectorAll('.turn-day')].map((day) => day.nextElementSibling.innerText)"
        )
        assert ["When?" in above[0], "And today?" in above[1]] == [True, True]
        assert violations(chat.page) == []
        width = chat.page.evaluate("innerWidth")
        assert chat.page.evaluate("document.documentElement.scrollWidth") == width
