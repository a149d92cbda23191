"""Connections that staff made, as providers: their keys, where they may lead, and what they tell when they fail."""

import asyncio
import logging
import socket
import ssl
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.db import connection as database
from pytest_django import DjangoAssertNumQueries, Settings

from conversations.models import Connection, Model
from conversations.models.connections import Secrets
from conversations.providers import ProviderError, connections, get_provider, model_catalog
from conversations.providers.base import Finished, Payload, Provider, TextDelta
from conversations.providers.connection_trial import Trial, offered_models, try_out
from conversations.providers.connections import endpoint_of, provider_of
from conversations.providers.messages_api import RequestParts
from conversations.providers.model_listing import OfferedModel, parse_models
from tests import model_scripts as scripts
from tests.calls import reserved_call
from tests.certificates import self_signed
from tests.chat_server import ChatServer
from tests.chat_server import scripts as chat
from tests.chat_server.kinds import KINDS
from tests.conversations.connections import CANARY, HEADER, LOOPBACK, make_connection
from tests.conversations.providers.events import without_usage
from tests.model_server import ModelServer
from tests.other_services import elsewhere, model_list

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _plain_and_quick(_sdk: None, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    model_server.claude.verbatim = True
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))


@pytest.fixture
def untrusted(tmp_path: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path))
    return context


def payload(provider: Provider) -> Payload:
    return provider.render(
        RequestParts(model="claude-x", max_tokens=64, system=[], messages=[{"role": "user", "content": "Hi"}])
    )


def answer_of(row: Connection) -> list[Any]:
    async def read() -> list[Any]:
        provider = provider_of(row)
        return [event async for event in without_usage(provider.stream(payload(provider)))]

    return asyncio.run(read())


def failure_of(row: Connection) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        answer_of(row)
    return raised.value


# What is sent, and where


def test_a_connection_answers_by_its_own_address_key_and_headers(
    model_server: ModelServer, opened: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Of-The-Operator: secret")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-operator")
    model_server.script(scripts.text("Hello"))
    *deltas, end = answer_of(make_connection(model_server.url))
    assert deltas == [TextDelta(text="Hello")] and isinstance(end, Finished)
    [request] = model_server.requests
    assert (request.headers["authorization"], request.headers["x-project"]) == (f"Bearer {CANARY}", HEADER)
    assert "of-the-operator" not in str(request.headers)


def test_a_server_of_chat_completions_answers_too(
    chat_server: ChatServer, opened: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ORG_ID", "org"), ("PROJECT_ID", "project"), ("CUSTOM_HEADERS", "X-Of: operator")):
        monkeypatch.setenv(f"OPENAI_{name}", f"{value}-of-the-operator")
    chat_server.say(chat.answer("Hello"))
    row = make_connection(chat_server.base_url, kind="openai", server="openai")
    *deltas, end = answer_of(row)
    assert deltas == [TextDelta(text="Hello")] and isinstance(end, Finished)
    [request] = chat_server.requests
    assert (request.headers["authorization"], request.headers["x-project"]) == (f"Bearer {CANARY}", HEADER)
    assert "of-the-operator" not in str(request.headers)
    assert [model.id for model in offered_models(row)] == ["local-model", "text-embedding-local"]
    assert try_out(row, reserved_call()).words.endswith(" ms with local-model.")
    chat_server.api_key = "another"
    assert try_out(row, reserved_call()) == Trial(is_working=False, words="The service refused the key.")


def test_a_server_of_ones_own_wants_no_key(chat_server: ChatServer, opened: None) -> None:
    chat_server.kind = KINDS["ollama"]
    row = make_connection(chat_server.base_url, kind="openai")
    row.set_secrets(Secrets())
    row.save()
    assert try_out(row, reserved_call()).is_working
    assert CANARY not in str([request.headers for request in chat_server.requests])


def test_the_kind_of_server_is_what_staff_say(opened: None) -> None:
    make_connection("http://127.0.0.1:9999/v1", kind="openai", server="ollama")
    program = get_provider("team").program()
    assert program and program["name"] == "team"
    assert program["dialect"]["name"] == "ollama"  # type: ignore[index]


def test_what_was_recorded_of_a_key_that_is_lost_can_be_rendered(settings: Settings) -> None:
    make_connection("http://127.0.0.1:9/v1", kind="openai")
    settings.SECRET_KEY = "another"
    assert payload(get_provider("team"))["model"] == "claude-x"


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_without_an_address_it_leads_to_the_maker_and_not_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    makers = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
    monkeypatch.setenv(f"{kind.upper()}_BASE_URL", "http://elsewhere.example")
    assert endpoint_of(make_connection("", kind=kind)).base_url == makers[kind]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(status: int, kind: str, opened: None) -> None:
    with elsewhere({"*": (200, {}, "{}")}) as thief:
        with elsewhere({"*": (status, {"location": f"{thief.url}/v1/messages"}, "")}) as service:
            row = make_connection(service.url, kind=kind)
            error = failure_of(row)
            assert (error.code, error.retryable, error.status) == ("redirected", False, status)
            assert "Redirects are not followed" in try_out(row, reserved_call()).words
            assert CANARY in service.heard
        assert thief.requests == []


def test_the_key_of_the_environment_is_not_redirected_either(settings: Settings) -> None:
    with elsewhere({"*": (200, {}, "{}")}) as thief:
        with elsewhere({"*": (307, {"location": thief.url}, "")}) as service:
            settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = CANARY, service.url

            async def ask() -> None:
                provider = get_provider("anthropic")
                async for _ in provider.stream(payload(provider)):
                    pass

            with pytest.raises(ProviderError) as raised:
                asyncio.run(ask())
        assert (raised.value.code, thief.requests) == ("redirected", [])


# Inner networks


@pytest.mark.parametrize("host", ["127.0.0.1", "127。0。0。1", "localhost", "0x7f000001", "[::ffff:127.0.0.1]"])
@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_an_inner_address_is_refused_before_anything_is_sent(model_server: ModelServer, host: str, kind: str) -> None:
    port = model_server.url.rpartition(":")[2]
    row = make_connection(f"http://{host}:{port}", kind=kind)
    error = failure_of(row)
    assert (error.code, error.retryable) == ("inner_network", False)
    assert "OPENBOOK_INNER_NETWORKS does not name it" in try_out(row, reserved_call()).words
    assert model_server.requests == []


Lookup = list[tuple[Any, ...]]


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Names are found at these addresses, one after the other; the last one stays. Returns what was asked."""
    asked: list[str] = []
    left = list(answers)

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Lookup:
        asked.append(host.decode() if isinstance(host, bytes) else host)
        address = left.pop(0) if len(left) > 1 else left[0]
        if ":" in address:
            return [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "::"])
def test_a_name_that_leads_into_an_inner_network_is_refused(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    port = model_server.url.rpartition(":")[2]
    resolving(monkeypatch, address)
    assert failure_of(make_connection(f"http://models.example:{port}")).code == "inner_network"
    assert model_server.requests == []


def test_a_name_that_is_bound_again_leads_nowhere_else(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked up once for a connection, and the connection goes to what was judged."""
    port = model_server.url.rpartition(":")[2]
    # 192.31.196.1 is public by the registry, and nobody answers there.
    asked = resolving(monkeypatch, "192.31.196.1", "127.0.0.1")
    row = make_connection(f"http://models.example:{port}", connect_seconds=0.2)
    assert failure_of(row).code == "inner_network"  # by the second attempt, which looks it up anew
    assert set(asked) == {"models.example"} and model_server.requests == []


def test_an_opened_network_is_reached_by_name(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, opened: None
) -> None:
    port = model_server.url.rpartition(":")[2]
    resolving(monkeypatch, "127.0.0.1")
    model_server.script(scripts.text("Hello"))
    assert answer_of(make_connection(f"http://models.example:{port}"))[0] == TextDelta(text="Hello")
    assert model_server.requests[0].headers["host"] == f"models.example:{port}"


def test_a_proxy_in_an_inner_network_is_refused_and_an_opened_one_is_used(settings: Settings) -> None:
    with elsewhere({"*": (502, {}, "")}) as proxy:
        row = make_connection("http://models.example", proxy=proxy.url)
        assert failure_of(row).code == "inner_network"
        assert proxy.requests == []
        settings.OPENBOOK_INNER_NETWORKS = LOOPBACK
        assert failure_of(row).code == "server_error"
        assert proxy.requests[0].path.startswith("http://models.example/")


def test_a_proxy_is_not_asked_for_an_inner_address(settings: Settings) -> None:
    """It would look names up by itself, so what can be judged is what is written."""
    settings.OPENBOOK_INNER_NETWORKS = (ip_network("127.0.0.1"),)
    with elsewhere({"*": (200, {}, "{}")}) as proxy:
        assert failure_of(make_connection("http://169.254.169.254", proxy=proxy.url)).code == "inner_network"
        assert proxy.requests == []


# Tests of a connection, in words


def test_a_trial_tells_how_long_it_took_and_who_answered(model_server: ModelServer, opened: None) -> None:
    trial = try_out(make_connection(model_server.url), reserved_call())
    assert trial.is_working and trial.words.startswith("Answered in ") and trial.words.endswith(" ms with local.")
    assert [request.path for request in model_server.requests] == ["/v1/models?limit=1000", "/v1/messages"]
    assert model_server.bodies[1]["model"] == "claude-sonnet-5-5"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


WRONG: dict[str, tuple[dict[str, tuple[int, dict[str, str], str]], str]] = {
    "html": ({"*": (200, {"content-type": "text/html"}, "<h1>It works!</h1>")}, "not in the shape that is expected"),
    "another list": ({"*": (200, {}, '{"data": "none"}')}, "not in the shape that is expected"),
    "not found": ({"*": (404, {}, "{}")}, "It answered, but has no list of models there (404)"),
    "nothing offered": ({"*": (200, {}, model_list())}, "It answered, but offers no models."),
    "redirect": ({"*": (307, {"location": "https://elsewhere.example/"}, "")}, "It answered with a redirect."),
    "broken": ({"*": (500, {}, "")}, "It answered with an error of its own."),
    "no stream": (
        {"/v1/models": (200, {}, model_list("a-model")), "*": (200, {}, "{}")},
        "not in the shape that is expected",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_service_that_is_no_model_is_told_as_such(name: str, opened: None) -> None:
    answers, words = WRONG[name]
    with elsewhere(answers) as service:
        trial = try_out(make_connection(service.url), reserved_call())
    assert not trial.is_working and words in trial.words


def test_a_refused_key_is_told(model_server: ModelServer, opened: None) -> None:
    model_server.api_key = "another"
    trial = try_out(make_connection(model_server.url), reserved_call())
    assert trial == Trial(is_working=False, words="The service refused the key.")


def test_nobody_there_is_told(opened: None) -> None:
    port = free_port()
    words = f"Nothing listens at 127.0.0.1:{port}: the connection was refused or broke off."
    assert try_out(make_connection(f"http://127.0.0.1:{port}"), reserved_call()) == Trial(is_working=False, words=words)


def test_a_name_that_is_not_known_is_told() -> None:
    trial = try_out(make_connection("https://models.invalid"), reserved_call())
    assert trial == Trial(is_working=False, words="The name models.invalid was not found.")


def test_silence_is_told(opened: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.providers.connection_trial.SECONDS", 0.3)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        trial = try_out(make_connection(f"http://127.0.0.1:{silent.getsockname()[1]}"), reserved_call())
    assert trial.words == "Timed out: connected, but there was no answer within 0.3 s."


def test_a_certificate_that_is_not_trusted_is_told(opened: None, untrusted: ssl.SSLContext) -> None:
    with elsewhere({"*": (200, {}, model_list("a"))}, ssl=untrusted) as service:
        trial = try_out(make_connection(service.url), reserved_call())
        assert service.requests == []
    host = service.url.removeprefix("https://")
    assert trial.words == f"Nothing was sent: the certificate of {host} is not trusted on this machine."


def test_the_models_of_a_service_are_listed(model_server: ModelServer, opened: None) -> None:
    assert offered_models(make_connection(model_server.url)) == [
        OfferedModel(id="claude-haiku-5-5", label="Claude Haiku 5 5", context_window=1_000_000, max_output=128_000),
        OfferedModel(
            id="claude-of-next-year", label="Claude Of Next Year", context_window=1_000_000, max_output=128_000
        ),
        OfferedModel(id="claude-sonnet-5-5", label="Claude Sonnet 5 5", context_window=1_000_000, max_output=128_000),
    ]


@pytest.mark.parametrize(
    ("row", "window", "output"),
    [
        ({"id": "a", "object": "model"}, 0, 0),
        ({"id": "a", "max_model_len": 32_768}, 32_768, 0),
        ({"id": "a", "context_length": 8_000, "top_provider": {"max_completion_tokens": 900}}, 8_000, 900),
        ({"id": "a", "context_window": "many", "max_tokens": True}, 0, 0),
        ({"id": "a", "max_input_tokens": 0, "context_window": -1, "meta": {"n_ctx": 4_096}}, 4_096, 0),
    ],
)
def test_sizes_are_read_as_each_server_names_them(row: dict[str, Any], window: int, output: int) -> None:
    assert parse_models({"data": [row, {"id": ""}, {"id": 7}, "x", {"id": "x" * 81}, {"id": "a\n"}]}) == [
        OfferedModel(id="a", label="a", context_window=window, max_output=output)
    ]


# Keys


def test_a_key_lies_encrypted_and_can_be_read_after_the_secret_key_has_changed(settings: Settings) -> None:
    row = make_connection("https://models.example")
    with database.cursor() as cursor:
        cursor.execute("SELECT conversations_connection::text FROM conversations_connection")
        [(stored,)] = cursor.fetchall()
    assert CANARY not in stored and CANARY.encode().hex() not in stored and HEADER not in stored
    before, settings.SECRET_KEY = settings.SECRET_KEY, "another"
    problem = endpoint_of(row).problem
    assert problem and problem.code == "misconfigured" and "stored with another SECRET_KEY" in problem.message
    assert endpoint_of(row).key == ""
    settings.SECRET_KEY_FALLBACKS = [before]
    assert endpoint_of(row).key == CANARY


def test_a_key_that_cannot_be_read_fails_the_call_in_words(settings: Settings, opened: None) -> None:
    row = make_connection("http://127.0.0.1:9")
    settings.SECRET_KEY = "another"
    assert "can't be read" in failure_of(row).message
    obstacle = get_provider(row.slug).obstacle()
    assert obstacle and "can't be read" in obstacle.message
    trial = try_out(row, reserved_call())
    assert not trial.is_working and "SECRET_KEY_FALLBACKS" in trial.words


@pytest.mark.parametrize(
    "changes",
    [
        {"base_url": "https://models.example:444"},
        {"base_url": "http://models.example"},
        {"base_url": "https://models.example.org"},
        {"base_url": ""},
        {"proxy": "http://proxy.example:3128"},
    ],
)
def test_a_key_is_bound_to_the_place_that_it_was_given_for(changes: dict[str, str]) -> None:
    """Also where a row is changed by other means than its form."""
    make_connection("https://models.example")
    Connection.objects.update(base_url="https://MODELS.example:443/deep")
    assert endpoint_of(Connection.objects.get()).key == CANARY
    Connection.objects.update(**changes)
    endpoint = endpoint_of(Connection.objects.get())
    assert endpoint.problem and "is for another address" in endpoint.problem.message
    assert (endpoint.key, dict(endpoint.headers)) == ("", {})


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 500])
def test_the_key_stands_in_no_message_log_or_representation(
    model_server: ModelServer, opened: None, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    model_server.script(*[scripts.error(status, f"{CANARY} with {HEADER} was refused")] * 3)
    row = make_connection(model_server.url)
    with caplog.at_level(logging.DEBUG):
        error = failure_of(row)
        logging.getLogger("openbook.tests").error("failed", exc_info=error)
    told = [caplog.text, str(error), repr(error), repr(row), str(row), repr(endpoint_of(row)), repr(row.read_secrets())]
    told += [str(vars(record)) for record in caplog.records]
    assert [text for text in told if CANARY in text or HEADER in text] == []


# Which provider a name means


def test_a_connection_is_known_by_its_slug(model_server: ModelServer, opened: None) -> None:
    make_connection(model_server.url)
    provider = get_provider("team")
    assert provider.name == "team" and get_provider("team") is provider
    with pytest.raises(ProviderError, match="has no model"):
        provider.default_model()
    Model.objects.create(provider="team", name="claude-x", label="X", context_window=9_000, max_output=900)
    model_catalog.reread()
    assert provider.default_model() == "claude-x"


def test_a_changed_key_counts_at_the_next_request(model_server: ModelServer, opened: None) -> None:
    row = make_connection(model_server.url)
    provider = get_provider("team")
    row.set_secrets(Secrets(key="another-key"))
    row.save()
    connections.reread()

    async def ask() -> None:
        async for _ in provider.stream(payload(provider)):
            pass

    get_provider("team")
    asyncio.run(ask())
    assert model_server.requests[0].headers["authorization"] == "Bearer another-key"


def test_rows_are_read_once_in_a_while_and_never_on_the_event_loop(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    make_connection("https://models.example")
    with django_assert_num_queries(1):
        assert get_provider("team") is get_provider("team")
    connections.reread()

    async def on_the_loop() -> str:
        return get_provider("team").name

    with django_assert_num_queries(0):
        assert asyncio.run(on_the_loop()) == "team"


def test_a_connection_that_is_switched_off_renders_and_is_not_asked(model_server: ModelServer, opened: None) -> None:
    make_connection(model_server.url, is_active=False)
    provider = get_provider("team")
    assert provider.render(RequestParts(model="m", max_tokens=1, system=[], messages=[]))["model"] == "m"
    obstacle = provider.obstacle()
    assert obstacle and "is switched off" in obstacle.message
    assert model_server.requests == []


def test_who_nobody_knows_is_told_with_who_could_be_meant() -> None:
    with pytest.raises(ProviderError, match="can add a connection of this name in the admin, or choose another"):
        get_provider("nobody")
