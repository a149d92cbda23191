"""What is to be translated: the texts that code, templates and scripts mark."""

import re
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import BytesIO, StringIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from django.conf import settings
from django.utils.translation.template import templatize

from config.languages import tables
from config.languages.catalogues import PAGES, SCRIPTS

FOLDERS = ("artifacts", "config", "conversations", "memory", "templates")
KEYWORDS = {
    **dict.fromkeys(("gettext", "gettext_lazy", "gettext_noop", "_"), None),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}
PYTHON_KEYWORDS = {
    **KEYWORDS,
    **dict.fromkeys(("filled", "lazy"), None),
    **dict.fromkeys(("counted", "marked"), (1, 2)),
}
"""With those of `conversations/runtime/wording.py`."""
ENDINGS = {".py": PAGES, ".html": PAGES, ".txt": PAGES, ".js": SCRIPTS}
TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<pattern>(?<=[(,=:\[!&|?{};])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+/[a-z]*)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)
    |(?P<name>[\w$.]+)|(?P<open>\()|(?P<close>\))""",
    re.DOTALL | re.VERBOSE,
)
"""Of a script: what tells strings from comments and patterns, and the calls that they stand in."""
NOTES = ("Translators:",)


def extracted(domain: str) -> Catalog:
    """All texts of a domain, without translations."""
    catalog = Catalog(charset="utf-8", fuzzy=False)
    for path in marked_files(domain):
        for _, text, notes, context in texts_of(path):
            catalog.add(text, auto_comments=notes, context=context)
    for text in tables.pages() if domain == PAGES else tables.scripts():
        if text:
            catalog.add(text)
    for forms in tables.plurals() if domain == PAGES else ():
        catalog.add(forms)
    return catalog


def marked_files(domain: str) -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((settings.BASE_DIR / folder).rglob("*")):
            if ENDINGS.get(path.suffix) == domain and (path.suffix != ".txt" or folder == "templates"):
                yield path


def texts_of(path: Path) -> Iterator[tuple[int, str | tuple[str, ...], list[str], str | None]]:
    if path.suffix == ".js":
        method, source, keywords = "javascript", path.read_text(), KEYWORDS
    elif path.suffix == ".py":
        method, source, keywords = "python", path.read_text(), PYTHON_KEYWORDS
    else:
        # As Python, with all else blanked out. In parentheses, as a template's indentation means nothing.
        keywords = KEYWORDS
        method, source = "python", f"({templatize(path.read_text(), str(path))})"
    with redirect_stderr(StringIO()):  # that values of a sentence are f-strings, which is no fault
        found = list(extract(method, BytesIO(source.encode()), keywords, NOTES, {"parse_template_string": "False"}))
    yield from found
    if path.suffix == ".js":
        known = {text for _, text, _, _ in found}
        yield from (each for each in nested_texts(source) if each[1] not in known)


def nested_texts(source: str) -> Iterator[tuple[int, str | tuple[str, ...], list[str], str | None]]:
    """Of calls within the arguments of another, `gettext("{a}", { a: ngettext(…) })`, which Babel leaves out."""
    open_calls: list[tuple[str, list[str], int]] = []
    last, end = "", 0
    for token in TOKENS.finditer(source):
        if token.lastgroup == "open":
            open_calls.append((last if last in KEYWORDS else "", [], source.count("\n", 0, token.start()) + 1))
        elif token.lastgroup == "string" and open_calls:
            texts = open_calls[-1][1]
            if texts and source[end : token.start()].strip() == "+":
                texts[-1] += token[0][1:-1]
            else:
                texts.append(token[0][1:-1])
            end = token.end()
        elif token.lastgroup == "close" and open_calls:
            name, texts, line = open_calls.pop()
            match name, texts:
                case "ngettext", [one, many, *_]:
                    yield line, (one, many), [], None
                case "gettext" | "gettext_noop", [text, *_]:
                    yield line, text, [], None
                case "pgettext", [context, text, *_]:
                    yield line, text, [], context
        last = token[0] if token.lastgroup == "name" else ""
