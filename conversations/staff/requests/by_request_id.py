"""Replies by the id of the request that asked for them, as log lines, spans, errors and the ``X-Request-ID`` header have it."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from conversations.models import Reply
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.request_ids import ACCEPTABLE_ID, FOREIGN_ID, made_at

EARLIEST, LATEST = timedelta(minutes=1), timedelta(minutes=10)
"""How far from its request a reply may have begun, as the clock says."""


def replies_of(request_id: str) -> list[UUID]:
    """Found by the time that an id of ours tells, or by the index of all others: never by looking at all replies."""
    if not ACCEPTABLE_ID.fullmatch(request_id):
        return []
    replies = Reply.objects.filter(request_id=request_id)
    if (milliseconds := made_at(request_id)) is None:
        replies = replies.filter(request_id__regex=FOREIGN_ID)
    else:
        at = datetime.fromtimestamp(milliseconds / 1000, UTC)
        replies = replies.filter(id__gte=lowest_uuid7(at - EARLIEST), id__lt=lowest_uuid7(at + LATEST))
    return list(replies.values_list("pk", flat=True))
