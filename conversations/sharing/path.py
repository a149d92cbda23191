"""The turns that a link shows: the path to the shared one, as it is at this moment, without what was forgotten."""

from collections.abc import Sequence
from uuid import UUID

from conversations.models import Message, Share
from conversations.threads import paths


def is_shown(turn: Message) -> bool:
    return turn.status != Message.Status.FORGOTTEN and turn.forgotten_at is None


def turn_ids(share: Share) -> list[UUID]:
    """Of all turns on the path, the first one first; none where the shared turn is gone. Their rows say which are shown."""
    if share.message_id is None:
        return []
    return paths.ids_to(share.message_id, thread_id=share.thread_id, user_id=share.user_id)


def turns(share: Share, ids: Sequence[UUID]) -> list[Message]:
    """The turns of these ids that are shown, in order."""
    rows = Message.objects.filter(id__in=ids, user=share.user_id, thread=share.thread_id)
    return [turn for turn in rows.order_by("depth") if is_shown(turn)]
