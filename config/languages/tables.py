"""Texts that stand in tables of the code, which mark none of them: they are translated where a page shows them.

So what lies below the doors knows no languages, and nothing of it that a model is sent can depend on one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from config.languages import names
from conversations import errors
from conversations.context.explain.wording import wording
from conversations.web import answering, examples, views
from memory.web import views as memory_views


def pages() -> Iterator[str]:
    yield from texts_in(wording())
    yield from texts_in(examples.EXAMPLES)
    for note in (answering.OFFLINE_NOTE, answering.CHOSEN_OFFLINE_NOTE, answering.SMALL_NOTE, answering.LOCAL_NOTE):
        yield from texts_in(note)
    yield answering.NOBODY
    yield from memory_views.LOOKED.values()
    yield from memory_views.DID.values()
    yield from names.texts()
    yield from error_messages()


def scripts() -> Iterator[str]:
    """What the API answers with where something goes wrong, in English: the page shows it in its own language."""
    yield from error_messages()


def texts_in(table: Any) -> Iterator[str]:
    match table:
        case str() if table:
            yield table
        case Mapping():
            for key, value in table.items():
                if key not in views.CODES:
                    yield from texts_in(value)
        case list() | tuple():
            for value in table:
                yield from texts_in(value)


def error_messages() -> Iterator[str]:
    """Those that say the same each time."""
    kinds = [errors.OpenbookError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        yield kind.message
