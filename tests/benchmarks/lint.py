"""The linter over a million requests of thirty days: of 20,000 threads with notes, tools and prompts of their own.

Alone: ``make bench ONLY=lint``.
"""

import json
import os
import time
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from django.db import connection, transaction
from django.utils import timezone

from conversations.context.record.snapshot_codec import short
from conversations.linter import lint
from conversations.linter.rules import RULES, Window
from conversations.models import ContextBlock
from conversations.providers.price_list import price_list
from conversations.upkeep import hourly_figures
from tests.benchmarks import inspection
from tests.benchmarks.measuring import doing

DAYS = 29
NOTES = 20

# What ``inspection`` fills in names one text that is not there; each thread gets its own, as real requests have them.
OWN = """
CREATE TEMPORARY TABLE numbered AS SELECT id, user_id, row_number() OVER (ORDER BY id) AS n FROM conversations_thread;
INSERT INTO memory_memory (id, user_id, content, tags, origin, sources, created_at)
SELECT md5(person.id || '-' || n)::uuid, person.id,
       'I ' || (ARRAY['like', 'live in', 'work at', 'play', 'read about'])[1 + n %% 5] || ' '
           || md5((person.id * 31 + n / 2)::text) || ' and the sea ' || n / 3,
       jsonb_build_array('user:' || person.id), 'conversation', '{}', now() - interval '40 days'
FROM auth_user AS person, generate_series(1, %(notes)s) AS n WHERE person.username LIKE 'person%%';
INSERT INTO conversations_contextblock (thread_id, user_id, sha256, text)
SELECT numbered.id, numbered.user_id, sha256(convert_to(text, 'UTF8')), text
FROM numbered, LATERAL (
    SELECT 'Known: ' || string_agg('- ' || content, E'\\n') AS text FROM memory_memory WHERE user_id = numbered.user_id
    UNION ALL SELECT '## Today' || E'\\n' || string_agg('- ' || md5(numbered.n || '-' || line), E'\\n')
    FROM generate_series(1, 8) AS line
    UNION ALL SELECT '[' || string_agg('{"kind":"memory","id":"' || id || '","included":true,"reason":"remembered",'
                                       '"tokens":18}', ',') || ']'
    FROM memory_memory WHERE user_id = numbered.user_id
) AS text
ON CONFLICT DO NOTHING;
CREATE TEMPORARY TABLE own AS
SELECT thread_id, max(encode(sha256, 'base64')) FILTER (WHERE text LIKE 'Known%%') AS memory,
       max(encode(sha256, 'base64')) FILTER (WHERE text LIKE '##%%') AS today,
       max(encode(sha256, 'hex')) FILTER (WHERE text LIKE '[%%') AS items
FROM conversations_contextblock WHERE thread_id IS NOT NULL GROUP BY thread_id;
SET LOCAL session_replication_role = replica;
UPDATE conversations_contextsnapshot AS snapshot
SET items = decode(own.items, 'hex'),
    sections = 'tools 900 ' || %(tools)s || ';base 312 ' || %(base)s
        || ';memory 190 ' || rtrim(translate(own.memory, '+/', '-_'), '=')
        || ';today 120 ' || rtrim(translate(own.today, '+/', '-_'), '='),
    cache = CASE WHEN get_byte(snapshot.digest, 0) < 40 THEN 'cold 0 system,message'
                 WHEN get_byte(snapshot.digest, 0) < 60 THEN 'moved 1532 system,message'
                 WHEN get_byte(snapshot.digest, 0) < 80 THEN 'other_system 0 system,message' ELSE snapshot.cache END
FROM own WHERE own.thread_id = snapshot.thread_id
"""


def block(text: str) -> str:
    """Of staff's; its digest as snapshots write it."""
    digest = sha256(text.encode()).digest()
    ContextBlock.objects.create(sha256=digest, text=text)
    return short(digest.hex())


def fill() -> None:
    inspection.DAYS = DAYS
    inspection.fill()
    tools = json.dumps([{"name": f"tool_{n}", "description": "Does a thing. " * 20} for n in range(6)])
    said_twice = "Answer in short sentences, and never in a list of points."
    values: dict[str, str | int] = {
        "notes": NOTES,
        "tools": block(tools),
        "base": block(f"You are a companion.\n{said_twice}\nBe kind.\n{said_twice}"),
    }
    with doing("giving each thread its own texts"), connection.cursor() as cursor:
        cursor.execute("BEGIN")
        for statement in OWN.split(";\n"):
            cursor.execute(statement, values)
        cursor.execute("COMMIT")
        cursor.execute("VACUUM ANALYZE")


def main() -> None:
    fill()
    now = timezone.now()
    with doing("keeping the figures of whole hours"):
        hourly_figures.keep(now)
    print(f"\n== the linter, {inspection.REQUESTS:,} requests of {DAYS} days; load {os.getloadavg()[0]:.1f}")
    for _ in range(2):
        started, used = time.perf_counter(), cpu()
        found = lint.lint(now)
        took = f"{time.perf_counter() - started:.1f} s, CPU {cpu() - used:.1f} s"
        print(f"  {len(found)} findings of {len({one.rule for one in found})} rules in {took}")
    with doing("each rule for itself"):
        each_rule(now - timedelta(days=30))


def cpu() -> float:
    """Seconds that this process and its PostgreSQL backend, which works alone, have taken of a processor."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone() or (0,)
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def each_rule(since: datetime) -> None:
    started = time.perf_counter()
    hours = len(list(hourly_figures.hours(since.replace(minute=0, second=0, microsecond=0), timezone.now())))
    print(f"  {'figures of hours, for prices':<40} {time.perf_counter() - started:6.1f} s, {hours} rows")
    with transaction.atomic():
        started = time.perf_counter()
        window = Window(since, timezone.now(), price_list())
        print(f"  {'what several rules share':<40} {time.perf_counter() - started:6.1f} s")
        for rule in RULES:
            started = time.perf_counter()
            count = len(list(rule.rows(window)))
            print(f"  {rule.slug:<40} {time.perf_counter() - started:6.1f} s, {count} rows")
        transaction.set_rollback(True)
