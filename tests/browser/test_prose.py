"""What a reply's text becomes: mathematics, diagrams, tables and code, while it streams and when it is copied."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessibility import violations
from tests.browser.pages import Chat
from tests.browser.rows import add_turns
from tests.model_scripts import Gate, text
from tests.model_server import ModelServer

SELECT = """element => {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
}"""
LOADED = "() => performance.getEntriesByType('resource').filter(({ name }) => /katex|mermaid/.test(name)).length"


def test_formulas_are_set_when_they_end_and_copied_as_they_were_written(chat: Chat, model: ModelServer) -> None:
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.ask("Hello")
    assert chat.page.evaluate(LOADED) == 0
    gate = Gate()
    blocks = "\n\n$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$\n\n```math\n\\boxed{x^2}\n```\n\n$\\nope{$ ends."
    blocks += "\n\n4. Fourth\n\n| Loaves |\n| -: |\n| 12 |\n"
    model.script(
        text(r"For all $x \in \mathbb{R}$, at $5 or $10, $\frac{a", gate, r"}{b}$ and \(\mathbf v\)." + blocks)
    )
    chat.send("Show me")
    live = chat.live.locator(".parts > .prose")
    expect(live.locator("math")).to_have_text("x∈ℝ")
    expect(live).to_contain_text(r"at $5 or $10, $\frac{a")
    gate.open()
    prose = chat.replies.last.locator(".parts > .prose")
    expect(prose.locator("math")).to_have_count(5)
    expect(prose.locator("math").nth(2)).to_have_text("𝐯")
    expect(prose.locator("math[display=block]")).to_have_count(2)
    expect(prose).to_contain_text(r"$\nope{$ ends.")
    expect(prose.locator("ol")).to_have_attribute("start", "4")
    expect(prose.locator("td")).to_have_css("text-align", "end")
    assert prose.locator("[style]").count() == 0
    assert violations(chat.page) == []
    prose.locator("p").first.evaluate(SELECT)
    chat.page.keyboard.press("ControlOrMeta+c")
    copied = chat.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == r"For all $x \in \mathbb{R}$, at $5 or $10, $\frac{a}{b}$ and \(\mathbf v\)."


@pytest.mark.wide
def test_a_diagram_is_drawn_once_it_is_whole_and_its_source_stays(chat: Chat, model: ModelServer) -> None:
    gate = Gate()
    model.script(
        text(
            "```mermaid\nflowchart LR\n  a[Order] --> ",
            gate,
            "b[Tray]\n```\n\nAnd:\n\n```mermaid\nflowchart what\n```\n",
        )
    )
    chat.send("Draw it")
    expect(chat.live.locator("pre")).to_contain_text("a[Order]")
    gate.open()
    good, bad = (chat.replies.last.locator(".code").nth(place) for place in (0, 1))
    picture = good.get_by_role("img", name="Diagram")
    expect(picture).to_be_visible()
    assert width(picture) > 100
    good.get_by_role("button", name="Source").press("Enter")
    expect(good.locator("pre")).to_be_visible()
    expect(picture).to_be_hidden()
    good.get_by_role("button", name="Source").press("Enter")
    expect(bad.locator(".diagram-note")).to_contain_text("can’t be drawn")
    expect(bad.locator("pre")).to_have_text("flowchart what\n")
    assert violations(chat.page) == []


def width(element: Locator) -> float:
    box = element.bounding_box()
    return box["width"] if box else 0


@pytest.mark.wide
def test_a_whole_conversation_is_printed_with_names_or_without(
    chat: Chat, model: ModelServer, browser_database: str
) -> None:
    model.script(text("Then $x^2$:\n\n```mermaid\nflowchart LR\n  a --> b\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |"))
    chat.ask("Is this the newest?")
    add_turns(browser_database, chat.thread_id, 240)
    chat.page.reload()
    chat.wait_until_ready()
    chat.page.keyboard.press("ControlOrMeta+p")
    expect(chat.page.get_by_role("status")).to_have_text("242 turns, ready to print.")
    turns = chat.page.locator(".sheet-turn")
    expect(turns).to_have_count(242)
    expect(turns.nth(1).locator("math")).to_have_text("x2")
    expect(turns.nth(1).get_by_role("img", name="Diagram")).to_be_attached()
    expect(turns.nth(1).locator(".sheet-turn-name")).to_have_text("Companion")
    assert violations(chat.page) == []
    assert chat.too_small_targets() == []
    chat.page.emulate_media(media="print")
    expect(chat.page.get_by_role("button", name="Print")).to_be_hidden()
    expect(turns.nth(1).get_by_text("Companion")).to_be_visible()
    chat.page.emulate_media(media="screen")
    chat.page.get_by_role("switch", name="Names and times").uncheck()
    chat.page.emulate_media(media="print")
    expect(turns.nth(1).get_by_text("Companion")).to_be_hidden()
