"""`manage.py chat`, through the real SDK, against a local model."""

import asyncio
import re
import uuid
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from conversations.models import Assistant, Message, Model, Reply
from conversations.replies.events import Event
from conversations.runtime.text import printable
from conversations.terminal import Conversation
from tests import model_scripts as scripts
from tests.model_scripts import Gate
from tests.model_server import ModelServer

pytestmark = pytest.mark.django_db(transaction=True)

Chat = Callable[..., tuple[str, str]]


@pytest.fixture
def chat(user: User) -> Chat:
    def run(*arguments: str, **options: Any) -> tuple[str, str]:
        out, err = StringIO(), StringIO()
        call_command("chat", *arguments, stdout=out, stderr=err, **options)
        return out.getvalue(), err.getvalue()

    return run


def test_a_thread_goes_on_where_it_was_left(chat: Chat, model: ModelServer) -> None:
    model.script(scripts.text("Hello", " Ada"), scripts.text("Tea"))
    said, told = chat("I like tea", user="ada")
    found = re.search(r"--thread (\S+)", told)
    assert (said, bool(found)) == ("Hello Ada\n", True)
    assert chat("What do I like?", user="ada", thread="last")[0] == "Tea\n"
    turns = Message.objects.filter(thread=uuid.UUID(found[1]) if found else None).order_by("position")
    assert [(turn.position, turn.text) for turn in turns] == [
        (1, "I like tea"), (2, "Hello Ada"), (3, "What do I like?"), (4, "Tea"),
    ]  # fmt: skip
    assert [message["role"] for message in model.bodies[1]["messages"]] == ["user", "assistant", "user"]


def test_a_model_that_is_offered_can_be_named(chat: Chat, model: ModelServer) -> None:
    opus = Model.objects.get(provider="anthropic", name="claude-opus-5-5")
    Assistant.objects.get(slug="companion").offered_models.add(opus)
    chat("Hello", user="ada", model=opus.name)
    chat("And now?", user="ada", thread="last")
    assert [body["model"] for body in model.bodies] == [opus.name, "claude-sonnet-5-5"]


def test_it_shows_what_the_model_is_given(chat: Chat, model: ModelServer) -> None:
    told = chat("I like tea", user="ada", context=True)[1].splitlines()
    assert re.fullmatch(r"Given [\d,]+ of 4,100 tokens, request [\w-]{36}:", told[0])
    assert {"base", "history", "message"} <= {line.split()[-1] for line in told[1:-1]}


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"user": "nobody"}, "There is no active user 'nobody'."),
        ({}, "Say who asks: --user NAME."),
        ({"user": "ada", "thread": "123"}, "There is no such thread, or it isn't yours. Check the id"),
        ({"user": "ada", "assistant": "nobody"}, "The last reply was not completed"),
        ({"user": "ada", "model": "claude-opus-5-5"}, "The last reply was not completed"),
    ],
)
def test_what_cannot_be_asked_says_what_to_do(
    chat: Chat, model: ModelServer, options: dict[str, str], what: str
) -> None:
    with pytest.raises(CommandError, match=re.escape(what)):
        chat("Hello", **options)
    assert (Message.objects.count(), model.requests) == (0, [])


@pytest.mark.usefixtures("engine")
async def test_ctrl_c_stops_the_reply_and_keeps_the_text(user: User, model: ModelServer) -> None:
    gate, printed = Gate(), asyncio.Queue[str]()
    model.script(scripts.text("So far", gate))
    notes: list[str] = []
    conversation = Conversation(
        user=user, assistant=None, thread=None, shows_context=False, write=printed.put_nowait, note=notes.append
    )
    saying = asyncio.create_task(conversation.say("Tell me all"))
    first = await printed.get()
    saying.cancel()
    assert (await saying, first, notes) == (False, "So far", ["Stopped. The text so far is kept."])
    reply = await Reply.objects.aget(thread=conversation.thread)
    assert (reply.status, isinstance(conversation.thread, uuid.UUID)) == ("stopped", True)


async def test_it_says_that_the_model_thinks_and_what_it_shows_of_it(user: User) -> None:
    said: list[str] = []
    conversation = Conversation(
        user=user,
        assistant=None,
        thread=None,
        shows_context=False,
        write=said.append,
        note=lambda line: said.append(f"[{line}]"),
    )
    told: list[tuple[str, dict[str, Any]]] = [
        ("reply.thinking", {"seconds": 0, "summary": ""}),
        ("reply.thinking", {"seconds": 1, "summary": "They like "}),
        ("reply.thinking", {"seconds": 2, "summary": "tea."}),
        ("reply.delta", {"text": "Tea"}),
    ]
    for type, data in told:
        await conversation._show(Event(reply=uuid.uuid4(), seq=1, type=type, data=data, at=timezone.now()))
    assert said == ["[Thinking …]", "[They like tea.]", "[Thought for 2 s.]", "Tea"]


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    assert printable("a\x1b[2Jb\x07\r\n\tc\u202e\x9b 👩\u200d🚀") == "a[2Jb\n\tc 👩\u200d🚀"


def test_the_last_message_can_be_said_in_other_words(user: User, model: ModelServer) -> None:
    model.script(scripts.text("Tea"), scripts.text("Coffee"), scripts.text("Tea again"))
    notes: list[str] = []
    conversation = Conversation(
        user=user, assistant=None, thread=None, shows_context=False, write=lambda text: None, note=notes.append
    )

    async def talk() -> None:
        for line in ("I like tea", "/edit I like coffee", "/versions", "/versions 1", "What do I like?"):
            await conversation.enter(line)

    asyncio.run(talk())
    assert notes[:2] == ["  1  I like tea", "* 2  I like coffee"]
    assert notes[-1] == "Version 1 of 2: I like tea"
    said = [str(message["content"]) for message in model.bodies[2]["messages"]]
    assert any("tea" in text for text in said) and not any("coffee" in text for text in said[:2])
