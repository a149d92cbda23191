"""The whole chat without a pointer, from signing up to signing out: whoever does can always see where they are."""

import re
import uuid

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.keyboard import Keyboard
from tests.browser.pages import PASSWORD, Chat, call, chat_page
from tests.browser.rows import add_artifact
from tests.model_scripts import Gate, text
from tests.model_server import ModelServer

pytestmark = pytest.mark.wide


def test_the_whole_chat_by_keyboard(
    browser: Browser, server_url: str, browser_database: str, model: ModelServer, reading: None
) -> None:
    with chat_page(browser, server_url) as chat:
        keys = Keyboard(chat.page)
        name = f"reader-{uuid.uuid4().hex[:10]}"
        sign_up(chat, keys, name)
        talk_and_stop(chat, keys, model)
        edit_and_go_between_versions(chat, keys, model)
        answer_again_and_compare(chat, keys, model)
        read_the_book(chat, keys)
        attach_a_file(chat, keys)
        arrange(chat, keys)
        find(chat, keys)
        share_and_fork(chat, keys)
        choose_a_prompt(chat, keys)
        talk_for_a_while_only(chat, keys)
        delete_an_artifact_and_undo(chat, keys, browser_database)
        delete(chat, keys)
        sign_out_and_in(chat, keys, name)
        assert chat.problems == []


def sign_up(chat: Chat, keys: Keyboard, name: str) -> None:
    chat.open("/accounts/login/")
    keys.expect_at(chat.page.get_by_label("Username"))
    keys.use(chat.page.get_by_role("link", name="Create one"))
    expect(chat.page.get_by_role("heading", name="Create an account")).to_be_visible()
    keys.go_to(chat.page.get_by_label("Username"))
    keys.write(name, "Tab")
    keys.write(PASSWORD, "Tab")
    keys.write(PASSWORD, "Enter")
    chat.wait_until_ready()
    keys.expect_at(chat.box)


def talk_and_stop(chat: Chat, keys: Keyboard, model: ModelServer) -> None:
    model.script(text("Bones, and ", Gate(), "much more."), text("Fish it is."))
    keys.write("What do dogs", "Shift+Enter")
    keys.write("like to eat?", "Enter")
    expect(chat.live.locator(".parts > .prose")).to_contain_text("Bones")
    keys.expect_at(chat.box)
    keys.press("Escape")
    expect(chat.replies.locator(".turn-note")).to_contain_text("You stopped this reply here.")
    keys.expect_at(chat.box)
    keys.write("My dog likes fish.", "Enter")
    expect(chat.replies).to_have_count(2)
    assert chat.said()[0] == "What do dogs\nlike to eat?"


def edit_and_go_between_versions(chat: Chat, keys: Keyboard, model: ModelServer) -> None:
    model.script(text("Bones it is."))
    keys.press("ArrowUp")
    editor = chat.page.locator("textarea.edit-text")
    keys.expect_at(editor)
    keys.press("Escape")
    keys.expect_at(chat.box)
    keys.press("ArrowUp", "Control+a")
    keys.write("My dog likes bones.", "Enter")
    expect(chat.replies.last).to_contain_text("Bones it is.")
    keys.expect_at(chat.box)
    keys.use(chat.page.get_by_role("button", name="Previous version"), "Shift+Tab")
    expect(chat.replies.last).to_contain_text("Fish it is.")
    keys.expect_at(chat.page.get_by_role("button", name="Next version"))
    keys.press("Enter")
    expect(chat.replies.last).to_contain_text("Bones it is.")
    keys.expect_at(chat.page.get_by_role("button", name="Previous version"))


def answer_again_and_compare(chat: Chat, keys: Keyboard, model: ModelServer) -> None:
    model.script(text("Big bones."))
    keys.use(chat.replies.last.get_by_role("button", name="Answer again"))
    expect(chat.replies.last).to_contain_text("Big bones.")
    keys.expect_at(chat.replies.last)
    keys.use(chat.page.get_by_role("button", name="Show two answers beside one another"))
    dialog = chat.page.get_by_role("dialog", name="Two answers beside one another")
    expect(dialog.locator(".compare-body")).to_have_text(["Bones it is.", "Big bones."])
    keys.expect_at(dialog.get_by_role("heading").first)
    keys.press("Escape")
    keys.expect_at(chat.page.get_by_role("button", name="Show two answers beside one another"))
    keys.press("Enter")
    expect(dialog.locator(".compare-body")).to_have_text(["Bones it is.", "Big bones."])
    keys.use(dialog.get_by_role("button", name="Go on with this one").first)
    expect(chat.replies.last).to_contain_text("Bones it is.")
    keys.expect_at(chat.replies.last.get_by_role("button", name="Next version"))


def read_the_book(chat: Chat, keys: Keyboard) -> None:
    mark = chat.replies.last.locator(".book-mark")
    keys.use(mark)
    book = chat.page.get_by_role("dialog", name="The book of this reply")
    expect(book.locator(".stack-bar")).to_be_visible()
    keys.expect_at(book.get_by_role("heading", name="The book of this reply"))
    keys.press("Escape")
    keys.expect_at(mark)


def attach_a_file(chat: Chat, keys: Keyboard) -> None:
    with chat.page.expect_file_chooser() as chooser:
        keys.use(chat.page.get_by_role("button", name="Attach files"))
    chooser.value.set_files({"name": "dogs.md", "mimeType": "text/markdown", "buffer": b"# Dogs\n\nThey bark.\n"})
    expect(chat.page.locator(".chip")).to_contain_text("Text")
    keys.expect_at(chat.box)
    keys.write("What does it say?", "Enter")
    expect(chat.replies.last).to_contain_text("What does it say?")
    keys.expect_at(chat.box)
    card = chat.page.locator(".turn.user").last.get_by_role("button", name=re.compile("dogs.md"))
    keys.use(card, "Shift+Tab")
    keys.expect_at(chat.page.locator("#panel-title"))
    expect(chat.page.locator("#panel-body")).to_contain_text("They bark.")
    keys.press("Escape")
    keys.expect_at(card)


def arrange(chat: Chat, keys: Keyboard) -> None:
    """Named, pinned, moved and tagged, from its row in the list."""
    call(chat.page, "post", "projects/", {"name": "Dogs"})
    chat.page.reload()
    chat.wait_until_ready()
    keys.expect_at(chat.box)
    row = chat.threads.get_by_role("link").first
    expect(chat.threads.get_by_role("link")).not_to_have_count(0)
    keys.press("Control+k", "ArrowDown")
    keys.press("F2", "Control+a")
    keys.write("What dogs eat", "Enter")
    expect(chat.page.get_by_role("heading", level=1)).to_have_text("What dogs eat")
    row = chat.threads.get_by_role("link", name="What dogs eat")
    keys.expect_at(row)
    menu = chat.threads.get_by_role("button", name="What to do with “What dogs eat”")
    for words in ("Pin", "Move to a project…", "Tags…"):
        keys.go_to(menu)
        keys.press("Enter")
        keys.choose(words)
        if words == "Pin":
            expect(chat.threads.get_by_role("heading", name="Pinned")).to_be_visible()
        elif words == "Tags…":
            keys.expect_at(chat.page.get_by_label("New tags, separated by commas"))
            keys.write("animals", "Enter")
            expect(row).to_contain_text("animals")
        else:
            keys.choose("Dogs")
            expect(chat.page.locator("#announcer")).to_contain_text("The conversation is moved.")
        keys.press("Control+k")
        keys.go_to(row)


def find(chat: Chat, keys: Keyboard) -> None:
    keys.press("Control+Shift+O")
    keys.expect_at(chat.box)
    keys.press("Control+k")
    keys.write("bones")
    expect(chat.threads.locator("mark")).not_to_have_count(0)
    keys.go_to(chat.threads.locator("a", has_text="bones").last)
    keys.press("Enter")
    expect(chat.page).to_have_url(re.compile(r"#turn-\d+$"))
    keys.expect_at(chat.page.locator(".turn.pointed"))
    keys.press("Control+k", "Control+a", "Delete")


def share_and_fork(chat: Chat, keys: Keyboard) -> None:
    keys.press("Control+k")
    keys.use(chat.page.get_by_role("button", name="What to do with this conversation"))
    keys.choose("Share…")
    dialog = chat.page.get_by_role("dialog", name="Share this conversation")
    keys.expect_at(dialog.get_by_role("heading").first)
    keys.use(dialog.get_by_role("button", name="Make a link"))
    keys.expect_at(dialog.get_by_role("button", name="Copy", exact=True))
    expect(dialog.get_by_role("button", name="Revoke the link")).to_be_visible()
    keys.use(dialog.get_by_role("button", name="Revoke the link"))
    keys.expect_at(dialog.get_by_role("heading").first)
    keys.press("Escape")
    keys.expect_at(chat.page.get_by_role("button", name="What to do with this conversation"))
    before = chat.page.url.partition("#")[0]
    keys.go_to(chat.page.get_by_role("button", name="More about this reply").first)
    keys.press("Enter")
    keys.choose("Fork from here")
    expect(chat.page.locator("#forked-from-link")).to_have_text("What dogs eat")
    expect(chat.replies).to_have_count(1)
    keys.expect_at(chat.box)
    keys.use(chat.page.locator("#forked-from-link"), "Shift+Tab")
    expect(chat.page).to_have_url(before)
    chat.wait_until_ready()
    keys.expect_at(chat.box)


def choose_a_prompt(chat: Chat, keys: Keyboard) -> None:
    call(chat.page, "post", "prompts/", {"name": "Food", "text": "What do {{animal}} eat?"})
    keys.write("/foo")
    expect(chat.page.get_by_role("option", name="Food")).to_have_attribute("aria-selected", "true")
    keys.press("Enter")
    keys.expect_at(chat.page.get_by_role("dialog", name="Food").get_by_role("textbox"))
    keys.write("cats", "Enter")
    keys.expect_at(chat.box)
    expect(chat.box).to_have_value("What do cats eat?")
    expect(chat.page.get_by_role("button", name="Send")).to_be_enabled()
    keys.press("Enter")
    expect(chat.replies.last).to_contain_text("What do cats eat?")


def talk_for_a_while_only(chat: Chat, keys: Keyboard) -> None:
    keys.press("Control+Shift+L")
    expect(chat.page.locator("#temporary-bar")).to_be_visible()
    keys.expect_at(chat.box)
    keys.write("Nobody keeps this.", "Enter")
    expect(chat.replies).to_have_count(1)
    keys.use(chat.page.get_by_role("button", name="Close and delete"), "Shift+Tab")
    expect(chat.page.locator("#temporary-bar")).to_be_hidden()
    keys.expect_at(chat.box)


def delete_an_artifact_and_undo(chat: Chat, keys: Keyboard, database: str) -> None:
    keys.press("Control+k")
    keys.use(chat.threads.get_by_role("link", name="What dogs eat").first)
    keys.expect_at(chat.box)
    chat.wait_until_ready()
    add_artifact(database, chat.thread_id, "# Plan", "# Plan B", title="Plan")
    chat.page.reload()
    chat.wait_until_ready()
    keys.expect_at(chat.box)
    keys.use(chat.page.locator("#artifacts"), "Shift+Tab")
    keys.expect_at(chat.page.locator("#panel-title"))
    expect(chat.page.locator("#panel-changes")).to_be_enabled()
    keys.use(chat.page.locator("#panel-changes"))
    expect(chat.page.locator(".line.added")).to_be_visible()
    keys.use(chat.page.locator("#panel-more"))
    keys.choose("Delete")
    undo = chat.page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    keys.use(undo)
    expect(chat.page.locator("#panel-body")).to_contain_text("Plan B")
    keys.expect_at(chat.page.locator("#panel-title"))
    keys.press("Escape")
    keys.expect_at(chat.page.locator("#artifacts"))


def delete(chat: Chat, keys: Keyboard) -> None:
    keys.press("Control+k")
    keys.use(chat.page.get_by_role("button", name="What to do with this conversation"))
    keys.choose("Delete…")
    question = chat.page.get_by_role("dialog", name="Delete this conversation?")
    keys.expect_at(question.get_by_role("button", name="Cancel"))
    keys.use(question.get_by_role("button", name="Delete conversation"))
    expect(chat.page).to_have_url(chat.url + "/")
    keys.expect_at(chat.box)
    keys.press("Control+/")
    keys.expect_at(chat.page.get_by_role("dialog", name="Keyboard shortcuts").get_by_role("button", name="Close"))
    keys.press("Escape")
    keys.expect_at(chat.box)


def sign_out_and_in(chat: Chat, keys: Keyboard, name: str) -> None:
    keys.press("Control+k")
    keys.use(chat.page.locator("#me"))
    keys.use(chat.page.get_by_role("button", name="Sign out"))
    keys.expect_at(chat.page.get_by_label("Username"))
    keys.write(name, "Tab")
    keys.write(PASSWORD, "Enter")
    chat.wait_until_ready()
    keys.expect_at(chat.box)
