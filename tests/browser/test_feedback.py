"""Thumbs on a reply: by keyboard, on a phone, and what was typed survives a failure."""

from playwright.sync_api import expect

from tests.browser.pages import Chat
from tests.model_server import ModelServer


def test_a_bad_reply_is_said_to_be_so_and_taken_back(chat: Chat, model: ModelServer) -> None:
    page = chat.page
    chat.ask("Is there a ferry at nine?")
    good, bad = page.get_by_role("button", name="Good reply"), page.get_by_role("button", name="Bad reply")
    good.press("Enter")
    expect(good).to_have_attribute("aria-pressed", "true")

    bad.press("Enter")
    dialog = page.get_by_role("dialog", name="What was wrong?")
    dialog.get_by_label("It made something up").check()
    dialog.get_by_label("In your words").fill("There is no such ferry.")
    dialog.get_by_label("Show this conversation to support").check()
    page.route("**/feedback/", lambda route: route.abort())
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_role("alert")).to_contain_text("can't be reached")
    page.unroute("**/feedback/")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_be_hidden()
    expect(bad).to_have_attribute("aria-pressed", "true")
    expect(good).to_have_attribute("aria-pressed", "false")

    page.set_viewport_size({"width": 390, "height": 800})
    page.reload()
    chat.wait_until_ready()
    bad.click()
    expect(dialog.get_by_label("It made something up")).to_be_checked()
    expect(dialog.get_by_label("In your words")).to_have_value("There is no such ferry.")
    expect(dialog.get_by_label("Show this conversation to support")).to_be_checked()
    dialog.get_by_role("button", name="Take back").click()
    expect(bad).to_have_attribute("aria-pressed", "false")
    chat.problems = [problem for problem in chat.problems if "ERR_FAILED" not in problem]  # the call that was cut off
