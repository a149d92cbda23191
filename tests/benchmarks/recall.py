"""Recall for a user with 100,000 turns, beside PostgreSQL's own ranking over the same turns: time, size, what storing costs.

``python -m tests.benchmarks recall TURNS`` for as many.
"""

import random
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate, batched, count

from django.db import connection
from django.utils import timezone

from conversations.models import Message, Thread
from conversations.runtime.db import read_only
from memory.index import word_index
from memory.index.word_index import SaidTurn
from memory.sources.recall import WORTH_TELLING, RecallQuery, search, searched
from tests.benchmarks.measuring import doing, p50_p95, side_by_side, table
from tests.benchmarks.memory.accounts import said_turn
from tests.conversations.factories import chain, make_thread, make_user

TURNS, THREAD = 100_000, 1_000
WORDS = 30_000
START = datetime(2025, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=400)
OURS = "ours, a search"
BESIDE_A_MESSAGE = "ours, beside a message in a thread of 1,000 turns"
ROOM = 2_400
"""Estimated tokens."""
ANY, ALL = "ts_rank, any word", "ts_rank, all words"
BESIDE = """
CREATE TABLE bench_tsvector AS
SELECT turn.id, to_tsvector('english', turn.text) AS vector
FROM conversations_message AS turn JOIN conversations_thread AS thread ON thread.id = turn.thread_id
WHERE thread.user_id = %(user)s
"""
RANKED = """
SELECT id FROM bench_tsvector, {query} AS query WHERE vector @@ query ORDER BY ts_rank(vector, query) DESC LIMIT 50
"""
QUERIES = {
    ANY: RANKED.format(query="to_tsquery('english', %(any)s)"),
    ALL: RANKED.format(query="plainto_tsquery('english', %(all)s)"),
}


def main(turns: int = TURNS) -> None:
    draw = random.Random(7)
    words = [
        "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(draw.randint(2, 4)))
        for _ in range(WORDS)
    ]
    weights = list(accumulate(1 / (rank + 8) for rank in range(WORDS)))

    def say(length: int) -> str:
        return " ".join(draw.choices(words, cum_weights=weights, k=length))

    user = make_user("recalls")
    threads = [make_thread(user, created_at=START + timedelta(days=n)) for n in range(turns // THREAD)]
    with doing(f"storing {turns:,} turns of one user"):
        for thread in threads:
            texts = [say(max(2, min(200, int(draw.lognormvariate(3, 0.8))))) for _ in range(THREAD)]
            Message.objects.bulk_create(chain(thread, texts))
            Thread.objects.filter(id=thread.id).update(message_count=THREAD, last_position=THREAD)
    with doing("indexing them"):
        for some in batched(threads, 10):
            word_index.store(user.pk, [said_turn(turn) for turn in Message.objects.filter(thread__in=some)])
        word_index.count_words(user.pk, [thread.id for thread in threads])
        word_index.store_batch(user.pk, [], until=timezone.now())
    with doing("the same for ts_rank"), connection.cursor() as cursor:
        cursor.execute(BESIDE, {"user": user.pk})
        cursor.execute("CREATE INDEX bench_tsvector_words ON bench_tsvector USING gin (vector)")
        cursor.execute("VACUUM ANALYZE bench_tsvector")
        cursor.execute("VACUUM ANALYZE memory_indexedpassage")
    asked = [say(draw.choice([2, 3, 4, 5, 6, 8])) for _ in range(400)]
    ways: dict[str, Callable[[str], object]] = {
        OURS: partial(recalled, user.pk),
        BESIDE_A_MESSAGE: partial(recalled_beside, user.pk, threads[len(threads) // 2].id),
    }
    for name, statement in QUERIES.items():
        ways[name] = partial(ranked, statement)
    taken = side_by_side({name: in_turn(way, asked) for name, way in ways.items()}, seconds=20)
    table(f"recall of a user with {turns:,} turns, 2 to 8 words", taken, limit=OURS)
    sizes()
    storing(user.pk, threads[0], say)


def recalled(user_id: int, text: str) -> object:
    with read_only():
        return search(RecallQuery(user_id=user_id, text=text, at=NOW), facts=False)


def recalled_beside(user_id: int, thread_id: uuid.UUID, text: str) -> object:
    query = RecallQuery(user_id=user_id, text=text, at=NOW, thread_id=thread_id, before=THREAD - 80)
    with read_only():
        return searched(query, facts=False, least=WORTH_TELLING, room=ROOM)


def ranked(statement: str, text: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"any": " | ".join(text.split()), "all": text})
        return cursor.fetchall()


def in_turn(way: Callable[[str], object], asked: Sequence[str]) -> Callable[[], object]:
    numbers = count()
    return lambda: way(asked[next(numbers) % len(asked)])


def sizes() -> None:
    print("\n== room on disk, MB (ours, of 100,000 turns: at most 50)")
    with connection.cursor() as cursor:
        for name in ("memory_indexedpassage", "bench_tsvector"):
            cursor.execute("SELECT pg_total_relation_size(%s) / 1e6", [name])
            print(f"  {name:<62} {cursor.fetchone()[0]:9.1f}")


def storing(user_id: int, thread: Thread, say: Callable[[int], str]) -> None:
    """What indexing a question and its answer takes, right after they were stored; no reply waits for it."""
    numbers = count(THREAD + 1)

    def index_pair() -> None:
        turns = [
            SaidTurn(thread=thread.id, depth=n, position=n, role="user", text=say(30), at=NOW)
            for n in (next(numbers), next(numbers))
        ]
        word_index.store(user_id, turns)

    p50, p95 = p50_p95(side_by_side({"": index_pair})[""])
    print(f"\n== indexing two turns, after the reply: p50 {p50:.3f}  p95 {p95:.3f} ms")
