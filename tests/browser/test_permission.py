"""A call that may change something is asked about in the conversation, in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.pages import Chat, call
from tests.conversations.mcp_client.tool_server import ToolServer, tool, tool_server_aside
from tests.model_scripts import text, tool_use
from tests.model_server import ModelServer

BOAT = {"title": "The boat leaks"}


@pytest.fixture
def tickets() -> Iterator[ToolServer]:
    with tool_server_aside(tool("create")) as server:
        yield server


def test_a_call_is_made_once_the_person_has_said_so_in_the_conversation(
    chat: Chat, model: ModelServer, tickets: ToolServer
) -> None:
    row = call(chat.page, "post", "mcp-servers/", {"name": "tickets", "url": tickets.url})
    read = call(chat.page, "post", f"mcp-servers/{row['id']}/refresh/")
    allowed = {each["name"]: each["digest"] for each in read["tools"]}
    call(chat.page, "patch", f"mcp-servers/{row['id']}/", {"allowed": allowed})

    model.script(tool_use("tickets__create", BOAT), text("May I write a ticket?"), tool_use("tickets__create", BOAT))
    model.script(text("The ticket is written."))
    chat.ask("Our boat leaks, note it.")
    question = chat.page.get_by_role("group", name="“tickets__create” may change something. May it be called?")
    expect(question).to_contain_text("The boat leaks")
    assert violations(chat.page) == [] and tickets.calls == []
    chat.page.reload()
    question.get_by_role("button", name="Once").click()
    expect(chat.replies).to_have_count(2)
    expect(chat.replies.last).to_contain_text("The ticket is written.")
    assert tickets.calls == [("create", BOAT)]
    assert "Yes, go ahead." in chat.said()
    chat.page.reload()
    expect(chat.replies).to_have_count(2)
    expect(question).to_have_count(0)


@pytest.mark.wide
def test_files_and_prompts_of_a_server_come_into_a_message(chat: Chat, model: ModelServer, tickets: ToolServer) -> None:
    tickets.resources = {"tickets://7/note.md": "# The boat leaks\n\nSince Tuesday."}
    call(chat.page, "post", "mcp-servers/", {"name": "tickets", "url": tickets.url})
    chat.page.reload()
    chat.wait_until_ready()
    chat.box.fill("Soon, please.")
    chat.page.get_by_role("button", name="Add from a server").press("Enter")
    expect(chat.page.get_by_role("menu", name="tickets")).to_contain_text("To be read.")
    assert violations(chat.page) == []
    chat.page.get_by_role("menuitem", name="tickets://7/note.md").click()
    expect(chat.page.get_by_role("list", name="Attached files")).to_contain_text("note.md")
    chat.page.get_by_role("button", name="Add from a server").click()
    chat.page.get_by_role("menuitem", name="review").click()
    chat.page.get_by_label("ticket", exact=True).fill("number 7")
    chat.page.keyboard.press("Enter")
    expect(chat.box).to_have_value("Review number 7.\n\nSoon, please.")
    tickets.resources.clear()
    chat.page.get_by_role("button", name="Add from a server").click()
    expect(chat.page.get_by_role("menuitem")).to_have_count(1)
    chat.page.keyboard.press("Escape")
