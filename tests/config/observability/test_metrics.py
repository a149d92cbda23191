"""What Prometheus is told, by whom it may be asked, and that each figure stands there once."""

import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from django.test import AsyncClient
from prometheus_client.parser import text_string_to_metric_families

from config.observability import installation
from config.observability.figures import FIGURES
from config.server import proxies
from conversations.runtime.db import in_database
from tests.clients import ServerClient
from tests.processes import ROOT, ServerProcess, server
from tests.services import free_port, fresh_database
from tests.waiting import until

PASSWORD = "correct-horse-battery-9"
ALERTS = ROOT / "deploy/prometheus/alerts.yaml"
PROMETHEUS = os.environ.get("OPENBOOK_TEST_PROMETHEUS", "prometheus")
PROMTOOL = str(Path(PROMETHEUS).with_name("promtool"))
NAME = re.compile(r"\b(?:openbook|gen_ai|process)_[a-z_]+\b")
TOKEN = "a-token-of-32-characters-or-more"


@pytest.fixture(scope="module")
def running(migrated: str) -> Iterator[ServerProcess]:
    with (
        fresh_database(migrated) as database,
        server(
            database, OPENBOOK_METRICS_TOKEN=TOKEN, OPENBOOK_TRUSTED_PROXIES="127.0.0.1",
            DJANGO_SUPERUSER_PASSWORD=PASSWORD, OPENBOOK_OFFLINE_WORD_SECONDS="0",
        ) as one,
    ):  # fmt: skip
        yield one


def scraped(running: ServerProcess, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(  # noqa: S310
        f"{running.url}metrics", headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_this_machine_and_the_token_are_told_and_nobody_else(running: ServerProcess) -> None:
    assert scraped(running)[0] == 200
    assert scraped(running, Authorization=f"Bearer {TOKEN}", X_Forwarded_For="192.0.2.7")[0] == 200
    for headers in (
        {"X_Forwarded_For": "192.0.2.7"},
        {"X_Forwarded_For": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"Via": "1.1 proxy"},
        {"X_Forwarded_For": "192.0.2.7", "Authorization": f"Bearer {TOKEN[:-1]}"},
        {"X_Forwarded_For": "192.0.2.7", "Authorization": "Bearer ünknown".encode().decode("latin-1")},
    ):
        assert scraped(running, **headers) == (404, "Not found.\n")


def test_a_reply_is_in_the_figures_without_its_words(running: ServerProcess) -> None:
    client = ServerClient.signed_in(running.url, password=PASSWORD)
    client.call("POST", "threads/new/messages/", {"content": "Off to Zanzibar"})
    ended = ("gen_ai_invoke_agent_duration_seconds_count", ("", "Companion", "offline"))
    until(lambda: ended in samples(scraped(running)[1]))  # it is counted once its end was told
    text = scraped(running)[1]
    assert "Zanzibar" not in text
    told = samples(text)
    assert told["openbook_database_up", ()] == 1
    assert told[ended] == 1
    assert told["openbook_context_duration_seconds_count", ("",)] >= 1
    assert told["openbook_workers", ()] == 0  # OPENBOOK_WORKER=off
    assert told["openbook_database_connections_limit", ()] > told["openbook_database_connections", ()] > 0
    assert {labels for name, labels in told if name == "openbook_partition_ahead_seconds"} == {
        ("conversations_contentaccess",), ("conversations_contextsnapshot",), ("conversations_replyevent",),
    }  # fmt: skip
    assert all(value > 86_400 for (name, _), value in told.items() if name == "openbook_partition_ahead_seconds")
    assert told["openbook_last_success_age_seconds", ("backup",)] > 1e9
    for figure in FIGURES:
        assert figure.name.replace(".", "_") in text


def named(text: str) -> set[str]:
    """Names of series, without what a histogram or a counter appends."""
    return {
        re.sub(r"_(?:bucket|count|sum|total|created)$", "", name)
        for name in NAME.findall(re.sub(r"by \([^)]*\)", "", text))
    }


def test_rules_and_dashboards_name_only_what_is_told(running: ServerProcess) -> None:
    told = named(scraped(running)[1])
    rules = yaml.safe_load(ALERTS.read_text())
    expressions: list[str] = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    dashboard = (ROOT / "deploy/grafana/openbook.json").read_text()
    wanted = named("\n".join([*expressions, *re.findall(r'"expr": "(.*)"', dashboard)]))
    assert len(wanted) > 15
    assert wanted - told == set()


@pytest.mark.wide
def test_each_alert_fires_where_it_should_and_none_where_all_is_well() -> None:
    tested = yaml.safe_load((ALERTS.parent / "alerts_test.yaml").read_text())["tests"]
    rules = {rule["alert"]: rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]}
    assert list(dict.fromkeys(test["name"].split(" within ")[0] for test in tested)) == [*rules, "all is well"]
    for name, rule in rules.items():
        page = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removeprefix("Openbook")).lower()
        assert rule["annotations"]["runbook_url"] == f"docs/operate/{page}.md"
    ended = subprocess.run(
        [PROMTOOL, "test", "rules", "alerts_test.yaml"], cwd=ALERTS.parent, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout.split()[-1]) == (0, "SUCCESS"), ended.stdout + ended.stderr


@pytest.mark.wide
def test_a_real_prometheus_lets_alerts_fire(running: ServerProcess, tmp_path: Path) -> None:
    """Without a worker, a backup and a drill. How long each must last is left out."""
    (tmp_path / "alerts.yaml").write_text(re.sub(r"for: \w+", "for: 0s", ALERTS.read_text()))
    (tmp_path / "token").write_text(TOKEN)
    config = (ALERTS.parent / "prometheus.yaml").read_text().replace("/etc/prometheus/openbook-token", "token")
    address = urlsplit(running.url).netloc
    config = config.replace("15s", "1s").replace("10.0.0.11:8000", address).replace("          - 10.0.0.12:8000\n", "")
    (tmp_path / "prometheus.yaml").write_text(config)
    port = free_port()
    command = [
        PROMETHEUS, f"--config.file={tmp_path}/prometheus.yaml", f"--storage.tsdb.path={tmp_path}/data",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: fires(port) >= {"OpenbookNoWorker", "OpenbookBackupOld", "OpenbookDrillOld"})
        assert "OpenbookDown" not in fires(port)
        assert "OpenbookDatabaseDown" not in fires(port)
    finally:
        process.terminate()
        process.wait()


def fires(port: int) -> set[str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/alerts", timeout=10) as answer:
            alerts = json.load(answer)["data"]["alerts"]
    except OSError:
        return set()
    return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


@pytest.mark.django_db(transaction=True)
async def test_a_statement_that_is_refused_costs_its_own_figures_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(installation.SQL, "transactions", "SELECT 1 / 0")
    found = await in_database(installation.look)()
    assert (found.oldest_transaction, found.workers, found.queues) == (None, 0, [])
    assert found.size
    assert set(found.ahead) == {
        "conversations_contextsnapshot",
        "conversations_replyevent",
        "conversations_contentaccess",
    }


def scope(peer: str, *headers: bytes) -> dict[str, Any]:
    return {"type": "http", "client": (peer, 5), "headers": [(name, b"x") for name in headers]}


def test_only_who_comes_from_this_machine_by_no_proxy_is_direct() -> None:
    assert [proxies.is_direct(scope(peer)) for peer in ("127.0.0.1", "::1", "10.0.0.1", "")] == [
        True,
        True,
        False,
        False,
    ]
    for header in proxies.PASSED_ON:
        assert not proxies.is_direct(scope("127.0.0.1", header))


async def test_without_an_address_nothing_is_told() -> None:
    assert (await AsyncClient().get("/metrics")).status_code == 404
