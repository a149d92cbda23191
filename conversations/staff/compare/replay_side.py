"""A request as another version of its assistant, or this release, would have built it, or without something that it held: a
side of a comparison."""

from conversations.context import replay
from conversations.context.record.assistant_versions import at_version
from conversations.context.record.request_record import record_of
from conversations.models import AssistantVersion, ContextSnapshot
from conversations.regression import counterfactual
from conversations.regression.replaying import remade_at, remaking
from conversations.staff.compare.sides import Side, side_of_context


def side_at(snapshot: ContextSnapshot, version: AssistantVersion | None, *, shown: bool) -> Side:
    """``None`` is this release, with the request's own version. Raises ``NotReplayable``."""
    record = record_of(snapshot)
    with remaking():
        context = (
            remade_at(record, at_version(version.assistant, version)).other
            if version
            else replay.build(record, record.settings)
        )
    return side_of_context(context, snapshot.thread_id, shown=shown)


def side_without(snapshot: ContextSnapshot, id: str, *, shown: bool) -> Side:
    """Raises ``NotReplayable``."""
    record = record_of(snapshot)
    with remaking():
        context = counterfactual.without(record, id)
    return side_of_context(context, snapshot.thread_id, shown=shown)
