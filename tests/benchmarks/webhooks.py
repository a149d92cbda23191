"""What replies wait longer while 1,000 webhook messages a minute are sent: by the server as it is shipped, with its worker.

One person asks again and again, with a breath between; rounds without and with deliveries take turns. Alone:
``make bench ONLY=webhooks``.
"""

import time
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread

import psycopg

from tests.benchmarks.measuring import doing, p50_p95
from tests.benchmarks.message import PASSWORD, QUESTION, WORDS, cpu_seconds, long_thread
from tests.benchmarks.processes import children
from tests.benchmarks.served import served
from tests.clients import ServerClient
from tests.processes import server_process
from tests.services import fresh_database

A_MINUTE = 1_000
WEBHOOKS = 4
BREATH = 0.15
"""Seconds between a reply and the next question."""
SECONDS, ROUNDS = 12.0, 6
LIMIT = 1.2
WAITING = """
    INSERT INTO conversations_webhookdelivery (id, webhook_id, user_id, event, data, created_at, due_at)
    SELECT gen_random_uuid(), id, user_id, 'memory.changed', '{"change": "added"}', now(), now()
    FROM (SELECT id, user_id FROM conversations_webhook ORDER BY random() LIMIT 1) AS webhook
"""
DELIVERED = "SELECT count(*) FROM conversations_webhookdelivery WHERE delivered_at >= %s"


def main() -> None:
    """A round of each that does not count, then ``ROUNDS``."""
    taken: dict[bool, list[float]] = {False: [], True: []}
    sent, cpu, minutes = 0, 0.0, 0.0
    with ExitStack() as stack:
        with doing("starting the servers"):
            database = stack.enter_context(fresh_database())
            model, receiver = stack.enter_context(served("precomputed", WORDS)), stack.enter_context(served("receiver"))
            running = stack.enter_context(
                server_process(
                    database,
                    DJANGO_SUPERUSER_PASSWORD=PASSWORD,
                    OPENBOOK_PROVIDER="anthropic",
                    ANTHROPIC_API_KEY="key-of-the-bench",
                    ANTHROPIC_BASE_URL=model.url,
                    OPENBOOK_INNER_NETWORKS="127.0.0.0/8",
                    OPENBOOK_WORKER="on",
                )
            )
            client = ServerClient.signed_in(running.url, password=PASSWORD)
            client.call("POST", "import/", {"format": "openbook/1", "threads": [long_thread()]}, 300)
            for number in range(WEBHOOKS):
                hook = {"name": f"hook {number}", "url": f"{receiver.url}/", "events": ["memory.changed"]}
                client.call("POST", "webhooks/", hook)
            thread = client.call("GET", "threads/?page_size=1")["results"][0]["id"]
            connection = stack.enter_context(psycopg.connect(database, autocommit=True))
        with doing("sending messages"):
            for number in range(2 * (ROUNDS + 1)):
                is_sending, began = bool(number % 2), time.time()
                before = _workers_seconds(running.pid)
                values = _round(client, thread, database, is_sending=is_sending)
                if number > 1:
                    taken[is_sending] += values
                    if is_sending:
                        minutes += (time.time() - began) / 60
                        cpu += _workers_seconds(running.pid) - before
                        row = connection.execute(DELIVERED, [_moment(began)]).fetchone()
                        sent += row[0] if row else 0
    load = Path("/proc/loadavg").read_text().split()[0]
    print(
        f"\n== a reply of {WORDS} words, {sent / minutes:,.0f} webhook messages a minute beside it or none; load {load}"
    )
    for is_sending, values in taken.items():
        p50, p95 = p50_p95(values)
        name = "with webhooks" if is_sending else "without"
        print(f"  {name:<16} p50 {p50:8.1f}  p95 {p95:8.1f} ms  ({len(values)} replies)")
    ratios = [after / before for before, after in zip(*(p50_p95(taken[each]) for each in (False, True)), strict=True)]
    print(f"  with by without: p50 {ratios[0]:.2f}, p95 {ratios[1]:.2f} (at most {LIMIT})")
    print(f"  CPU of the worker for one message: {cpu * 1000 / max(sent, 1):.1f} ms")


def _round(client: ServerClient, thread: str, database: str, *, is_sending: bool) -> list[float]:
    """Milliseconds of each reply."""
    ended, taken = Event(), list[float]()
    happening = Thread(target=_happen, args=(database, ended), daemon=True)
    if is_sending:
        happening.start()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        began = time.perf_counter()
        client.call("POST", f"threads/{thread}/messages/", QUESTION)
        taken.append((time.perf_counter() - began) * 1000)
        time.sleep(BREATH)
    ended.set()
    if is_sending:
        happening.join()
    return taken


def _happen(database: str, ended: Event) -> None:
    """So many events a minute, evenly."""
    with psycopg.connect(database, autocommit=True) as connection:
        due = time.monotonic()
        while not ended.wait(max(0.0, due - time.monotonic())):
            connection.execute(WAITING, prepare=True)
            due += 60 / A_MINUTE


def _workers_seconds(pid: int) -> float:
    """Of what the server has started."""
    return sum(map(cpu_seconds, children(pid)))


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
