"""Texts of templates and scripts that no translation can reach, as nothing marks them.

Cheap, and by the look of things: what a template writes between tags, or into attributes that people read or hear; and what a
script writes that looks like a sentence.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.conf import settings
from django.template.base import Lexer, TokenType

from config.languages.extraction import KEYWORDS, TOKENS, marked_files

SAID = re.compile(r"[^\W\d_]{2}")
READ = {"alt", "aria-label", "aria-description", "placeholder", "title"}
NOT_READ = {"code", "kbd", "pre", "script", "style"}
FILTERS = re.compile(r"""\|(?:default|default_if_none):["'][^"']*(?:[A-Z]|[a-z] )|\|pluralize\b""")
"""Filters that bring words along."""
SENTENCE = re.compile(r"[A-Z][\w’']+[.…!?]$|[A-Z][\w’']*,? [\w“{$(]|[a-z’']{2,},? [a-z’']{2,} [a-z’']{2,}")
NAMES = {"Openbook", "CSV", "JSON", "API", "SHA-256", "REST", "WebSocket", "Markdown", "PDF", "Word"}
"""Those of products and formats are the same in each language."""
EXEMPT = {
    "templates/conversations/api_docs.html": "the reference of programmers is in English, as the API is",
    "templates/conversations/api_fields.html": "the same",
    "templates/conversations/socket_docs.html": "the same",
    "templates/conversations/guide.html": "the same",
    "artifacts/exporting/page.html": "filled by code; what it says is the artifact's",
    "artifacts/web/picture.html": "the frame of a picture, whose page names it",
}
UNREAD_CALLS = {"debug", "error", "info", "log", "warn"}
"""Of the console, which nobody but who writes scripts reads."""
MARKING = {*KEYWORDS, *UNREAD_CALLS}
CLASSES = re.compile(r"[a-z-]+(?: [a-z-]+)*$")
EXEMPT_SCRIPTS = {
    "conversations/static/conversations/js/incomplete.js": "says that scripts can't be loaded, catalogues among them",
    "conversations/static/conversations/js/openbook-chat.js": "has words of its own in each language, as pages elsewhere do",
    "conversations/static/conversations/js/readable.js": "the small words of five languages, by which they are told apart",
}
EXEMPT_SCRIPT_TEXTS = {
    "The page has no element #${id}.": "for who writes scripts",
}


def problems() -> Iterator[str]:
    for domain, texts_of in (("django", bare_in_template), ("djangojs", bare_in_script)):
        for path in marked_files(domain):
            name = str(path.relative_to(settings.BASE_DIR))
            if path.suffix in {".html", ".js"} and name not in {*EXEMPT, *EXEMPT_SCRIPTS}:
                yield from (f"{name}:{line}: “{text[:60]}” is not marked" for line, text in texts_of(path.read_text()))


def bare_in_template(source: str) -> list[tuple[int, str]]:
    """Line and text of each. Tags and variables are blanked out first, line by line."""
    kept: list[str] = []
    found: list[tuple[int, str]] = []
    skipped_until = ""
    for token in Lexer(source).tokenize():
        words = token.contents.split()
        lines = "\n" * source_lines(token)
        if skipped_until:
            skipped_until = (
                "" if token.token_type is TokenType.BLOCK and words[:1] == [skipped_until] else skipped_until
            )
            kept.append(lines)
        elif token.token_type is TokenType.BLOCK and (ends := end_of(words)):
            skipped_until = ends
            kept.append(lines)
        elif token.token_type is TokenType.TEXT:
            kept.append(token.contents)
        else:
            if token.token_type is not TokenType.COMMENT and FILTERS.search(token.contents):
                found.append((token.lineno or 0, token.contents))
            kept.append(f"\ue000{lines}")
    reader = Reader()
    reader.feed("".join(kept))
    return sorted([*found, *reader.found])


def end_of(words: list[str]) -> str:
    """Of a block with nothing to read for us: translated already, a comment, or a value of `class`."""
    if words[0] in {"blocktranslate", "comment"}:
        return f"end{words[0]}"
    return "endblock" if words[:2] in (["block", "bodyclass"], ["block", "body_class"], ["block", "page_class"]) else ""


def source_lines(token: object) -> int:
    return getattr(token, "contents", "").count("\n")


class Reader(HTMLParser):
    """What a page shows or says, by its line."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self.within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in NOT_READ and not self.within:
            self.within = tag
        read = READ | ({"value"} if dict(attrs).get("type") == "submit" else set())
        for name, value in attrs:
            if name in read and value and is_said(value):
                self.found.append((self.getpos()[0], value))

    def handle_endtag(self, tag: str) -> None:
        if tag == self.within:
            self.within = ""

    def handle_data(self, data: str) -> None:
        if not self.within and is_said(data):
            before = data[: len(data) - len(data.lstrip())]
            self.found.append((self.getpos()[0] + before.count("\n"), " ".join(data.replace("\ue000", "…").split())))


def is_said(text: str) -> bool:
    words = text.replace("\ue000", " ").split()
    return any(SAID.search(word) for word in words if word.strip(".,:;()") not in NAMES)


def bare_in_script(source: str) -> list[tuple[int, str]]:
    """Strings that look like sentences, outside of gettext's calls."""
    found: list[tuple[int, str]] = []
    calls: list[bool] = []
    last = ""
    for token in TOKENS.finditer(source):
        text = token[0]
        if token.lastgroup == "open":
            calls.append(last.rpartition(".")[2] in MARKING or any(calls))
        elif token.lastgroup == "close":
            calls[-1:] = []
        elif token.lastgroup == "string" and not any(calls) and looks_said(text[1:-1]):
            found.append((source.count("\n", 0, token.start()) + 1, text[1:-1]))
        last = text if token.lastgroup == "name" else ""
    return found


def looks_said(text: str) -> bool:
    return bool(SENTENCE.match(text)) and not CLASSES.match(text) and text not in {*NAMES, *EXEMPT_SCRIPT_TEXTS}
