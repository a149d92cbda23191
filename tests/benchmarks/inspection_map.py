"""The map of a thread of 1,000 turns with 300 requests, and why its third turn was forgotten, beside the raw statement that
reads the runs."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.context.reasons import Reason
from conversations.context.record import snapshot_codec
from conversations.context.record.turn_account import account
from conversations.context.rules.windowing import window
from conversations.context.turns.turn import Turn
from conversations.models import ContextSnapshot, Thread, text_blocks
from conversations.runtime.ids import uuid7
from tests.benchmarks.measuring import doing, side_by_side, table
from tests.conversations.context.turns import COMPANION
from tests.conversations.factories import make_snapshot, make_thread
from tests.memory.factories import make_thread_summary

TURNS, REQUESTS = 1_000, 300
TOKENS = 40
MADE_EVERY = 25
"""So many turns after one another an artifact was asked for and made."""
PART = 50

RAW = """
SELECT id, created_at, purpose, round, runs FROM conversations_contextsnapshot
WHERE thread_id = %s AND purpose IN ('reply', 'artifact') ORDER BY created_at, id
"""
LIMIT = "raw prepared binary statement: all runs"


def main(url: str) -> None:
    with doing(f"a thread of {TURNS:,} turns with {REQUESTS} requests"):
        thread = make_history()
    browser = Client(SERVER_NAME="127.0.0.1")  # a host that is allowed
    browser.force_login(User.objects.create_superuser("bench-staff"))
    third = thread.messages.get(position=3)
    map_url = reverse("admin:conversations_thread_map", args=[thread.pk])
    why_url = reverse("admin:conversations_message_why", args=[third.pk])
    with psycopg.connect(url, autocommit=True) as raw:
        raw.prepare_threshold = 0
        taken = side_by_side(
            {
                LIMIT: lambda: raw.execute(RAW, [thread.pk], prepare=True, binary=True).fetchall(),
                "the map, the whole page (at most 500 ms)": lambda: open_page(browser, map_url),
                "why a turn was forgotten, the whole page": lambda: open_page(browser, why_url),
            },
            rounds=6,
        )
    size = len(open_page(browser, map_url))
    table(f"the map of {TURNS:,} turns and {REQUESTS} requests: {size:,} bytes", taken, limit=LIMIT)


def open_page(browser: Client, url: str) -> bytes:
    response = browser.get(url)
    assert response.status_code == 200, response.status_code
    content: bytes = response.content
    return content


def make_history() -> Thread:
    """Requests over the newest turns, with the runs that the window gives; everything else is that of one real request."""
    thread = make_thread(turns=[f"Turn {n}" for n in range(1, TURNS + 1)])
    like = make_snapshot(thread)
    ContextSnapshot.objects.bulk_create(_requests(like))
    for last in range(PART, TURNS, PART):
        make_thread_summary(thread, timezone.now(), first_position=last - PART + 1, last_position=last)
    return thread


def _requests(like: ContextSnapshot) -> Iterator[ContextSnapshot]:
    values = {field.attname: getattr(like, field.attname) for field in like._meta.concrete_fields}
    begin: int | None = None
    for number in range(REQUESTS - 1):
        newest = TURNS - 2 * (REQUESTS - 1 - number) - 1
        earlier = [_turn(position) for position in range(1, newest)]
        fulfilled = [turn for turn in earlier if turn.position % MADE_EVERY < 2 and turn.position >= newest - 80]
        kept, left_out = window([turn for turn in earlier if turn not in fulfilled], COMPANION, begin_at=begin)
        begin = kept[0].position
        recalled = [turn for turn in earlier if turn.position in (7, 8, begin - 30) and turn.position % MADE_EVERY > 1]
        runs = account(
            kept,
            _turn(newest),
            left_out,
            {},
            excluded=[
                *((turn, Reason.FULFILLED_ARTIFACT) for turn in fulfilled),
                *((turn, Reason.RECALLED) for turn in recalled if number % 9 == 0),
            ],
        )
        at = like.created_at - timedelta(minutes=REQUESTS - number)
        own = {"id": uuid7(), "reply_id": None, "created_at": at, "runs": snapshot_codec.pack_runs(runs)}
        yield ContextSnapshot(**values | own)


def _turn(position: int) -> Turn:
    role = "user" if position % 2 else "assistant"
    return Turn(position=position, depth=position, role=role, content=text_blocks("…"), token_count=TOKENS)
