"""A language in which each text that is translated stands in brackets, so that a text without them is one that no language
reaches.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser

from django.utils.translation import trans_real
from pytest_django import Settings

CODE = "eo"
"""Any that Django knows and Openbook doesn't have."""
OPEN, CLOSE = "⟦", "⟧"
ENGLISH = re.compile(r"(?<![\w@./:{}\-])[A-Za-z][a-z]+(?![\w@./:{}=\-]*[\w={}/_])")
"""A word; what has a dot, a slash or a digit within is a name that machines gave."""
READ = ("alt", "aria-label", "placeholder", "title")
NOT_READ = ("code", "kbd", "pre", "script", "style", "template", "textarea")
CONTENT = {"ob-text", "ob-id", "readonly-text"}
"""What people, models and staff wrote, by the class of what holds it."""
EMPTY = ("br", "hr", "img", "input", "link", "meta")
ROW_NAME = re.compile(
    r"\b(?:\w+ )?\w+ [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|turn \d+ of the \w+|\w+ of (?:\d+|ada)\b"
)
"""What rows are called in records and logs, which are English."""


class BracketTranslation(trans_real.DjangoTranslation):
    """The catalogue: every text there is."""

    def gettext(self, message: str) -> str:
        return f"{OPEN}{message.rpartition(trans_real.CONTEXT_SEPARATOR)[2]}{CLOSE}" if message else ""

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(message)

    def npgettext(self, context: str, msgid1: str, msgid2: str, n: int) -> str:
        return self.ngettext(msgid1, msgid2, n)


@contextmanager
def pseudo_language(settings: Settings) -> Iterator[None]:
    """Browsers that ask for ``CODE`` are answered in it."""
    settings.LANGUAGES = [*settings.LANGUAGES, (CODE, "Pseudo")]
    catalogues = vars(trans_real)["_translations"]
    catalogues[CODE] = BracketTranslation("en")
    try:
        yield
    finally:
        del catalogues[CODE]


def bare_words(html: str, names: set[str]) -> list[str]:
    """Texts with English words outside of brackets; ``names`` are what people and models are called."""
    reader = Reader()
    reader.feed(html)
    texts = (outside(text) for text in reader.texts)
    return [text for text in texts if any(word not in names for word in ENGLISH.findall(text))]


def outside(text: str) -> str:
    """What no brackets hold, the innermost taken out first."""
    while (shorter := re.sub(rf"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", "", text)) != text:
        text = shorter
    return ROW_NAME.sub("", " ".join(text.split()))


class Reader(HTMLParser):
    """What a page shows, block by block, as brackets may hold tags."""

    BLOCKS = (
        "p",
        "li",
        "td",
        "th",
        "dt",
        "dd",
        "h1",
        "h2",
        "h3",
        "div",
        "option",
        "label",
        "button",
        "summary",
        "title",
    )

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = [""]
        self.skipped: list[str] = []
        """Tags that are open within one that is not read, itself included."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = {*(dict(attrs).get("class") or "").split()}
        if tag not in EMPTY and (self.skipped or tag in NOT_READ or classes & CONTENT):
            self.skipped.append(tag)
        self.texts[:0] = [value for name, value in attrs if name in READ and value and not self.skipped]
        if tag in self.BLOCKS:
            self.texts.append("")
        else:
            self.texts[-1] += " "

    def handle_endtag(self, tag: str) -> None:
        if self.skipped and tag in self.skipped:
            del self.skipped[len(self.skipped) - 1 - self.skipped[::-1].index(tag) :]
        if tag in self.BLOCKS:
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.texts[-1] += data
