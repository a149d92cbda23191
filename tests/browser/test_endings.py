"""What a person sees and can do where a reply did not end well: on a desk and on a phone, light and dark, by keyboard alone."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.pages import Chat
from tests.browser.rows import ask_of, list_fallback, name_fallback
from tests.model_scripts import BrokenStream, Script, error, opening_steps, refusal, stream, text, text_delta
from tests.model_server import ModelServer

OTHER = "claude-sonnet-5"
DECLINED = "The model declined to answer this: it looks like something that could help to break into computers"
SIZES: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 820}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
PHONE = {**SIZES["phone"], "color_scheme": "dark"}


def faults(chat: Chat) -> list[str]:
    """What not everybody can use, on a phone in the dark and at a desk by light; what a finger can't hit. Whether a colour can
    be read does not depend on the size, nor whether a finger hits on the colour."""
    found = violations(chat.page) + chat.too_small_targets()
    chat.page.set_viewport_size(SIZES["desktop"]["viewport"])
    chat.page.emulate_media(color_scheme="light")
    found += violations(chat.page)
    chat.page.set_viewport_size(SIZES["phone"]["viewport"])
    chat.page.emulate_media(color_scheme="dark")
    return found


@pytest.fixture
def fallback(browser_database: str) -> Iterator[None]:
    name_fallback(browser_database, OTHER)
    yield
    name_fallback(browser_database, "")


@pytest.mark.wide
def test_each_ending_is_told_and_has_its_way_on(reader: Reader, model: ModelServer, fallback: None) -> None:
    """Everything is readable and large enough for a finger, in both colours."""
    endings: list[tuple[Script, str, list[str]]] = [
        (refusal(), DECLINED, ["Put it another way", "Answer with Claude Sonnet 5"]),
        (refusal("First you "), "The model stopped here and declined to go on", ["Put it another way"]),
        (text("The quick br", stop_reason="max_tokens"), "The answer is as long as it may be here.", ["Continue"]),
        (text(stop_reason="max_tokens"), "used up all the room", ["Retry"]),
        (error(429, headers={"retry-after": "600"}), "rate limit is reached", ["Retry in 10 min"]),
        (stream(*opening_steps(), text_delta("Half"), BrokenStream()), "broke off", ["Retry"]),
    ]
    with reader(**PHONE) as chat:
        for number, (script, words, buttons) in enumerate(endings):
            model.forget_scripts()
            model.script(script)
            chat.send(f"Message {number}")
            note = chat.turns.last.locator(".turn-note")
            expect(note).to_contain_text(words)
            for name in buttons:
                expect(note.get_by_role("button", name=name)).to_be_visible()
            assert faults(chat) == []
        chat.page.reload()
        expect(chat.turns.last.locator(".turn-note")).to_contain_text("broke off")
        expect(chat.page.get_by_role("button", name="Put it another way")).to_have_count(0)  # no longer the newest


def test_a_refused_message_is_put_another_way_by_keyboard_alone(chat: Chat, model: ModelServer) -> None:
    model.script(refusal(), text("Like this."))
    chat.send("Tell me how")
    question = chat.page.locator(".turn.user")
    expect(question.locator(".turn-note")).to_have_text("Not answered. Later answers are not given it.")
    button = chat.page.get_by_role("button", name="Put it another way")
    button.focus()
    chat.page.keyboard.press("Enter")
    expect(chat.box).to_be_focused()
    expect(chat.box).to_have_value("Tell me how")
    chat.page.keyboard.type(", for my own computer")
    chat.page.keyboard.press("Enter")
    expect(chat.replies.last.locator(".parts > .prose")).to_have_text("Like this.")
    chat.page.reload()
    expect(chat.turns).to_have_count(3)  # the note below the refused one goes with the next message
    assert chat.said() == ["Tell me how", "Tell me how, for my own computer", "Like this."]
    expect(question.first.locator(".turn-note")).to_be_visible()
    assert [block["text"] for block in model.bodies[-1]["messages"][-1]["content"]] == [
        "Tell me how, for my own computer"
    ]


def test_another_model_answers_in_its_place(chat: Chat, model: ModelServer, fallback: None) -> None:
    model.script(refusal(), text("Like this."))
    chat.send("Tell me how")
    chat.page.get_by_role("button", name="Answer with Claude Sonnet 5").click()
    expect(chat.replies.locator(".parts > .prose")).to_have_text("Like this.")
    expect(chat.page.locator(".turn.user .turn-note")).to_be_hidden()
    assert [body["model"] for body in model.bodies[-2:]] == ["claude-sonnet-5-5", OTHER]


def test_an_answer_goes_on_where_it_stopped(chat: Chat, model: ModelServer) -> None:
    model.script(
        text("The quick br", stop_reason="max_tokens"), text("own fox", stop_reason="max_tokens"), text(" jumps.")
    )
    chat.send("Tell me")
    for so_far in ("The quick br", "The quick brown fox"):
        expect(chat.replies.locator(".parts > .prose")).to_have_text(so_far)
        chat.page.get_by_role("button", name="Continue").click()
    expect(chat.replies.locator(".parts > .prose")).to_have_text("The quick brown fox jumps.")
    expect(chat.replies.locator(".turn-note")).to_be_hidden()
    chat.page.reload()
    expect(chat.replies.locator(".parts > .prose")).to_have_text("The quick brown fox jumps.")
    assert chat.said() == ["Tell me", "The quick brown fox jumps."]


def test_the_wait_that_is_asked_for_is_counted_down(chat: Chat, model: ModelServer) -> None:
    chat.page.clock.install()
    chat.page.reload()
    model.script(error(429, headers={"retry-after": "11"}), text("Here I am."))
    chat.send("Are you there?")
    button = chat.page.locator(".turn-note").get_by_role("button")
    expect(button).to_be_disabled()
    expect(button).to_contain_text("Retry in ")
    chat.page.clock.run_for(12_000)
    expect(button).to_have_text("Retry")
    button.press("Enter")
    expect(chat.replies.locator(".parts > .prose")).to_have_text("Here I am.")
    chat.page.close()  # its clock is its own


@pytest.mark.wide
def test_below_a_reply_stands_who_was_asked_in_whose_place(
    reader: Reader, model: ModelServer, browser_database: str
) -> None:
    list_fallback(browser_database, "offline")
    try:
        with reader(**PHONE) as chat:
            model.script(error(401))
            chat.send("Hello")
            line = chat.replies.last.locator(".in-place")
            expect(line).to_contain_text("did not accept its key.")
            assert violations(chat.page) == []
            chat.page.reload()
            expect(line).to_contain_text("Asked of ")
    finally:
        list_fallback(browser_database, "")


@pytest.mark.wide
def test_who_cannot_be_asked_is_said_beforehand_and_who_was_asked_instead_afterwards(
    reader: Reader, browser_database: str
) -> None:
    ask_of(browser_database, "analyst", "gone")
    try:
        with reader(**PHONE) as chat:
            beside, note = chat.page.locator("#answers"), chat.page.locator(".welcome .answers")
            expect(note).to_be_hidden()
            chat.page.get_by_role("radio", name="Analyst").check()
            expect(beside).to_have_text("Nobody can be asked at the moment.")
            expect(note).to_contain_text("The provider “gone” is not known.")
            assert violations(chat.page) == []
            chat.page.get_by_role("radio", name="Companion").check()
            expect(beside).to_be_hidden()
            list_fallback(browser_database, "offline")
            chat.page.reload()
            chat.page.get_by_role("radio", name="Analyst").check()
            expect(beside).to_be_hidden()
            chat.send("Hello")
            line = chat.replies.last.locator(".in-place")
            expect(line).to_have_text("Asked of offline: gone could not be asked.")
            assert faults(chat) == []
    finally:
        list_fallback(browser_database, "")
        ask_of(browser_database, "analyst", "")


@pytest.mark.wide
def test_a_message_that_was_not_answered_says_so_also_when_others_came_after_it(chat: Chat, model: ModelServer) -> None:
    model.script(error(400), text("Fine."))
    chat.send("First")
    note = chat.replies.locator(".turn-note.warning")
    expect(note).to_have_count(1)
    why = note.locator("p").inner_text()
    chat.ask("Second")
    for _ in range(2):
        chat.wait_until_ready()
        expect(chat.turns).to_have_count(4)
        expect(chat.turns.nth(1).locator(".turn-note.warning p")).to_have_text(why)
        assert chat.said()[2:] == ["Second", "Fine."]
        chat.page.reload()
