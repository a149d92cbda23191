"""Sending and reading messages over REST: one call, one turn, one reply, whatever happens."""

import asyncio
from datetime import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.context.tokens.estimate import turn_tokens
from conversations.models import ContextSnapshot, Message, Reply, Thread
from conversations.runtime.db import in_database
from conversations.wire import messages_with_replies
from tests import model_scripts as scripts
from tests.conversations.factories import make_snapshot, make_thread
from tests.conversations.rest.client import Api, ApiResponse
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def iso(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def turn(row: Message, reply: dict[str, Any] | None, **told: Any) -> dict[str, Any]:
    """A message as the contract has it; what a test knows better than the row is ``told``."""
    text = told["text"]
    content = [{"type": "text", "text": text}]
    return {
        "id": str(row.id),
        "content": content,
        "created_at": iso(row.created_at),
        "token_count": turn_tokens(content),
        "model": "claude-sonnet-5-5" if told["role"] == "assistant" else None,
        "client_message_id": None,
        "citations": [],
        "sources": [],
        "parent": str(row.parent_id) if row.parent_id else None,
        "versions": [str(row.id)],
        "version": 1,
        "version_count": 1,
        "reply": reply,
    } | told


def expected_answer(reply: Reply, request: ContextSnapshot, *, status: str, error: Any = None) -> dict[str, Any]:
    """The reply to the first message of a thread: it had no history."""
    return {
        "id": str(reply.id),
        "status": status,
        "error": error,
        "stop_reason": "end_turn" if status == "completed" else "",
        "refusal": None,
        "ways": ["retry"],
        "fallback_model": None,
        "model": "claude-sonnet-5-5",
        "provider": "anthropic",
        "fallback_for": None,
        "fallback_cause": None,
        "fallback_text": None,
        "continues": None,
        "ended_at": iso(reply.ended_at) if reply.ended_at else None,
        "request": str(request.id),
        "message_history_count": 0,
        "total_tokens": request.total_tokens,
    }


async def exchange(
    user_text: str, reply_text: str, *, status: str, message_status: str, **of_user: Any
) -> dict[str, Any]:
    """The one exchange of the database as ``POST …/messages/`` answers it."""
    thread, reply, snapshot = (
        await Thread.objects.aget(),
        await Reply.objects.aget(),
        await ContextSnapshot.objects.aget(),
    )
    question, answer = [row async for row in Message.objects.order_by("position")]
    described = expected_answer(reply, snapshot, status=status)
    return {
        "thread": str(thread.id),
        "user_message": turn(
            question, described, position=1, role="user", text=user_text, status="complete", **of_user
        ),
        "reply": described,
        "assistant_message": turn(
            answer, described, position=2, role="assistant", text=reply_text, status=message_status
        ),
        "request": str(snapshot.id),
    }


async def test_a_message_is_answered_in_one_call(user: User, api: Api, model: ModelServer) -> None:
    model.script(scripts.text("Good ", "evening"))
    answer = await api.post("threads/new/messages/", {"content": "Hello 😀", "client_message_id": "one"})
    expected = await exchange(
        "Hello 😀", "Good evening", status="completed", message_status="complete", client_message_id="one"
    )
    assert (answer.status, answer.body) == (201, expected)
    listed = await api.get(f"threads/{answer.body['thread']}/messages/")
    assert listed.body == {
        "next": None,
        "previous": None,
        "results": [expected["user_message"], expected["assistant_message"]],
    }


async def test_new_opens_a_thread_named_after_the_message_with_the_assistant_asked_for(
    user: User, api: Api, model: ModelServer
) -> None:
    answer = await api.post("threads/new/messages/", {"content": "Compare\nthe two", "assistant": "analyst"})
    thread = (await api.get(f"threads/{answer.body['thread']}/")).body
    assert (thread["title"], thread["assistant"], thread["message_count"]) == ("Compare the two", "analyst", 2)
    again = await api.post(f"threads/{thread['id']}/messages/", {"content": "And now?"})
    assert (again.status, again.body["thread"], again.body["user_message"]["position"]) == (201, thread["id"], 3)
    assert await Thread.objects.acount() == 1


async def test_blocks_are_taken_as_they_are(user: User, api: Api, model: ModelServer) -> None:
    blocks = [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}]
    answer = await api.post("threads/new/messages/", {"content": blocks})
    assert (answer.body["user_message"]["content"], answer.body["user_message"]["text"]) == (blocks, "One\n\nTwo")


@pytest.mark.parametrize("thread", ["new", "known"])
async def test_the_same_client_message_id_answers_with_the_same_turn_and_reply(
    user: User, api: Api, model: ModelServer, thread: str
) -> None:
    if thread == "known":
        thread = str((await in_database(make_thread)(user)).id)
    body = {"content": "Once", "client_message_id": "c-1"}
    answers = await asyncio.gather(*(api.post(f"threads/{thread}/messages/", body) for _ in range(3)))
    answers.append(await api.post(f"threads/{answers[0].body['thread']}/messages/", body))
    assert [(answer.status, answer.body) for answer in answers] == [(201, answers[0].body)] * 4
    assert (len(model.bodies), await Message.objects.acount(), await Thread.objects.acount()) == (1, 2, 1)


async def test_a_message_during_a_reply_is_refused_and_not_stored(user: User, api: Api, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("wait ", gate, "done"))
    first = asyncio.create_task(api.post("threads/new/messages/", {"content": "First"}))
    await asyncio.to_thread(gate.wait_until_reached)
    thread, running = await Thread.objects.aget(), await Reply.objects.aget()
    for path in ("messages/", "messages/stream/"):
        refused = await api.post(f"threads/{thread.id}/{path}", {"content": "Second"})
        assert refused.refusal == (
            409,
            {
                "type": "conflict",
                "code": "reply_in_progress",
                "message": "A reply is still running in this thread. Wait for it to end or stop it, then send again.",
                "details": {"reply": str(running.id)},
            },
        )
    again = await api.post(f"replies/{running.id}/retry/")
    assert again.code == (409, "conflict", "reply_in_progress")
    gate.open()
    assert (await first).status == 201
    assert await Message.objects.acount() == 2


async def test_a_message_without_text_is_refused(user: User, api: Api) -> None:
    cases: list[Any] = [
        "",
        " \n",
        None,
        7,
        {},
        [],
        ["text"],
        [{"type": "text"}],
        [{"type": "image", "source": {}}],
        True,
    ]
    for content in cases:
        for path in ("messages/", "messages/stream/", "context/"):
            answer = await api.post(f"threads/new/{path}", {"content": content})
            assert (answer.status, answer.refusal[1]["type"]) == (400, "invalid_request")
        assert await Thread.objects.acount() == 0, content


async def test_a_client_message_id_that_is_no_short_text_is_refused(user: User, api: Api) -> None:
    cases: list[Any] = [7, {}, [], "x" * 101, "nul \0", "\ud800", True]
    for client_message_id in cases:
        answer = await api.post("threads/new/messages/", {"content": "Hello", "client_message_id": client_message_id})
        assert answer.refusal == (
            400,
            {
                "type": "invalid_request",
                "code": "invalid_message",
                "message": "`client_message_id` must be a text of at most 100 characters.",
                "details": {},
            },
        ), client_message_id
        assert await Thread.objects.acount() == 0, client_message_id


async def test_a_message_over_the_limit_is_refused_and_the_limit_named(user: User, api: Api, settings: Any) -> None:
    settings.OPENBOOK_MAX_MESSAGE_CHARS = 1_000
    for path in ("messages/", "messages/stream/", "context/"):
        answer = await api.post(f"threads/new/{path}", {"content": "é" * 1_001})
        assert answer.refusal == (
            413,
            {
                "type": "invalid_request",
                "code": "message_too_long",
                "message": "The message has 1,001 characters; the limit is 1,000. Shorten it or send it in parts.",
                "details": {"limit": 1_000, "length": 1_001},
            },
        )
    assert await Thread.objects.acount() == 0


async def test_a_failed_reply_answers_502_and_the_turn_is_stored(user: User, api: Api, model: ModelServer) -> None:
    model.script(scripts.error(401))
    answer = await api.post("threads/new/messages/", {"content": "Hello"})
    thread, question, reply = await Thread.objects.aget(), await Message.objects.aget(), await Reply.objects.aget()
    snapshot = await ContextSnapshot.objects.aget()
    assert reply.error is not None
    assert answer.refusal == (
        502,
        {
            "type": "model",
            "code": "authentication",
            "message": reply.error["message"],
            "details": {
                "retryable": False,
                "thread": str(thread.id),
                "user_message": str(question.id),
                "reply": str(reply.id),
            },
        },
    )
    described = expected_answer(reply, snapshot, status="failed", error=reply.error)
    listed = await api.get(f"threads/{thread.id}/messages/")
    assert listed.body["results"] == [
        turn(question, described, position=1, role="user", text="Hello", status="complete")
    ]


async def test_a_failed_reply_can_be_retried(user: User, api: Api, model: ModelServer) -> None:
    model.script(
        scripts.stream(*scripts.opening_steps(), scripts.text_delta("half"), scripts.BrokenStream()),
        scripts.text("whole"),
    )
    failed = (await api.post("threads/new/messages/", {"content": "Hello"})).refusal[1]["details"]
    retried = await api.post(f"replies/{failed['reply']}/retry/")
    assert (retried.status, retried.body) == (
        202,
        {
            "id": retried.body["id"],
            "status": "running",
            "error": None,
            "stop_reason": "",
            "refusal": None,
            "ways": [],
            "fallback_model": None,
            "model": None,
            "provider": None,
            "fallback_for": None,
            "fallback_cause": None,
            "fallback_text": None,
            "continues": None,
            "ended_at": None,
            "request": None,
            "message_history_count": None,
            "total_tokens": None,
        },
    )
    assert retried.body["id"] != failed["reply"]
    async for _ in api.events("GET", f"replies/{retried.body['id']}/events/"):
        pass
    listed = (await api.get(f"threads/{failed['thread']}/messages/")).body["results"]
    assert [(each["id"] == failed["user_message"], each["text"], each["reply"]["id"]) for each in listed] == [
        (True, "Hello", retried.body["id"]),
        (False, "whole", retried.body["id"]),
    ]


async def test_stopping_answers_the_waiting_call_with_the_text_so_far(user: User, api: Api, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("So far", gate, " and no further"))
    waiting = asyncio.create_task(api.post("threads/new/messages/", {"content": "Talk"}))
    await asyncio.to_thread(gate.wait_until_reached)
    reply = await Reply.objects.aget()
    async for event in api.events("GET", f"replies/{reply.id}/events/"):
        if event["type"] == "reply.delta":
            break
    stopping = await api.post(f"replies/{reply.id}/stop/")
    assert (stopping.status, stopping.body["id"]) == (202, str(reply.id))

    answer = await waiting
    expected = await exchange("Talk", "So far", status="stopped", message_status="stopped")
    assert (answer.status, answer.body) == (201, expected)
    again = await api.post(f"replies/{reply.id}/stop/")
    assert (again.status, again.body["status"]) == (202, "stopped")


async def test_a_reply_stopped_before_its_first_word_has_no_turn(user: User, api: Api, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text(gate, "never"))
    waiting = asyncio.create_task(api.post("threads/new/messages/", {"content": "Talk"}))
    await asyncio.to_thread(gate.wait_until_reached)
    await api.post(f"replies/{(await Reply.objects.aget()).id}/stop/")
    answer = await waiting
    assert (answer.status, answer.body["reply"]["status"], answer.body["assistant_message"]) == (201, "stopped", None)


async def numbered(user: User, count: int) -> str:
    return str((await in_database(make_thread)(user, [f"turn {number}" for number in range(1, count + 1)])).id)


def positions(answer: ApiResponse) -> list[int]:
    return [message["position"] for message in answer.body["results"]]


async def test_messages_come_oldest_first_page_by_page(user: User, api: Api) -> None:
    thread = await numbered(user, 5)
    first = await api.get(f"threads/{thread}/messages/?page_size=2")
    second = await api.get(first.body["next"])
    third = await api.get(second.body["next"])
    assert [positions(page) for page in (first, second, third)] == [[1, 2], [3, 4], [5]]
    assert (first.body["previous"], third.body["next"]) == (None, None)
    assert positions(await api.get(third.body["previous"])) == [3, 4]


async def test_the_newest_come_first_from_the_end_backwards(user: User, api: Api) -> None:
    thread = await numbered(user, 5)
    newest = await api.get(f"threads/{thread}/messages/?before=end&page_size=2")
    middle = await api.get(newest.body["previous"])
    oldest = await api.get(middle.body["previous"])
    assert [positions(page) for page in (newest, middle, oldest)] == [[4, 5], [2, 3], [1]]
    assert (newest.body["next"], oldest.body["previous"]) == (None, None)
    assert positions(await api.get(f"threads/{thread}/messages/?before=1")) == []
    assert positions(await api.get(f"threads/{thread}/messages/?before=999999999")) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "query",
    [
        *("cursor=junk", "cursor=cD1hYmM=", "before=", "before=start", "before=-1", "before=1.5", "before=9999999999"),
        *("before=end&page_size=0", "before=٣", "page_size=none", "page_size=0"),
    ],
)
async def test_a_page_that_cannot_be_is_refused(user: User, api: Api, query: str) -> None:
    thread = await numbered(user, 1)
    answer = await api.get(f"threads/{thread}/messages/?{query}")
    assert answer.code == (400, "invalid_request", "invalid_page")


@pytest.mark.parametrize("exchanges", [1, 3])
def test_messages_take_four_statements_however_many_there_are(
    user: User, exchanges: int, django_assert_num_queries: Any
) -> None:
    thread = make_thread(user, ["Question", "Answer"] * exchanges)
    make_snapshot(thread)
    messages = list(Message.objects.filter(thread=thread))
    with django_assert_num_queries(4):
        assert len(messages_with_replies(messages)) == 2 * exchanges
