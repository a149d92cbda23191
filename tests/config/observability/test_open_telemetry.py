"""What a collector of OpenTelemetry is told of replies, and what ties it to the log, the errors and the admin."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from config.observability.logs import JsonFormatter
from config.observability.measuring import MeasuringListener
from config.observability.open_telemetry import DETAILS, CollectorExporter
from conversations.checks import telemetry_can_be_told
from conversations.models import Assistant, ContextSnapshot, Reply
from conversations.runtime import telemetry
from conversations.runtime.db import in_database
from conversations.runtime.ids import uuid7
from conversations.runtime.request_ids import FOREIGN_ID, current_request_id, made_at, request_scope
from conversations.staff.requests.by_request_id import replies_of
from conversations.tasks import unattended
from tests import model_scripts as scripts
from tests.clients import ServerClient as Program
from tests.collector import CollectedSpan, Collector
from tests.conversations.factories import make_reply, make_snapshot, make_thread
from tests.conversations.rest.client import Api
from tests.conversations.staff.conftest import list_url, page_url
from tests.model_server import ModelServer
from tests.processes import ROOT, server
from tests.services import fresh_database

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NEEDLE = "Zanzibar"
DEBUG, WARN = 5, 13
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
BOAT = {"title": f"Boats to {NEEDLE}", "kind": "document", "content": f"# {NEEDLE}"}
IMPORTED = "import sys, config.asgi; print(*(name for name in sys.modules if name.startswith(tuple(sys.argv[1:]))))"
NOT_ASKED_FOR = [
    "conversations.runtime.telemetry", "config.observability.open_telemetry",
    "opentelemetry", "redis", "anthropic", "supermemory", "sentry_sdk",
]  # fmt: skip
PASSWORD = "correct-horse-battery-9"


class Listening:
    """A collector that is told all once it is asked what it heard."""

    def __init__(self, collector: Collector) -> None:
        self._collector, self._exporting = collector, ExitStack()
        exporting = CollectorExporter(["traces", "metrics", "logs"])
        self._exporting.callback(exporting.close)
        telemetry.listen(MeasuringListener(), exporting.tracing)

    def told(self) -> Collector:
        self._exporting.close()
        return self._collector


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        heard = Listening(collector)
        yield heard
        telemetry.listen(telemetry.TelemetryListener())
        heard.told()


@pytest.fixture
def api(user: User) -> Api:
    return Api(user)


@pytest.fixture
def log_lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """What the log holds of replies, as it is written."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("openbook")
    logger.addHandler(handler)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    logger.removeHandler(handler)


@pytest.mark.parametrize("proposed", [None, "proxy:7-a.b"])
async def test_one_id_ties_error_log_spans_reply_and_admin_together(
    user: User,
    api: Api,
    model: ModelServer,
    listening: Listening,
    log_lines: Callable[[], list[dict[str, Any]]],
    proposed: str | None,
) -> None:
    model.script(scripts.error(401, f"Not for {NEEDLE}"))
    answer = await api.post("threads/new/messages/", {"content": "Hello"}, **{"X-Request-ID": proposed or ""})
    request_id = answer.body["error"]["request_id"]
    assert (answer.status, answer.headers["x-request-id"]) == (502, proposed or request_id)

    reply, snapshot = await Reply.objects.aget(), await ContextSnapshot.objects.aget()
    assert (reply.request_id, (reply.error or {})["request_id"]) == (request_id, request_id)

    collected = await in_database(listening.told)()
    assert {span.name: span.values["openbook.request_id"] for span in collected.spans} == dict.fromkeys(
        ["invoke_agent Companion", "build_context", "chat claude-sonnet-5-5"], request_id
    )
    [trace] = {span.trace for span in collected.spans}
    lines = {line["message"]: line for line in log_lines()}
    for message in ("model request recorded", "reply ended"):
        assert (lines[message]["request_id"], lines[message]["trace_id"]) == (request_id, trace)

    await in_database(assert_found)(request_id, reply, snapshot)


async def test_a_reply_whose_provider_is_gone_is_told_as_failed(user: User, api: Api, listening: Listening) -> None:
    await Assistant.objects.aupdate(provider="gone")
    answer = await api.post("threads/new/messages/", {"content": "Hello"})
    assert (answer.status, answer.body["error"]["code"]) == (502, "misconfigured")
    [span] = [span for span in (await in_database(listening.told)()).spans if span.name.startswith("invoke_agent")]
    assert (span.values["gen_ai.provider.name"], span.values["error.type"]) == ("other", "misconfigured")


def assert_found(request_id: str, reply: Reply, snapshot: ContextSnapshot) -> None:
    other = make_snapshot()
    staff = Client()
    staff.force_login(User.objects.create_superuser("root"))
    for row, another in ((reply, other.reply_id), (snapshot, other.pk)):
        found = staff.get(list_url(type(row)._meta.model_name or "", q=request_id)).text
        assert (str(row.pk) in found, str(another) in found) == (True, False)
        assert (
            f'<code class="ob-id">{request_id}</code>' in staff.get(page_url(row._meta.model_name or "", row.pk)).text
        )


async def test_a_reply_is_told_as_the_steps_that_it_took(
    user: User, api: Api, model: ModelServer, listening: Listening
) -> None:
    model.claude.verbatim = True  # for its figures
    analyst = await Assistant.objects.aget(slug="analyst")
    model.script(scripts.tool_use("save_artifact", BOAT, tool_id="toolu_1"), scripts.text("There it is."))
    body = {"content": "Write of boats", "assistant": analyst.slug}
    thread = (await api.post("threads/", {"assistant": analyst.slug})).body["id"]
    answer = await api.post(f"threads/{thread}/messages/", body, traceparent=f"00-{TRACE}-{CALLER}-01")
    reply = answer.body["reply"]["id"]
    first, second = [snapshot async for snapshot in ContextSnapshot.objects.order_by("id")]

    collected = await in_database(listening.told)()
    assert collected.service["service.name"] == "openbook"
    spans = {span.id: span for span in collected.spans}
    assert [steps_to(span, spans) for span in sorted(spans.values(), key=lambda span: span.name)] == [
        ("internal", ["build_context", "invoke_agent Analyst", CALLER]),
        *[("client", ["chat claude-sonnet-5-5", "invoke_agent Analyst", CALLER])] * 2,
        ("internal", ["execute_tool save_artifact", "invoke_agent Analyst", CALLER]),
        ("internal", ["invoke_agent Analyst", CALLER]),
    ]
    assert {span.trace for span in spans.values()} == {TRACE}
    assert not any(span.failed or span.says for span in spans.values())

    request_id = answer.headers["x-request-id"]
    shared = {
        "openbook.request_id": request_id,
        "openbook.thread": thread,
        "openbook.reply": reply,
        "gen_ai.conversation.id": thread,
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5-5",
    }
    usage = {"input_tokens": 20, "output_tokens": 7, "cache_read.input_tokens": 5, "cache_write.input_tokens": 3}
    chats = sorted(collected.named("chat claude-sonnet-5-5"), key=lambda span: span.values["openbook.round"])
    for span, snapshot, reason in zip(chats, (first, second), ("tool_use", "end_turn"), strict=True):
        assert 0 < span.values.pop("gen_ai.response.time_to_first_chunk") < span.seconds
        assert span.values == {
            **shared,
            "gen_ai.operation.name": "chat",
            "gen_ai.request.max_tokens": snapshot.max_tokens,
            "gen_ai.request.stream": True,
            "gen_ai.response.finish_reasons": [reason],
            "gen_ai.response.model": "other",
            **{f"gen_ai.usage.{name}": tokens for name, tokens in usage.items()},
            "openbook.snapshot": str(snapshot.id),
            "openbook.purpose": "reply",
            "openbook.round": snapshot.round,
            "openbook.context.tokens": snapshot.total_tokens,
            "openbook.context.budget": snapshot.budget,
            "openbook.context.hard_cap": snapshot.hard_cap,
            "openbook.context.version": snapshot.version_id,
            "openbook.context.rules": snapshot.rules,
            "openbook.context.turns_kept": 0,
            "openbook.context.turns_left_out": 0,
        }
    [tool], [whole] = collected.named("execute_tool save_artifact"), collected.named("invoke_agent Analyst")
    assert tool.values == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "save_artifact",
        "gen_ai.tool.type": "function",
        "openbook.request_id": request_id,
    }
    assert whole.values == {
        **shared,
        "gen_ai.operation.name": "invoke_agent",
        "openbook.assistant": "analyst",
        "gen_ai.agent.name": "Analyst",
        "openbook.status": "completed",
        **{f"gen_ai.usage.{name}": 2 * tokens for name, tokens in usage.items()},
    }


def steps_to(span: CollectedSpan, spans: dict[str, CollectedSpan]) -> tuple[str, list[str]]:
    """Its kind, and the names from it up to whoever called from outside."""
    names = [span.name]
    above = span
    while above.parent in spans:
        above = spans[above.parent]
        names.append(above.name)
    return span.kind, [*names, above.parent]


async def test_what_is_counted_is_what_the_spans_and_the_rows_say(
    user: User, api: Api, model: ModelServer, listening: Listening
) -> None:
    model.claude.verbatim = True  # for its figures
    small = {"history_tokens_low": 0, "history_tokens_high": 60, "total_tokens": 100, "hard_cap_tokens": 150}
    assistant = await Assistant.objects.acreate(
        slug="small", name="Small", system_prompt="Be brief.", recall_tokens=0, **small
    )
    thread = await in_database(make_thread)(user, [f"turn {n}" for n in range(60)], assistant=assistant)
    model.script(scripts.text("Yes."), scripts.error(401))
    await api.post(f"threads/{thread.id}/messages/", {"content": "And then?"})
    await api.post(f"threads/{thread.id}/messages/", {"content": "And then?"})
    snapshots = [snapshot async for snapshot in ContextSnapshot.objects.order_by("id")]

    collected = await in_database(listening.told)()
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5-5",
    }
    answered = chat | {"gen_ai.response.model": "other"}
    failed = chat | {"error.type": "authentication"}
    text, unknown = ({"gen_ai.token.modality": kind} for kind in ("text", "unknown"))
    used = {"input": 20, "output": 7, "cache_read.input": 5, "cache_write.input": 3, "reasoning.output": 0}
    for kind, count in used.items():
        points = collected.points[f"gen_ai.client.inference.usage.{kind}_tokens"]
        assert [(point.values, point.sum) for point in points] == [(answered | text, count), (chat | unknown, 0)], kind
    for kind in ("input", "output"):
        tokens = collected.points[f"gen_ai.client.inference.operation.{kind}_tokens"]
        assert [(point.values, point.sum, point.count) for point in tokens] == [
            (answered, used[kind], 1), (failed, 0, 1),
        ]  # fmt: skip
    assert tokens[0].bounds == (
        1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
    )  # fmt: skip
    durations = collected.points["gen_ai.client.inference.duration"]
    assert [(point.values, point.count) for point in durations] == [(answered, 1), (failed, 1)]
    assert sorted(point.sum for point in durations) == pytest.approx(
        sorted(span.seconds for span in collected.named("chat claude-sonnet-5-5")), abs=0.1
    )
    [first] = collected.points["gen_ai.client.inference.time_to_first_chunk"]
    assert (first.values, first.count, first.bounds[:2], first.bounds[-1]) == (answered, 1, (0.01, 0.02), 81.92)
    whole = {"gen_ai.agent.name": "Small", "gen_ai.request.model": "claude-sonnet-5-5"}
    replies = collected.points["gen_ai.invoke_agent.duration"]
    assert [point.values for point in replies] == [whole, whole | {"error.type": "authentication"}]
    assert [point.count for point in collected.points["openbook.context.duration"]] == [2]

    missing = sum(60 + 2 * index - snapshot.message_history_count for index, snapshot in enumerate(snapshots))
    left_out = collected.points["openbook.context.left_out"]
    assert sum(point.sum for point in left_out) == missing > 0
    assert [point.values for point in left_out] == [{"openbook.reason": "over_budget"}]
    for span in collected.named("chat claude-sonnet-5-5"):
        named = "openbook.context.left_out.over_budget"
        assert span.values["openbook.context.turns_left_out"] == span.values[named] > 0


async def test_nothing_of_what_is_said_is_told(user: User, api: Api, model: ModelServer, listening: Listening) -> None:
    thread = (await api.post("threads/", {"assistant": "analyst", "title": NEEDLE})).body["id"]
    await api.post("memories/", {"content": f"Was born in {NEEDLE}"})
    model.script(
        scripts.turn(
            scripts.ScriptedToolUse(name="save_artifact", input=BOAT, id="toolu_1"),
            scripts.ScriptedToolUse(name=f"sail_to_{NEEDLE}", input={"to": NEEDLE}, id="toolu_2"),
        ),
        scripts.text(f"Off to {NEEDLE}."),
        scripts.error(400, f"No {NEEDLE} today"),
    )
    for question in (f"A boat to {NEEDLE}, please", f"{NEEDLE} again"):
        await api.post(f"threads/{thread}/messages/", {"content": question})
    assert NEEDLE in json.dumps(model.bodies)

    collected = await in_database(listening.told)()
    assert [span.values["error.type"] for span in collected.named("execute_tool other")] == ["tool_error"]
    failed = [span for span in collected.spans if span.name.startswith("chat") and span.failed]
    assert {(event.name, event.severity, event.values["exception.type"]) for event in collected.events} == {
        ("gen_ai.execute_tool.exception", WARN, "tool_error"),
        ("gen_ai.client.inference.exception", WARN, next(span.values["error.type"] for span in failed)),
    }
    assert {event.span for event in collected.events} == {span.id for span in collected.spans if span.failed} - {
        span.id for span in collected.spans if span.name.startswith("invoke_agent")
    }
    assert not any(NEEDLE.encode() in body for body in collected.bodies)


async def test_texts_are_told_where_an_operator_says_so(
    user: User, api: Api, model: ModelServer, listening: Listening, settings: Settings
) -> None:
    settings.OPENBOOK_OTEL_TEXTS = True
    model.script(scripts.tool_use("save_artifact", BOAT, tool_id="toolu_1"), scripts.text(f"Off to {NEEDLE}."))
    thread = (await api.post("threads/", {"assistant": "analyst"})).body["id"]
    await api.post(f"threads/{thread}/messages/", {"content": "Write of boats"})
    collected = await in_database(listening.told)()
    *_, last = sorted(
        (span for span in collected.spans if span.name.startswith("chat")),
        key=lambda span: span.values["openbook.round"],
    )
    instructions, sent, written = (
        json.loads(last.values[f"gen_ai.{name}"])
        for name in ("system_instructions", "input.messages", "output.messages")
    )
    assert instructions[0]["content"] == model.bodies[-1]["system"][0]["text"]
    assert [(each["role"], [part["type"] for part in each["parts"]]) for each in sent] == [
        ("user", ["text"]), ("assistant", ["tool_call"]), ("user", ["tool_call_response"]),
    ]  # fmt: skip
    assert sent[1]["parts"][0]["arguments"] == BOAT
    assert written == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": f"Off to {NEEDLE}."}],
            "finish_reason": "end_turn",
        }
    ]
    [event] = [event for event in collected.events if event.span == last.id]
    assert (event.name, event.severity, event.trace) == (DETAILS, DEBUG, last.trace)
    assert event.values.keys() == last.values.keys() - {"openbook.request_id"}
    for name in ("system_instructions", "tool.definitions", "input.messages", "output.messages"):
        assert event.values[f"gen_ai.{name}"] == json.loads(last.values[f"gen_ai.{name}"]), name


@pytest.mark.wide
def test_a_server_tells_until_it_ends(migrated: str) -> None:
    with (
        Collector() as collector,
        fresh_database(migrated) as database,
        server(
            database, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, DJANGO_SUPERUSER_PASSWORD=PASSWORD,
            OPENBOOK_OFFLINE_WORD_SECONDS="0",
        ) as running,
    ):  # fmt: skip
        client = Program.signed_in(running.url, password=PASSWORD)
        client.call("POST", "threads/new/messages/", {"content": "Hello"})
        assert running.terminate() == 0
        assert {span.name for span in collector.spans} == {
            "invoke_agent Companion", "build_context", "chat offline",
        }  # fmt: skip
        assert "gen_ai.invoke_agent.duration" in collector.points


@pytest.mark.wide
def test_a_start_imports_nothing_of_what_was_not_asked_for() -> None:
    """No collector is named, no Redis, no model: what each brings takes seconds to import."""
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTED, *NOT_ASKED_FOR], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["conversations.runtime.telemetry"]


def test_a_reply_is_found_by_its_request_without_looking_at_all() -> None:
    long_ago = "0198c0de00007" + "0" * 19
    for request_id in (uuid7().hex, "proxy:7", None):
        make_reply(request_id=request_id)
    own, foreign, _ = Reply.objects.order_by("id")
    make_reply(request_id=long_ago)
    assert [replies_of(id) for id in (own.request_id or "", "proxy:7", long_ago, "proxy", "a b")] == [
        [own.pk], [foreign.pk], [], [], [],
    ]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        plan = Reply.objects.filter(request_id="proxy:7", request_id__regex=FOREIGN_ID).explain()
        cursor.execute("RESET enable_seqscan")
    assert "reply_of_foreign_request" in plan


def test_an_id_of_ours_tells_when_it_was_given() -> None:
    before = timezone.now().timestamp() * 1000
    with request_scope("no good") as request_id:
        at = made_at(request_id)
    assert at is not None
    assert before - 1 <= at <= timezone.now().timestamp() * 1000
    assert [made_at(id) for id in ("proxy:7", "f" * 32, request_id.upper())] == [None, None, None]


def test_each_run_of_a_task_has_a_request_id_of_its_own(listening: Listening) -> None:
    seen: list[str] = []

    @unattended
    def look() -> None:
        seen.append(current_request_id.get())

    look()
    look()
    assert len(set(seen)) == 2
    assert [span.values for span in listening.told().named("look")] == [{"openbook.request_id": id} for id in seen]


@pytest.mark.parametrize(
    ("signals", "protocol", "packages", "numbers"),
    [
        ([], "grpc", ["opentelemetry.nowhere.to.be.found"], []),
        (["traces"], "http/protobuf", [*telemetry.PACKAGES], []),
        (["traces"], "http/protobuf", ["opentelemetry.nowhere.to.be.found"], ["openbook.W002"]),
        (["metrics"], "grpc", [*telemetry.PACKAGES], ["openbook.W003"]),
    ],
)
def test_a_collector_that_can_not_be_told_is_warned_of(
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    signals: list[str],
    protocol: str,
    packages: list[str],
    numbers: list[str],
) -> None:
    settings.OTEL_SIGNALS, settings.OTEL_PROTOCOL = signals, protocol
    monkeypatch.setattr(telemetry, "PACKAGES", packages)
    assert [problem.id for problem in telemetry_can_be_told()] == numbers
