"""What is wrong with the translations: texts that nothing marks, those that are missing, and those that would show broken."""

import re
from collections import Counter
from collections.abc import Iterator

from babel.messages.catalog import Catalog, Message

from config.languages import bare, catalogues, raised
from config.languages.catalogues import Source
from config.languages.extraction import extracted

PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w*\}|</?\w+[^>]*>|%[sd%]")
"""What a translation has to repeat: `%(name)s`, `{name}` and tags."""


def missing(source: Source, expected: Catalog) -> Iterator[str]:
    """Texts without a translation, and whether the catalogue was brought up to date at all."""
    catalog = source.read()
    for message in expected:
        if not message.id:
            continue
        translated = catalog.get(message.id, message.context)
        if translated is None:
            yield f"{name(message)} is not in the catalogue: run `make messages`"
        elif not catalogues.is_translated(translated):
            yield f"{name(message)} is not translated"


def broken(source: Source) -> Iterator[str]:
    """Translations with other placeholders or tags than the text has."""
    catalog = source.read()
    for message in catalog:
        if not message.id or not catalogues.is_translated(message):
            continue
        translations = catalogues.forms(message)
        if isinstance(message.id, str):
            if parts(translations[0]) != parts(message.id):
                yield f"{name(message)}: other placeholders or tags"
            continue
        if len(translations) != catalog.num_plurals:
            yield f"{name(message)}: {len(translations)} forms, not {catalog.num_plurals}"
        # A form for one or two may say the number as a word.
        expected = parts(message.id[1])
        if any(parts(text) - expected for text in translations) or parts(translations[-1]) != expected:
            yield f"{name(message)}: other placeholders or tags"


def parts(text: str) -> Counter[str]:
    return Counter(PLACEHOLDER.findall(text))


def name(message: Message) -> str:
    text = message.id if isinstance(message.id, str) else message.id[0]
    return f"“{text[:80]}”"


def problems(*, allow_missing: bool) -> Iterator[str]:
    yield from bare.problems()
    yield from raised.problems()
    expected = {domain: extracted(domain) for domain in catalogues.DOMAINS}
    for source in catalogues.sources():
        found = [] if allow_missing else list(missing(source, expected[source.domain]))
        for problem in [*found, *broken(source)]:
            yield f"{source.language}/{source.domain}: {problem}"
