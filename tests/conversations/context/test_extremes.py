"""Threads, texts and settings at the edge of what can be: every promise holds, or the request is refused by name."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations.context.builder import build_context
from conversations.context.built_context import Context
from conversations.context.reasons import Reason
from conversations.context.sessions import Session
from conversations.context.source_problems import ProblemKind
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread, text_blocks
from conversations.replies import closing, model_requests, opening, outcomes
from conversations.replies.events import OWNER
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import read_only
from tests.conversations.context import promises
from tests.conversations.factories import build_request, make_thread
from tests.conversations.import_export.books import store_thread
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]

NOTHING = {
    "history_tokens_low": 0,
    "history_tokens_high": 0,
    "total_tokens": 0,
    "hard_cap_tokens": 200,
    "history_turns_min": 2,
    "history_turns_max": 2,
    "memory_tokens": 0,
    "today_tokens": 0,
    "open_threads_tokens": 0,
    "last_conversation_tokens": 0,
    "recall_tokens": 0,
}
"""The smallest budgets that the database takes, but for a cap that a message fits in."""


def imported(user: User, turns: Sequence[tuple[str, Any]], artifacts: Sequence[dict[str, Any]] = ()) -> Thread:
    messages = [{"role": role, "content": content} for role, content in turns]
    document = {"format": "openbook/1", "threads": [{"messages": messages, "artifacts": list(artifacts)}]}
    return store_thread(user, document, timezone.now())


def call(id: str = "t", **arguments: Any) -> tuple[str, Any]:
    return "assistant", [{"type": "tool_use", "id": id, "name": "search", "input": arguments}]


def result(id: str = "t", content: str = "found") -> tuple[str, Any]:
    return "user", [{"type": "tool_result", "tool_use_id": id, "content": content}]


def settle(**values: Any) -> None:
    Assistant.objects.filter(slug="companion").update(**{"system_prompt": "Be kind."} | values)


def say(thread: Thread, text: str = "And now?", answer: str = "") -> Context:
    """The context of a message that is sent, with every promise checked; then it is answered."""
    opened = opening.open_turn(NewMessage(user=thread.user, thread_id=thread.id, blocks=text_blocks(text)))
    return checked(opened, answer)


def retry(thread: Thread, answer: str = "") -> Context:
    reply = Reply.objects.filter(thread=thread).latest("created_at")
    return checked(opening.open_retry(user=thread.user, reply_id=reply.id), answer)


def checked(opened: model_requests.OpenedReply, answer: str) -> Context:
    assert opened.recorded
    snapshot, context = opened.recorded
    earlier = Message.objects.filter(thread=opened.thread, position__lt=opened.question.position)
    promises.check_context(context, list(earlier.order_by("position")))
    promises.check_record(context, snapshot)
    end(opened, answer)
    return context


def end(opened: model_requests.OpenedReply, answer: str) -> None:
    outcome = outcomes.Outcome(status=Reply.Status.COMPLETED)
    assert closing.close(
        reply_id=opened.reply.id,
        user_id=opened.reply.user_id,
        owner=OWNER,
        outcome=outcome,
        progress=closing.ReplyProgress(transcript=ReplyTranscript.of(answer)),
    )


def fates(context: Context) -> list[tuple[int, int, str]]:
    return [(run.first, run.last, run.reason.value) for run in context.runs]


def test_without_a_system_prompt_the_request_is_refused_by_name(user: User) -> None:
    settle(system_prompt="")
    context = say(make_thread(user))
    assert [rule for rule, _ in promises.faults(context)] == ["system_prompt"]


def test_a_prompt_that_fills_the_cap_is_refused_by_name(user: User) -> None:
    settle(**NOTHING, system_prompt="Be kind. " * 200)
    context = say(make_thread(user, ["Hi", "Hello"] * 4))
    assert [rule for rule, _ in promises.faults(context)] == ["hard_cap"]


@pytest.mark.parametrize("rows", [0, 2, 9])
def test_the_smallest_budgets_keep_the_last_pair_and_nothing_else(user: User, rows: int) -> None:
    settle(**NOTHING)
    for n in range(rows):
        make_memory(user, f"Ada has {n} boats.")
        make_topic(user)
    make_daily_summary(user, timezone.now().date().isoformat())
    context = say(make_thread(user, ["Hi", "Hello"] * rows))
    assert [turn.position for turn in context.history] == [*range(2 * rows + 1)][1:][-2:]
    assert [section.name for section in context.sections] == ["base"]


def test_a_history_without_room_is_read_to_its_last_whole_pair(user: User) -> None:
    """A thread of many orphans ends that search only where it begins."""
    settle(**NOTHING)
    context = say(imported(user, [("user", "Hi"), ("assistant", "Hello"), *[result()] * 300]))
    assert fates(context) == [(1, 2, "recent"), (3, 302, "orphan_tool"), (303, 303, "newest")]


LONG = ["天地玄黃，宇宙洪荒。" * 10_000, "🎉👩‍👩‍👧" * 16_667, "x" * 100_000, "?" + "\n" * 99_998 + "!"]


@pytest.mark.wide
@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("cap", [200, 6_150])
def test_a_hundred_thousand_characters_fit_the_cap_wherever_they_stand(user: User, text: str, cap: int) -> None:
    settle(**NOTHING | {"hard_cap_tokens": cap})
    thread = make_thread(user, ["Hi", "Hello"])
    contexts = [say(thread, text, answer=text), say(thread, "ok", answer="ok"), say(thread, "ok")]
    assert [[bool(turn.shortened) for turn in context.parts.turns] for context in contexts] == [
        [False, False, True],
        [True, True, False],
        [False, False, False],
    ]


def test_five_thousand_short_turns_are_read_no_further_than_the_window(user: User) -> None:
    context = say(make_thread(user, ["ok"] * 5_000), "ok")
    assert (context.turns_loaded, len(context.history)) == (81, 56)
    assert fates(context) == [(1, 4_944, "turn_limit"), (4_945, 5_000, "recent"), (5_001, 5_001, "newest")]


def test_a_thread_of_nothing_but_halves_goes_out_as_if_it_were_new(user: User) -> None:
    context = say(imported(user, [result(str(n)) for n in range(200)]))
    assert fates(context) == [(1, 200, "orphan_tool"), (201, 201, "newest")]


def test_only_the_last_attempt_counts(user: User) -> None:
    thread = make_thread(user)
    say(thread, "Hi", answer="one")
    for answer in ("two", "", "three"):
        retry(thread, answer)
    context = say(thread, "ok")
    assert fates(context) == [(1, 1, "recent"), (2, 3, "superseded"), (4, 4, "recent"), (5, 5, "newest")]
    texts = [turn.content[0]["text"] for turn in context.parts.turns]
    assert texts == ["Hi", "three", "ok"]


def test_questions_without_an_answer_go_out_as_one_turn(user: User) -> None:
    thread = make_thread(user)
    for n in range(40):
        context = say(thread, f"Question {n}?")
    assert [message["role"] for message in context.payload["messages"]] == ["user"]
    assert len(context.history) == 39


def test_an_answer_of_nothing_but_blanks_is_no_turn(user: User) -> None:
    """No model takes a request with a blank text: the thread could never be answered again."""
    thread = make_thread(user)
    say(thread, "Hi", answer=" \n")
    assert fates(say(thread, "ok")) == [(1, 1, "recent"), (2, 2, "newest")]


@pytest.mark.parametrize(
    "tools",
    [
        [call(query="boats " * 9_000), result()],
        [call(), result(content="boats " * 9_000)],
        [call(str(n), query="boats " * 30) if m else result(str(n), "boats " * 30) for n in range(18) for m in (1, 0)],
    ],
    ids=["a long call", "a long result", "many rounds"],
)
def test_tool_calls_over_the_cap_go_whole_and_what_was_said_stays(user: User, tools: list[tuple[str, Any]]) -> None:
    settle(**NOTHING | {"hard_cap_tokens": 1_500})
    context = say(imported(user, [("user", "Find boats"), *tools, ("assistant", "Two boats.")]), "ok")
    after = len(tools) + 1
    assert fates(context) == [
        (1, 1, "recent"),
        (2, after, "over_budget"),
        (after + 1, after + 1, "recent"),
        (after + 2, after + 2, "newest"),
    ]


def test_words_beside_a_tool_call_over_the_cap_stay_without_it(user: User) -> None:
    settle(**NOTHING)
    role, blocks = call(query="boats " * 9_000)
    turns = [("user", "Find boats"), (role, [*text_blocks("I look."), *blocks]), result(), ("assistant", "Two boats.")]
    context = say(imported(user, turns), "ok")
    assert [(turn.content, bool(turn.shortened)) for turn in context.history] == [
        (text_blocks("Find boats"), False),
        (text_blocks("I look."), True),
        (text_blocks("Two boats."), False),
    ]


def test_a_memory_that_would_break_the_cap_gives_way(user: User) -> None:
    """Whatever is known of a person, they can be answered (W6)."""
    settle(**NOTHING | {"total_tokens": 800, "hard_cap_tokens": 800, "memory_tokens": 2_000})
    for n in range(40):
        make_memory(user, f"天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。{n}")
    context = say(make_thread(user, ["Hi", "Hello"]))
    assert promises.faults(context) == []
    assert {item.included for item in context.items} == {True, False}


def test_a_memory_of_twenty_thousand_bytes_is_cut_and_a_longer_one_left_out(user: User) -> None:
    make_memory(user, "天" * 6_666 + "ok")
    context = say(make_thread(user))
    assert [(item.included, item.reason) for item in context.items] == [(True, Reason.SHORTENED)]
    make_memory(user, "天" * 6_666 + "yes")
    context = say(make_thread(user))
    assert [(problem.source, problem.kind) for problem in context.problems] == [("memory", ProblemKind.GARBAGE)]


def test_a_topic_of_tomorrow_is_an_open_thread_like_any_other(user: User) -> None:
    make_topic(user, "The regatta", opened_at=timezone.now() + timedelta(days=400))
    context = say(make_thread(user))
    assert context.sections[1].text == "## Open Threads\n\n- The regatta"


def test_whoever_was_away_since_later_was_not_away(user: User) -> None:
    thread = make_thread(user, ["Hi"])
    now = thread.created_at
    make_thread_summary(make_thread(user), now - timedelta(days=9))
    with read_only():
        context = build_context(
            build_request(
                thread,
                Turn.of(thread.messages.get()),
                session=Session(started_at=now, away_since=now + timedelta(days=9)),
                at=now,
            )
        )
    assert [section.name for section in context.sections] == ["base"]


def test_another_model_an_unknown_provider_and_back(user: User) -> None:
    thread = make_thread(user, ["Hi", "Hello"])
    settle(provider="anthropic")
    assert [say(thread, "ok", answer="ok").cache.state.value for _ in range(2)] == ["first", "too_small"]
    settle(provider="gone")
    opened = opening.open_turn(NewMessage(user=user, thread_id=thread.id, blocks=text_blocks("ok")))
    assert opened.recorded is None
    end(opened, "")
    settle(provider="anthropic", model="other")
    assert say(thread, "ok").history[-1].position == opened.question.position


def test_a_window_of_before_that_no_longer_fits_is_begun_anew(user: User) -> None:
    thread = make_thread(user, ["ok"] * 60)
    assert len(say(thread, "ok", answer="ok").history) == 60
    settle(history_turns_max=4, history_turns_min=2)
    assert len(say(thread, "ok", answer="ok").history) == 4
    settle(history_turns_max=80, history_turns_min=30)
    assert len(say(thread, "ok").history) == 64
    assert ContextSnapshot.objects.filter(thread=thread).count() == 3


def test_an_answer_of_many_turns_is_cut_to_its_end_where_not_even_the_smallest_shares_fit(user: User) -> None:
    settle(**NOTHING)
    look = text_blocks("I look at all the boats in the harbour. " * 9)
    rounds = [turn for n in range(12) for turn in (("assistant", [*look, *call(str(n))[1]]), result(str(n)))]
    context = say(imported(user, [("user", "Find boats"), *rounds, ("assistant", "Two boats.")]), "ok")
    assert promises.faults(context) == []
    assert [run.reason.value for run in context.runs[:1]] == ["over_budget"]
    assert context.history[-1].content == text_blocks("Two boats.")


def test_what_a_long_message_displaces_is_over_budget_whatever_else_limits_the_window(user: User) -> None:
    settle(history_turns_max=8, history_turns_min=8)
    thread = make_thread(user, ["boats " * 150] * 30)
    assert fates(say(thread, "ok")) == [(1, 22, "turn_limit"), (23, 30, "recent"), (31, 31, "newest")]
    context = say(make_thread(user, ["boats " * 150] * 30), "cars " * 3_400)
    assert [reason for _, _, reason in fates(context)] == ["over_budget", "recent", "newest"]
    assert len(context.history) < 8
