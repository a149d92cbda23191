"""Reading aloud, dictation and notifications: the browser's own, and only where it has them and the person wants them."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.pages import Chat
from tests.model_scripts import Gate, text
from tests.model_server import ModelServer

pytestmark = pytest.mark.wide

SPEECH = """
window.heard = [];
window.told = [];
class Utterance extends EventTarget { constructor(text) { super(); this.text = text; } }
Object.defineProperty(window, "SpeechSynthesisUtterance", { value: Utterance, configurable: true });
Object.defineProperty(window, "speechSynthesis", { configurable: true, value: {
    speak: ({ text, lang }) => window.heard.push(`${lang}: ${text}`), cancel: () => window.heard.push("stopped"),
} });
class Recognition {
    start() { window.recognition = this; }
    stop() { this.onend(); }
}
window.SpeechRecognition = window.webkitSpeechRecognition = Recognition;
class Told { constructor(title, options) { window.told.push([title, options.body]); } addEventListener() {} }
Told.permission = "default";
Told.requestPermission = async () => (Told.permission = "granted");
window.Notification = Told;
"""
SAY = "words => window.recognition.onresult({ results: [[{ transcript: words }]] })"
NONE = "delete window.speechSynthesis; delete window.SpeechRecognition; delete window.webkitSpeechRecognition;"
LATER = "now = Date.now; Date.now = () => now() + 6000"
HIDE = "hidden => Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })"
LOOK = "document.dispatchEvent(new Event('visibilitychange'))"


def page_with(chat: Chat, script: str) -> Page:
    """A tab of its own: the script stays with it, and tabs are used again."""
    page = chat.page.context.new_page()
    page.add_init_script(script)
    chat.reopen(page, chat.url + "/")
    return page


def test_a_reply_is_read_aloud_and_a_message_dictated(reader: Reader, model: ModelServer) -> None:
    with reader(locale="en-GB") as chat:
        page = page_with(chat, SPEECH)
        model.script(text("Das ist **nicht** der Punkt.\n\n```python\nx = 1\n```\n\nUnd das ist es."))
        chat.ask("Hello")
        page.get_by_role("button", name="More about this reply").press("Enter")
        page.get_by_role("menuitem", name="Read aloud").press("Enter")
        stop = page.get_by_role("button", name="Stop reading")
        expect(stop).to_be_focused()
        assert page.evaluate("heard") == ["de: Das ist nicht der Punkt.", "de: Und das ist es."]
        page.keyboard.press("Escape")
        expect(stop).to_have_count(0)
        assert page.evaluate("heard.at(-1)") == "stopped"

        dictate = page.get_by_role("button", name="Dictate")
        chat.box.fill("First")
        dictate.click()
        expect(page.get_by_role("alert").filter(has_text="some send the sound")).to_be_visible()
        dictate.press("Enter")
        expect(page.get_by_role("button", name="Stop dictating")).to_have_attribute("aria-pressed", "true")
        page.evaluate(SAY, "then second")
        expect(chat.box).to_have_value("First then second")
        assert violations(page) == []
        assert chat.too_small_targets() == []
        page.keyboard.press("Escape")
        expect(dictate).to_be_visible()
        expect(chat.box).to_be_focused()
        page.reload()
        expect(chat.box).to_have_value("First then second")

        chat.open("/account/")
        assert violations(page) == []
        page.get_by_role("switch", name="A button for dictation").press("Space")
        chat.open("/")
        expect(chat.box).to_be_visible()
        expect(dictate).to_be_hidden()


def test_a_long_reply_that_ends_in_another_tab_is_told_without_its_words(reader: Reader, model: ModelServer) -> None:
    with reader() as chat:
        page = page_with(chat, SPEECH)
        chat.open("/account/")
        words = page.get_by_role("switch", name="Show the beginning")
        expect(words).to_be_disabled()
        page.get_by_role("switch", name="Tell me when").press("Space")
        expect(words).to_be_enabled()
        expect(words).not_to_be_checked()
        chat.open("/")
        page.evaluate("Notification.permission = 'granted'")
        chat.wait_until_ready()
        gate = Gate()
        model.script(text("It ", gate, "ends."))
        chat.send("Take your time")
        expect(chat.live.locator(".parts > .prose")).to_have_text("It")
        page.evaluate(LATER)
        page.evaluate(HIDE, True)
        gate.open()
        expect(chat.replies).to_have_count(1)
        expect(page).to_have_title(re.compile(r"^\(1\) Take your time"))
        assert page.evaluate("told") == [["Openbook", "A reply has ended."]]
        page.evaluate(HIDE, False)
        page.evaluate(LOOK)
        expect(page).to_have_title(re.compile("^Take your time"))


def test_what_the_browser_has_not_is_not_offered(reader: Reader, model: ModelServer) -> None:
    with reader() as chat:
        page_with(chat, NONE)
        chat.ask("Hello")
        expect(chat.page.locator("#dictate")).to_be_hidden()
        chat.page.get_by_role("button", name="More about this reply").click()
        expect(chat.page.get_by_role("menuitem", name="Forget")).to_be_visible()
        expect(chat.page.get_by_role("menuitem", name="Read aloud")).to_have_count(0)
