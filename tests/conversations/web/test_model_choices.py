"""Models that people choose, over a socket: by the same rules and with the same errors as over REST."""

import pytest

from conversations.models import Assistant, Model, Thread
from conversations.runtime.db import in_database
from tests.conversations.web.sockets import Frame, connected
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SONNET, OPUS, HAIKU = "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"


def allow(*names: str) -> None:
    rows = Model.objects.filter(provider="anthropic", name__in=names)
    Assistant.objects.get(slug="companion").offered_models.add(*rows)


def models_of(frames: list[Frame]) -> list[str]:
    return [frame["data"]["model"] for frame in frames if frame["type"] == "reply.started"]


async def test_a_model_answers_a_message_a_thread_and_once_more(session: str, model: ModelServer) -> None:
    await in_database(allow)(OPUS, HAIKU)
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello", thread_model=OPUS)
        first = await socket.reply()
        await socket.send("message.send", content="For once", model=HAIKU)
        once = await socket.reply()
        await socket.send("message.send", content="And now?", thread_model=HAIKU)
        usual = await socket.reply()
        await socket.send("reply.retry", reply=usual[-1]["reply"], model=f"anthropic/{SONNET}")
        again = await socket.reply()
    assert [models_of(frames) for frames in (first, once, usual, again)] == [[OPUS], [HAIKU], [OPUS], [SONNET]]
    assert (await Thread.objects.aget()).model == f"anthropic/{OPUS}"
    told = again[-1]["data"]["reply"]
    assert (told["provider"], told["model"]) == ("anthropic", SONNET)


@pytest.mark.parametrize("field", ["model", "thread_model"])
async def test_a_model_that_is_not_offered_is_refused_and_nothing_is_stored(
    session: str, model: ModelServer, field: str
) -> None:
    await in_database(allow)(OPUS)
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello", client_message_id="one", **{field: HAIKU})
        refused = await socket.receive()
        await socket.send("message.send", content="Hello", client_message_id="one")
        answered = await socket.reply()
        await socket.send("reply.retry", reply=answered[-1]["reply"], model=HAIKU)
        not_again = await socket.receive()
    assert (refused["type"], refused["data"]["code"]) == ("error", "model_not_offered")
    assert refused["data"]["details"] == {"models": [SONNET, OPUS], "client_message_id": "one"}
    assert models_of(answered) == [SONNET]
    assert (not_again["type"], not_again["data"]["code"]) == ("error", "model_not_offered")
    assert (await Thread.objects.aget()).message_count == 2


async def test_a_model_is_named_by_a_text(session: str, model: ModelServer) -> None:
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello", model=["opus"])
        refused = await socket.receive()
    assert (refused["data"]["code"], refused["data"]["message"]) == ("invalid_frame", "`model` must be an id, as text.")
