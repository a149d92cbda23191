"""The page that documents the socket: it names what the code knows, and nothing else."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from conversations import replies
from conversations.models import Thread
from conversations.runtime.db import in_database
from conversations.threads import deletion
from conversations.web import access_checks, consumers, socket_docs
from tests import model_scripts as scripts
from tests.conversations.web.sockets import Frame, connected
from tests.model_server import ModelServer

EVENT = re.compile(r"(message|artifact|context|reply|tool)\.[a-z]+")
PLAN = {"title": "A plan", "kind": "document", "content": "# A plan\n\nFirst this, then that."}


def constants(*sources: str) -> Iterator[Any]:
    """What stands literally in the code."""
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant):
                yield node.value


def types(kinds: tuple[socket_docs.FrameDoc, ...]) -> list[str]:
    return [kind.type for kind in kinds]


def test_the_page_names_each_frame_that_is_understood_and_no_other() -> None:
    cases: set[Any] = {
        node.value.value
        for node in ast.walk(ast.parse(inspect.getsource(consumers)))
        if isinstance(node, ast.MatchValue) and isinstance(node.value, ast.Constant)
    }
    assert sorted(types(socket_docs.FRAMES)) == sorted(cases)


def test_the_page_names_each_event_that_is_sent_and_no_other() -> None:
    engine = [path.read_text() for path in Path(inspect.getfile(replies)).parent.glob("*.py")]
    sent = {value for value in constants(*engine) if isinstance(value, str) and EVENT.fullmatch(value)}
    assert sorted(types(socket_docs.EVENTS)) == sorted(sent | {"thread.cleared", "error"})


def test_the_page_names_each_code_that_a_socket_is_closed_with_and_no_other() -> None:
    codes: set[int] = {
        value for value in constants(inspect.getsource(consumers)) if type(value) is int and 1000 <= value < 5000
    }
    assert sorted(close.code for close in socket_docs.CLOSES) == sorted(codes)


def test_all_of_it_stands_on_the_page() -> None:
    page = Client().get("/api/v1/docs/websocket/").text
    named = re.findall(r'<th scope="row"><code>(\d+)</code>|<code class="method">([a-z.]+)</code>', page)
    closes = [str(close.code) for close in (*socket_docs.CLOSES, *socket_docs.TRANSPORT_CLOSES)]
    assert [code or kind for code, kind in named] == [*types(socket_docs.FRAMES), *types(socket_docs.EVENTS), *closes]


def undocumented(event: Frame) -> set[str]:
    """Fields that an event has and the page doesn't tell of, or the other way round, where they are not optional."""
    fields = {field.name: field for kind in socket_docs.EVENTS if kind.type == event["type"] for field in kind.fields}
    return (set(event["data"]) - set(fields)) | {
        name for name, field in fields.items() if field.required and name not in event["data"]
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
async def test_events_have_the_fields_that_the_page_tells_of(
    session: str, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_checks, "CHECK_ACCESS_SECONDS", 0.05)
    making = scripts.turn(
        scripts.Thought(pieces=("Hm.",)), "I make it. ", scripts.ScriptedToolUse(name="save_artifact", input=PLAN)
    )
    model.script(making, scripts.text("It is saved."), scripts.error(401), scripts.text("# Requirements"))
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Make a plan", assistant="analyst")
        made = await socket.reply()
        await socket.send("message.send", content="And now?")
        failed = await socket.reply()
        await socket.send("preset.run", preset="brd")
        preset = await socket.reply()
        await socket.send("nothing")
        refused = await socket.receive()
        thread = await Thread.objects.aget()
        await in_database(deletion.clear_thread)(thread)
        cleared = await socket.receive()
    events = [*made, *failed, *preset, refused, cleared]
    assert [(event["type"], undocumented(event)) for event in events if undocumented(event)] == []
    assert {event["type"] for event in events} == {*types(socket_docs.EVENTS)} - {
        "reply.stopped",
        "reply.interrupted",
        "reply.checking",
    }
