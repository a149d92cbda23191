"""What changed between two model requests, and where the cached prefix breaks."""

import uuid
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.explain.comparing import (
    Change,
    Comparison,
    Page,
    Prefix,
    SnapshotPart,
    TurnSpan,
    blocks_of,
    common_prefix,
    compare,
    compare_pages,
    written_anew,
)
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.turn_account import TurnRun
from conversations.context.render.rendering import system_blocks
from conversations.context.tokens.estimate import estimate_tokens, turn_tokens
from conversations.models import Assistant, ContextBlock, ContextSnapshot, Thread, text_blocks
from conversations.providers.messages_api import RequestParts, messages_api_payload
from conversations.providers.quoting import contextualised
from tests.conversations.factories import chain, make_reply, make_snapshot, make_thread

THREADS = [uuid.UUID(int=1), uuid.UUID(int=2)]
words = st.sampled_from(["red", "green", "blue"])


@st.composite
def run_lists(draw: st.DrawFn) -> list[TurnRun]:
    """Every position once, in runs of random fate; the last one is the message to answer."""
    runs: list[TurnRun] = []
    first = 1
    for length, fate in draw(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), max_size=5)):
        last = first if fate == 2 else first + length - 1
        reason = [Reason.OVER_BUDGET, Reason.RECENT, Reason.SHORTENED][fate]
        tokens, digest = (draw(st.integers(1, 3)), draw(words)) if fate == 2 else (0, "")
        runs.append(
            TurnRun(
                first=first,
                last=last,
                count=last - first + 1,
                included=fate > 0,
                reason=reason,
                tokens=tokens,
                sha256=digest,
            )
        )
        first = last + 1
    return [*runs, TurnRun(first=first, last=first, count=1, included=True, reason=Reason.NEWEST, tokens=7)]


def payload_of(model: str, system: list[str], messages: list[list[str]]) -> dict[str, Any]:
    said = [
        {"role": ["user", "assistant"][n % 2], "content": [block for text in texts for block in text_blocks(text)]}
        for n, texts in enumerate(messages)
    ]
    return messages_api_payload(RequestParts(model=model, max_tokens=9, system=system_blocks(system), messages=said))


payloads = st.builds(
    payload_of, words, st.lists(words, max_size=3), st.lists(st.lists(words, min_size=1, max_size=2), max_size=4)
)
tiers = st.lists(
    st.builds(SnapshotPart, name=st.sampled_from(["base", "memory", "today"]), tokens=st.integers(0, 9), digest=words),
    max_size=3,
    unique_by=lambda tier: tier.name,
)
pages = st.builds(
    Page,
    thread=st.sampled_from(THREADS),
    settings=st.fixed_dictionaries({"model": words, "max_tokens": st.integers(1, 2)}),
    tiers=tiers,
    runs=run_lists(),
    payload=st.none() | payloads,
)


def mirrored(comparison: Comparison) -> Comparison:
    return replace(
        comparison,
        settings=tuple(Change(name=c.name, before=c.after, after=c.before) for c in comparison.settings),
        tiers=tuple(Change(name=c.name, before=c.after, after=c.before) for c in comparison.tiers),
        added=comparison.removed,
        removed=comparison.added,
        shortened=comparison.restored,
        restored=comparison.shortened,
    )


@given(pages)
def test_a_request_compared_with_itself_has_no_difference(page: Page) -> None:
    comparison = compare_pages(page, page)
    assert comparison.is_empty
    assert comparison.same_thread
    assert comparison.prefix == (
        Prefix(
            blocks=len(list(blocks_of(page.payload))),
            tokens=sum(block.tokens for block in blocks_of(page.payload)),
            breaks_at="",
            is_all=True,
        )
        if page.payload
        else None
    )


@given(pages, pages)
def test_added_and_removed_mirror_each_other(a: Page, b: Page) -> None:
    assert compare_pages(b, a) == mirrored(compare_pages(a, b))


@given(pages, pages)
def test_what_was_added_and_removed_leads_from_one_to_the_other(a: Page, b: Page) -> None:
    comparison = compare_pages(a, b)
    assert (sent_turns(a) - turns_in(comparison.removed)) | turns_in(comparison.added) == sent_turns(b)
    assert turns_in(comparison.added).isdisjoint(sent_turns(a))
    assert turns_in(comparison.shortened) | turns_in(comparison.restored) <= sent_turns(a) & sent_turns(b)
    assert turns_in(comparison.shortened).isdisjoint(turns_in(comparison.restored))


@given(pages, pages, st.lists(st.tuples(st.sampled_from(THREADS), st.integers(1, 9), st.integers(0, 6)), max_size=3))
def test_summarised_is_what_left_and_is_told_by_a_summary(
    a: Page, b: Page, parts: list[tuple[uuid.UUID, int, int]]
) -> None:
    summaries = tuple(TurnSpan(thread=str(thread), first=first, last=first + more) for thread, first, more in parts)
    comparison = compare_pages(a, b, summaries=summaries)
    assert turns_in(comparison.summarised) == turns_in(comparison.removed) & turns_in(summaries)


@given(payloads, payloads)
def test_what_is_kept_and_what_is_written_anew_are_the_whole_request(a: dict[str, Any], b: dict[str, Any]) -> None:
    prefix = common_prefix(a, b)
    assert prefix.tokens + written_anew(b, prefix) == sum(block.tokens for block in blocks_of(b))


def sent_turns(page: Page) -> set[tuple[str, int]]:
    return {
        (str(page.thread), position) for run in page.runs if run.included for position in range(run.first, run.last + 1)
    }


def turns_in(ranges: tuple[TurnSpan, ...]) -> set[tuple[str, int]]:
    return {(turns.thread, position) for turns in ranges for position in range(turns.first, turns.last + 1)}


@given(payloads, payloads)
def test_the_common_prefix_is_really_common(a: dict[str, Any], b: dict[str, Any]) -> None:
    prefix = common_prefix(a, b)
    assert flat(a)[: prefix.blocks] == flat(b)[: prefix.blocks]
    rest = flat(a)[prefix.blocks :], flat(b)[prefix.blocks :]
    assert bool(prefix.breaks_at) == all(rest)
    assert not all(rest) or rest[0][0] != rest[1][0]


def flat(payload: dict[str, Any]) -> list[Any]:
    """Model, system and messages as one list of steps, each with its place."""
    system = [("system", n, block["text"]) for n, block in enumerate(payload["system"])]
    said = [
        (n, part, message["role"], block["text"])
        for n, message in enumerate(payload["messages"])
        for part, block in enumerate(message["content"])
    ]
    return [("model", payload["model"]), *system, *said]


@pytest.mark.parametrize(
    ("changed", "breaks_at", "blocks"),
    [
        (payload_of("red", ["a", "b"], [["q"], ["r"]]), "", 5),
        (payload_of("red", ["a", "b"], [["q"], ["r"], ["s"]]), "", 5),
        (payload_of("blue", ["a", "b"], [["q"], ["r"]]), "the model", 0),
        (payload_of("red", ["a", "x"], [["q"], ["r"]]), "system block 2", 2),
        (payload_of("red", ["a"], [["q"], ["r"]]), "system block 2", 2),
        (payload_of("red", ["a", "b"], [["q", "more"], ["r"]]), "message 1, block 2", 4),
        (payload_of("red", ["a", "b"], [["q"], ["x"]]), "message 2, block 1", 4),
    ],
)
def test_the_place_of_the_break_is_told_in_words(changed: dict[str, Any], breaks_at: str, blocks: int) -> None:
    prefix = common_prefix(payload_of("red", ["a", "b"], [["q"], ["r"]]), changed)
    assert (prefix.breaks_at, prefix.blocks) == (breaks_at, blocks)


def test_cache_marks_and_tools_are_read_as_the_cache_does() -> None:
    plain = payload_of("red", ["a"], [["q"]])
    marked = payload_of("red", ["a"], [["q"]])
    marked["system"][0]["cache_control"] = {"type": "ephemeral"}
    assert common_prefix(plain, marked).breaks_at == ""
    assert common_prefix(plain | {"tools": [{"name": "x"}]}, plain) == Prefix(blocks=1, tokens=0, breaks_at="tool 1")


def test_a_block_that_only_the_account_leaves_out_is_a_difference() -> None:
    runs = [TurnRun(first=1, last=1, count=1, included=True, reason=Reason.NEWEST)]
    alone = Page(thread=THREADS[0], settings={}, tiers=[], runs=runs, payload=payload_of("red", [], [["q"]]))
    with_query = replace(alone, payload=payload_of("red", [], [["q", "more"]]))
    assert not compare_pages(alone, with_query).is_empty
    assert compare_pages(alone, with_query).prefix == Prefix(
        blocks=2, tokens=turn_tokens(text_blocks("q")), breaks_at=""
    )


def add_turns(thread: Thread, texts: list[str]) -> None:
    made = chain(thread, [*thread.messages.order_by("position").values_list("text", flat=True), *texts])
    known = thread.messages.count()
    earlier = list(thread.messages.order_by("position"))
    made[known].parent_id = earlier[-1].id
    for message in made[known:]:
        message.save(force_insert=True)


@pytest.mark.django_db
def test_the_next_request_of_a_thread_keeps_the_prefix(user: User) -> None:
    thread = make_thread(user, ["Who is Donald Trump?"])
    first = make_snapshot(thread)
    add_turns(thread, ["A president.", "who are his children"])
    comparison = compare(first, make_snapshot(thread))
    question, base = text_blocks("Who is Donald Trump?"), estimate_tokens(thread.assistant.system_prompt)
    query = estimate_tokens(contextualised("who are his children (about: Donald Trump)"))
    assert comparison == Comparison(
        same_thread=True,
        settings=(),
        tiers=(
            Change(name="base", before=base, after=base),
            Change(name="history", before=0, after=turn_tokens(question) + turn_tokens(text_blocks("A president."))),
            Change(
                name="message", before=turn_tokens(question), after=turn_tokens(text_blocks("who are his children"))
            ),
            Change(name="query", before=None, after=query),
        ),
        rewritten=(),
        added=(TurnSpan(thread=str(thread.id), first=2, last=3),),
        removed=(),
        shortened=(),
        restored=(),
        prefix=Prefix(blocks=3, tokens=base + turn_tokens(question), breaks_at=""),
    )


@pytest.mark.django_db
def test_a_changed_prompt_breaks_the_prefix_at_once(user: User) -> None:
    thread = make_thread(user, ["Hello?"])
    first = make_snapshot(thread)
    Assistant.objects.filter(pk=thread.assistant_id).update(system_prompt="New words", model="other")
    comparison = compare(first, make_snapshot(Thread.objects.get(pk=thread.pk)))
    assert comparison.rewritten == ("base",)
    assert comparison.settings == (Change(name="model", before="offline", after="other"),)
    assert comparison.prefix == Prefix(blocks=0, tokens=0, breaks_at="the model")


@pytest.mark.django_db
def test_requests_of_different_threads_share_what_staff_wrote(user: User) -> None:
    one, other = make_thread(user, ["Hello?"]), make_thread(user, ["Something else?"])
    comparison = compare(make_snapshot(one), make_snapshot(other))
    assert not comparison.same_thread
    assert comparison.removed == (TurnSpan(thread=str(one.id), first=1, last=1),)
    assert comparison.added == (TurnSpan(thread=str(other.id), first=1, last=1),)
    assert comparison.prefix == Prefix(
        blocks=2, tokens=estimate_tokens(one.assistant.system_prompt), breaks_at="message 1, block 1"
    )


@pytest.mark.django_db
def test_a_turn_that_had_to_be_shortened_is_named(user: User) -> None:
    thread = make_thread(user, ["Hello?", "word " * 9_000, "And now?"])
    small = make_snapshot(thread)
    assistants = Assistant.objects.filter(pk=thread.assistant_id)
    assistants.update(total_tokens=90_000, hard_cap_tokens=100_000, history_tokens_high=80_000)
    large = make_snapshot(Thread.objects.get(pk=thread.pk))
    long = (TurnSpan(thread=str(thread.id), first=2, last=2),)
    assert (compare(large, small).shortened, compare(small, large).restored) == (long, long)
    assert compare(large, small).added == compare(large, small).removed == ()


@pytest.mark.django_db
def test_a_request_that_cannot_be_rebuilt_is_compared_by_its_account(user: User) -> None:
    thread = make_thread(user, ["Hello?", "Hi.", "And now?"])
    first, second = make_snapshot(thread), make_snapshot(thread, reply=make_reply(thread))
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('openbook.door', 'open', true)")
    ContextBlock.objects.all().delete()
    comparison = compare(first, ContextSnapshot.objects.get(pk=second.pk))
    assert (comparison.is_empty, comparison.prefix) == (True, None)
    assert not snapshots.proof(first)
