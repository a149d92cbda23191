"""What the chat page promises, in a real browser."""

import json
import re
import uuid
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.pages import Chat
from tests.browser.rows import add_turns, show_thinking
from tests.model_scripts import Gate, Thought, error, text, turn
from tests.model_server import ModelServer

TRUMP = "Who is Donald Trump?"
TAGS = "element => [...new Set([...element.querySelectorAll('*')].map((e) => e.tagName))].sort()"
LINKS = "element => [...element.querySelectorAll('a')].map((a) => [a.textContent, a.getAttribute('href')])"


def test_a_reply_streams_in_again_after_a_reload_and_is_complete_after_the_tab_was_closed_in_mid_reply(
    chat: Chat, model: ModelServer
) -> None:
    gate = Gate()
    model.script(text("He was the 45th ", gate, "president of the United States."))
    chat.send(TRUMP)
    expect(chat.live.locator(".parts > .prose")).to_have_text("He was the 45th")
    expect(chat.page).to_have_url(re.compile(r"/threads/[0-9a-f-]{36}/$"))
    chat.page.reload()
    expect(chat.live.locator(".parts > .prose")).to_have_text("He was the 45th")
    address = chat.page.url
    context = chat.page.context
    chat.page.close()
    gate.open()
    chat.reopen(context.new_page(), address)
    expect(chat.replies).to_have_count(1)
    assert chat.said() == [TRUMP, "He was the 45th president of the United States."]


@pytest.mark.wide
def test_it_says_that_the_model_thinks_and_folds_what_it_shows_under_the_reply(
    chat: Chat, model: ModelServer, browser_database: str
) -> None:
    show_thinking(browser_database)
    gate = Gate()
    model.script(turn(Thought(pieces=("**They** ask ", "about boats."), halfway=(gate,)), "Yes."))
    chat.send("Do you like boats?")
    expect(chat.live.locator(".waiting")).to_have_text(re.compile(r"^Thinking, [2-9]\d* s$"))
    fold = chat.page.locator(".thought")
    expect(fold.locator("summary")).to_be_visible()
    assert violations(chat.page) == []
    gate.open()
    expect(chat.replies).to_have_count(1)
    assert chat.page.locator("#announcer p").all_inner_texts() == ["Thinking.", "Yes."]
    for _ in range(2):
        expect(chat.turns).to_have_count(2)
        assert chat.said() == ["Do you like boats?", "Yes."]
        expect(fold.locator(".prose")).to_be_hidden()
        fold.locator("summary").press("Enter")
        expect(fold.locator(".prose")).to_have_text("They ask about boats.")
        assert violations(chat.page) == []
        chat.page.reload()


def test_keys_that_choose_among_the_words_of_an_input_method_are_not_for_the_page(
    chat: Chat, model: ModelServer
) -> None:
    """Most browsers say so by ``isComposing``, Safari by a code."""
    press = """(element, key) => [{isComposing: true}, {keyCode: 229}].forEach((said) => element.dispatchEvent(
        new KeyboardEvent("keydown", {...said, key, bubbles: true, cancelable: true})))"""
    gate = Gate()
    chat.box.fill("むずかしい")
    chat.box.evaluate(press, "Enter")
    expect(chat.box).to_have_value("むずかしい")
    model.script(text("Some words", gate, " and more."))
    chat.box.press("Enter")
    expect(chat.live.locator(".parts > .prose")).to_have_text("Some words")
    chat.box.evaluate(press, "Escape")
    gate.open()
    expect(chat.replies).to_have_count(1)
    assert chat.said() == ["むずかしい", "Some words and more."]
    chat.threads.get_by_role("link").press("F2")
    title = chat.page.get_by_label("New title")
    title.fill("難しい")
    title.evaluate(press, "Enter")
    title.fill("難しい話")
    title.press("Enter")
    expect(chat.threads.get_by_role("link")).to_have_text("難しい話")


def test_stop_keeps_the_text_so_far(chat: Chat, model: ModelServer) -> None:
    model.script(text("Some words", Gate(), " never said."))
    chat.send("Talk")
    expect(chat.live.locator(".parts > .prose")).to_have_text("Some words")
    chat.page.keyboard.press("Escape")
    expect(chat.replies).to_have_count(1)
    expect(chat.replies.locator(".turn-note")).to_contain_text("You stopped this reply here.")
    chat.page.reload()
    expect(chat.replies.locator(".turn-note")).to_contain_text("You stopped this reply here.")
    assert chat.said() == ["Talk", "Some words"]


def test_an_error_stays_on_the_message_in_words_and_retry_answers_it(chat: Chat, model: ModelServer) -> None:
    model.script(*[error(529)] * 3, text("Here I am."))
    chat.send("Are you there?")
    note = chat.replies.locator(".turn-note.warning")
    expect(note).to_contain_text("Your message is saved")
    chat.page.reload()
    expect(note).to_contain_text("Your message is saved")
    note.get_by_role("button", name="Retry").click()
    expect(chat.replies.locator(".parts > .prose")).to_have_text("Here I am.")
    expect(note).to_have_count(0)
    assert chat.said() == ["Are you there?", "Here I am."]


def test_a_hostile_reply_does_nothing(chat: Chat, model: ModelServer) -> None:
    model.script(
        text(
            "<script>document.title = 'taken'</script>\n\n<img src=x onerror=\"document.title = 'taken'\">\n\n"
            "[click](javascript:document.title='taken') ![track](http://192.0.2.1/pixel.png) "
            "[fine](https://example.org/) <a href='/accounts/logout/' onclick='x()'>mine</a>\n\n"
            "<style>body { display: none }</style>\n\n<iframe src='//192.0.2.1'></iframe>"
        )
    )
    asked: list[str] = []
    chat.listen("request", lambda request: asked.append(request.url))
    chat.send("Be evil")
    prose = chat.replies.locator(".parts > .prose")
    expect(prose).to_be_visible()
    assert prose.evaluate(TAGS) == ["A", "P"]
    assert prose.evaluate(LINKS) == [
        ["click", None],
        ["track (image)", "http://192.0.2.1/pixel.png"],
        ["fine", "https://example.org/"],
    ]
    assert prose.locator("a").last.get_attribute("rel") == "noopener noreferrer"
    assert chat.page.title() == "Be evil · Openbook"
    assert [url for url in asked if not url.startswith(chat.url)] == []


def test_what_a_person_writes_is_shown_as_it_was_meant(chat: Chat) -> None:
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    said = "Why?\nIt **fails** in `a_b_c`:\n```python\ndef f(x):\n    return x_1 * y_2\n```\n"
    said += "<b onclick='x()'>no</b>\n    set in"
    chat.ask(said)
    bubble = chat.page.locator(".turn.user .bubble")
    expect(bubble.locator("strong")).to_have_text("fails")
    expect(bubble.locator("p code")).to_have_text("a_b_c")
    expect(bubble.locator("pre code")).to_have_text("def f(x):\n    return x_1 * y_2\n")
    expect(bubble.locator(".hljs-keyword")).to_have_text(["def", "return"])
    assert bubble.locator("p").first.inner_text() == "Why?\nIt fails in a_b_c:"
    expect(bubble.locator("b")).to_have_count(0)
    expect(bubble).to_contain_text("<b onclick='x()'>no</b>")
    expect(chat.page.locator("#title")).to_have_text(re.compile("^Why\\? It fails in a_b_c: "))
    chat.page.locator(".turn.user").hover()
    chat.page.get_by_role("button", name="Copy your message").click()
    expect(chat.page.locator(".turn.user").get_by_role("button", name="Copied")).to_be_visible()
    assert chat.page.evaluate("navigator.clipboard.readText()") == said


def test_what_a_model_writes_is_shown_as_it_was_meant_in_every_script(chat: Chat, model: ModelServer) -> None:
    def shown(*pieces: str) -> Locator:
        model.script(text(*pieces))
        chat.ask("Show me")
        return chat.replies.last.locator(".parts > .prose")

    # Emphasis ends beside the marks of languages without spaces.
    prose = shown(
        "**日本語「強調」**です。**注意：**10回。\n\n**한국어(강조)**는\n\n",
        "是*“斜体”*字~~（删）~~的 `**「x」**y` foo**(bar)**baz",
    )
    expect(prose.locator("strong")).to_have_text(["日本語「強調」", "注意：", "한국어(강조)"])
    expect(prose.locator("em, del")).to_have_text(["“斜体”", "（删）"])
    expect(prose.locator("p").last).to_have_text("是“斜体”字（删）的 **「x」**y foo**(bar)**baz")

    # Each paragraph runs its own way, and code from left to right.
    prose = shown("مرحبا، `a.b()`.\n\nEnglish (too).\n\n`x` שלום\n\n1. أولا\n\n```python\na = b  # c\n```")
    direction = "all => all.map((element) => `${element.tagName} ${getComputedStyle(element).direction}`)"
    rtl, ltr = ("P rtl", "CODE ltr"), ("PRE ltr", "CODE ltr")
    assert prose.locator("p, ol, pre, code").evaluate_all(direction) == [*rtl, "P ltr", *rtl, "OL rtl", *ltr]


def test_code_without_a_fence_keeps_its_indentation(chat: Chat) -> None:
    said = "def f(x):\n    if x:\n        return 1\n\n    # after an empty line"
    chat.ask(said)
    lines = chat.page.locator(".turn.user .bubble p").evaluate_all("all => all.map((p) => p.innerText)")
    assert "\n\n".join(lines) == said


def test_markdown_becomes_headings_tables_and_coloured_code_that_can_be_copied(chat: Chat, model: ModelServer) -> None:
    model.script(
        text("# Plan\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n", "```python\ndef f(x):\n", "    return x\n```\n\nDone.")
    )
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.ask("Show me")
    prose = chat.replies.locator(".parts > .prose")
    expect(prose.locator("h3")).to_have_text("Plan")
    expect(prose.locator("td")).to_have_text(["1", "2"])
    expect(prose.locator(".hljs-keyword")).to_have_text(["def", "return"])
    prose.get_by_role("button", name="Copy").click()
    expect(prose.get_by_role("button", name="Copied")).to_be_visible()
    assert chat.page.evaluate("navigator.clipboard.readText()") == "def f(x):\n    return x\n"


def test_the_draft_of_each_thread_survives_a_reload(chat: Chat) -> None:
    chat.ask("First")
    chat.box.fill("half a thought")
    chat.page.get_by_role("link", name="New conversation").click()
    expect(chat.box).to_have_value("")
    chat.box.fill("another one")
    chat.page.reload()
    expect(chat.box).to_have_value("another one")
    chat.threads.get_by_role("link", name="First").click()
    expect(chat.box).to_have_value("half a thought")


@pytest.mark.wide
def test_older_turns_load_on_scroll_without_a_jump(chat: Chat, browser_database: str) -> None:
    chat.ask("The newest question")
    add_turns(browser_database, chat.thread_id, 120)
    chat.page.reload()
    expect(chat.turns).to_have_count(40)
    watched = chat.turns.nth(3).locator(".bubble, .prose")
    words = watched.inner_text()
    same = chat.page.get_by_text(words, exact=True)
    chat.page.evaluate("document.getElementById('scroller').scrollTop = 300")
    before = top_of(same)
    expect(chat.turns).to_have_count(80)
    assert top_of(same) == pytest.approx(before, abs=1)
    for count in (120, 122):
        chat.page.evaluate("document.getElementById('scroller').scrollTop = 0")
        expect(chat.turns).to_have_count(count)
    expect(chat.page.get_by_role("button", name="Show earlier turns")).to_be_hidden()


def test_the_view_follows_the_end_only_for_those_who_are_there(chat: Chat, model: ModelServer) -> None:
    gate = Gate()
    model.script(text("line\n\n" * 60, gate, "line\n\n" * 60))
    chat.send("Write a lot")
    expect(chat.live).to_contain_text("line")
    scroller = chat.page.locator("#scroller")
    chat.page.wait_for_function("() => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 2")
    scroller.hover()
    chat.page.mouse.wheel(0, -900)
    newest = chat.page.get_by_role("button", name="Newest")
    expect(newest).to_be_visible()
    place = scroller.evaluate("element => element.scrollTop")
    gate.open()
    expect(chat.replies).to_have_count(1)
    assert scroller.evaluate("element => element.scrollTop") == place
    newest.click()
    expect(newest).to_be_hidden()


def test_what_was_said_is_found_and_opened_at_its_turn_by_keyboard(chat: Chat, model: ModelServer) -> None:
    model.script(text("Hi."), text("Oh no."))
    chat.ask("Hello")
    chat.ask("The old <b>boat</b> sank.")
    chat.page.get_by_role("link", name="New conversation").click()
    chat.page.keyboard.press("Control+k")
    chat.page.keyboard.type("xyzzy")
    expect(chat.threads.get_by_role("status")).to_contain_text("Nothing was found.")
    chat.page.get_by_role("searchbox").fill("boats")
    expect(chat.threads.get_by_role("status")).to_have_text("Found in 1 conversation")
    expect(chat.threads.locator("mark")).to_have_text("boat")
    expect(chat.threads.locator(".excerpt")).to_have_text("The old <b>boat</b> sank.")
    assert violations(chat.page) == []
    chat.page.keyboard.press("ArrowDown")
    chat.page.keyboard.press("Enter")
    expect(chat.page).to_have_url(re.compile(r"/threads/[0-9a-f-]{36}/#turn-3$"))
    expect(chat.turns.nth(2)).to_be_focused()


@pytest.mark.wide
def test_an_export_of_chatgpt_is_imported_once_and_as_copies_where_that_is_asked_for(chat: Chat) -> None:
    exported = FilePayload(
        name="conversations.json", mimeType="application/json", buffer=chatgpt_export("A boat", "Hi")
    )
    chat.page.locator("#me").click()
    chat.page.get_by_role("button", name="Import conversations…").click()
    dialog = chat.page.get_by_role("dialog", name="Import conversations")
    dialog.locator("input[type=file]").set_input_files(exported)
    done = dialog.get_by_text("1 conversation with 1 message is here now.")
    expect(done).to_be_visible()
    dialog.get_by_role("button", name="Choose another file").click()
    dialog.locator("input[type=file]").set_input_files(exported)
    expect(dialog.get_by_text("1 conversation was here already, unchanged.")).to_be_visible()
    expect(chat.threads.get_by_role("link", name="A boat")).to_have_count(1)
    dialog.get_by_role("button", name="Import copies").click()
    expect(done).to_be_visible()
    dialog.get_by_role("link", name="A boat").click()
    expect(dialog).to_be_hidden()
    expect(chat.turns).to_have_count(1)
    assert chat.said() == ["Hi"]
    expect(chat.threads.get_by_role("link", name="A boat")).to_have_count(2)


def test_on_a_phone_the_list_is_a_drawer_that_gives_the_focus_back(reader: Reader) -> None:
    with reader(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as chat:
        chat.ask("On the way")
        show = chat.page.get_by_role("button", name="Show the conversations")
        expect(chat.threads).to_be_hidden()
        show.click()
        expect(chat.threads.get_by_role("link", name="On the way")).to_be_visible()
        expect(chat.page.get_by_role("button", name="Hide the conversations")).to_be_focused()
        chat.page.keyboard.press("Escape")
        expect(chat.threads).to_be_hidden()
        expect(show).to_be_focused()
        expect(chat.page.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)
        expect(chat.page.get_by_role("button", name="What to do with this conversation")).to_be_in_viewport(ratio=1)
        assert chat.too_small_targets() == []


@pytest.mark.wide
def test_a_second_tab_sees_the_same_reply(chat: Chat, model: ModelServer) -> None:
    chat.ask("Hello")
    other = Chat(chat.page.context.new_page(), chat.url)
    other.page.goto(chat.page.url)
    expect(other.replies).to_have_count(1)
    gate = Gate()
    model.script(text("Both ", gate, "see this."))
    chat.send("Look")
    expect(other.live.locator(".parts > .prose")).to_have_text("Both")
    gate.open()
    expect(other.replies).to_have_count(2)
    assert other.said() == chat.said()
    assert other.problems == []


def test_a_message_over_the_limit_is_not_sent_and_not_lost(chat: Chat) -> None:
    long = "x" * 100_001
    chat.box.fill(long)
    expect(chat.page.get_by_text("1 characters too long")).to_be_visible()
    chat.box.press("Enter")
    expect(chat.box).to_have_value(long)
    expect(chat.page.get_by_role("button", name="Send")).to_be_disabled()
    assert chat.said() == []


def test_a_thread_may_be_opened_with_another_assistant(chat: Chat) -> None:
    chat.page.get_by_role("radio", name="Analyst").check()
    chat.ask("Look at our numbers")
    expect(chat.page.locator("#assistant-name")).to_have_text("Analyst")
    chat.page.reload()
    expect(chat.page.locator("#assistant-name")).to_have_text("Analyst")


def test_the_chosen_appearance_lasts(chat: Chat) -> None:
    for choice, paper in (("Dark", "rgb(25, 24, 22)"), ("Light", "rgb(253, 252, 250)")):
        chat.page.locator("#me").click()
        chat.page.get_by_role("radio", name=choice).check(force=True)
        chat.page.reload()
        expect(chat.page.locator("html")).to_have_css("background-color", paper)


@pytest.mark.wide
def test_signing_out_elsewhere_is_said_and_what_was_typed_stays(chat: Chat) -> None:
    chat.ask("Hello")
    other = chat.page.context.new_page()
    other.goto(chat.url)
    other.locator("#me").click()
    other.get_by_role("button", name="Sign out").click()
    chat.box.fill("not sent yet")
    expect(chat.page.get_by_text("You have been signed out.")).to_be_visible()
    expect(chat.page.get_by_role("link", name="Sign in again")).to_be_visible()
    expect(chat.box).to_have_value("not sent yet")


def chatgpt_export(title: str, said: str) -> bytes:
    """One conversation with one message, of ids of its own."""
    message = {"id": "m", "author": {"role": "user"}, "content": {"content_type": "text", "parts": [said]}}
    nodes: list[dict[str, Any]] = [
        {"id": "root", "message": None, "parent": None, "children": ["m"]},
        {"id": "m", "message": message, "parent": "root", "children": []},
    ]
    conversation = {"id": str(uuid.uuid4()), "title": title, "create_time": 1_772_355_600.0, "current_node": "m"}
    return json.dumps([conversation | {"mapping": {node["id"]: node for node in nodes}}]).encode()


def top_of(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.wide
def test_the_list_knows_what_happened_in_another_window_when_one_comes_back_to_it(chat: Chat) -> None:
    chat.ask("First")
    other = chat.page.context.new_page()
    other.goto(chat.url)
    other.get_by_role("textbox", name="Your message").fill("Second")
    other.get_by_role("textbox", name="Your message").press("Enter")
    expect(other.locator(".turn.assistant:not(.live)")).to_have_count(1)
    titles = chat.threads.get_by_role("link")
    expect(titles).to_have_text(["First"])
    chat.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(titles).to_have_text(["Second", "First"])


def test_a_very_long_text_is_typed_on_without_a_pause(chat: Chat) -> None:
    """To measure how high it would be took seconds for each key."""
    chat.box.fill("word " * 40_000)
    chat.page.evaluate("""() => {
        const box = document.querySelector("#text");
        Object.defineProperty(box, "scrollHeight", { get: () => { throw new Error("measured"); } });
    }""")
    chat.box.press("x")
    expect(chat.page.locator("#counter")).to_have_text("100,001 characters too long")
    box = chat.box.bounding_box()
    assert box
    assert box["height"] < 820
