"""What is made beside the conversation, in a real browser: the panel and the presets."""

import re

import pytest
from playwright.sync_api import Locator, expect
from python_calamine import CalamineWorkbook

from tests.browser.conftest import Reader
from tests.browser.pages import Chat
from tests.browser.rows import add_artifact, add_version
from tests.model_scripts import (
    Delay,
    Gate,
    ScriptedStream,
    ScriptedToolUse,
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


def saving(title: str, content: str, gate: Gate | None = None) -> ScriptedStream:
    """A call of save_artifact, which may wait at a gate halfway."""
    written = {"title": title, "kind": "document", "content": content}
    steps = ScriptedToolUse(name="save_artifact", input=written).steps(0)
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


@pytest.mark.wide
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


@pytest.mark.wide
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


@pytest.mark.wide
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


@pytest.mark.wide
def test_a_table_is_downloaded_as_a_workbook(chat: Chat, browser_database: str) -> None:
    table = "| Item | Sum |\n|---|--:|\n| Rent | €1,234.50 |\n| Power | -99 |\n"
    shown = beside(chat, browser_database, table, title="Costs", kind="table")
    shown.get_by_role("button", name="Download").click()
    items = chat.page.get_by_role("menuitem")
    expect(items).to_have_text(["Excel (XLSX)", "CSV", "Source", "Markdown", "HTML", "Word (DOCX)", "PDF"])
    with chat.page.expect_download() as download:
        items.first.click()
    assert download.value.suggested_filename == "Costs.xlsx"
    sheet = CalamineWorkbook.from_path(str(download.value.path())).get_sheet_by_name("Costs")
    assert sheet.to_python() == [["Item", "Sum"], ["Rent", 1234.5], ["Power", -99.0]]


@pytest.mark.wide
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
