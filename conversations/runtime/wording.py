"""Sentences in the language of the page, with their values: what templates' `{% blocktranslate %}` is for them, for code.

Programs, workers and commands have no page, so they read English; `manage.py doctor` speaks the language of its process.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Self, cast

from django.conf import settings
from django.utils import translation
from django.utils.formats import get_format
from django.utils.numberformat import format as formatted
from django.utils.translation import gettext, gettext_lazy, ngettext


def filled(text: str, /, **values: object) -> str:
    """The translation of `text` with `{name}` replaced by its value; whole numbers as the language writes them."""
    return gettext(text).format_map({name: shown(value) for name, value in values.items()})


def counted(one: str, many: str, count: int, /, **values: object) -> str:
    """The form that the number takes, which is `{count}` in it."""
    return ngettext(one, many, count).format_map(
        {"count": number(count), **{name: shown(value) for name, value in values.items()}}
    )


class Worded(str):
    """A message with figures: English, with the ``sentences`` and ``values`` that it is made of, so that a page can say it in
    its language. ``{name}`` in a sentence is a value; each sentence is translated by itself."""

    sentences: tuple[str, ...]
    values: Mapping[str, object]

    def __new__(cls, *sentences: str, values: Mapping[str, object]) -> Self:
        english = {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
        message = super().__new__(cls, " ".join(sentences).format_map(english))
        message.sentences, message.values = sentences, values
        return message


def worded(*sentences: str, **values: object) -> Worded:
    return Worded(*sentences, values=values)


def translated(message: str) -> str:
    """What the API says in English, in the language of the page."""
    if isinstance(message, Worded):
        return " ".join(filled(sentence, **message.values) for sentence in message.sentences)
    return gettext(message) if message else ""


def shown(value: object) -> object:
    return number(value) if isinstance(value, int) and not isinstance(value, bool) else value


def number(value: float | Decimal, places: int = 0) -> str:
    """With the separators of the language; the digits are 0–9 in each."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    decimal, thousand, grouping = (
        get_format(name, language, use_l10n=True)
        for name in ("DECIMAL_SEPARATOR", "THOUSAND_SEPARATOR", "NUMBER_GROUPING")
    )
    return formatted(f"{value:.{places}f}", decimal, places, grouping, thousand, force_grouping=True, use_l10n=True)


def inside(text: object) -> str:
    """A label within a line. German keeps its capitals, as they tell nouns."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    return str(text) if language == "de" else str(text).lower()


def joined(texts: list[str]) -> str:
    """`a and b`."""
    return gettext(" and ").join(texts)


def lazy(text: str) -> str:
    """Translated whenever it is read, for tables that are made once. ``join`` takes it by ``str()`` alone."""
    return cast(str, gettext_lazy(text))


def marked(one: str, many: str) -> tuple[str, str]:
    """Two forms for `counted`, in a table."""
    return one, many
