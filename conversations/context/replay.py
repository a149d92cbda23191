"""A request that was made before, made again as it would have been with other settings: by the same builder, of what is
recorded and of the thread as it was. Reads, never writes, and asks no model.
"""

import copy
from collections.abc import Mapping
from dataclasses import replace

from conversations.context.builder import build_context, continue_context
from conversations.context.built_context import Context
from conversations.context.gather.material import BuildRequest, SearchedSource, ThreadScope
from conversations.context.gather.recorded import RecordedBeside, RecordedInputs, RecordedReader
from conversations.context.query import rewriting
from conversations.context.query.rewriting import Rewriting
from conversations.context.record import snapshots
from conversations.context.record.request_record import MemoryChoice, QueryChoice, Record, Settings
from conversations.context.render.rendering import digest
from conversations.context.sessions import Session, session_at
from conversations.context.sources import UNEDITED, Edit, Place, sources_at
from conversations.models import Assistant, Message
from conversations.providers import get_provider
from conversations.runtime.values import dataclass
from memory.scope import recorded_scope

WRITING = ("provider", "model", "max_output_tokens", "thinking_tokens", "effort", "show_thinking")
LOOKED_BACK = 200
"""Turns among which the beginning of the session is looked for."""


@dataclass(frozen=True, kw_only=True)
class ReplayedContexts:
    """A request made again, with its own settings and with others."""

    own: Context
    other: Context
    is_exact: bool
    """Whether with its own settings it comes out as it was sent, byte for byte."""


def remake(record: Record, settings: Settings) -> ReplayedContexts:
    """Must run within ``read_only``."""
    own = build(record, record.settings)
    is_exact = digest(own.payload) == bytes(record.snapshot.digest)
    other = build(record, settings, own.material.beside if own.material else None)
    return ReplayedContexts(own=own, other=other, is_exact=is_exact)


def build(
    record: Record,
    settings: Settings,
    searched: Mapping[str, SearchedSource] | None = None,
    edit: Edit = UNEDITED,
) -> Context:
    assistant = copy.copy(settings.assistant)
    if settings.query is QueryChoice.RULES:
        assistant.rewriting = Assistant.Rewriting.LOCAL
    edit = replace(edit, widened=_widened(record.settings.assistant, assistant))
    reader = RecordedReader(replace(_inputs(record, assistant, settings, searched), edit=edit))
    context = build_context(_request(record, assistant, settings), reader)
    at = record.snapshot.created_at
    for round_ in record.rounds:
        context = continue_context(context, round_.done, at=at, may_stay=round_.stayed, reader=reader)
    return context


def _widened(then: Assistant, wanted: Assistant) -> frozenset[str]:
    """The sources that may take more than they could."""
    fields = {source.name: source.budget_field for source in sources_at(Place.STANDING) if source.budget_field}
    return frozenset(name for name, field in fields.items() if getattr(wanted, field) > getattr(then, field))


def _request(record: Record, assistant: Assistant, settings: Settings) -> BuildRequest:
    thread, is_now = record.thread, settings.memory is MemoryChoice.NOW
    scope = ThreadScope(
        user_id=thread.user_id,
        thread_id=thread.id,
        end=record.end,
        session=session_then(record) if is_now else Session(started_at=record.at),
        remembers=settings.memory is not MemoryChoice.OFF and (thread.remembers or not is_now),
        cleared_through=thread.cleared_through,
        memory=recorded_scope(record.snapshot.scope),
    )
    return BuildRequest(
        scope=scope,
        assistant=assistant,
        provider=get_provider(assistant.provider),
        newest=record.newest,
        at=record.at,
        tools=settings.tools,
        options=record.settings.options,
        query=_query(record, settings),
        silent=record.silent,
    )


def _inputs(
    record: Record, assistant: Assistant, settings: Settings, searched: Mapping[str, SearchedSource] | None
) -> RecordedInputs:
    """As far as these settings leave it as it was recorded."""
    is_now, is_same_model = settings.memory is MemoryChoice.NOW, _is_same_model(record, assistant)
    is_kept_as_long = is_same_model and assistant.cache_lifetime == record.settings.assistant.cache_lifetime
    remembered = {source.name for source in sources_at(Place.BESIDE) if source.is_memory}
    return RecordedInputs(
        at=record.at,
        known=None if is_now else record.known,
        beside=RecordedBeside(
            fitted={name: each for name, each in record.beside.items() if not (is_now and name in remembered)},
            searched=searched,
            may_search=record.may_search,
        ),
        allowance=record.allowance if _writes_as_recorded(assistant, record) else None,
        program=record.program if assistant.provider == record.settings.assistant.provider else None,
        base=assistant.system_prompt if is_same_model else "",
        factor=snapshots.factor_of(record.snapshot) if is_same_model else None,
        lifetime=record.lifetime if is_kept_as_long else None,
        window=record.window if is_same_model else 0,
        row=record.row if is_same_model else {},
        files=record.files,
        quoting=record.snapshot.quoting,
        citing=record.citing,
        counts=snapshots.counts_of(record.snapshot) if is_same_model else None,
    )


def _writes_as_recorded(assistant: Assistant, record: Record) -> bool:
    """Then the record says what it may write and think, whatever has become of the model's row."""
    recorded = record.settings.assistant
    return all(getattr(assistant, name) == getattr(recorded, name) for name in WRITING)


def _is_same_model(record: Record, assistant: Assistant) -> bool:
    return (assistant.provider, assistant.model) == (record.snapshot.provider, record.snapshot.model)


def _query(record: Record, settings: Settings) -> Rewriting | None:
    if settings.query is QueryChoice.RECORDED or record.silent:
        return record.query
    if settings.query is QueryChoice.OFF:
        return rewriting.OFF
    return None


def session_then(record: Record) -> Session:
    """As far as this thread alone tells."""
    mine = Message.objects.filter(user=record.thread.user_id, thread=record.thread)
    earlier = mine.filter(position__lt=record.newest.position, role="user")
    times = sorted(earlier.order_by("-position").values_list("created_at", flat=True)[:LOOKED_BACK])
    session: Session | None = None
    last = None
    for at in (*times, record.at):
        session, last = session_at(at, last_active=last, last_session=session), at
    assert session
    return session
