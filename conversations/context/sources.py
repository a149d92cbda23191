"""What a context is made of, read from PostgreSQL. Reads only, one statement each."""

import json
import uuid
from typing import Any

from django.db import connection

from conversations.context.budget import Budget
from conversations.context.windowing import Turn

# The newest turns of the path before a position: an index range, whatever the length of the thread. The running total tells
# where the budget ends before any text is read; one turn more than fits is read, to know that something was left out.
HISTORY = """
WITH newest AS (
    SELECT token_total FROM conversations_message
    WHERE thread_id = %(thread)s AND is_active AND position < %(before)s
    ORDER BY position DESC LIMIT 1
)
SELECT id, position, depth, role, content, token_count
FROM conversations_message
WHERE thread_id = %(thread)s AND is_active AND position < %(before)s
  AND (token_total > (SELECT token_total FROM newest) - %(tokens)s
       OR position IN (SELECT position FROM conversations_message
                       WHERE thread_id = %(thread)s AND is_active AND position < %(before)s
                       ORDER BY position DESC LIMIT 3))
ORDER BY position DESC LIMIT %(turns)s
"""


def read_history(thread_id: uuid.UUID, *, before: int, budget: Budget) -> list[Turn]:
    """The turns that may fit, oldest first, and one more where there is one."""
    values: dict[str, Any] = {
        "thread": thread_id,
        "before": before,
        "tokens": budget.history_tokens,
        "turns": budget.history_turns + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(HISTORY, values)
        rows = cursor.fetchall()
    return [
        Turn(id=id, position=position, depth=depth, role=role, content=json.loads(content), token_count=token_count)
        for id, position, depth, role, content, token_count in reversed(rows)
    ]
