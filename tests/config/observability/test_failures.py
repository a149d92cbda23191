"""What Sentry is told of real failures, what the log says of a slow reply, and that neither holds a person's words."""

import gzip
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from config.observability.slow import TimedStep, own_and_first, told
from conversations.checks import failures_can_be_told
from conversations.providers.base import ModelCall
from tests import model_scripts as scripts
from tests.clients import ServerClient
from tests.model_server import ModelServer
from tests.other_services import Elsewhere, elsewhere
from tests.processes import ServerProcess, server
from tests.services import fresh_database
from tests.waiting import until

PASSWORD = "correct-horse-battery-9"
NEEDLE, COOKIE = "Zanzibar", "cookie-of-a-person"
SLOW = 0.3
# What PostgreSQL says holds the whole row, as it does of a value that it can't take.
BROKEN = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room for %', NEW; END $$;
CREATE TRIGGER broken BEFORE INSERT ON artifacts_artifactversion FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER broken BEFORE INSERT ON memory_memory FOR EACH ROW EXECUTE FUNCTION refuse();
"""


@dataclass(frozen=True)
class Running:
    server: ServerProcess
    client: ServerClient
    model: ModelServer
    sentry: Elsewhere

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(text.splitlines()[2]) for text in self.envelopes()]

    def envelopes(self) -> list[str]:
        return [gzip.decompress(each.raw_body).decode() for each in self.sentry.requests]


@pytest.fixture(scope="module")
def running(migrated: str) -> Iterator[Running]:
    with fresh_database(migrated) as database, ModelServer() as model, elsewhere({"*": (200, {}, "{}")}) as sentry:
        environment = {
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "OPENBOOK_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key-of-the-test",
            "ANTHROPIC_BASE_URL": model.url,
            "OPENBOOK_SLOW_SECONDS": str(SLOW),
            "SENTRY_DSN": sentry.url.replace("http://", "http://key@") + "/7",
            "SENTRY_ENVIRONMENT": "tests",
        }
        with server(database, **environment) as process:
            with psycopg.connect(database, autocommit=True) as connection:
                connection.execute(BROKEN)
            yield Running(process, ServerClient.signed_in(process.url, password=PASSWORD), model, sentry)


@pytest.mark.wide
def test_sentry_is_told_where_a_reply_and_a_view_failed_and_nobodys_words(running: Running) -> None:
    boat = {"title": f"Boats to {NEEDLE}", "kind": "document", "content": f"# {NEEDLE}"}
    running.model.script(
        scripts.turn(scripts.ScriptedToolUse(name="save_artifact", input=boat, id="toolu_1")),
        scripts.text(f"No boat to {NEEDLE}."),
    )
    running.client.call(
        "POST", "threads/new/messages/", {"content": f"Save a boat to {NEEDLE}", "assistant": "analyst"}
    )
    until(lambda: len(running.sentry.requests) == 1)
    request = urllib.request.Request(  # noqa: S310
        f"{running.server.url}api/v1/memories/", json.dumps({"content": f"Born in {NEEDLE}"}).encode(),
        {
            "Authorization": f"Token {running.client.token}", "Content-Type": "application/json",
            "Cookie": f"sessionid={COOKIE}", "X-Request-ID": "proxy:7",
        },
    )  # fmt: skip
    with pytest.raises(urllib.error.HTTPError) as failed:
        urllib.request.urlopen(request, timeout=30)  # noqa: S310
    with failed.value as answer:
        assert answer.code == 500
    until(lambda: len(running.sentry.requests) == 2)

    tool, view = running.events()
    assert (tool["logger"], tool["logentry"]["message"]) == ("openbook.tools", "tool failed")
    assert tool["tags"].keys() == {"request_id", "reply", "tool"}
    assert view["tags"] == {
        "request_id": "proxy:7", "status_code": "500", "method": "POST", "route": view["tags"]["route"],
    }  # fmt: skip
    assert re.fullmatch(r"\^?api/v1/\^?memories/.*", view["tags"]["route"])
    for event in (tool, view):
        assert event["environment"] == "tests"
        assert re.fullmatch(r"openbook@\d+\.\d+\.\d+(\.dev\d+)?", event["release"])
        assert "RaiseException" in {error["type"] for error in event["exception"]["values"]}
        frames = [frame for error in event["exception"]["values"] for frame in error["stacktrace"]["frames"]]
        assert {"filename", "function", "lineno"} <= frames[-1].keys()
        assert any(frame["module"].startswith(("conversations.", "memory.", "artifacts.")) for frame in frames)
    assert NEEDLE in running.server.output  # the log of the machine itself says what PostgreSQL said
    told_to_sentry = "".join(running.envelopes()) + "".join(str(each.headers) for each in running.sentry.requests)
    for secret in (NEEDLE, COOKIE, running.client.token, PASSWORD, "admin", "INSERT", "no room", "Cookie"):
        assert secret not in told_to_sentry


@pytest.mark.wide
def test_a_slow_reply_is_logged_with_its_steps_and_nobodys_words(running: Running) -> None:
    running.model.script(
        scripts.stream(
            *scripts.opening_steps(), scripts.Delay(SLOW + 0.1), scripts.text_delta(f"To {NEEDLE}."),
            *scripts.closing_steps(),
        )
    )  # fmt: skip
    answer = running.client.call("POST", "threads/new/messages/", {"content": f"A boat to {NEEDLE}"})
    reply = answer["reply"]["id"]
    until(lambda: reply in "".join(slow_lines(running)))
    (line,) = [json.loads(line) for line in slow_lines(running) if reply in line]
    assert (line["message"], line["status"], line["error_code"]) == ("slow reply", "completed", None)
    assert line["request_id"]
    steps = {step["step"]: step for step in line["steps"]}
    assert list(steps) == ["before context", "context", "before model", "model", "before end"]
    assert steps["context"]["timings_ms"]["total"] > 0
    assert line["total_ms"] >= line["first_word_ms"] >= steps["model"]["first_token_ms"] >= SLOW * 1000
    assert line["own_ms"] >= line["waited_for_threads_ms"] > 0
    assert abs(sum(step["ms"] for step in line["steps"]) - line["total_ms"]) < 1
    assert NEEDLE not in "".join(slow_lines(running))


def slow_lines(running: Running) -> list[str]:
    return [line for line in running.server.output.splitlines() if '"openbook.slow"' in line]


def step(name: str, begun: float, ended: float, first_ms: int | None = None, thought: float | None = None) -> TimedStep:
    call = ModelCall(first_token_ms=first_ms, thought_seconds=thought) if name == "model" else None
    return TimedStep(name, call=call, answers=name == "model", begun=begun, ended=ended)


def test_slow_is_what_lets_a_person_wait() -> None:
    steps = [step("context", 101, 102), step("model", 103, 113, 9_000, 8.0), step("tool", 113, 133)]
    assert own_and_first(100, steps, 135) == (5, 4)  # neither thinking nor a long answer or tool counts
    assert own_and_first(100, [step("model", 101, 109)], 110) == (2, 10)  # no word came
    assert [(line["step"], line["ms"]) for line in told(100, steps[:1], 104)] == [
        ("before context", 1000), ("context", 1000), ("before end", 2000),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("dsn", "numbers"),
    [
        ("", []),
        ("https://0123abcd@o7.ingest.example/42", []),
        ("http://key:secret@127.0.0.1:9000/sentry/1", []),
        ("https://sentry.example/42", ["openbook.W006"]),
        ("key", ["openbook.W006"]),
    ],
)
def test_an_address_of_sentry_that_is_none_is_warned_of(settings: Any, dsn: str, numbers: list[str]) -> None:
    settings.SENTRY_DSN = dsn
    assert [problem.id for problem in failures_can_be_told()] == numbers
