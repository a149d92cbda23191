"""A user turn from the moment it is sent: stored once, answered once, whatever goes wrong (requirements T1–T7)."""

import asyncio
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations import replies
from conversations.errors import InvalidMessage, MessageTooLong, ReplyInProgress, ThreadNotFound
from conversations.models import ContextSnapshot, Message, Reply, Thread
from conversations.providers.markers import CONTEXTUALISED
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def error_of(reply: Reply) -> dict[str, Any]:
    assert reply.error is not None
    return dict(reply.error)


async def ended(opened: OpenedReply) -> Reply:
    """The reply once its last event is stored."""
    async for _ in replies.follow(opened.reply.id):
        pass
    return await Reply.objects.aget(id=opened.reply.id)


async def ask(user: User, thread_id: uuid.UUID | None, content: str) -> OpenedReply:
    opened = await replies.start(user=user, thread_id=thread_id, content=content)
    await ended(opened)
    return opened


async def stored_turns(thread_id: uuid.UUID) -> list[tuple[int, str, str, str]]:
    rows = Message.objects.filter(thread_id=thread_id, is_active=True).order_by("position")
    return [(row.position, row.role, row.text, row.status) async for row in rows]


async def test_build_contextual_messages_sees_previous_turns(user: User, model: ModelServer) -> None:
    """T7, the regression that must always pass."""
    model.script(scripts.text("The 45th and 47th president of the United States."), scripts.text("Five of them."))
    first = await ask(user, None, "Who is Donald Trump?")
    second = await ask(user, first.thread.id, "who are his children")

    assert model.bodies[1]["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Who is Donald Trump?"}]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "The 45th and 47th president of the United States."}],
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "who are his children"},
                {"type": "text", "text": f"{CONTEXTUALISED} who are his children (about: Donald Trump)"},
            ],
        },
    ]
    assert await stored_turns(second.thread.id) == [
        (1, "user", "Who is Donald Trump?", "complete"),
        (2, "assistant", "The 45th and 47th president of the United States.", "complete"),
        (3, "user", "who are his children", "complete"),
        (4, "assistant", "Five of them.", "complete"),
    ]


async def test_the_turn_and_the_snapshot_are_stored_before_the_model_is_called(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text(gate, "late"))
    opened = await replies.start(user=user, thread_id=None, content="Are you there?")
    await asyncio.to_thread(gate.wait_until_reached)

    assert await stored_turns(opened.thread.id) == [(1, "user", "Are you there?", "complete")]
    snapshot = await ContextSnapshot.objects.aget(reply=opened.reply)
    assert (snapshot.status, snapshot.message_history_count) == ("pending", 0)
    gate.open()
    assert (await ended(opened)).status == "completed"


async def test_a_failed_call_leaves_its_snapshot_and_the_turn(user: User, model: ModelServer) -> None:
    model.script(scripts.error(401))
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    reply = await ended(opened)

    assert (reply.status, error_of(reply)["code"], error_of(reply)["details"]) == (
        "failed",
        "authentication",
        {"retryable": False},
    )
    snapshot = await ContextSnapshot.objects.aget(reply=reply)
    assert (snapshot.status, snapshot.error) == ("failed", reply.error)
    assert await stored_turns(opened.thread.id) == [(1, "user", "Hello", "complete")]


async def test_a_model_server_that_is_down_is_said_in_words(user: User, model: ModelServer, settings: Any) -> None:
    settings.ANTHROPIC_BASE_URL = "http://127.0.0.1:9"  # the discard port, where nothing listens
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    reply = await ended(opened)
    assert (reply.status, error_of(reply)["code"], error_of(reply)["details"]["retryable"]) == (
        "failed",
        "unreachable",
        True,
    )


async def test_a_cut_in_the_middle_keeps_the_text_and_a_retry_replaces_it(user: User, model: ModelServer) -> None:
    model.script(
        scripts.stream(
            *scripts.opening_steps(),
            scripts.text_delta("half an "),
            scripts.text_delta("answer"),
            scripts.BrokenStream(),
        ),
        scripts.text("a whole answer"),
    )
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    first = await ended(opened)
    assert first.status == "failed"
    assert await stored_turns(opened.thread.id) == [
        (1, "user", "Tell me", "complete"),
        (2, "assistant", "half an answer", "failed"),
    ]

    again = await replies.retry(user=user, reply_id=first.id)
    assert again.question.id == opened.question.id
    assert (await ended(again)).status == "completed"
    assert await stored_turns(opened.thread.id) == [
        (1, "user", "Tell me", "complete"),
        (3, "assistant", "a whole answer", "complete"),
    ]
    assert model.bodies[1]["messages"] == model.bodies[0]["messages"]
    assert await Message.objects.filter(thread=opened.thread).acount() == 3
    assert (await Thread.objects.aget(id=opened.thread.id)).message_count == 2


async def test_the_same_client_message_id_is_the_same_turn(user: User, model: ModelServer) -> None:
    opened = await asyncio.gather(
        *(replies.start(user=user, thread_id=None, content="Once", client_message_id="once-1") for _ in range(6))
    )
    for one in opened:
        await ended(one)
    assert len({one.thread.id for one in opened}) == len({one.question.id for one in opened}) == 1
    assert len({one.reply.id for one in opened}) == 1
    assert [one.repeated for one in opened].count(False) == 1
    assert len(model.bodies) == 1
    later = await replies.start(user=user, thread_id=opened[0].thread.id, content="Once", client_message_id="once-1")
    assert (later.repeated, later.question.id) == (True, opened[0].question.id)


async def test_a_second_message_while_a_reply_runs_is_refused_and_not_stored(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("thinking ", gate, "done"))
    opened = await replies.start(user=user, thread_id=None, content="First")
    refused = await asyncio.gather(
        *(replies.start(user=user, thread_id=opened.thread.id, content=f"No {n}") for n in range(5)),
        return_exceptions=True,
    )
    assert [type(error) for error in refused] == [ReplyInProgress] * 5
    assert await stored_turns(opened.thread.id) == [(1, "user", "First", "complete")]
    gate.open()
    await ended(opened)


async def test_concurrent_writers_cannot_interleave(user: User, model: ModelServer) -> None:
    thread = await in_database(make_thread)(user)
    gate = scripts.Gate()
    model.script(scripts.text(gate, "Only one."))
    attempts = await asyncio.gather(
        *(replies.start(user=user, thread_id=thread.id, content=f"Me {n}") for n in range(8)), return_exceptions=True
    )
    opened = [attempt for attempt in attempts if isinstance(attempt, OpenedReply)]
    assert len(opened) == 1
    assert [type(attempt) for attempt in attempts if attempt is not opened[0]] == [ReplyInProgress] * 7
    gate.open()
    await ended(opened[0])
    assert [row[:2] for row in await stored_turns(thread.id)] == [(1, "user"), (2, "assistant")]


async def test_stop_keeps_the_text_so_far(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("so far ", gate, "never"))
    opened = await replies.start(user=user, thread_id=None, content="Talk")
    async for event in replies.follow(opened.reply.id):
        if event.type == "reply.delta":
            break
    await replies.stop(user=user, reply_id=opened.reply.id)
    assert (await ended(opened)).status == "stopped"
    assert await stored_turns(opened.thread.id) == [
        (1, "user", "Talk", "complete"),
        (2, "assistant", "so far ", "stopped"),
    ]
    await asyncio.to_thread(model.requests[0].wait_until_ended)
    assert model.requests[0].hung_up
    assert (await replies.stop(user=user, reply_id=opened.reply.id)).status == "stopped"


@pytest.mark.once("end_turn*", "max_tokens*", "refusal*")
@pytest.mark.parametrize(
    ("stop_reason", "status"),
    [
        ("end_turn", "complete"),
        ("stop_sequence", "complete"),
        ("max_tokens", "incomplete"),
        ("model_context_window_exceeded", "incomplete"),
        ("tool_use", "incomplete"),
        ("refusal", "refused"),
        ("a_reason_of_the_future", "incomplete"),
    ],
)
async def test_only_a_known_good_stop_reason_makes_a_whole_turn(
    user: User, model: ModelServer, stop_reason: str, status: str
) -> None:
    model.script(scripts.text("something", stop_reason=stop_reason))
    opened = await ask(user, None, "Go")
    question = "refused" if stop_reason == "refusal" else "complete"
    assert await stored_turns(opened.thread.id) == [(1, "user", "Go", question), (2, "assistant", "something", status)]
    assert (await Reply.objects.aget(id=opened.reply.id)).stop_reason == stop_reason


@pytest.mark.parametrize(("stop_reason", "code"), [("refusal", "refused"), ("end_turn", "empty_reply")])
async def test_an_answer_without_text_is_a_failure(user: User, model: ModelServer, stop_reason: str, code: str) -> None:
    model.script(scripts.text(stop_reason=stop_reason))
    reply = await ended(await replies.start(user=user, thread_id=None, content="Go"))
    assert (reply.status, error_of(reply)["code"]) == ("failed", code)


async def test_an_unknown_thread_is_an_error_and_never_a_new_one(user: User) -> None:
    cases: list[str] = ["00000000-0000-7000-8000-000000000000", "nonsense", "../etc", ""]
    for thread_id in cases:
        with pytest.raises(ThreadNotFound):
            await replies.start(user=user, thread_id=thread_id, content="Hello")
        assert await Thread.objects.acount() == 0, thread_id


async def test_another_users_thread_does_not_exist(user: User, other_user: User) -> None:
    thread = await in_database(make_thread)(other_user, ["mine"])
    with pytest.raises(ThreadNotFound):
        await replies.start(user=user, thread_id=thread.id, content="Hello")
    assert await stored_turns(thread.id) == [(1, "user", "mine", "complete")]


async def test_a_message_without_text_is_refused(user: User) -> None:
    cases: list[Any] = ["", " \n\t ", [], [{"type": "text", "text": " "}], 7, None, [{"type": "image"}], {"a": 1}]
    for content in cases:
        with pytest.raises(InvalidMessage):
            await replies.start(user=user, thread_id=None, content=content)
        assert await Thread.objects.acount() == 0, content


async def test_a_message_over_the_limit_is_refused_and_the_limit_named(user: User, settings: Any) -> None:
    settings.OPENBOOK_MAX_MESSAGE_CHARS = 1_000
    with pytest.raises(MessageTooLong) as caught:
        await replies.start(user=user, thread_id=None, content="x" * 1_001)
    assert "the limit is 1,000" in caught.value.message
    assert caught.value.details == {"limit": 1_000, "length": 1_001}


async def test_what_cannot_be_stored_is_replaced_visibly_in_and_out(user: User, model: ModelServer) -> None:
    model.script(scripts.text("nul \0 and \ud83d", "\ude00 and \udc00"))
    opened = await ask(user, None, "in \0 \ud800 \U0001f600")
    assert await stored_turns(opened.thread.id) == [
        (1, "user", "in � � 😀", "complete"),
        (2, "assistant", "nul � and 😀 and �", "complete"),
    ]


async def test_memory_of_the_process_is_not_needed(user: User, model: ModelServer) -> None:
    """T1: a turn stored by anybody is in the next context."""
    thread = await in_database(make_thread)(user, ["My cat is called Pixel.", "Noted."])
    await ask(user, thread.id, "What is my cat called?")
    assert [message["content"][0]["text"] for message in model.bodies[0]["messages"]] == [
        "My cat is called Pixel.",
        "Noted.",
        "What is my cat called?",
    ]


async def test_the_offline_responder_answers_from_the_context_it_was_given(user: User, settings: Any) -> None:
    """P3 and P4: a fact mentioned in passing in turn 1 and asked for in turn 3; without the context the answer is wrong."""
    settings.OPENBOOK_OFFLINE_WORD_SECONDS = 0
    first = await ask(user, None, "Good morning! By the way, we're building a FastAPI app for a bakery.")
    await ask(user, first.thread.id, "It should open in June.")
    await ask(user, first.thread.id, "Which web framework are we using?")
    stranger = await ask(user, None, "Which web framework are we using?")
    assert "FastAPI" in (await stored_turns(first.thread.id))[-1][2]
    assert "FastAPI" not in (await stored_turns(stranger.thread.id))[-1][2]
