"""The context from the database: read only, recorded whole, rebuilt byte for byte (C1, C2, S1–S4, W1, N2)."""

import hashlib
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.context.builder import build_context
from conversations.context.built_context import Context
from conversations.context.record import snapshot_api, snapshots
from conversations.context.render.rendering import canonical
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, ContextBlock, ContextSnapshot, Message, Reply, Thread, text_blocks
from conversations.providers.markers import CONTEXTUALISED
from conversations.replies import closing, model_requests, opening, outcomes
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import read_only
from tests.conversations.factories import build_request, make_reply, make_snapshot, make_thread, record

KNOWN = {f"memory_{name}" for name in ("preferences", "memory", "dailysummary", "topic", "threadsummary")}
FROM = re.compile(r"FROM \"?([a-z]+_[a-z]+)")

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]


def build(thread: Thread) -> Context:
    newest = thread.messages.latest("position")
    with read_only():
        return build_context(build_request(thread, Turn.of(newest), at=thread.created_at))


def talk(turns: int, words: int = 12) -> list[str]:
    """An odd number of turns: the last one is the user's."""
    return [f"turn {n} " + "word " * words for n in range(1, turns + 1)]


def sent_texts(payload: dict[str, Any]) -> list[str]:
    return [block["text"] for message in payload["messages"] for block in message["content"]]


def test_the_order_is_system_then_history_then_the_question(user: User) -> None:
    thread = make_thread(user, ["Who is Donald Trump?", "A president.", "who are his children"])
    payload = build(thread).payload
    assert payload == {
        "model": "offline",
        "max_tokens": 2_048,
        "system": [{"type": "text", "text": thread.assistant.system_prompt}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Who is Donald Trump?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "A president."}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "who are his children"},
                    {"type": "text", "text": f"{CONTEXTUALISED} who are his children (about: Donald Trump)"},
                ],
            },
        ],
        "stream": True,
    }


def test_a_new_thread_goes_out_without_history(user: User) -> None:
    context = build(make_thread(user, ["Hello"]))
    assert (context.history, context.left_out, sent_texts(context.payload)) == ([], {}, ["Hello"])


def test_what_does_not_fit_is_left_out_from_the_oldest_on(user: User) -> None:
    thread = make_thread(user, talk(301))
    context = build(thread)
    kept = len(context.history)
    assert thread.assistant.history_tokens_low <= context.history_tokens <= thread.assistant.history_tokens_high
    assert thread.assistant.history_turns_min <= kept <= thread.assistant.history_turns_max
    assert context.left_out == {"turn_limit": 300 - kept}
    assert sent_texts(context.payload)[-kept - 1 :] == talk(301)[-kept - 1 :]
    assert [(run.first, run.last, run.included, run.reason) for run in context.runs] == [
        (1, 300 - kept, False, "turn_limit"),
        (301 - kept, 300, True, "recent"),
        (301, 301, True, "newest"),
    ]


def test_long_turns_are_left_out_by_tokens(user: User) -> None:
    thread = make_thread(user, talk(61, words=150))
    thread.assistant.recall_tokens = 0
    context = build(thread)
    assert context.left_out == {"over_budget": 60 - len(context.history)}
    assert 1_500 <= context.history_tokens < 1_500 + 2 * 190
    assert context.total_tokens <= 4_100


def test_one_huge_message_is_shortened_visibly_and_never_dropped(user: User) -> None:
    thread = make_thread(user, ["short", "answer", "start " + "天地玄黃 " * 20_000 + " end"])
    context = build(thread)
    assert context.total_tokens <= thread.assistant.hard_cap_tokens
    sent = sent_texts(context.payload)
    assert sent[:2] == ["short", "answer"]
    assert sent[2].startswith("start 天地玄黃") and sent[2].endswith(" end")
    assert "characters left out here to fit the context" in sent[2]
    assert context.runs[-1].reason == "shortened"


def test_the_builder_writes_nothing_even_if_it_tried(user: User) -> None:
    thread = make_thread(user, talk(7))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        build(thread)
    statements = [query["sql"] for query in queries if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "SET"))]
    read = [set(FROM.findall(statement)) for statement in statements]
    assert [tables for tables in read if tables] == [
        {"conversations_message"},  # the newest turn, for this test
        {"conversations_project"},  # what may be remembered here, for this test
        {
            "conversations_message",
            "conversations_tokencount",
            "conversations_turnfile",
            "conversations_file",
            "conversations_contextsnapshot",
            "artifacts_artifactversion",
            "conversations_instructions",
            "conversations_project",
            "conversations_thread",
            *KNOWN,
        },
        {
            "memory_vocabulary",
            "memory_indexedpassage",
            "conversations_thread",
            "conversations_message",
            "memory_memory",
        },  # not indexed yet, and whether a note was ever replaced
        {"memory_indexedpassage"},  # words that stand nowhere may be misspelt
        {"memory_indexedpassage", "jsonb_populate", "conversations_thread"},  # which is ranked
    ]
    with pytest.raises(Exception, match="read-only transaction"), read_only():
        Thread.objects.update(title="changed")


def test_the_number_of_rows_read_does_not_grow_with_the_thread(user: User) -> None:
    assert {build(make_thread(user, talk(length))).turns_loaded for length in (101, 401, 1_601)} == {81}


def test_the_request_is_rebuilt_byte_for_byte(user: User) -> None:
    for turns in (["Hi"], talk(9), talk(201), ["a", "b", "long " * 30_000], ["long " * 30_000, "b", "c"]):
        thread = make_thread(user, turns)
        context = build(thread)
        snapshot = record(context, make_reply(thread))
        stored = ContextSnapshot.objects.get(id=snapshot.id)
        assert canonical(snapshots.rebuild(stored)) == canonical(context.payload)
        assert bytes(stored.digest) == hashlib.sha256(canonical(context.payload)).digest()
        assert snapshots.proof(stored)


def test_a_request_is_still_rebuilt_after_a_retry_and_further_turns(user: User) -> None:
    thread = make_thread(user, ["question", "half"])
    before = make_snapshot(thread, reply=make_reply(thread))
    Message.objects.filter(position=2).update(is_active=False)
    Message.objects.create(
        thread=thread,
        position=3,
        depth=2,
        role="assistant",
        content=text_blocks("whole"),
        text="whole",
        token_count=5,
        token_total=11,
        created_at=thread.created_at,
        parent=Message.objects.get(position=1),
    )
    Message.objects.create(
        thread=thread,
        position=4,
        depth=3,
        role="user",
        content=text_blocks("next"),
        text="next",
        token_count=5,
        token_total=16,
        created_at=thread.created_at,
        parent=Message.objects.get(position=3),
    )
    context = build(thread)
    assert sent_texts(context.payload) == ["question", "whole", "next"]
    assert [(run.first, run.reason) for run in context.runs] == [
        (1, "recent"),
        (2, "superseded"),
        (3, "recent"),
        (4, "newest"),
    ]
    assert snapshots.proof(before)


def test_a_changed_prompt_does_not_change_what_was_recorded(user: User) -> None:
    snapshot = make_snapshot(make_thread(user, ["Hi"]))
    Assistant.objects.filter(slug="companion").update(system_prompt="New words", max_output_tokens=9)
    assert snapshots.proof(ContextSnapshot.objects.get(id=snapshot.id))


def test_a_request_that_can_no_longer_be_rebuilt_says_so(user: User) -> None:
    snapshot = make_snapshot(make_thread(user, ["Hi"]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('openbook.door', 'open', true)")
    ContextBlock.objects.all().delete()
    assert not snapshots.proof(snapshot)
    body = snapshot_api.body(snapshot)
    assert (body["request"], body["sections"][0]["text"]) == (None, None)


def test_the_same_texts_are_stored_once(user: User) -> None:
    thread = make_thread(user, talk(5))
    for _ in range(3):
        make_snapshot(thread, reply=make_reply(thread))
    make_snapshot(make_thread(user, ["other"]))
    assert [(block.thread_id is None, block.text) for block in ContextBlock.objects.all()] == [
        (True, thread.assistant.system_prompt)
    ]


def test_the_body_accounts_for_each_turn_exactly_once(user: User) -> None:
    thread = make_thread(user, talk(301))
    body = snapshot_api.body(make_snapshot(thread))
    listed = [item["position"] for item in body["items"] if item["kind"] == "message"]
    ranges = [item for item in body["items"] if item["kind"] == "range"]
    first = 301 - body["message_history_count"] - snapshot_api.NEAR
    assert ranges == [
        {"kind": "range", "first": 1, "last": first - 1, "count": first - 1, "included": False, "reason": "turn_limit"}
    ]
    assert listed == list(range(first, 302))
    assert [section["name"] for section in body["sections"]] == ["base", "history", "message"]
    assert sum(section["tokens"] for section in body["sections"]) == body["total_tokens"]
    assert body["message_history_tokens"] == body["sections"][1]["tokens"]


def test_no_snapshot_is_recorded_once_the_reply_has_ended(user: User, settings: Any) -> None:
    """A stop may come while the context is being built, and that step can't be called back."""
    settings.OPENBOOK_PROVIDER = "not known"  # so that the context is built apart from the turn
    opened = opening.open_turn(NewMessage(user=user, thread_id=None, blocks=text_blocks("Hi")))
    settings.OPENBOOK_PROVIDER = "offline"
    closing.close(
        reply_id=opened.reply.id, user_id=opened.reply.user_id, owner=opened.reply.owner, outcome=outcomes.stopped()
    )
    with pytest.raises(Reply.DoesNotExist):
        model_requests.record(*model_requests.first_request(opened))
    assert ContextSnapshot.objects.count() == 0


def test_a_preview_is_what_the_request_then_gets(user: User, settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "offline"
    thread = make_thread(user, talk(8))
    preview = model_requests.preview_context(NewMessage(user=user, thread_id=thread.id, blocks=text_blocks("And now?")))
    opened = opening.open_turn(NewMessage(user=user, thread_id=thread.id, blocks=text_blocks("And now?")))
    assert opened.recorded is not None
    snapshot, _ = opened.recorded
    body = snapshot_api.body(snapshot)
    assert preview["digest"] == body["digest"]
    assert preview["request"] == body["request"]
    assert preview["sections"] == body["sections"]
    assert Reply.objects.count() == 1
