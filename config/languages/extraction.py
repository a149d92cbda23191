"""What is to be translated: the texts that code, templates and scripts mark."""

from collections.abc import Iterator
from io import BytesIO
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
    yield from extract(method, BytesIO(source.encode()), keywords, NOTES, {"parse_template_string": "False"})
