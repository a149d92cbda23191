"""What axe, the accessibility checker, has to say about a page."""

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).resolve().parents[2] / "node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
FOUND = """async (only) => {
    const fading = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.allSettled(fading.map((transition) => transition.finished));
    const { violations } = await axe.run(document, { runOnly: only, resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ target }) => target.join(" ")).join(", ")}`);
}"""


def violations(page: Page, only: Sequence[str] = RULES) -> list[str]:
    """A line for each rule that the page breaks, with the first places. ``only`` are tags, or the names of rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8") + ";null")
    found: list[str] = page.evaluate(FOUND, list(only))
    return found
