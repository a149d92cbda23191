"""Whether recorded requests can be built again, byte for byte, from what is in the database."""

from dataclasses import dataclass

from conversations.context.record import snapshots
from conversations.context.record.snapshots import NotRebuildable
from conversations.context.render.rendering import digest
from conversations.models import ContextSnapshot


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Of so many requests: came out as they were sent, otherwise, or rest on what was deleted or forgotten since."""

    proven: int
    different: int
    not_rebuildable: int


def prove(count: int) -> Proof:
    """So many at random."""
    proven = different = gone = 0
    for snapshot in ContextSnapshot.objects.order_by("?")[:count]:
        try:
            if digest(snapshots.rebuild(snapshot)) == bytes(snapshot.digest):
                proven += 1
            else:
                different += 1
        except NotRebuildable:
            gone += 1
    return Proof(proven=proven, different=different, not_rebuildable=gone)
