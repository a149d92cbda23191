"""A request as another version of its assistant, or this release, would have built it: a side of a comparison."""

from conversations.context import replay
from conversations.context.record.assistant_versions import at_version
from conversations.context.record.request_record import record_of
from conversations.models import AssistantVersion, ContextSnapshot
from conversations.regression.replaying import remade_at
from conversations.runtime.db import read_only
from conversations.staff.compare.sides import Side, side_of_context


def side_at(snapshot: ContextSnapshot, version: AssistantVersion | None, *, shown: bool) -> Side:
    """``None`` is this release, with the request's own version. Raises ``NotReplayable`` and ``ProviderError``."""
    record = record_of(snapshot)
    with read_only():
        context = (
            remade_at(record, at_version(version.assistant, version)).other
            if version
            else replay.build(record, record.settings)
        )
    return side_of_context(context, snapshot.thread_id, shown=shown)
