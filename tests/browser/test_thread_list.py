"""What is done in the list of conversations with a pointer: dragged into a project, and several at once."""

import re

from playwright.sync_api import APIResponse, Route, expect

from tests.browser.pages import Chat, call
from tests.browser.rows import add_titles


def test_conversations_are_dragged_into_a_project_and_archived_together(chat: Chat, browser_database: str) -> None:
    page = chat.page
    chat.ask("Rye bread")
    add_titles(browser_database, chat.thread_id, ["Boats", "Dogs"])
    project = call(page, "post", "projects/", {"name": "Bakery"})["id"]
    page.reload()
    group = page.locator(f"[data-project='{project}']")
    bread = chat.threads.get_by_role("link", name="Rye bread")
    bread.drag_to(group)
    expect(page.locator("#announcer")).to_contain_text("Done.")
    expect(bread).to_have_count(0)
    held: list[tuple[Route, APIResponse]] = []
    page.route(
        re.compile(rf"/threads/\?.*project={project}"),
        lambda route: route.continue_() if held else held.append((route, route.fetch())),
    )
    group.get_by_role("button", name="Bakery").click()
    expect(group.get_by_role("link", name="Rye bread")).to_be_visible()
    bread.drag_to(page.locator("[data-drop=outside]").first)
    outside = page.locator("[data-drop=outside]").get_by_role("link", name="Rye bread")
    expect(outside).to_be_visible()
    (asked_before, answer) = held[0]
    with page.expect_request(re.compile(rf"project={project}")) as again:  # that answer is of before
        asked_before.fulfill(response=answer)
    asked_again = again.value.response()
    assert asked_again and asked_again.json()["results"] == []
    expect(outside).to_be_visible()

    page.get_by_role("button", name="Select several conversations").click()
    for name in ("Boats", "Dogs"):
        chat.threads.get_by_role("checkbox", name=name).check()
    expect(page.locator("#selection-state")).to_have_text("2 conversations selected")
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(chat.threads.get_by_role("link", name="Boats")).to_have_count(0)
    page.get_by_role("button", name="Listed:").click()
    page.get_by_role("menuitemradio", name="Archived").click()
    expect(chat.threads.get_by_role("link", name=re.compile("Boats|Dogs"))).to_have_count(2)
