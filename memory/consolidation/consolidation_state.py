"""How consolidating a user went: failures in a row, and when it is tried again."""

from datetime import timedelta

from conversations.runtime import clock
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from memory.models import Consolidation

PAUSES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=1))
ERROR_CHARS = 200

SQL = read_statements(__file__)


def request(user_id: int) -> None:
    """There is more to do for the user than the times of the turns tell, once nothing else comes for a while."""
    Consolidation.objects.update_or_create(user_id=user_id, defaults={"wanted_at": clock.now()})


def record_failure(user_id: int, error: str) -> None:
    """Count a failure and put the next attempt off. ``error`` must not hold a text of the user's."""
    run(
        SQL["failed"],
        user=user_id,
        now=clock.now(),
        pauses=list(PAUSES),
        longest=len(PAUSES),
        error=error[:ERROR_CHARS],
    )
