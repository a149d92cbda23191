"""The path of turns that a request was built on, which need not be the active one any more."""

from collections.abc import Collection

from conversations.context.gather.history import PathEnd, chain_of
from conversations.context.reasons import OFF_PATH, Reason
from conversations.context.record import snapshots
from conversations.models import ContextSnapshot, Message


def end_of_path(request: ContextSnapshot) -> PathEnd:
    """The turn before the message that was answered; where no message is stored, the last turn that it tells of."""
    mine = Message.objects.filter(user=request.user_id, thread=request.thread_id)
    if request.message_id:
        return PathEnd(turn=mine.filter(id=request.message_id).values_list("parent", flat=True).first())
    runs = [run for run in snapshots.runs_of(request) if run.reason not in {*OFF_PATH, Reason.NEWEST}]
    return PathEnd(turn=mine.filter(position__in=[run.last for run in runs[-1:]]).values_list("id", flat=True).first())


def off_path(request: ContextSnapshot, positions: Collection[int]) -> frozenset[int]:
    """Which of these positions, named one by one, lie between turns of the request's path without being on it."""
    mixed = [run for run in snapshots.runs_of(request) if run.is_mixed]
    doubtful = {place for place in positions if any(run.first <= place <= run.last for run in mixed)}
    if not doubtful:
        return frozenset()
    end = end_of_path(request)
    most = snapshots.runs_of(request)[-1].last - min(doubtful) + 1
    path = chain_of(end, user_id=request.user_id, thread_id=request.thread_id, turns=most)
    return frozenset(doubtful.difference(path))
