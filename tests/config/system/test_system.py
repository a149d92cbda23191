"""The page *System*: what it tells, when it worries, and that the alerts worry at the same limits."""

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from config.backups import runs
from config.doctor.findings import Finding
from config.observability import limits
from config.observability.installation import Disk, Queue, Standby
from config.system import facts, lines, page
from config.system.facts import Month, Run
from conversations.accounts.groups import GROUPS, make_groups
from conversations.staff import display
from conversations.upkeep import partitions
from tests.conversations.staff.conftest import SignIn, signed_in  # noqa: F401
from tests.processes import ROOT

URL = "/admin/system/"
GIBIBYTE = 2**30
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
THRESHOLD = re.compile(r"[<>] ([\d.]+)(?: \* ([\d.]+))?")


@pytest.fixture
def operator(signed_in: SignIn) -> Client:  # noqa: F811
    """Staff who have this right alone."""
    return signed_in("view_maintenancerun")


@pytest.mark.parametrize(
    ("judge", "facts", "expected"),
    [
        (lines.queue, [Queue("default", 3, 2.0)], "ok"),
        (lines.queue, [Queue("default", 3, 601.0)], "warning"),
        (lines.connections, [85, 100], "ok"),
        (lines.connections, [86, 100], "wrong"),
        (lines.connections, [None, None], "skipped"),
        (lines.standby, [Standby("one", 3.0, up=True), "book"], "ok"),
        (lines.standby, [Standby("one", 31.0, up=True), "book"], "warning"),
        (lines.standby, [Standby("one", None, up=True), "book"], "skipped"),
        (lines.standby, [Standby("one", None, up=False), "book"], "warning"),
        (lines.space, [Disk("data", 20 * GIBIBYTE, 100 * GIBIBYTE)], "ok"),
        (lines.space, [Disk("data", 9 * GIBIBYTE, 100 * GIBIBYTE)], "warning"),
        (lines.space, [Disk("data", 2**20, 100 * GIBIBYTE)], "wrong"),
        (lines.restore, [Run("restore", NOW, NOW, succeeded=True)], "ok"),
        (lines.restore, [Run("restore", NOW, None, succeeded=None)], "wrong"),
    ],
)
def test_what_is_worrying(judge: Callable[..., Finding], facts: list[Any], expected: str) -> None:
    found = judge(*facts)
    assert (found.status, bool(found.advice)) == (expected, expected != "ok")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (60, "1 minute"), (7_300, "2 hours"), (86_400 * 3.5, "3 days")]
)
def test_how_long(seconds: float, words: str) -> None:
    assert display.duration(seconds) == words


def test_growth_is_of_months_that_have_begun() -> None:
    months = [
        Month(partitions.REQUESTS.name, datetime(2026, month, 1, tzinfo=UTC), month * lines.MEBIBYTE)
        for month in (12, 10, 11)
    ]
    drawn = lines.growth(months, NOW)
    assert [(row.label, list(row.values)) for row in drawn.rows] == [
        ("2026-10", ["10.0 MB", "–"]), ("2026-11", ["11.0 MB", "–"]),
    ]  # fmt: skip


def test_alerts_worry_at_the_same_limits() -> None:
    groups = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    rules = {rule["alert"]: THRESHOLD.search(rule["expr"]) for group in groups for rule in group["rules"]}
    told = {name: float(match[1]) * float(match[2] or 1) for name, match in rules.items() if match}
    expected = {
        "OpenbookQueueOld": limits.QUEUE_SECONDS,
        "OpenbookAuditBehind": limits.AUDIT_SECONDS,
        "OpenbookReplicaLag": limits.LAG_SECONDS,
        "OpenbookConnectionsNearLimit": limits.CONNECTIONS_SHARE,
        "OpenbookOldTransaction": limits.TRANSACTION_SECONDS,
        "OpenbookBackupOld": limits.BACKUP_SECONDS,
        "OpenbookDrillOld": limits.DRILL_SECONDS,
        "OpenbookDiskFilling": limits.FREE_SHARE,
        "OpenbookPartitionMissing": limits.AHEAD_SECONDS,
    }
    assert {name: told[name] for name in expected} == expected


def words(markup: str) -> str:
    return " ".join(html.unescape(strip_tags(markup)).split())


def cells(response: Any) -> dict[str, str]:
    """What stands beside each name of the lines."""
    rows = re.findall(r"<th scope=\"row\">(.*?)</th>\s*<td>(.*?)</td>\s*</tr>", response.content.decode(), re.DOTALL)
    return {name: words(cell) for name, cell in rows}


def test_an_installation_without_workers_and_backups(operator: Client) -> None:
    response = operator.get(URL)
    told = cells(response)
    assert response.status_code == 200
    assert set(told) > {
        "Openbook",
        "Python",
        "PostgreSQL",
        "Redis",
        "Last migrations",
        "Leases",
        "Size",
        "Replies running",
    }
    assert told["Last backup"] == "✗ Wrong: None has succeeded. Make one: docs/operate/backup-old.md."
    assert told["Last drill"].startswith("▲ Warning: None has succeeded.")
    assert told["Schema"] == "✓Well: all migrations are applied; no extensions are needed"
    assert told["Workers"].startswith("▲ Warning: 0 alive")
    assert told["Replies left behind"] == "✓Well: none is left behind"
    assert told["Connections"].startswith("✓Well:")
    assert told["Partitions of conversations_replyevent"].startswith("✓Well: made until")
    shown = response.content.decode()
    assert "conversations_contextsnapshot_2" not in shown
    assert 'href="/admin/system/runbooks/backup-old/"' in shown
    assert "Last backup, Last drill, Workers" in words(shown)


def test_how_backups_ended(operator: Client) -> None:
    with runs.recorded(runs.KIND.BACKUP):
        pass
    assert re.match(r"✓Well: Succeeded \d+ s ago", cells(operator.get(URL))["Last backup"])
    with pytest.raises(OSError, match="full"), runs.recorded(runs.KIND.BACKUP):
        raise OSError("full")
    told = cells(operator.get(URL))["Last backup"]
    assert re.match(r"▲ Warning: Succeeded \d+ s ago", told)
    assert "The last one failed" in told
    with connection.cursor() as cursor:
        cursor.execute("UPDATE conversations_maintenancerun SET ended_at = %s", [timezone.now() - timedelta(days=3)])
    assert cells(operator.get(URL))["Last backup"].startswith("✗ Wrong: Succeeded 3 days ago")


def test_a_statement_that_fails_costs_its_own_line(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = cells(operator.get(URL))
    for name in ("migrations", "partition_sizes", "tables"):
        monkeypatch.setitem(facts.SQL, name, "SELECT 1 / 0")
    response = operator.get(URL)
    told = cells(response)
    assert told["Last migrations"].startswith("? Not known: could not be read in time")
    assert words(response.content.decode()).lower().count("could not be read in time") == 3
    assert "Growth could not be read in time." in response.content.decode()
    assert set(told) == set(whole)


def test_a_role_that_may_not_read_statistics(operator: Client) -> None:
    """As that of the tests."""
    told = cells(operator.get(URL))["Oldest transaction"]
    assert re.fullmatch(r"\? Not known: the oldest is \d+ s old .* GRANT pg_read_all_stats TO \w+\.", told)


def test_the_embedded_database_has_no_other_roles(operator: Client, settings: Any) -> None:
    settings.DATABASE_IS_EMBEDDED = True
    assert cells(operator.get(URL))["Oldest transaction"].startswith("✓Well:")


def test_a_redis_that_is_away(operator: Client, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert cells(operator.get(URL))["Redis"].startswith("✗ Wrong: can't be used:")


def test_who_may_see_it(signed_in: SignIn, operator: Client) -> None:  # noqa: F811
    make_groups(using="default")
    support = signed_in(*(name for _, name in GROUPS["Support lead"]))
    assert [support.get(url).status_code for url in (URL, URL + "runbooks/down/")] == [403, 403]
    assert "/admin/system/" not in support.get("/admin/").content.decode()
    assert 'href="/admin/system/"' in operator.get("/admin/").content.decode()
    assert operator.get(URL + "runbooks/nothing/").status_code == 404


def test_each_runbook_is_a_page_whose_links_lead_to_others(operator: Client) -> None:
    names = {path.stem for path in page.RUNBOOKS.glob("*.md")}
    texts = [page.rendered(path.read_text()) for path in page.RUNBOOKS.glob("*.md")]
    linked = {link for text in texts for link in re.findall(r'href="(.*?)"', text)}
    runbooks = {link for link in linked if not link.startswith("http")}
    assert runbooks <= {f"{URL}runbooks/{name}/" for name in names}
    assert len(runbooks) > 5
    shown = operator.get(f"{URL}runbooks/queue-old/").content.decode()
    assert "<h1>" in shown
    assert '<pre tabindex="0">' in shown
