"""The official SDK of OpenAI as the client, over a real socket, with a local model behind the application."""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from anthropic import AsyncAnthropic
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, OpenAI

from conversations.accounts import tokens
from conversations.context.record import snapshots
from conversations.models import ApiToken, ContextSnapshot, File, Message, Reply, Thread, UserLimits
from conversations.providers.http_client import trusted
from conversations.rest import streams
from conversations.runtime.db import in_database
from memory.index.index_turns import catch_up_if_possible
from tests import model_scripts as scripts
from tests.asgi_server import serving
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.conversations.rest.test_messages_api_files import files_being_read, in_base64, png
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture
async def client(user: User, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncOpenAI]:
    """The SDK as it comes, but for the pauses between its retries."""
    monkeypatch.setattr(AsyncOpenAI, "_calculate_retry_timeout", lambda *_, **__: 0.01)
    key = await in_database(tokens.issue)(user=user, name="tests")
    http = DefaultAsyncHttpxClient(verify=trusted())
    async with (
        serving(get_asgi_application()) as url,
        AsyncOpenAI(api_key=key, base_url=f"{url}/v1", http_client=http) as client,
    ):
        yield client


def asking(*said: Any, **more: Any) -> dict[str, Any]:
    """A call whose messages are the user's and the assistant's in turn, beginning with the user's."""
    roles = ("user", "assistant")
    return {
        "model": "gpt-5.2",
        "messages": [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)],
        **more,
    }


async def stored_turns() -> list[tuple[str, str]]:
    return [(turn.role, turn.text) async for turn in Message.objects.order_by("thread", "position")]


async def test_a_plain_chat_loop_keeps_one_thread_and_its_person_is_remembered(
    user: User, client: AsyncOpenAI, model: ModelServer
) -> None:
    """As the SDK's own examples have it: a developer's message first, all that was said resent each time."""
    model.claude.verbatim = True  # for its figures
    await in_database(make_thread)(user, ["My dachshund is called Waldemar.", "A fine name."])
    await in_database(catch_up_if_possible)(user.pk)
    model.script(scripts.text("Waldemar, arr. \n"), scripts.text("Aye."))
    messages: list[Any] = [{"role": "developer", "content": "Talk like a pirate."}]
    for question in ("What is my dachshund called?", "really?"):
        messages.append({"role": "user", "content": question})
        raw = await client.chat.completions.with_raw_response.create(model="gpt-5.2", messages=messages)
        answer = raw.parse()
        messages.append(answer.choices[0].message)
    assert (await stored_turns())[2:] == [
        ("user", "What is my dachshund called?"),
        ("assistant", "Waldemar, arr. \n"),
        ("user", "really?"),
        ("assistant", "Aye."),
    ]
    assert "Waldemar" in str(model.bodies[0]["messages"][-1])
    assert model.bodies[0]["system"][1]["text"] == "Talk like a pirate."
    reply, snapshot = [await rows.objects.order_by("created_at").alast() for rows in (Reply, ContextSnapshot)]
    assert isinstance(reply, Reply)
    assert isinstance(snapshot, ContextSnapshot)
    assert await in_database(snapshots.proven)(snapshot) == model.bodies[1]
    names = ("x-openbook-thread", "x-openbook-reply", "x-openbook-request", "x-request-id")
    assert [raw.headers[name] for name in names] == [
        *map(str, (snapshot.thread_id, reply.id, snapshot.id, reply.request_id))
    ]
    assert answer.model_dump(exclude_none=True) == {
        "id": f"chatcmpl-{reply.id.hex}",
        "object": "chat.completion",
        "created": answer.created,
        "model": "companion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Aye."}}],
        "usage": {
            "prompt_tokens": 20,
            "completion_tokens": 7,
            "total_tokens": 27,
            "prompt_tokens_details": {"cached_tokens": 5, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
    }
    assert abs(answer.created - reply.created_at.timestamp()) < 2


async def test_a_stream_has_the_chunks_of_the_api_and_is_the_stored_turn_byte_for_byte(
    client: AsyncOpenAI, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.claude.verbatim = True  # for its figures
    monkeypatch.setattr(streams, "KEEP_ALIVE_SECONDS", 0.05)
    gate = scripts.Gate()
    model.script(scripts.text("Straße ", "👩‍🚀", gate, "\u2028\n| a |", "  "), scripts.text("Yes."))
    call = asking("Hello", stream=True, stream_options={"include_usage": True}, max_completion_tokens=7)
    chunks = []
    async for chunk in await client.chat.completions.create(**call):
        chunks.append(chunk)
        gate.open()
    turn, reply = await Message.objects.aget(role="assistant"), await Reply.objects.aget()
    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == turn.text
    assert [choices[0].delta.role, choices[-1].finish_reason] == ["assistant", "stop"]
    assert {(chunk.id, chunk.object) for chunk in chunks} == {(f"chatcmpl-{reply.id.hex}", "chat.completion.chunk")}
    assert [chunk.usage.total_tokens for chunk in chunks if chunk.usage] == [27]
    assert (chunks[-1].choices, model.bodies[0]["max_tokens"]) == ([], 7 + 8_192)

    def by_helper() -> str | None:
        """The synchronous client, and its helper for streams."""
        with (
            OpenAI(api_key=client.api_key, base_url=client.base_url) as plain,
            plain.chat.completions.stream(**asking("Hello", turn.text, "really?")) as stream,
        ):
            return stream.get_final_completion().choices[0].message.content

    assert await asyncio.to_thread(by_helper) == "Yes."
    assert await Thread.objects.acount() == 1


@pytest.mark.wide
async def test_pictures_and_documents_are_files_of_the_turn(client: AsyncOpenAI, model: ModelServer) -> None:
    picture = png()
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{in_base64(picture)}"}},
        {"type": "file", "file": {"filename": "notes.txt", "file_data": in_base64(b"Waldemar is brown.")}},
    ]
    history = [
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function"}], "content": None},
        {"role": "tool", "tool_call_id": "c", "content": "It is raining."},
        {"role": "user", "content": content},
    ]
    async with files_being_read():
        await client.chat.completions.create(model="companion", messages=history)  # type: ignore[arg-type]
    names = [file.name async for file in File.objects.order_by("created_at")]
    assert names == ["tool-result-1.txt", "image-1.png", "notes.txt"]
    sent = [block for message in model.bodies[0]["messages"] for block in message["content"]]
    images = [block["source"]["data"] for block in sent if block["type"] == "image"]
    assert [base64.b64decode(data) for data in images] == [picture]
    assert all(words in str(sent) for words in ("It is raining.", "Waldemar is brown."))


CUSTOM = {"type": "custom", "custom": {"name": "f"}}
NOT_SUPPORTED: list[tuple[str, dict[str, Any]]] = [
    ("n", {"n": 2}),
    ("logprobs", {"logprobs": True}),
    ("temperature", {"temperature": 0.2}),
    ("seed", {"seed": 1}),
    ("stop", {"stop": ["\n"] * 17}),
    ("tools", {"tools": [CUSTOM]}),
    ("tool_choice", {"tool_choice": "required"}),
    ("audio", {"modalities": ["text"], "audio": {"voice": "alloy", "format": "wav"}}),
    ("response_format", {"response_format": {"type": "json_object"}}),
    ("store", {"store": False}),
    ("metadata", {"metadata": {"topic": "tea"}}),
    ("stream_options", {"stream": True, "stream_options": {"include_obfuscation": True}}),
    ("max_tokens", {"max_tokens": 1, "max_completion_tokens": 1}),
    ("top_k", {"extra_body": {"top_k": 3}}),
    ("messages", {"messages": [{"role": "user", "name": "Ada", "content": "Hello"}]}),
    ("messages", asking([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}])),
    ("messages", asking([{"type": "image_url", "image_url": {"url": "data:image/png;base64,*"}}])),
    ("messages", asking([{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}])),
    ("messages", asking([{"type": "tool_result", "content": "It is raining."}])),
]


async def test_what_is_not_supported_is_refused_by_name_and_leaves_nothing(
    client: AsyncOpenAI, model: ModelServer
) -> None:
    for name, more in NOT_SUPPORTED:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.chat.completions.create(**{**asking("Hello"), **more})
        assert (caught.value.param, caught.value.code, caught.value.type) == (
            name,
            "invalid_message",
            "invalid_request_error",
        )
        assert name in caught.value.message
    with pytest.raises(openai.NotFoundError, match="/v1/embeddings is not offered"):
        await client.embeddings.create(model="gpt-5.2", input="Hello")
    assert (await Thread.objects.acount(), await File.objects.acount(), model.requests) == (0, 0, [])


NEUTRAL: dict[str, Any] = {
    "n": 1,
    "temperature": 1,
    "top_p": 1.0,
    "presence_penalty": 0,
    "logprobs": False,
    "stop": None,
    "tools": [],
    "response_format": {"type": "text"},
    "modalities": ["text"],
    "user": "ada",
    "store": True,
}


async def test_what_changes_nothing_is_taken(client: AsyncOpenAI, model: ModelServer) -> None:
    await client.chat.completions.create(**asking("Hello", **NEUTRAL))
    assert len(model.requests) == 1


async def test_errors_arrive_as_the_exceptions_of_the_sdk(
    user: User, other_user: User, client: AsyncOpenAI, model: ModelServer
) -> None:
    others = await in_database(make_thread)(other_user, ["Mine"])
    reader = await in_database(tokens.issue)(user=user, name="reader", scopes=["read"])
    once = client.with_options(max_retries=0)
    model.script(*[scripts.error(529)] * 3)
    for asked, call, kind, code in (
        (once.with_options(api_key="ob_wrong"), asking("Hello"), openai.AuthenticationError, "authentication_failed"),
        (once.with_options(api_key=reader), asking("Hello"), openai.PermissionDeniedError, "insufficient_scope"),
        (once, asking("Hello", metadata={"thread": str(others.id)}), openai.NotFoundError, "thread_not_found"),
        (once, asking("x" * 100_001), openai.APIStatusError, "message_too_long"),
        (once, asking("Hello"), openai.InternalServerError, "overloaded"),
    ):
        for_id = "x-request-id"
        with pytest.raises(kind) as caught:
            await asked.chat.completions.create(**call)
        assert (caught.value.code, caught.value.request_id) == (code, caught.value.response.headers[for_id])
    assert caught.value.status_code == 503
    model.script(*[scripts.error(529)] * 3, scripts.text("Good evening"))
    answer = await client.chat.completions.create(**asking("Hello again"))  # by a retry of the SDK
    assert answer.choices[0].message.content == "Good evening"
    assert await Message.objects.filter(role="user", thread__user=user).acount() == 2

    broken = [*scripts.opening_steps(), scripts.text_delta("So far"), scripts.error_body("api_error", "")]
    model.script(scripts.stream(*broken))
    with pytest.raises(openai.APIError) as failed:
        async for _ in await client.chat.completions.create(**asking("Once more", stream=True)):
            pass
    assert (failed.value.code, (await stored_turns())[-1]) == ("server_error", ("assistant", "So far"))

    await UserLimits.objects.acreate(user=user, tokens_day=10)
    with pytest.raises(openai.RateLimitError) as limited:
        await once.chat.completions.create(**asking("Hello"))
    assert limited.value.code == "rate_limited"
    unsigned = await Api().post("/v1/chat/completions", asking("Hello"))
    assert (unsigned.status, unsigned.body["error"]["type"]) == (401, "authentication_error")


async def test_a_stream_ends_with_the_access_of_its_reader(
    client: AsyncOpenAI, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.05)
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    with pytest.raises(openai.APIError) as caught:
        async for _ in await client.chat.completions.create(**asking("Hello", stream=True)):
            await in_database(lambda: tokens.revoke(ApiToken.objects.all()))()
    gate.open()
    assert caught.value.code == "not_authenticated"


async def test_the_models_are_the_assistants_in_the_shape_of_either_client(client: AsyncOpenAI) -> None:
    assert [(model.id, model.object, model.owned_by) async for model in client.models.list()] == [
        ("companion", "model", "openbook"),
        ("analyst", "model", "openbook"),
    ]
    assert (await client.models.retrieve("analyst")).id == "analyst"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("nobody")
    origin = str(client.base_url).removesuffix("/v1/")
    async with AsyncAnthropic(api_key=client.api_key, base_url=origin) as other:
        assert [model.id async for model in other.models.list()] == ["companion", "analyst"]
