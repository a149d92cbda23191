"""A request for a model without a row fits what its server tells that it takes, or what any takes."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations import replies
from conversations.context import replay
from conversations.context.record import snapshots
from conversations.context.record.request_record import record_of
from conversations.models import Assistant, ContextSnapshot, Reply
from conversations.providers import get_provider
from conversations.providers.openai import OpenAIProvider
from conversations.runtime.db import in_database, read_only
from tests.chat_server import KINDS, ChatServer
from tests.chat_server import scripts as chat
from tests.model_scripts import Gate, Raw, stream

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture
async def own_server(chat_model: ChatServer, settings: Settings) -> ChatServer:
    """One that doesn't say what it is, behind a provider that has not asked it yet."""
    settings.OPENBOOK_OPENAI_SERVER = ""
    chat_model.kind = KINDS["vllm"]
    chat_model.say(lambda body: chat.answer("Yes."))
    provider = get_provider("openai")
    assert isinstance(provider, OpenAIProvider)
    provider.forget_list()
    companion = Assistant.objects.filter(slug="companion")
    await companion.aupdate(total_tokens=60_000, hard_cap_tokens=80_000, model="local-model")
    return chat_model


async def asked(user: User, text: str, thread: Any = None) -> ContextSnapshot:
    opened = await replies.start(user=user, thread_id=thread, content=text)
    async for _event in replies.follow(opened.reply.id):
        pass
    return await ContextSnapshot.objects.select_related("reply").aget(reply=opened.reply)


@pytest.mark.parametrize(
    ("told", "hard_cap", "answer"), [({"max_model_len": 16_384}, 14_336, 2_048), ({}, 3_072, 1_024)]
)
async def test_a_request_fits_the_window_that_is_told_or_assumed(
    user: User, own_server: ChatServer, told: dict[str, Any], hard_cap: int, answer: int
) -> None:
    own_server.told = {"local-model": told}
    request = await asked(user, "Hello")
    assert (request.hard_cap, request.max_tokens, request.status) == (hard_cap, answer, "completed")
    assert own_server.chats[0]["max_tokens"] == answer
    await asked(user, "And again", request.thread_id)
    assert own_server.listings == 1


async def test_it_is_remade_as_it_was_where_the_server_tells_nothing_any_more(
    user: User, own_server: ChatServer
) -> None:
    own_server.told = {"local-model": {"max_model_len": 16_384}}
    request = await asked(user, "Tell me of cats. " * 800)
    assert request.total_tokens > 3_072
    provider = get_provider("openai")
    assert isinstance(provider, OpenAIProvider)
    provider.forget_list()
    assert await in_database(snapshots.proof)(request) and await in_database(is_remade)(request)


def is_remade(request: ContextSnapshot) -> bool:
    with read_only():
        record = record_of(request)
        return replay.remake(record, record.settings).is_exact


async def test_the_turn_is_stored_before_the_server_is_asked(user: User, own_server: ChatServer) -> None:
    gate = Gate()
    own_server.listing = stream(gate, Raw(b"{}"))
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    assert await Reply.objects.filter(id=opened.reply.id, status="running", snapshots=None).aexists()
    gate.open()
    ended = [event async for event in replies.follow(opened.reply.id)][-1].data["reply"]
    assert (ended["status"], own_server.listings) == ("completed", 1)
