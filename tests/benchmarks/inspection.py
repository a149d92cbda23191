"""What staff look at while a million requests of half a year are stored: the list, its filters and the overview,
in server time.

Alone: ``make bench ONLY=inspection``.
"""

import os
from collections.abc import Callable
from datetime import datetime, timedelta

import psycopg
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import FATES, Assistant, ContextSnapshot
from conversations.runtime.db import run
from conversations.runtime.ids import lowest_uuid7
from conversations.upkeep import hourly_figures, partitions
from tests.benchmarks.measuring import doing, side_by_side, table

REQUESTS = 1_000_000
THREADS = 20_000
USERS = 2_000
DAYS = 180

# As wide as rows of real requests with a window of 80 turns, in the order of their time. What is rare is as rare as ten in a
# million.
FILL = """
SELECT setseed(0.5);
INSERT INTO auth_user (username, password, first_name, last_name, email, is_superuser, is_staff, is_active, date_joined)
SELECT 'person' || n, '', '', '', '', false, false, true, now() FROM generate_series(1, %(users)s) AS n;
INSERT INTO conversations_thread (id, user_id, assistant_id, title, created_at, updated_at, message_count, last_position,
                                  remembers)
SELECT gen_random_uuid(), person.first + n %% %(users)s, CASE WHEN n %% 500 = 0 THEN %(rare)s ELSE %(common)s END, '',
       now(), now(), 0, 0, true
FROM generate_series(1, %(threads)s) AS n, (SELECT min(id) AS first FROM auth_user WHERE username LIKE 'person%%') AS person;
CREATE TEMPORARY TABLE places AS SELECT row_number() OVER () AS place, id FROM conversations_thread;
CREATE UNIQUE INDEX ON places (place);
ANALYZE places;
WITH drawn AS (
    SELECT n, now() - (%(requests)s - n) * (interval '%(days)s days' / %(requests)s) AS at, random() AS fate,
           random() AS left_out, 1 + floor(%(threads)s * random() ^ 2)::int AS place, random() AS size
    FROM generate_series(1, %(requests)s) AS n
)
INSERT INTO conversations_contextsnapshot (id, thread_id, purpose, round, created_at, provider, model, max_tokens, digest,
    budget, hard_cap, total_tokens, message_history_count, message_history_tokens, today_summary_present, open_threads_count,
    last_conversation_present, sections, runs, additions, cache, timings_ms, rewriting, recalled, problems, status,
    stop_reason, provider_request_id, provider_message_id, usage, error, first_token_ms, ended_at)
SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
        || substr(md5(n::text), 4, 15))::uuid,
       places.id, CASE WHEN fate < 0.9 THEN 'reply' ELSE 'rewrite' END, 1, at, 'anthropic',
       CASE WHEN n %% 100000 = 7 THEN 'claude-opus-5' WHEN fate < 0.9 THEN 'claude-sonnet-5-5' ELSE 'claude-haiku-5-5' END,
       2048, sha256(n::text::bytea), 4100, 6150, CASE WHEN n %% 20000 = 11 THEN 4200 ELSE 1000 + (3000 * size)::int END,
       80, (2900 * size)::int, size < 0.3, 2, size < 0.1,
       'base 312 ' || digest || ';rules 211 ' || digest || ';memory 190 ' || digest || ';today 120 ' || digest,
       CASE WHEN left_out < 0.6 THEN '1-' || place || ' over_budget;' WHEN left_out < 0.7 THEN '1-' || place || ' turn_limit;'
            ELSE '' END
       || CASE WHEN n %% 100000 = 13 THEN '90 orphan_tool;' WHEN n %% 50 = 0 THEN '90-91 fulfilled_artifact;' ELSE '' END
       || '100-179 recent 1896;180 newest 24',
       'query 40 ' || digest, 'warm 2410 system,message msg_' || substr(md5(n::text), 1, 24), 'history 1.204;total 2.51', '',
       CASE WHEN size < 0.2 THEN '[{"kind": "memory", "id": "01890000-0000-7000-8000-000000000000", "included": true,'
            ' "reason": "recalled", "tokens": 22}]'::jsonb END,
       CASE WHEN n %% 2000 = 3 THEN '[{"source": "memory", "kind": "timed_out", "message": "It took too long."}]'::jsonb END,
       CASE WHEN n > %(requests)s - 3 THEN 'pending' WHEN n %% 100000 = 17 THEN 'interrupted' WHEN fate < 0.005 THEN 'failed'
            WHEN fate < 0.01 THEN 'stopped' ELSE 'completed' END,
       'end_turn', 'req_' || md5(n::text), 'msg_' || substr(md5(n::text), 1, 24),
       jsonb_build_object('input_tokens', 300, 'output_tokens', (200 * size)::int,
                          'cache_read_input_tokens', (2400 * size)::int, 'cache_creation_input_tokens', 120),
       CASE WHEN fate < 0.005 THEN jsonb_build_object('type', 'model', 'code', CASE WHEN n %% 3 = 0 THEN 'overloaded'
            ELSE 'timeout' END, 'message', 'It failed.') END,
       (300 + 2000 * size * size)::int, at + interval '1 second' * (1 + 9 * size)
FROM drawn JOIN places USING (place), (SELECT '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' AS digest) AS text
ORDER BY drawn.n;
DROP TABLE places
"""


def make_months(since: datetime) -> None:
    """Partitions as they are where requests have been stored since then. The table is empty still."""
    first, *later = partitions.partitions(partitions.REQUESTS)
    for each in (first, *later):
        run(f"ALTER TABLE {partitions.REQUESTS.name} DETACH PARTITION {each.name}")
    for each in later:
        run(f"DROP TABLE {each.name}")
    end = next(partitions.month_ends(since))
    run(
        f"ALTER TABLE {partitions.REQUESTS.name} ATTACH PARTITION {first.name}"
        f" FOR VALUES FROM (MINVALUE) TO ('{lowest_uuid7(end)}')"
    )
    while end <= timezone.now():
        partitions.make_ahead(end)
        end = partitions.partitions(partitions.REQUESTS)[-1].until
    partitions.make_ahead(timezone.now())


def fill() -> None:
    values = {
        "users": USERS,
        "threads": THREADS,
        "requests": REQUESTS,
        "days": DAYS,
        "rare": Assistant.objects.get(slug="analyst").pk,
        "common": Assistant.objects.get(slug="companion").pk,
    }
    make_months(timezone.now() - timedelta(days=DAYS))
    with doing(f"filling the table with {REQUESTS:,} requests"), connection.cursor() as cursor:
        for statement in FILL.split(";\n"):
            cursor.execute(statement, values)
        cursor.execute("VACUUM ANALYZE")


RAW = "raw: the newest 51 requests, with thread, user and assistant"
NEWEST = """
SELECT * FROM conversations_contextsnapshot AS snapshot
JOIN conversations_thread AS thread ON thread.id = snapshot.thread_id
JOIN auth_user AS person ON person.id = thread.user_id
JOIN conversations_assistant AS assistant ON assistant.id = thread.assistant_id
ORDER BY snapshot.id DESC LIMIT 51
"""
RAW_FIGURES = "raw: count and sums of a day's requests"
DAY = """
SELECT status, count(*), sum((usage ->> 'input_tokens')::int), sum((usage ->> 'output_tokens')::int)
FROM conversations_contextsnapshot WHERE created_at >= now() - interval '1 day' GROUP BY status
"""
LIST = reverse("admin:conversations_contextsnapshot_changelist")
OVERVIEW = reverse("admin:conversations_contextsnapshot_overview")
SECONDS = 2.0


def main() -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    fill()
    client = Client()
    client.force_login(User.objects.create_superuser("inspector"))
    with psycopg.connect(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"], autocommit=True) as raw:
        lists = {RAW: reading(raw, NEWEST)} | {name: getting(client, LIST, query) for name, query in pages().items()}
        table(f"the list of {REQUESTS:,} model requests", side_by_side(lists, seconds=SECONDS), limit=RAW)
        ranges = {f"overview of {one}": getting(client, OVERVIEW, f"range={one}") for one in ("24h", "7d", "30d")}
        day = next(iter(ranges))  # of the others, each call would take many seconds
        before = {f"{day}, no hour kept": ranges[day]}
        table("its overview", side_by_side({RAW_FIGURES: reading(raw, DAY)} | before, 5, SECONDS), limit=RAW_FIGURES)
        with doing("keeping the figures of whole hours"):
            hourly_figures.keep(timezone.now())
        table("its overview", side_by_side({RAW_FIGURES: reading(raw, DAY)} | ranges, 5, SECONDS), limit=RAW_FIGURES)


def pages() -> dict[str, str]:
    """Query strings by what they ask for."""
    oldest = ContextSnapshot.objects.earliest("id")
    middle = ContextSnapshot.objects.order_by("id")[REQUESTS // 2]
    rare = Assistant.objects.get(slug="analyst").pk
    return {
        "the first page": "",
        "the next page": f"after={ContextSnapshot.objects.order_by('-id')[49].pk}",
        "a page in the middle": f"after={middle.pk}",
        "search: the id of a request": f"q={oldest.pk}",
        "search: the id of a thread": f"q={oldest.thread_id}",
        "search: a user": "q=person7",
        "search: nobody": "q=nobody",
        "a day, ten days ago": day(timezone.now() - timedelta(days=10)),
        **{f"status: {status}": f"status__exact={status}" for status in ContextSnapshot.Status.values},
        **{f"provider error: {code}": f"error={code}" for code in ("any", "timeout", "overloaded", "bad_stream")},
        **{f"reason: {reason}": f"reason={reason}" for reason in FATES},
        "over budget": "budget=over",
        "for: rewrite": "purpose__exact=rewrite",
        "for: artifact, of which there is none": "purpose__exact=artifact",
        "model: ten requests": "model=claude-opus-5",
        "assistant: two in a thousand": f"assistant={rare}",
    }


def day(at: datetime) -> str:
    return f"created_at__year={at.year}&created_at__month={at.month}&created_at__day={at.day}"


def getting(client: Client, path: str, query: str) -> Callable[[], object]:
    def get() -> None:
        assert client.get(f"{path}?{query}").status_code == 200

    return get


def reading(raw: psycopg.Connection, statement: str) -> Callable[[], object]:
    return lambda: raw.execute(statement).fetchall()
