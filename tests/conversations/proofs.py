"""Whether requests come out again as they were sent."""

from conversations.context import replay
from conversations.context.record.request_record import record_of
from conversations.models import ContextSnapshot
from conversations.runtime.db import read_only


def remade_exactly(snapshot: ContextSnapshot) -> bool:
    record = record_of(snapshot)
    with read_only():
        return replay.remake(record, record.settings).is_exact
