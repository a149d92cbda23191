"""A backup of an installation that was made large: what those who talk meanwhile feel, how much memory it takes; then restored
and drilled. ``make bench ONLY=backup`` makes one GB; ``.local/bench/bin/python -m tests.benchmarks backup 10`` makes ten.

A fifth of it are files. The turns are of 4 KB that hardly compress, so that the size is that of what is read.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from pathlib import Path
from threading import Event
from typing import Any

import psycopg

from tests.benchmarks import files
from tests.benchmarks.measuring import doing, p50_p95
from tests.benchmarks.message import PASSWORD, QUESTION, long_thread
from tests.benchmarks.served import served
from tests.clients import ServerClient
from tests.processes import ROOT, UNDISTURBED, server_process
from tests.services import fresh_database
from tests.test_bodies import COPIED

PEOPLE, AT_ONCE = 100, 4
"""What a message changes is mostly of its person, and no former version of it can go while a backup reads: few people who
write without a pause would have thousands of each."""
REST, QUIET_SECONDS = 0.2, 40.0
"""Seconds between two messages of those who write at once, and how long they talk before the backup begins."""
ROWS_A_GB = 180_000
FILES_A_GB = 1
FILL = """
INSERT INTO conversations_message (id, thread_id, position, depth, role, text, status, token_count, token_total,
                                   created_at, is_active)
SELECT gen_random_uuid(), thread.id, n, n, CASE WHEN mod(n, 2) = 1 THEN 'user' ELSE 'assistant' END,
       (SELECT string_agg(md5(n::text || thread.id::text || part::text), ' ') FROM generate_series(1, 124) AS part),
       'complete', 1000, n * 1000, now() - interval '1 day', true
FROM (SELECT id FROM conversations_thread WHERE title = 'Long' LIMIT 1) AS thread, generate_series(%s, %s) AS n
"""
THREAD = """
UPDATE conversations_thread SET message_count = %s, last_position = %s WHERE title = 'Long'
"""
TOKENS = """
INSERT INTO conversations_apitoken (user_id, name, digest, scopes, created_at, expires_at)
SELECT id, 'bench', sha256(username::bytea), '{read,write}', now(), now() + interval '1 day' FROM auth_user
WHERE username LIKE 'person%'
"""


def main(gigabytes: int = 1) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="openbook-backup-")))
        model = stack.enter_context(served("model", 60, 0))
        url = stack.enter_context(fresh_database())
        environment = {
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "OPENBOOK_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key-of-the-bench",
            "ANTHROPIC_BASE_URL": model.url,
            "OPENBOOK_FILES_DIR": str(folder / "files"),
            "OPENBOOK_ERASURE_LEDGER": str(folder / "ledger"),
            "OPENBOOK_LIMIT_FILES_MB": "0",
            "OPENBOOK_WORKER": "on",
        }
        running = stack.enter_context(server_process(url, **environment))
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        import_thread(client, {**long_thread(), "title": "Long"})
        people = [(person, import_thread(person, long_thread())) for person in copies(url, running.url)]
        with doing(f"making {gigabytes} GB"):
            fill(url, gigabytes)
            for _ in range(FILES_A_GB * gigabytes):
                with tempfile.TemporaryFile() as body:
                    files.fill(body)
                    files.wait(client, files.uploaded(client, body))
        with psycopg.connect(url) as connection:
            [(size,)] = connection.execute("SELECT pg_database_size(current_database())")
        stored = sum(path.stat().st_size for path in (folder / "files").rglob("*") if path.is_file())
        print(
            f"\n== a backup of {size / 1e9:.1f} GB of tables and {stored / 1e9:.1f} GB of files; {PEOPLE} people talk, "
            f"{AT_ONCE} at once"
        )
        with doing("talking until what the making left is done"):
            talk(people, partial(time.sleep, QUIET_SECONDS))
        with doing("talking alone"):
            alone = talk(people, partial(time.sleep, QUIET_SECONDS))
        command = [sys.executable, "manage.py", "backup", str(folder / "copy")]
        variables = {**os.environ, **UNDISTURBED, **environment, "DJANGO_SETTINGS_MODULE": "tests.server_settings"}
        with doing("talking beside the backup"):
            peaks: list[float] = []
            began = time.perf_counter()
            beside = talk(people, lambda: peaks.append(ended(command, {**variables, "DATABASE_URL": url})))
            seconds = time.perf_counter() - began
        copied = sum(path.stat().st_size for path in (folder / "copy").rglob("*") if path.is_file())
        for name, values in (("alone", alone), ("beside the backup", beside)):
            p50, p95 = p50_p95([milliseconds for _, milliseconds in values])
            ratio = f"{p95 / p50_p95([milliseconds for _, milliseconds in alone])[1]:6.2f}x"
            print(f"  a message, {name:<24} p50 {p50:7.1f}  p95 {p95:7.1f} ms {ratio}  of {len(values):,}")
        print("  p95 of each tenth of the backup, ms:", *(f"{p50_p95(tenth)[1]:.0f}" for tenth in tenths(beside)))
        print(
            f"  the backup took {seconds:.0f} s, {copied / 1e9:.2f} GB; its memory at most {peaks[0]:.0f} MB",
            flush=True,
        )
        running.terminate()
        empty = stack.enter_context(fresh_database())
        elsewhere = {**variables, "DATABASE_URL": empty, "OPENBOOK_FILES_DIR": str(folder / "elsewhere")}
        timed("restore", [*command[:2], "restore", str(folder / "copy")], elsewhere)
        timed("drill", [*command[:2], "drill", str(folder / "copy")], {**variables, "DATABASE_URL": url})


def fill(url: str, gigabytes: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        [(first,)] = connection.execute("SELECT last_position FROM conversations_thread WHERE title = 'Long'")
        for number in range(gigabytes):
            start = first + 1 + number * ROWS_A_GB
            connection.execute(FILL, (start, start + ROWS_A_GB - 1))
        last = first + gigabytes * ROWS_A_GB
        connection.execute(THREAD, (last, last))
        connection.execute("VACUUM ANALYZE conversations_message")
        connection.execute("CHECKPOINT")


def copies(url: str, address: str) -> list[ServerClient]:
    """People of their own, whose names are their tokens."""
    with psycopg.connect(url) as connection:
        connection.execute(COPIED, [PEOPLE])
        connection.execute(TOKENS)
    return [ServerClient(address, f"person{number}") for number in range(1, PEOPLE + 1)]


def import_thread(client: ServerClient, thread: dict[str, Any]) -> str:
    client.call("POST", "import/", {"format": "openbook/1", "threads": [thread]}, 300)
    listed = client.call("GET", "threads/?page_size=1")["results"]
    return str(listed[0]["id"])


def talk(people: Sequence[tuple[ServerClient, str]], work: Callable[[], object]) -> list[tuple[float, float]]:
    """When each message was sent, in seconds, and how many milliseconds it took, as long as the work goes on."""
    over, taken = Event(), list[tuple[float, float]]()

    def talk_in_turns(people: Sequence[tuple[ServerClient, str]]) -> None:
        for client, thread in cycle(people):
            if over.wait(REST):
                return
            began = time.perf_counter()
            client.call("POST", f"threads/{thread}/messages/", QUESTION)
            taken.append((began, (time.perf_counter() - began) * 1000))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        talking = [pool.submit(talk_in_turns, people[number::AT_ONCE]) for number in range(AT_ONCE)]
        try:
            work()
        finally:
            over.set()
        for each in talking:
            each.result()
    return sorted(taken)


def tenths(taken: Sequence[tuple[float, float]]) -> list[list[float]]:
    """The milliseconds of each tenth of the time."""
    began, seconds = taken[0][0], taken[-1][0] - taken[0][0] + 1e-9
    parts: list[list[float]] = [[] for _ in range(10)]
    for at, milliseconds in taken:
        parts[min(9, int((at - began) / seconds * 10))].append(milliseconds)
    return [part for part in parts if part]


def ended(command: list[str], variables: dict[str, str]) -> float:
    """The most memory that the command had, in MB. It has to succeed."""
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_maxrss / 1e3


def timed(name: str, command: list[str], variables: dict[str, str]) -> None:
    began = time.perf_counter()
    peak = ended(command, variables)
    print(f"  {name} took {time.perf_counter() - began:.0f} s; its memory at most {peak:.0f} MB", flush=True)
