"""A request as another version of its assistant, or this release, would have built it, without something that it held, or with
a note that nobody made: a side of a comparison."""

from dataclasses import replace

from conversations.context import replay
from conversations.context.reasons import Reason
from conversations.context.record.assistant_versions import at_version
from conversations.context.record.request_record import record_of
from conversations.context.sources import AddedNote
from conversations.models import AssistantVersion, ContextSnapshot, Message
from conversations.regression import counterfactual
from conversations.regression.replaying import remade_at, remade_without, remaking
from conversations.staff.compare.sides import Side, Taken, side_of_context


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


def side_lifted(snapshot: ContextSnapshot, rule: Reason, *, shown: bool) -> Side:
    """As it would have been had a rule of choosing not held. Raises ``NotReplayable``."""
    record = record_of(snapshot)
    with remaking():
        context = remade_without(record, rule).other
    return side_of_context(context, snapshot.thread_id, shown=shown)


def side_without(snapshot: ContextSnapshot, id: str, *, shown: bool) -> Side:
    """Raises ``NotReplayable``."""
    record = record_of(snapshot)
    with remaking():
        context = counterfactual.without(record, id)
    turns = Message.objects.filter(user=snapshot.user_id, thread=snapshot.thread_id, pk=id)
    taken = Taken(id=id, position=turns.values_list("position", flat=True).first())
    return replace(side_of_context(context, snapshot.thread_id, shown=shown), taken=taken)


def side_with(snapshot: ContextSnapshot, note: AddedNote, *, shown: bool) -> Side:
    """Raises ``NotReplayable``."""
    record = record_of(snapshot)
    with remaking():
        _, context = counterfactual.with_added(record, note)
    return side_of_context(context, snapshot.thread_id, shown=shown)
