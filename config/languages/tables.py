"""Texts that stand in tables of the code, which mark none of them: they are translated where a page shows them.

So what lies below the doors knows no languages, and nothing of it that a model is sent can depend on one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from config.languages import names, raised
from conversations import errors
from conversations.context.builder import STEPS
from conversations.context.explain.section_names import OWN_LABELS, section_names
from conversations.context.explain.turn_history import Fate
from conversations.context.explain.wording import wording
from conversations.context.query.rewriting import RewritingOutcome
from conversations.context.reasons import Reason
from conversations.context.record import fates
from conversations.context.record.request_record import MemoryChoice, QueryChoice
from conversations.context.rules.prompt_cache import CacheState
from conversations.context.sources import all_sources
from conversations.models import ContextSnapshot, Message, Project, Reply, Scope
from conversations.providers.errors import ROWS
from conversations.staff import display
from conversations.staff.overview.usage_charts import STATUSES
from conversations.tools import known
from conversations.web import answering, examples, views
from memory.staff.consolidation import STYLES, StateFilter
from memory.web import views as memory_views

DJANGOS = (
    *("Run", "- Select an option -", "Filter by %(field_name)s", "Search %(name)s", "Pagination %(name)s"),
    *("Pagination %(name)s entries", "After you’ve created a user, you’ll be able to edit more user options."),
    "Are you sure you want to delete the %(object_name)s “%(escaped_object)s”? "
    "All of the following related items will be deleted:",
    "Deleting the %(object_name)s “%(escaped_object)s” would require deleting the following protected related objects:",
    "Deleting the %(object_name)s “%(escaped_object)s” would result in deleting related objects, "
    "but your account doesn't have permission to delete the following types of objects:",
)
"""Of Django's own pages, whose catalogues of some languages lack them."""


def pages() -> Iterator[str]:
    yield from DJANGOS
    yield from texts_in(wording())
    yield from texts_in(examples.EXAMPLES)
    for note in (answering.OFFLINE_NOTE, answering.CHOSEN_OFFLINE_NOTE, answering.SMALL_NOTE, answering.LOCAL_NOTE):
        yield from texts_in(note)
    yield answering.NOBODY
    yield from memory_views.LOOKED.values()
    yield from memory_views.DID.values()
    yield from names.texts()
    yield from staff_tables()
    yield from error_messages()


def plurals() -> Iterator[tuple[str, str]]:
    """Nouns with their numbers, on pages of staff."""
    yield from (display.forms_of(noun) for noun in display.NOUNS)
    kinds = {kind.code for source in all_sources() for kind in source.kinds}
    yield from (fates.forms_of(kind) for kind in sorted({*fates.NOUNS, *kinds}))


def staff_tables() -> Iterator[str]:
    """What pages of staff name by tables of rows below them."""
    for reason in Reason:
        yield from (reason.label, reason.item_label, reason.rule, reason.value.replace("_", " "))
    for fate in Fate:
        yield from (fate.label, fate.label.removeprefix("left out: "))
    for section in section_names().values():
        yield section.label
    for labels in OWN_LABELS.values():
        yield from labels.values()
    yield from (outcome.label for outcome in RewritingOutcome)
    for source in all_sources():
        yield from (
            source.name.replace("_", " "),
            *(kind.what for kind in source.kinds),
        )
    yield from (step.label for step in STEPS)
    for status in (*Reply.Status, *ContextSnapshot.Status, *Message.Status, *Message.Role):
        yield str(status.value)
    yield from (row.get("instead", "could not be asked") for row in ROWS.values())
    yield from (*STYLES, *StateFilter.states)
    yield from (state.label for state in CacheState)
    yield from (choice.label for choice in (*MemoryChoice, *QueryChoice))
    yield from (scope.label for scope in Scope)
    yield from (colour.label for colour in Project.Colour)
    yield from (tool.doing for tool in known().values())
    yield from STATUSES


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
    """Of kinds of errors, and those that are raised."""
    kinds = [errors.OpenbookError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        yield kind.message
    yield from raised.messages()
