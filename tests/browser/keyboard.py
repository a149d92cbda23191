"""Going through pages without a pointer: whoever does must see where they are, wherever they come."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

MOST_STEPS = 120
LOST = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return "nothing has the focus";
    const name = element.outerHTML.slice(0, 120);
    if (element.getAttribute("tabindex") === "-1") return ""; // led to, as headings and turns are, not gone to
    const marks = ({ outlineStyle, outlineWidth, boxShadow }) =>
        (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none";
    const around = element.closest("label, .composer-box, .search, .assistant-option, .token") ?? element;
    const next = element.nextElementSibling ?? element; // of radios in the look of a button
    if (![element, around, next].some((each) => marks(getComputedStyle(each)))) return `unmarked: ${name}`;
    const { left, top, width, height } = element.getBoundingClientRect();
    if (width < 2 || height < 2) return around === element && next === element ? `without a size: ${name}` : "";
    const [x, y] = [Math.max(0, left) + Math.min(width, 20) / 2, Math.max(0, top) + Math.min(height, 20) / 2];
    if (x >= innerWidth || y >= innerHeight) return `out of the window: ${name}`;
    const shown = document.elementFromPoint(x, y);
    return shown && (element.contains(shown) || shown.contains(element) || around.contains(shown)) ? "" : `covered: ${name}`;
}"""


class Keyboard:
    """Keys of one page. Every place that the focus comes to is looked at."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def write(self, words: str, *keys: str) -> None:
        self.page.keyboard.type(words)
        self.press(*keys)

    def expect_at(self, place: Locator) -> None:
        """The focus comes to rest here, where it can be seen."""
        expect(place).to_be_focused()
        assert self.page.evaluate(LOST) == ""

    def go_to(self, place: Locator, step: str = "Tab") -> None:
        """By one step after the other."""
        passed: list[Any] = []
        for _ in range(MOST_STEPS):
            self.page.keyboard.press(step)
            assert self.page.evaluate(LOST) == "", passed
            if place.evaluate_all("all => all.includes(document.activeElement)"):
                return
            passed.append(self.page.evaluate("document.activeElement.outerHTML.slice(0, 90)"))
        raise AssertionError(f"{place} is not reached by {step}: {passed}")

    def use(self, place: Locator, step: str = "Tab") -> None:
        self.go_to(place, step)
        self.press("Enter")

    def choose(self, words: str) -> None:
        """An entry of the open menu."""
        expect(self.page.locator("#menu:popover-open")).to_be_visible()
        entry = self.page.locator("#menu .menu-item", has_text=words)
        if not entry.evaluate_all("all => all.includes(document.activeElement)"):
            self.go_to(entry, "ArrowDown")
        self.press("Enter")
