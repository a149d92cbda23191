"""Claude by Amazon Bedrock and Google Vertex AI, over real HTTP: how they are asked, with what, and what they say."""

import asyncio
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from conversations.models import Connection, Model
from conversations.models.connections import Secrets
from conversations.providers import get_provider, model_catalog
from conversations.providers.base import (
    Finished,
    Payload,
    ProviderError,
    ProviderEvent,
    TextDelta,
    ToolCalled,
)
from conversations.providers.cloud_providers import BedrockProvider, VertexProvider
from conversations.providers.clouds import CLOUDS, access_key
from conversations.providers.connection_trial import LISTS_NOTHING, Trial, try_out
from conversations.providers.connections import address_of, endpoint_of, provider_of, reread
from conversations.providers.known_prices import known_prices
from conversations.providers.messages_api import RequestParts
from tests import model_scripts as scripts
from tests.calls import reserved_call
from tests.cloud_servers import (
    ACCESS_KEY,
    PROJECT,
    REGION,
    SECRET,
    SESSION,
    TOKEN,
    BedrockServer,
    VertexServer,
    event_frame,
    exception_frame,
)
from tests.conversations.connections import HEADER, LOOPBACK
from tests.conversations.providers.events import without_usage
from tests.model_scripts import Raw, ScriptedRefusal
from tests.other_services import elsewhere

pytestmark = pytest.mark.django_db

MODEL = "eu.anthropic.claude-haiku-5-5-v1:0"
ALL = (ACCESS_KEY, SECRET, SESSION, TOKEN)


def payload(provider: BedrockProvider | VertexProvider, model: str = MODEL, **values: Any) -> Payload:
    messages = [{"role": "user", "content": [{"type": "text", "text": "Grüß dich, 世界 👋"}]}]
    return provider.render(RequestParts(model=model, max_tokens=64, system=[], messages=messages, **values))


def events_of(provider: Any, model: str = MODEL) -> list[ProviderEvent]:
    async def read() -> list[ProviderEvent]:
        told = [event async for event in without_usage(provider.stream(payload(provider, model), seconds=30))]
        await provider.aclose()
        return told

    return asyncio.run(read())


def failure_of(provider: Any) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        events_of(provider)
    return raised.value


@pytest.fixture
def vertex_server(vertex: VertexServer) -> VertexServer:
    vertex.claude.verbatim = True
    return vertex


@pytest.fixture
def bedrock_server(bedrock: BedrockServer) -> BedrockServer:
    bedrock.claude.verbatim = True
    return bedrock


# How they are asked


def test_bedrock_is_asked_with_the_access_key_of_the_machine(
    bedrock_server: BedrockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bedrock_server.script(scripts.text("Hel", "lo"), scripts.text("Again"))
    *said, end = events_of(BedrockProvider())
    assert said == [TextDelta(text="Hel"), TextDelta(text="lo")]
    assert isinstance(end, Finished)
    assert (end.stop_reason, end.request_id, end.usage.output_tokens) == ("end_turn", "req_local", 7)
    [request] = bedrock_server.requests
    assert request.path == "/model/eu.anthropic.claude-haiku-5-5-v1:0/invoke-with-response-stream"
    assert request.body["messages"][0]["content"][0]["text"] == "Grüß dich, 世界 👋"
    assert "x-amz-security-token" not in request.headers


def test_bedrock_is_asked_with_its_api_key_where_there_is_one(
    bedrock_server: BedrockServer, settings: Settings
) -> None:
    settings.AWS_BEARER_TOKEN_BEDROCK = bedrock_server.api_key = "bedrock-api-key-of-the-tests"
    assert isinstance(events_of(BedrockProvider())[-1], Finished)
    assert "x-amz-date" not in bedrock_server.requests[0].headers


def test_an_arn_is_one_part_of_the_path(bedrock_server: BedrockServer) -> None:
    arn = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/anthropic.claude-haiku-5-5"
    events_of(BedrockProvider(), arn)
    assert bedrock_server.requests[0].path == f"/model/{arn.replace('/', '%2F')}/invoke-with-response-stream"


def test_vertex_is_asked_with_a_token_that_serves_until_it_runs_out(vertex_server: VertexServer) -> None:
    provider = VertexProvider()

    async def ask() -> None:
        for _ in range(2):
            events = [event async for event in provider.stream(payload(provider, "claude-haiku-5-5@20261001"))]
            assert isinstance(events[-1], Finished)
        await provider.aclose()

    asyncio.run(ask())
    assert [request.path for request in vertex_server.requests] == [
        f"/v1/projects/{PROJECT}/locations/{REGION}/publishers/anthropic/models/claude-haiku-5-5@20261001:streamRawPredict"
    ] * 2
    assert vertex_server.tokens_given == 1


def test_vertex_counts_tokens_and_bedrock_does_not(vertex_server: VertexServer) -> None:
    provider = VertexProvider()

    async def count() -> int:
        counted = await provider.count_tokens("claude-haiku-5-5", "Grüß dich")
        await provider.aclose()
        return counted

    assert asyncio.run(count()) == vertex_server.tokens_of("Grüß dich")
    assert vertex_server.requests[0].body["model"] == "claude-haiku-5-5"
    assert (provider.token_counter() is None, BedrockProvider().token_counter()) == (False, None)


@pytest.mark.parametrize("kind", [BedrockProvider, VertexProvider])
def test_what_only_the_claude_api_takes_is_left_out(kind: type[BedrockProvider | VertexProvider]) -> None:
    with_diagnostics = payload(kind(), previous_message_id="msg_1")
    assert with_diagnostics == payload(kind())
    assert set(with_diagnostics) == {"model", "max_tokens", "system", "messages", "stream"}


@pytest.mark.parametrize("server", ["bedrock_server", "vertex_server"])
def test_a_tool_is_called_in_pieces(request: pytest.FixtureRequest, server: str) -> None:
    call = scripts.ScriptedToolUse(name="save", input={"title": "Größe"}, id="toolu_1")
    request.getfixturevalue(server).script(scripts.turn(call))
    events = events_of(BedrockProvider() if server == "bedrock_server" else VertexProvider(), "claude-haiku-5-5")
    assert ToolCalled(id="toolu_1", name="save", input={"title": "Größe"}) in events


def test_a_frame_may_come_in_pieces(bedrock_server: BedrockServer) -> None:
    whole = b"".join(event_frame(step) for step in scripts.text("Hel", "lo").steps if isinstance(step, dict))
    pieces = [Raw(whole[start : start + 7]) for start in range(0, len(whole), 7)]
    bedrock_server.script(scripts.stream(*pieces))
    assert [type(event) for event in events_of(BedrockProvider())] == [TextDelta, TextDelta, Finished]


# What goes wrong


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("throttlingException", "rate_limited"),
        ("modelTimeoutException", "timeout"),
        ("serviceUnavailableException", "overloaded"),
        ("internalServerException", "server_error"),
        ("modelStreamErrorException", "server_error"),
        ("validationException", "invalid_request"),
        ("somethingNewException", "server_error"),
    ],
)
def test_an_error_in_the_middle_of_the_stream_is_told(bedrock_server: BedrockServer, name: str, code: str) -> None:
    broken = scripts.stream(*scripts.opening_steps(), scripts.text_delta("So"), Raw(exception_frame(name, "No more.")))
    bedrock_server.script(broken)
    assert failure_of(BedrockProvider()).code == code
    assert len(bedrock_server.requests) == 1, "what was begun is not asked for again"


def test_an_error_before_any_content_is_tried_again(bedrock_server: BedrockServer) -> None:
    bedrock_server.script(
        scripts.stream(Raw(exception_frame("throttlingException", "Slow down."))), scripts.text("There")
    )
    assert events_of(BedrockProvider())[0] == TextDelta(text="There")


def refused(status: int, name: str, message: str = "No") -> ScriptedRefusal:
    headers = {"x-amzn-errortype": f"{name}:http://internal.amazon.com/"}
    body = {"type": "error", "error": {"message": message}}
    return ScriptedRefusal(status=status, body=json.dumps(body).encode(), headers=headers)


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [
        (refused(403, "AccessDeniedException", f"{ACCESS_KEY} may not do it with {SECRET}"), "permission", 403),
        (refused(403, "ExpiredTokenException"), "authentication", 403),
        (refused(404, "ResourceNotFoundException"), "model_not_found", 404),
        (refused(400, "ValidationException", "Input is too long for requested model."), "request_too_large", 400),
        (refused(400, "ValidationException"), "invalid_request", 400),
        (refused(424, "ModelErrorException"), "server_error", 424),
    ],
)
def test_what_bedrock_refuses_is_told_in_openbooks_words(
    bedrock_server: BedrockServer, opened: None, answer: ScriptedRefusal, code: str, status: int
) -> None:
    bedrock_server.script(*[answer] * 3)
    error = failure_of(provider_of(row(bedrock_server.url)))
    assert (error.code, error.status) == (code, status)
    assert not any(secret in error.message for secret in ALL)


@pytest.mark.parametrize("region", ["eu-central-1", "us-east-1"])
def test_a_signature_that_is_not_right_is_refused(
    bedrock_server: BedrockServer, settings: Settings, monkeypatch: pytest.MonkeyPatch, region: str
) -> None:
    settings.AWS_REGION = region
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET if region != REGION else "another")
    assert failure_of(BedrockProvider()).code == "authentication"


def test_without_any_credentials_that_is_said(
    bedrock_server: BedrockServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    error = failure_of(BedrockProvider())
    assert (error.code, error.retryable) == ("no_credentials", False)
    assert error.message.endswith("has to check the credentials for Amazon Bedrock.")
    assert bedrock_server.requests == []


@pytest.mark.parametrize(
    ("answer", "code"), [((400, {}, '{"error": "invalid_grant"}'), "no_credentials"), (None, "unreachable")]
)
def test_a_token_that_is_not_given_is_told(
    vertex_server: VertexServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: Any, code: str
) -> None:
    file = tmp_path / "account.json"
    account = json.loads(file.read_text())
    with elsewhere({"*": answer or (200, {}, "")}) as service:
        account["token_uri"] = service.url if answer else "http://127.0.0.1:9/token"
        file.write_text(json.dumps(account))
        error = failure_of(VertexProvider())
    assert error.code == code
    assert account["private_key"][40:80] not in error.message
    assert vertex_server.requests == []


def test_a_missing_file_of_credentials_is_told(vertex_server: VertexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file.json")
    assert failure_of(VertexProvider()).code == "no_credentials"


@pytest.mark.parametrize("name", ["bedrock", "vertex"])
def test_what_is_missing_is_told_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, name: str
) -> None:
    provider = get_provider(name)
    obstacle = provider.obstacle()
    assert obstacle and obstacle.message.startswith(f"The region of {CLOUDS[name].name} is missing.")
    settings.AWS_REGION = settings.CLOUD_ML_REGION = "eu-central-1.elsewhere.example/"
    assert (obstacle := provider.obstacle()) and "region" in obstacle.message, "it would be a part of a host's name"
    settings.AWS_REGION = settings.CLOUD_ML_REGION = REGION
    obstacle = provider.obstacle()
    assert (obstacle.message[:40] if obstacle else "") == {
        "bedrock": "",
        "vertex": "The project of Google Vertex AI is missi",
    }[name]
    monkeypatch.setattr("conversations.providers.clouds.find_spec", lambda _: None)
    obstacle = provider.obstacle()
    assert obstacle and (obstacle.code, "`make cloud`" in obstacle.message) == ("cloud_missing", True)


def test_without_a_model_that_is_said_and_the_first_that_is_offered_answers() -> None:
    provider = BedrockProvider()
    with pytest.raises(ProviderError) as raised:
        provider.default_model()
    assert raised.value.message.startswith("No model of Amazon Bedrock is offered.")
    Model.objects.create(provider="bedrock", name=MODEL, label="Haiku", context_window=90_000, max_output=9_000)
    model_catalog.reread()
    assert provider.default_model() == MODEL


@pytest.mark.wide
def test_nothing_of_a_cloud_is_imported_until_it_is_asked() -> None:
    code = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup(); "
        "import conversations.providers.anthropic, conversations.providers.clouds; "
        "from conversations.providers import get_provider; get_provider('anthropic'); "
        "print([name for name in ('boto3', 'botocore', 'google.auth') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("region", "address"),
    [
        ("global", "https://aiplatform.googleapis.com/v1"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com/v1"),
        ("europe-west1", "https://europe-west1-aiplatform.googleapis.com/v1"),
        ("", ""),
        ("evil.example/", ""),
    ],
)
def test_a_region_has_its_address(region: str, address: str) -> None:
    assert CLOUDS["vertex"].address_in(region) == address


# Connections that staff made


def row(url: str, key: str = f"{ACCESS_KEY}:{SECRET}", **values: Any) -> Connection:
    made = Connection(slug="team", label="Team", kind="bedrock", region=REGION, base_url=url, **values)
    made.set_secrets(Secrets(key=key, headers={"X-Project": HEADER}))
    made.save()
    reread()
    return made


@pytest.fixture
def operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the operator's own environment holds."""
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "token-of-the-operator")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-the-operator")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Of: token-of-the-operator")
    monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", "http://127.0.0.1:9")


@pytest.mark.parametrize("session", ["", SESSION])
def test_a_connection_is_asked_with_its_own_access_key_and_headers(
    bedrock_server: BedrockServer, opened: None, operators: None, session: str
) -> None:
    key = ":".join(filter(None, (ACCESS_KEY, SECRET, session)))
    assert isinstance(events_of(provider_of(row(bedrock_server.url, key)))[-1], Finished)
    [request] = bedrock_server.requests
    assert (request.headers.get("x-amz-security-token", ""), request.headers["x-project"]) == (session, HEADER)
    assert "token-of-the-operator" not in str(request.headers)


def test_a_connection_is_asked_with_its_own_api_key(
    bedrock_server: BedrockServer, opened: None, operators: None
) -> None:
    bedrock_server.api_key = "ABSKQmVkcm9ja0FQSUtleS1sb2NhbA=="
    assert isinstance(events_of(provider_of(row(bedrock_server.url, bedrock_server.api_key)))[-1], Finished)


def test_a_connection_without_a_key_is_not_asked_with_the_operators(
    bedrock_server: BedrockServer, opened: None, operators: None
) -> None:
    assert failure_of(provider_of(row(bedrock_server.url, key=""))).code == "authentication"
    assert bedrock_server.requests == []


def test_a_connection_leads_to_its_region() -> None:
    assert endpoint_of(row("")).base_url == "https://bedrock-runtime.eu-central-1.amazonaws.com"
    assert endpoint_of(row_with_region("a.example/")).base_url == ""


def row_with_region(region: str) -> Connection:
    Connection.objects.filter(slug="team").update(region=region)
    return Connection.objects.get(slug="team")


@pytest.mark.parametrize(
    ("provider", "model", "cents"),
    [
        ("team", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", 330),
        ("bedrock", "global.anthropic.claude-haiku-4-5-20251001-v1:0", 100),
        ("vertex", "claude-sonnet-4-5@20250929", 300),
        ("vertex", "of-nobody", None),
    ],
)
def test_prices_are_those_of_the_region(settings: Settings, provider: str, model: str, cents: int | None) -> None:
    settings.AWS_REGION, settings.CLOUD_ML_REGION = REGION, "europe-west1"
    row("https://vpce.example")
    known = known_prices(address_of(provider), model)
    assert [price.input * 100 for price in known if not price.above] == ([cents] if cents else [])


def test_inner_networks_and_redirects_are_refused(bedrock_server: BedrockServer, settings: Settings) -> None:
    assert failure_of(provider_of(row(bedrock_server.url))).code == "inner_network"
    assert bedrock_server.requests == []
    Connection.objects.all().delete()
    with elsewhere({"*": (200, {}, "{}")}) as thief:
        with elsewhere({"*": (307, {"location": thief.url}, "")}) as service:
            settings.OPENBOOK_INNER_NETWORKS = LOOPBACK
            assert failure_of(provider_of(row(service.url))).code == "redirected"
        assert thief.requests == []


def test_a_connection_is_tried_out_with_its_own_model(bedrock_server: BedrockServer, opened: None) -> None:
    made = row(bedrock_server.url)
    assert try_out(made, reserved_call()) == Trial(is_working=False, words=LISTS_NOTHING)
    Model.objects.create(provider="team", name=MODEL, label="Haiku", context_window=90_000, max_output=9_000)
    model_catalog.reread()
    assert try_out(made, reserved_call()).is_working


def test_no_secret_is_in_a_log_or_an_error(
    bedrock_server: BedrockServer, opened: None, caplog: pytest.LogCaptureFixture
) -> None:
    made = row(bedrock_server.url, f"{ACCESS_KEY}:{SECRET}:{SESSION}")
    told = f"{ACCESS_KEY} {SECRET} {SESSION} {HEADER}"
    bedrock_server.script(*[refused(status, "Refused", told) for status in (400, 403, 404)], scripts.text("Hello"))
    with caplog.at_level(logging.DEBUG):
        errors = [failure_of(provider_of(made)) for _ in range(3)]
        logging.getLogger("openbook.tests").error("failed", exc_info=errors[0])
        events_of(provider_of(made))
    shown = [caplog.text, repr(endpoint_of(made)), *(error.message for error in errors)]
    assert [text for text in shown for secret in (ACCESS_KEY, SECRET, SESSION, HEADER) if secret in text] == []
    assert SESSION in str(bedrock_server.requests[0].headers)


@pytest.mark.parametrize(
    ("key", "pair"),
    [
        (f"{ACCESS_KEY}:{SECRET}", (ACCESS_KEY, SECRET, "")),
        (f"{ACCESS_KEY}:{SECRET}:{SESSION}", (ACCESS_KEY, SECRET, SESSION)),
        ("ABSKQmVkcm9ja0FQSUtleS1sb2NhbA==", None),
        ("bedrock-api-key-of:the-tests", None),
        ("", None),
    ],
)
def test_an_access_key_is_told_from_an_api_key(key: str, pair: tuple[str, str, str] | None) -> None:
    assert access_key(key) == pair
