"""Structural filtering: a request whose artifact was made leaves the context, nothing else does (requirements F1–F5, F8)."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.turns.filtering import ARTIFACT_CORRELATION_WINDOW, FilterArtifact, identify_fulfilled_pairs
from conversations.context.turns.groups import exchanges
from conversations.context.turns.turn import Turn
from conversations.models import text_blocks

BEGIN = datetime(2026, 3, 1, 9, tzinfo=UTC)
REPLIES = [uuid.uuid4() for _ in range(3)]
CALL = {"type": "tool_use", "id": "t1", "name": "save_artifact", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "saved"}


def make_turn(
    role: str, seconds: float, content: str | list[dict[str, Any]] = "…", reply: uuid.UUID | None = None
) -> Turn:
    blocks = text_blocks(content) if isinstance(content, str) else content
    return Turn(
        id=uuid.uuid4(),
        position=1,
        depth=1,
        role=role,
        content=blocks,
        token_count=9,
        created_at=at(seconds),
        reply=reply,
    )


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def make_artifact(seconds: float, *, by: Turn | None = None, reply: uuid.UUID | None = None) -> FilterArtifact:
    return FilterArtifact(created_at=at(seconds), message=by.id if by else None, reply=reply)


def left_out(turns: Sequence[Turn], *artifacts: FilterArtifact) -> list[int]:
    """The places of the turns that the filter leaves out."""
    ids = identify_fulfilled_pairs(turns, artifacts)
    assert ids <= {turn.id for turn in turns}
    return [place for place, turn in enumerate(turns) if turn.id in ids]


def talk(*seconds: float) -> list[Turn]:
    """The user and the assistant in turn, at these times."""
    return [make_turn(["user", "assistant"][place % 2], second) for place, second in enumerate(seconds)]


def test_without_artifacts_all_turns_stay() -> None:
    assert left_out(talk(0, 10, 20, 30)) == []


def test_one_fulfilled_pair_is_left_out() -> None:
    assert left_out(talk(0, 10, 60, 70), make_artifact(12)) == [0, 1]


def test_a_request_whose_artifact_was_not_made_stays() -> None:
    assert left_out(talk(0, 10, 60, 70, 120, 130), make_artifact(71)) == [2, 3]


def test_several_pairs_are_left_out() -> None:
    assert left_out(talk(0, 10, 60, 70, 120, 130), make_artifact(11), make_artifact(134)) == [0, 1, 4, 5]


def test_several_artifacts_of_one_turn_leave_out_one_pair() -> None:
    turns = talk(0, 10, 60, 70)
    assert left_out(
        turns, make_artifact(11), make_artifact(12), make_artifact(14), make_artifact(900, by=turns[1])
    ) == [0, 1]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(9.999999, []), (10, [0, 1]), (15, [0, 1]), (15.000001, []), (8, []), (40, [])],
    ids=["just before", "exactly 0 s", "exactly 5 s", "just outside", "before the turn", "long after"],
)
def test_the_clock_runs_from_0_to_5_seconds_after_the_turn(seconds: float, expected: list[int]) -> None:
    assert timedelta(seconds=5) == ARTIFACT_CORRELATION_WINDOW
    assert left_out(talk(0, 10), make_artifact(seconds)) == expected


def test_an_artifact_belongs_to_the_nearest_turn_before_it() -> None:
    assert left_out(talk(0, 10, 11, 12), make_artifact(13)) == [2, 3]
    assert left_out(talk(0, 10, 11, 13), make_artifact(12)) == [0, 1]
    assert left_out(talk(0, 10, 10, 10), make_artifact(10)) == [2, 3]
    assert left_out(talk(100, 110, 0, 10), make_artifact(112)) == [0, 1]  # an import may hold times in any order


def test_an_assistant_turn_without_a_question_goes_alone() -> None:
    greeting, *rest = [make_turn("assistant", 0), *talk(20, 30)]
    assert left_out([greeting, *rest], make_artifact(1)) == [0]
    assert left_out([*rest, make_turn("assistant", 40)], make_artifact(41)) == [2]


def test_only_the_user_turn_that_directly_precedes_goes_along() -> None:
    turns = [make_turn("user", 0), make_turn("user", 5), make_turn("assistant", 10), make_turn("user", 20)]
    assert left_out(turns, make_artifact(11)) == [1, 2]


def test_slow_generation_is_proven_by_provenance() -> None:
    reply = uuid.uuid4()
    turns = [make_turn("user", 0), make_turn("assistant", 600, reply=reply), *talk(700, 710)]
    early = make_artifact(20, reply=reply)
    late = make_artifact(1_300, by=turns[1])
    assert [left_out(turns, early), left_out(turns, late)] == [[0, 1], [0, 1]]


def test_provenance_beats_the_clock() -> None:
    turns = talk(0, 10, 60, 70)
    assert left_out(turns, make_artifact(71, by=turns[1])) == [0, 1]
    assert left_out(turns, make_artifact(71, by=make_turn("assistant", 70))) == []
    assert left_out(turns, make_artifact(71, reply=uuid.uuid4())) == []
    assert left_out(turns, make_artifact(71, by=turns[2])) == []


def test_the_pair_of_a_deleted_artifact_comes_back() -> None:
    turns = talk(0, 10, 60, 70)
    artifacts = [make_artifact(11), make_artifact(71)]
    assert left_out(turns, *artifacts) == [0, 1, 2, 3]
    assert left_out(turns, artifacts[1]) == [2, 3]


def test_text_that_claims_success_proves_nothing() -> None:
    turns = [
        make_turn("user", 0, "Create a quiz."),
        make_turn("assistant", 10, "I have created the artifact: quiz.html ✅"),
    ]
    assert left_out(turns) == []


@pytest.mark.parametrize(
    "request_text",
    [
        "Create a quiz about bees",
        "[preset: quiz]",
        "Erstelle ein Quiz über Bienen",
        "做一个测验",
        "اصنع اختبارا",
        "🐝❓",
        "",
    ],
)
def test_language_and_wording_do_not_matter(request_text: str) -> None:
    turns = [make_turn("user", 0, request_text), make_turn("assistant", 10, request_text), *talk(60, 70)]
    assert left_out(turns, make_artifact(12)) == [0, 1]


def test_the_whole_answer_goes_with_its_tool_calls_and_results() -> None:
    preface = [make_turn("user", 0), make_turn("assistant", 5)]
    answer = [
        make_turn("user", 10),
        make_turn("assistant", 20, [{"type": "tool_use", "id": "s", "name": "search", "input": {}}]),
        make_turn("user", 21, [{"type": "tool_result", "tool_use_id": "s", "content": "found"}]),
        make_turn("assistant", 30, [CALL]),
        make_turn("user", 31, [RESULT]),
        make_turn("assistant", 40, "Here it is."),
    ]
    turns = [*preface, *answer, *talk(90, 95)]
    by_the_call, by_the_last = make_artifact(30.5), make_artifact(41)
    assert left_out(turns, by_the_call) == left_out(turns, by_the_last) == [2, 3, 4, 5, 6, 7]
    assert left_out(turns, make_artifact(6)) == [0, 1]


def test_an_answer_that_broke_off_after_a_tool_call_goes_as_far_as_it_came() -> None:
    turns = [make_turn("user", 0), make_turn("assistant", 10, [CALL]), make_turn("user", 11, [RESULT]), *talk(60, 70)]
    assert left_out(turns, make_artifact(10.5)) == [0, 1, 2]


def test_a_turn_that_is_not_stored_yet_is_never_named() -> None:
    unsaved = Turn(position=3, depth=3, role="assistant", content=text_blocks("…"), token_count=9)
    assert left_out([*talk(0, 10), unsaved], make_artifact(12)) == [0, 1]


@st.composite
def threads(draw: st.DrawFn) -> list[Turn]:
    """Turns of both roles in any order, with tool calls, some answered; seconds apart, some at the same time."""
    kinds = draw(st.lists(st.sampled_from(["user", "assistant", "call", "result"]), max_size=14))
    pauses = draw(st.lists(st.integers(0, 7), min_size=len(kinds), max_size=len(kinds)))
    replies = draw(st.lists(st.sampled_from([None, *REPLIES]), min_size=len(kinds), max_size=len(kinds)))
    contents: dict[str, str | list[dict[str, Any]]] = {
        "user": "a",
        "assistant": "b",
        "call": [CALL],
        "result": [RESULT],
    }
    return [
        make_turn(
            "user" if kind in ("user", "result") else "assistant",
            second,
            contents[kind],
            reply if kind in ("assistant", "call") else None,
        )
        for kind, second, reply in zip(kinds, accumulate(pauses), replies, strict=True)
    ]


@st.composite
def stories(draw: st.DrawFn) -> tuple[list[Turn], list[FilterArtifact]]:
    turns = draw(threads())
    by = st.sampled_from([None, None, make_turn("assistant", 0), *turns])
    artifact = st.builds(
        lambda second, turn, reply: make_artifact(second, by=turn, reply=reply),
        st.integers(-3, 60),
        by,
        st.sampled_from([None, None, *REPLIES]),
    )
    return turns, draw(st.lists(artifact, max_size=6))


@given(stories(), st.randoms(use_true_random=False))
def test_removing_an_artifact_never_leaves_out_more_and_their_order_does_not_matter(
    story: tuple[list[Turn], list[FilterArtifact]], random: Any
) -> None:
    turns, artifacts = story
    ids = identify_fulfilled_pairs(turns, artifacts)
    shuffled = random.sample(artifacts, len(artifacts))
    assert identify_fulfilled_pairs(turns, shuffled) == ids
    each = [identify_fulfilled_pairs(turns, [artifact]) for artifact in artifacts]
    assert ids == set().union(*each)


@given(stories())
def test_each_artifact_leaves_out_at_most_the_one_exchange_that_made_it(
    story: tuple[list[Turn], list[FilterArtifact]],
) -> None:
    turns, artifacts = story
    for artifact in artifacts:
        places = left_out(turns, artifact)
        if not places:
            continue
        assert [places] == [list(one) for one in exchanges(turns) if places[0] in one]
        makers = [place for place in places if turns[place].role == "assistant"]
        assert makers, "a question goes only with its answer"
        if artifact.message or artifact.reply:
            assert any(turns[p].id == artifact.message or turns[p].reply == artifact.reply for p in makers)
        else:
            ages = [artifact.created_at - moment for p in makers if (moment := turns[p].created_at)]
            assert any(timedelta(0) <= age <= ARTIFACT_CORRELATION_WINDOW for age in ages)


@given(stories())
def test_a_turn_without_an_artifact_stays(story: tuple[list[Turn], list[FilterArtifact]]) -> None:
    turns, artifacts = story
    ids = identify_fulfilled_pairs(turns, artifacts)
    for one in exchanges(turns):
        answers = [turns[place] for place in one if turns[place].role == "assistant"]
        proven = any(
            artifact.message == turn.id or (artifact.reply is not None and artifact.reply == turn.reply)
            for artifact in artifacts
            for turn in answers
        )
        near = any(
            not artifact.message
            and not artifact.reply
            and turn.created_at
            and timedelta(0) <= artifact.created_at - turn.created_at <= ARTIFACT_CORRELATION_WINDOW
            for artifact in artifacts
            for turn in answers
        )
        if not proven and not near:
            assert ids.isdisjoint({turns[place].id for place in one})
    in_exchanges = {turns[place].id for one in exchanges(turns) for place in one}
    assert ids <= in_exchanges
