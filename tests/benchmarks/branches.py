"""A thread of 10,000 turns with 2,000 branches beside a straight one of the same path: opened, and its context built.

The branches are spread over the thread, or are all versions of its last message. Alone: ``make bench ONLY=branches``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from conversations.models import Thread
from tests.benchmarks.context import build_read_only
from tests.benchmarks.corpus import make_long_thread
from tests.benchmarks.measuring import doing, side_by_side, table

TURNS, BRANCHES = 10_000, 2_000
PAIRS = (TURNS - 2 * BRANCHES) // 2
"""Questions with their answers on the path; each branch is one of them."""
STRAIGHT = "straight"
SPREAD, LAST = f"{BRANCHES:,} branches, spread", f"{BRANCHES:,} versions of the last message"

# A pair is a question and its answer. Those of branches stand in the order of time right before the pair of the path that
# took their place, and name the same turn as their parent.
FILL = """
WITH pair AS (
    SELECT place, 0 AS branch FROM generate_series(1, %(pairs)s) AS place
    UNION ALL
    SELECT CASE WHEN %(last)s THEN %(pairs)s ELSE number * %(pairs)s / %(branches)s END, number
    FROM generate_series(1, %(branches)s) AS number
), turn AS (
    SELECT place, branch, step, 2 * place - 2 + step AS depth,
           row_number() OVER (ORDER BY place, branch = 0, branch, step) AS position
    FROM pair, generate_series(1, 2) AS step
)
INSERT INTO conversations_message (id, user_id, thread_id, position, depth, role, text, status, token_count, token_total,
                                   created_at, is_active, parent_id)
SELECT md5(concat_ws(' ', %(thread)s::text, depth, branch))::uuid, %(user)s, %(thread)s, position, depth,
       CASE step WHEN 1 THEN 'user' ELSE 'assistant' END,
       'Turn ' || position || ': ' || repeat('the harbour lay quiet. ', 10), 'complete', 60, depth * 60,
       timestamptz '2026-01-01Z' + position * interval '1 minute', branch = 0,
       CASE WHEN depth > 1
            THEN md5(concat_ws(' ', %(thread)s::text, depth - 1, CASE step WHEN 1 THEN 0 ELSE branch END))::uuid END
FROM turn ORDER BY position
"""


def main() -> None:
    user = User.objects.create_user("branches", password="x")
    with doing(f"filling threads of {TURNS:,} turns"):
        threads = {
            STRAIGHT: fill(user, branches=0),
            SPREAD: fill(user, branches=BRANCHES),
            LAST: fill(user, branches=BRANCHES, last=True),
        }
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE conversations_message, conversations_thread")
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    for title, way in WAYS.items():
        asked = {name: partial(way, client, thread) for name, thread in threads.items()}
        table(f"{title}, 1.2 x at most are wanted", side_by_side(asked), limit=STRAIGHT)


def fill(user: User, *, branches: int, last: bool = False) -> Thread:
    thread = make_long_thread(user, 2 * PAIRS)
    values: dict[str, Any] = {"user": user.pk, "thread": thread.id, "pairs": PAIRS, "branches": branches, "last": last}
    with connection.cursor() as cursor:
        cursor.execute(FILL, values)
    Thread.objects.filter(id=thread.id).update(last_position=2 * (PAIRS + branches))
    return Thread.objects.select_related("assistant").get(id=thread.id)


def open_page(client: Client, thread: Thread) -> None:
    """As the chat opens one: the page, and its newest turns."""
    assert client.get(f"/threads/{thread.id}/").status_code == 200
    answer = client.get(f"/api/v1/threads/{thread.id}/messages/?before=end&page_size=50")
    assert answer.status_code == 200
    has_versions = any(turn["version_count"] > 1 for turn in answer.json()["results"])
    assert has_versions == (thread.last_position > thread.message_count)


def preview(client: Client, thread: Thread) -> None:
    """All that a message would be given, as an answer that explains it."""
    said = {"content": "The weather is fine."}
    answer = client.post(f"/api/v1/threads/{thread.id}/context/", said, content_type="application/json")
    assert answer.status_code == 200


WAYS: dict[str, Callable[[Client, Thread], object]] = {
    "a thread is opened": open_page,
    "its context is built": lambda client, thread: build_read_only(thread),
    "its context is built and explained, over REST": preview,
}
