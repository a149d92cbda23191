"""Which turns no model is given: one rule, with a reason for each (requirements F10, P6)."""

import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.reasons import Reason
from conversations.context.record.turn_account import NOT_SENT
from conversations.context.turns.exclusion import exclusions
from conversations.context.turns.filtering import FilterArtifact, identify_fulfilled_pairs
from conversations.context.turns.groups import exchanges
from conversations.context.turns.turn import Turn
from tests.conversations.context.test_filtering import CALL, RESULT, make_artifact, make_turn, stories

REFUSED, FAILED, OFFLINE, MADE = Reason.REFUSED, Reason.FAILED, Reason.OFFLINE, Reason.FULFILLED_ARTIFACT


def talk(*kinds: str) -> list[Turn]:
    """Turns by role and how they ended, such as ``user`` or ``assistant refused``, ten seconds apart."""
    turns = []
    for number, kind in enumerate(kinds):
        role, _, end = kind.partition(" ")
        turn = make_turn(role, 10 * number)
        turn.offline, turn.status = end == "offline", end if end and end != "offline" else "complete"
        turns.append(turn)
    return turns


def left_out(turns: Sequence[Turn], *artifacts: FilterArtifact, **options: Any) -> dict[int, Reason]:
    """The places of the turns that are left out."""
    reasons = exclusions(turns, artifacts, **options)
    assert reasons.keys() <= {turn.id for turn in turns} and {*reasons.values()} <= NOT_SENT
    return {place: reasons[turn.id] for place, turn in enumerate(turns) if turn.id in reasons}


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["user", "assistant", "user", "assistant"], {}),
        (["user", "assistant stopped", "user", "assistant incomplete", "user", "assistant interrupted"], {}),
        (["user", "assistant failed", "user", "assistant"], {1: FAILED}),
        (["user", "assistant offline", "user", "assistant"], {1: OFFLINE}),
        (["user refused", "user", "assistant"], {0: REFUSED}),
        (["user refused", "assistant refused", "user", "assistant"], {0: REFUSED, 1: REFUSED}),
        (["user refused", "assistant", "user", "assistant"], {0: REFUSED, 1: REFUSED}),
        (["user", "assistant refused", "user", "assistant"], {0: REFUSED, 1: REFUSED}),
        (["user", "user", "assistant refused"], {1: REFUSED, 2: REFUSED}),
        (["assistant refused", "user"], {0: REFUSED}),
        (["user", "assistant refused", "assistant"], {1: REFUSED}),
        (["user", "assistant refused", "assistant refused", "assistant"], {1: REFUSED, 2: REFUSED}),
        (["user", "assistant refused", "assistant refused"], {0: REFUSED, 1: REFUSED, 2: REFUSED}),
        (["user refused", "assistant failed"], {0: REFUSED, 1: REFUSED}),
        (["user", "user failed", "user offline"], {}),
    ],
)
def test_how_a_turn_ended_decides(kinds: list[str], expected: dict[int, Reason]) -> None:
    assert left_out(talk(*kinds)) == expected


def test_the_offline_responder_keeps_its_own_words() -> None:
    assert left_out(talk("user", "assistant offline", "user", "assistant failed"), keeps_offline=True) == {3: FAILED}


def test_what_made_an_artifact_is_left_out_for_that() -> None:
    turns = talk("user", "assistant offline", "user refused", "assistant refused", "user", "assistant failed")
    artifacts = [make_artifact(500, by=turns[place]) for place in (1, 3, 5)]
    assert left_out(turns, *artifacts) == dict.fromkeys(range(6), MADE)


def test_a_refusal_takes_its_tool_calls_along() -> None:
    turns = [
        make_turn("user", 0),
        make_turn("assistant", 1, [CALL]),
        make_turn("user", 2, [RESULT]),
        *talk("assistant refused", "user", "assistant"),
    ]
    assert left_out(turns) == dict.fromkeys(range(4), REFUSED)


@given(stories(), st.data())
def test_the_rule_is_the_filter_and_how_turns_ended(
    story: tuple[list[Turn], list[FilterArtifact]], data: st.DataObject
) -> None:
    turns, artifacts = story
    for turn in turns:
        turn.status = data.draw(st.sampled_from(["complete", "complete", "refused", "failed", "stopped"]))
        turn.offline = data.draw(st.booleans())
    reasons = exclusions(turns, artifacts)
    assert {id for id, why in reasons.items() if why is MADE} == identify_fulfilled_pairs(turns, artifacts)
    for turn in turns:
        why = reasons.get(turn.id or uuid.uuid4())
        if turn.status == "refused" or (turn.role == "assistant" and (turn.status == "failed" or turn.offline)):
            assert why, "never given"
        if why in (FAILED, OFFLINE):
            assert turn.role == "assistant" and (turn.status == "failed" if why is FAILED else turn.offline)
    refused = {turns[place].id for exchange in exchanges(turns) for place in exchange}
    assert all(
        turn.id in refused or turn.status == "refused" for turn in turns if turn.id and reasons.get(turn.id) is REFUSED
    )
    kept = exclusions(turns, artifacts, keeps_offline=True)
    assert kept == {id: why for id, why in reasons.items() if why is not OFFLINE}
