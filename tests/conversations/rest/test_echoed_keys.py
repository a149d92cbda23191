"""A service repeats the key and the header that it was sent, in every field that it can: neither is kept or shown."""

import base64
import json
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection

from conversations.models import Assistant, Model
from conversations.providers import connections, model_catalog
from conversations.providers.base import TextDelta, ToolCalled, ToolStarted
from conversations.providers.masking import MARK, mask_of
from conversations.runtime.db import in_database
from tests.conversations.connections import CANARY, HEADER, make_connection
from tests.conversations.providers.test_connections import answer_of
from tests.conversations.rest.client import Api
from tests.other_services import elsewhere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "opened")]

ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "loud": str.upper,
    "within": lambda secret: f"id-{secret}.7",
    "its beginning": lambda secret: secret[:12],
    "its end": lambda secret: f"…{secret[-9:]}",
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "basic": lambda secret: base64.urlsafe_b64encode(f"user:{secret}".encode()).decode(),
    "in an address": lambda secret: quote(f"k={secret}/", safe=""),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "cut": lambda secret: ("x" * 80 + secret)[:100],
}


def sse(*events: Any) -> str:
    return "".join(f"event: {event.get('type', 'x')}\ndata: {json.dumps(event)}\n\n" for event in events)


def messages_stream(echo: str, *, calls: bool) -> str:
    called = range(2 if calls else 0)
    tool = {"type": "tool_use", "id": echo, "name": echo, "input": {}}
    return sse(
        {"type": "message_start", "message": {"id": echo, "model": echo, "usage": {}, "diagnostics": {echo: [echo]}}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": echo},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Fine."}},
        {"type": "content_block_stop", "index": 1},
        *(
            {"type": "content_block_start", "index": 2 + n, "content_block": tool | {"id": f"{echo}-{n}"}}
            for n in called
        ),
        *({"type": "content_block_stop", "index": 2 + n} for n in called),
        {"type": "message_delta", "delta": {"stop_reason": echo, "stop_details": {"explanation": echo}}, "usage": {}},
        {"type": "message_stop"},
    )


def chat_stream(echo: str, *, calls: bool) -> str:
    called = [{"index": n, "id": f"{echo}-{n}", "function": {"name": echo, "arguments": "{}"}} for n in range(2)]
    delta = {"content": "Fine."} | ({"tool_calls": called} if calls else {})
    choice = {"index": 0, "delta": delta, "finish_reason": echo}
    chunk = {"id": echo, "model": echo, "system_fingerprint": echo, "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"


def answers(kind: str, echo: str, *, calls: bool = False) -> dict[str, tuple[int, dict[str, str], str]]:
    stream = (messages_stream if kind == "anthropic" else chat_stream)(echo, calls=calls)
    ascii_echo = echo.encode("ascii", "replace").decode()
    headers = {"content-type": "text/event-stream", "request-id": ascii_echo, "x-request-id": ascii_echo}
    models = json.dumps({"data": [{"id": echo, "display_name": echo}]})
    return {"/v1/models": (200, {}, models), "/models": (200, {}, models), "*": (200, headers, stream)}


def pieces(text: str) -> list[str]:
    forms = [echo(secret).lower() for echo in ECHOES.values() for secret in (CANARY, HEADER)]
    return [form for form in forms if len(form) > 8 and form.strip("x…") and form in text.lower()]


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@pytest.mark.parametrize("form", ECHOES)
@pytest.mark.parametrize("secret", [CANARY, HEADER])
def test_no_event_holds_it(kind: str, form: str, secret: str) -> None:
    echo = ECHOES[form](secret)
    with elsewhere(answers(kind, echo, calls=True)) as service:
        row = make_connection(f"{service.url}{'/v1' if kind == 'openai' else ''}", kind=kind)
        events = answer_of(row)
    assert TextDelta(text="Fine.") in events
    assert pieces(repr(events)) == []
    started = [event.id for event in events if isinstance(event, ToolStarted)]
    assert started == [event.id for event in events if isinstance(event, ToolCalled)] and len(set(started)) == 2


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_no_row_page_log_or_figure_holds_it(api: Api, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    told = []
    with elsewhere(answers(kind, CANARY)) as service, caplog.at_level(logging.DEBUG, logger="openbook"):
        await in_database(connect)(f"{service.url}{'/v1' if kind == 'openai' else ''}", kind)
        answer = await api.post("threads/new/messages/", {"content": "Hello"})
        thread = answer.body.get("thread") or answer.body["error"]["details"]["thread"]
        told += [str(answer.body), str((await Api().get("/metrics")).body)]
        told += [str((await api.get(path)).body) for path in (f"threads/{thread}/messages/", "export/", "models/")]
        service.answers = {
            "*": (400, {}, json.dumps({"error": {"type": CANARY, "code": CANARY, "message": f"no: {CANARY}"}}))
        }
        failed = await api.post(f"threads/{thread}/messages/", {"content": "Hello again"})
        assert MARK in failed.body["error"]["message"]
        told += [str(failed.body), await in_database(database_text)()]
    assert service.requests and pieces(" ".join([*told, caplog.text])) == []


def connect(url: str, kind: str) -> None:
    make_connection(url, kind=kind)
    Model.objects.create(provider="team", name="claude-haiku-5-5", label="H", context_window=90_000, max_output=9_000)
    Assistant.objects.filter(slug="companion").update(provider="team", model="")
    model_catalog.reread()
    connections.reread()


def database_text() -> str:
    """All rows of all tables."""
    with connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if name != "conversations_connection"]
        texts = []
        for table in tables:
            cursor.execute(f'SELECT row::text FROM "{table}" AS row')  # noqa: S608
            texts += [text for (text,) in cursor.fetchall()]
    return "\n".join(texts)


def test_words_that_are_no_key_stay() -> None:
    mask = mask_of(("lm-studio", "https://openbook.example", CANARY))
    assert mask.text("lm-st, https://docs.example, canaries") == "lm-st, https://docs.example, canaries"
    assert mask.text("with LM-studio at https://openbook.example") == f"with {MARK} at {MARK}"
