"""The catalogues as files: `locale/de/LC_MESSAGES/django.po` and `djangojs.po`, and what is compiled of them.

Python and templates read `.mo` files, browsers a module for each language: both are made, and lie beside the collected
static files. English needs none: it is what the code says.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings

PAGES, SCRIPTS = "django", "djangojs"
DOMAINS = (PAGES, SCRIPTS)
PLURALS = {
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
    "de": "nplurals=2; plural=(n != 1);",
    "es": "nplurals=2; plural=(n != 1);",
    "fr": "nplurals=2; plural=(n > 1);",
}
HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"Plural-Forms: {plurals}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
"""Without times: two branches that add translations are merged without a conflict here."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """One catalogue, as people write it."""

    language: str
    domain: str

    @property
    def path(self) -> Path:
        return settings.BASE_DIR / "locale" / self.language / "LC_MESSAGES" / f"{self.domain}.po"

    @property
    def compiled_path(self) -> Path:
        if self.domain == SCRIPTS:
            return settings.OPENBOOK_SCRIPT_CATALOGUES / f"{self.language}.js"
        return settings.OPENBOOK_CATALOGUES / self.language / "LC_MESSAGES" / f"{self.domain}.mo"

    def read(self) -> Catalog:
        if not self.path.exists():
            return Catalog(self.language)
        with self.path.open("rb") as file:
            return read_po(file, locale=self.language, domain=self.domain, abort_invalid=True)

    def write(self, catalog: Catalog) -> None:
        """Sorted, a text a line and without places, so that a change shows what was changed and nothing else."""
        body = BytesIO()
        write_po(
            body, catalog, width=0, no_location=True, omit_header=True, sort_output=True, ignore_obsolete=True
        )  # fmt: skip
        self.path.parent.mkdir(parents=True, exist_ok=True)
        header = HEADER.format(language=self.language, plurals=PLURALS[self.language])
        self.path.write_text(header + body.getvalue().decode().lstrip("\n"))


def sources() -> Iterator[Source]:
    for language, _ in settings.LANGUAGES:
        if language != settings.LANGUAGE_CODE:
            yield from (Source(language=language, domain=domain) for domain in DOMAINS)


def compile_stale() -> None:
    """Those that were changed since they were compiled."""
    for source in sources():
        changed_at = source.path.stat().st_mtime if source.path.exists() else 0.0
        target = source.compiled_path
        if not target.exists() or target.stat().st_mtime < changed_at:
            write_whole(target, compiled(source))


def compiled(source: Source) -> bytes:
    catalog = source.read()
    if source.domain == SCRIPTS:
        return script(source.language, catalog).encode()
    output = BytesIO()
    write_mo(output, catalog)
    return output.getvalue()


def script(language: str, catalog: Catalog) -> str:
    """The module that `conversations/static/conversations/js/language.js` imports."""
    texts = {key(message): message.string for message in catalog if message.id and is_translated(message)}
    rule = PLURALS[language].partition("plural=")[2].rstrip(";")
    words = json.dumps(texts, ensure_ascii=False, indent=0, sort_keys=True)
    return f"export const plural = (n) => Number({rule});\nexport const texts = {words};\n"


def key(message: Message) -> str:
    """The English text, the singular where there are two, after its context where it has one."""
    text = message.id if isinstance(message.id, str) else message.id[0]
    return f"{message.context}\x04{text}" if message.context else text


def is_translated(message: Message) -> bool:
    return not message.fuzzy and all(forms(message))


def forms(message: Message) -> list[str]:
    """The translations of a text, of which a number asks for several."""
    return [message.string or ""] if message.string is None or isinstance(message.string, str) else list(message.string)


def write_whole(path: Path, content: bytes) -> None:
    """At once, as several processes of tests may write the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)
