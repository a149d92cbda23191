"""What the doctor says of facts."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from config.doctor import database, machine, services, web, work
from config.doctor.findings import Finding
from config.server.proxies import trust
from conversations.audit.delivery import DeliveryStatus

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
KEY = "c0rrect-horse-battery-staple-c0rrect-horse-battery-staple"
GIBIBYTE = 2**30
REDIS = {"redis_version": "7.0.15", "role": "master", "maxmemory": 100, "used_memory": 10}
HTTPS = {"is_public": True, "is_https": True, "redirects": True, "hsts": 60}


def delivery_status(*, behind: float, problem: str = "") -> DeliveryStatus:
    return DeliveryStatus(
        destination="http", place="logs.example", number=5, waiting=2, behind=behind, failures=1, problem=problem,
        failed_since=None,
    )  # fmt: skip


def judged(result: Finding | Sequence[Finding]) -> list[str]:
    found = [result] if isinstance(result, Finding) else list(result)
    assert all(each.words and bool(each.advice) == (each.status != "ok") for each in found)
    return [each.status.value for each in found]


@pytest.mark.parametrize(
    ("judge", "facts", "options", "expected"),
    [
        (machine.versions, [(3, 13)], {}, ["ok"]),
        (machine.versions, [(3, 11)], {}, ["wrong"]),
        (machine.room, [Path("/data"), 9 * GIBIBYTE, None], {"size": 10 * GIBIBYTE}, ["ok"]),
        (machine.room, [Path("/data"), 9 * GIBIBYTE, None], {"size": 99 * GIBIBYTE}, ["warning"]),
        (machine.room, [Path("/data"), GIBIBYTE, 9_999], {"size": 10 * GIBIBYTE}, ["warning"]),
        (machine.room, [Path("/data"), 2**20, 9_999], {"size": 10 * GIBIBYTE}, ["wrong"]),
        (machine.room, [Path("/data"), 9 * GIBIBYTE, 12], {"size": 10 * GIBIBYTE}, ["wrong"]),
        (web.secret_key, [KEY, None, 0], {}, ["ok"]),
        (web.secret_key, [KEY, Path("/data/secret_key"), 0], {}, ["ok"]),
        (web.secret_key, [KEY, Path("/data/secret_key"), 0o044], {}, ["wrong"]),
        (web.secret_key, ["short", None, 0], {}, ["wrong"]),
        (web.secret_key, ["a" * 60, None, 0], {}, ["wrong"]),
        (web.secret_key, [f"django-insecure-{KEY}", None, 0], {}, ["wrong"]),
        (web.hosts, [["localhost"], []], {}, ["ok"]),
        (web.hosts, [["book.example"], ["https://book.example"]], {}, ["ok"]),
        (web.hosts, [[".example"], ["https://book.example:8443"]], {}, ["ok"]),
        (web.hosts, [["book.example"], ["https://other.example"]], {}, ["wrong"]),
        (web.hosts, [["book.example"], []], {}, ["warning"]),
        (web.hosts, [["*"], []], {}, ["warning", "warning"]),
        (web.proxies, [trust(["10.0.0.2"])], HTTPS, ["ok"]),
        (web.proxies, [trust(["1"])], HTTPS, ["ok"]),
        (web.proxies, [trust([])], HTTPS, ["warning"]),
        (web.proxies, [trust(["0.0.0.0/0"])], HTTPS, ["wrong"]),
        (web.proxies, [trust(["10.0.0.2"])], {**HTTPS, "hsts": 0}, ["warning"]),
        (web.proxies, [trust([])], {**HTTPS, "is_public": False, "is_https": False}, ["wrong"]),
        (web.proxies, [trust([])], {"is_public": True, "is_https": False, "redirects": False, "hsts": 0}, ["warning"]),
        (database.reachable, ["PostgreSQL", 18], {"is_superuser": False, "is_standby": False}, ["ok"]),
        (database.reachable, ["PostgreSQL", 14], {"is_superuser": False, "is_standby": False}, ["wrong"]),
        (database.reachable, ["PostgreSQL", 18], {"is_superuser": True, "is_standby": False}, ["warning"]),
        (database.reachable, ["PostgreSQL", 18], {"is_superuser": False, "is_standby": True}, ["wrong"]),
        (database.schema, [["memory.0004"], []], {}, ["wrong"]),
        (database.schema, [[], ["memory.0099"]], {}, ["wrong"]),
        (database.rights, [False, False, ["one"]], {}, ["wrong", "warning", "wrong"]),
        (database.drift, ["the database", 0.4], {}, ["ok"]),
        (database.drift, ["the database", 4.0], {"margin": 3.0}, ["ok"]),
        (database.drift, ["the database", -4.0], {}, ["warning"]),
        (database.drift, ["the database", 172_800.0], {}, ["wrong"]),
        (database.connections, [[(97, 10)], 16, 4], {"is_pooled": False}, ["ok"]),
        (database.connections, [[(97, 10)], 16, 5], {"is_pooled": False}, ["warning"]),
        (database.connections, [[(97, 10)], 16, 5], {"is_pooled": True}, ["ok"]),
        (database.connections, [[(97, 90)], 16, 1], {"is_pooled": True}, ["wrong"]),
        (database.connections, [[(97, 10), (20, 1)], 16, 1], {"is_pooled": False}, ["warning"]),
        (database.pooler, [], {"keeps": False, "has_two": False}, ["wrong", "warning"]),
        (database.partition, ["events", NOW + timedelta(days=7), NOW], {"in_rest": False}, []),
        (database.partition, ["events", NOW + timedelta(hours=7), NOW], {"in_rest": False}, ["warning"]),
        (database.partition, ["events", NOW + timedelta(days=7), NOW], {"in_rest": True}, ["warning"]),
        (database.partition, ["events", NOW, NOW], {"in_rest": True}, ["wrong"]),
        (database.partition, ["events", None, NOW], {"in_rest": False}, ["wrong"]),
        (database.transactions, [1.0, 0.0, []], {}, ["ok"]),
        (database.transactions, [2_000.0, 0.0, []], {}, ["warning"]),
        (database.transactions, [1.0, 9_000.0, ["gone (2 GB)"]], {}, ["wrong", "wrong"]),
        (work.workers, [2, 1, 3.0, 0], {}, ["ok"]),
        (work.workers, [2, 9, 900.0, 1], {}, ["warning", "warning"]),
        (work.workers, [0, 0, 0.0, 0], {}, ["warning"]),
        (work.workers, [0, 1, 900.0, 0], {}, ["wrong"]),
        (work.replies, [1], {}, ["warning"]),
        (work.delivered, [delivery_status(behind=3.0)], {}, ["ok"]),
        (work.delivered, [delivery_status(behind=3.0, problem="answered 500 in place of 2xx")], {}, ["warning"]),
        (work.delivered, [delivery_status(behind=901.0)], {}, ["wrong"]),
        (services.redis, [REDIS], {}, ["ok"]),
        (services.redis, [{**REDIS, "redis_version": "5.0.1"}], {}, ["warning"]),
        (services.redis, [{**REDIS, "role": "slave"}], {}, ["wrong"]),
        (services.redis, [{**REDIS, "used_memory": 99}], {}, ["warning"]),
        (services.mail_sender, ["mail.example:587", "book@example"], {"is_tls": True}, ["ok"]),
        (services.mail_sender, ["mail.example:587", "book@localhost"], {"is_tls": True}, ["warning"]),
        (services.mail_sender, ["mail.example:587", "book@example"], {"is_tls": False}, ["warning"]),
        (services.mail_sender, ["127.0.0.1:25", "book@example"], {"is_tls": False}, ["ok"]),
    ],
)
def test_what_is_said_of_facts(
    judge: Callable[..., Any], facts: list[Any], options: dict[str, Any], expected: list[str]
) -> None:
    assert judged(list(found) if not isinstance(found := judge(*facts, **options), Finding) else found) == expected
