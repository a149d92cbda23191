"""Building a context: flat in the thread's length, beside a raw prepared statement that reads the same rows."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
from django.db import connection

from config.management.commands.serve import give_way
from conversations.context.builder import build_context
from conversations.context.built_context import Context
from conversations.context.gather.history import HistoryQuery, read_history
from conversations.context.sessions import Session
from conversations.context.tokens.budget import Budget
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, Thread, text_blocks
from conversations.runtime.db import read_only
from conversations.runtime.ids import lowest_since
from tests.benchmarks.corpus import LENGTHS
from tests.benchmarks.measuring import p50_p95, side_by_side, table
from tests.conversations.factories import build_request, make_snapshot
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic
from tests.memory.profiles import Profile, read_profile

# One statement for the same rows: the turns, the request before, and what is known of the person.
RAW = """
(SELECT id, position, depth, role, text, content::text, token_count, created_at, reply_id FROM conversations_message
 WHERE thread_id = %(thread)s AND is_active AND position < %(before)s ORDER BY position DESC LIMIT %(turns)s)
UNION ALL
(SELECT id, 0, 0, provider, runs, cache, total_tokens, created_at, reply_id FROM conversations_contextsnapshot
 WHERE thread_id = %(thread)s AND id >= %(since)s ORDER BY created_at DESC LIMIT 1)
UNION ALL
(SELECT id, 0, 0, '', content, '', 0, created_at, NULL FROM memory_memory
 WHERE user_id = %(user)s ORDER BY created_at DESC LIMIT 40)
UNION ALL
(SELECT id, 0, 0, '', title, '', 0, opened_at, NULL FROM memory_topic
 WHERE user_id = %(user)s AND resolved_at IS NULL ORDER BY opened_at DESC LIMIT 10)
UNION ALL
(SELECT id, 0, 0, '', text, '', 0, updated_at, NULL FROM memory_dailysummary
 WHERE user_id = %(user)s AND day = %(day)s)
UNION ALL
(SELECT id, 0, 0, '', text, '', 0, ended_at, NULL FROM memory_threadsummary
 WHERE user_id = %(user)s ORDER BY ended_at DESC LIMIT 1)
"""
LIMIT = "raw prepared binary statement"
OWN = "the statement of a context, as raw"


NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
SESSION = Session(started_at=NOW, away_since=NOW - timedelta(days=3))


def main(url: str, threads: Mapping[int, Thread]) -> None:
    remember(list(threads.values()))
    give_way()  # garbage is looked for as rarely as in a server
    with psycopg.connect(url, autocommit=True) as raw:
        raw.prepare_threshold = 0
        ways: dict[str, Callable[[Thread], object]] = {
            "source: history, artifacts, the request before": read_turns,
            "source: what is known of the person": read_known,
            "the whole context": build_read_only,
        }
        candidates: dict[tuple[str, int], Callable[[], object]] = {}
        for length, thread in threads.items():
            candidates[LIMIT, length] = raw_reader(raw, thread)
            candidates[OWN, length] = own_statement(raw, thread)
            candidates |= {(name, length): partial(way, thread) for name, way in ways.items()}
        taken = side_by_side(candidates)
    for length in threads:
        values = {name: taken[name, length] for name in [LIMIT, OWN, *ways]}
        table(f"the context of a thread of {length:,} turns", values, limit=LIMIT)
    flat({name: {length: p50_p95(taken[name, length])[0] for length in threads} for name in [LIMIT, OWN, *ways]})
    quickest({name: min(min(taken[name, length]) for length in threads) for name in [LIMIT, OWN, *ways]})


def flat(p50: Mapping[str, Mapping[int, float]]) -> None:
    """p50 of each way by the length of the thread, and how much more the longest costs than the shortest."""
    print("\n== p50 in ms by the length of the thread, in a table of 500,000 turns")
    print(f"  {'':<52}" + "".join(f"{length:>10,}" for length in LENGTHS) + "    growth")
    for name, values in p50.items():
        cells = "".join(f"{values[length]:>10.3f}" for length in LENGTHS)
        print(f"  {name:<52}{cells}  {values[LENGTHS[-1]] / values[LENGTHS[0]]:7.2f}x")


def quickest(least: Mapping[str, float]) -> None:
    """The quickest call of each way, which others on the machine disturb least, as a multiple of both raw statements."""
    print("\n== the quickest call of each, in ms")
    for name, value in least.items():
        print(f"  {name:<52}{value:>10.3f}  {value / least[LIMIT]:7.2f}x {value / least[OWN]:7.2f}x")


def remember(threads: Sequence[Thread]) -> None:
    """As much of everything that is known of a person as ever matters, and a request before in each thread.

    What is measured is the build alone: no query is rewritten, nothing is searched for the message.
    """
    first = threads[0]
    for thread in threads:
        thread.assistant.rewriting, thread.assistant.recall_tokens = Assistant.Rewriting.OFF, 0
    for n in range(40):
        at = NOW - timedelta(days=1, minutes=n)
        make_memory(first.user, f"Fact {n}: the harbour master writes it all down in his book.", created_at=at)
        make_topic(first.user, f"Topic {n}: the mooring", opened_at=at)
    make_daily_summary(
        first.user, str(NOW.date()), "They talked about boats. " * 20, key_moments=["A boat was bought."]
    )
    make_thread_summary(first, NOW - timedelta(days=3), "They planned a trip to Rome by sea. " * 8)
    for thread in threads:
        make_snapshot(thread)
    with connection.cursor() as cursor:
        for name in ("memory", "topic", "dailysummary", "threadsummary"):
            cursor.execute(f"VACUUM ANALYZE memory_{name}")


def raw_reader(raw: psycopg.Connection, thread: Thread) -> Callable[[], object]:
    values = {
        "thread": thread.id,
        "since": lowest_since(thread.id),
        "before": thread.last_position + 1,
        "turns": len(read_turns(thread)),
        "user": thread.user_id,
        "day": NOW.date(),
    }
    return lambda: raw.execute(RAW, values, prepare=True, binary=True).fetchall()


def own_statement(raw: psycopg.Connection, thread: Thread) -> Callable[[], object]:
    """What a context reads, which is more: files, artifacts that were made, what is switched off."""
    asked: list[tuple[str, Any]] = []

    def note(execute: Callable[..., Any], statement: str, values: Any, *rest: Any) -> Any:
        asked.append((statement, values))
        return execute(statement, values, *rest)

    with connection.execute_wrapper(note):
        build_read_only(thread)
    statement, values = max(asked, key=lambda each: len(each[0]))  # prices and the like are read anew now and then
    return lambda: raw.execute(statement, values, prepare=True, binary=True).fetchall()


def read_turns(thread: Thread) -> Sequence[Turn]:
    budget = Budget.of(thread.assistant)
    return read_history(
        HistoryQuery(user_id=thread.user_id, thread_id=thread.id, before=thread.last_position + 1, budget=budget)
    ).turns


def read_known(thread: Thread) -> Profile:
    with read_only():
        return read_profile(user_id=thread.user_id, thread_id=thread.id, session=SESSION)


def build_read_only(thread: Thread, text: str = "The weather is fine.", *, tokens: int = 8) -> Context:
    newest = Turn(
        position=thread.last_position + 1,
        depth=thread.message_count + 1,
        role="user",
        content=text_blocks(text),
        token_count=tokens,
    )
    with read_only():
        return build_context(build_request(thread, newest, session=SESSION, at=NOW))
