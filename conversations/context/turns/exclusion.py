"""Which turns no model is given, and why: the one rule of everything that reads turns for a model, or makes text of them.

Pure and read-time only: the turns stay stored and shown as they are (F7, F10, P6).
"""

import uuid
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Protocol

from conversations.context.reasons import Reason
from conversations.context.turns import filtering
from conversations.context.turns.filtering import ArtifactProvenance, identify_fulfilled_pairs
from conversations.context.turns.groups import exchanges, is_question
from conversations.models import Message as Stored

REFUSED, FAILED = Stored.Status.REFUSED.value, Stored.Status.FAILED.value


class ExcludableTurn(filtering.PathTurn, Protocol):
    """A turn of the path, with how it ended and whether the offline responder wrote it."""

    @property
    def status(self) -> str: ...
    @property
    def offline(self) -> bool: ...


def exclusions(
    turns: Sequence[ExcludableTurn], artifacts: Collection[ArtifactProvenance] = (), *, keeps_offline: bool = False
) -> dict[uuid.UUID, Reason]:
    """The ids of the turns to leave out, each with its reason; the first that holds counts.

    ``turns`` are neighbours on the path, oldest first, ``artifacts`` those of their thread. ``keeps_offline``: what is read
    goes to the offline responder, which keeps its own words.
    """
    reasons = dict.fromkeys(identify_fulfilled_pairs(turns, artifacts), Reason.FULFILLED_ARTIFACT)
    if any(turn.offline or turn.status in (REFUSED, FAILED) for turn in turns):
        for index in _refused(turns):
            _note(reasons, turns[index], Reason.REFUSED)
        for turn in turns:
            if reason := spoilt(turn.role, turn.status, offline=turn.offline and not keeps_offline):
                _note(reasons, turn, reason)
    return reasons


def spoilt(role: str, status: str, *, offline: bool) -> Reason | None:
    """Why a turn is left out whatever stands around it, where only its neighbours could tell of another reason."""
    if role != "assistant":
        return None
    return Reason.FAILED if status == FAILED else Reason.OFFLINE if offline else None


def _note(reasons: dict[uuid.UUID, Reason], turn: ExcludableTurn, reason: Reason) -> None:
    if turn.id:
        reasons.setdefault(turn.id, reason)


def _refused(turns: Sequence[ExcludableTurn]) -> Iterator[int]:
    """The places of questions that a model declined, with what was answered, and of refusals, with what they answer unless
    somebody else answered that."""
    yield from (index for index, turn in enumerate(turns) if turn.status == REFUSED)
    for exchange in exchanges(turns):
        if any(turns[index].status == REFUSED for index in exchange):
            first, after = exchange[0], exchange[-1] + 1
            stays = is_question(turns[first]) and turns[first].status != REFUSED and _is_answered(turns[after:])
            yield from exchange[1:] if stays else exchange


def _is_answered(following: Sequence[ExcludableTurn]) -> bool:
    answers = takewhile(lambda turn: turn.role == "assistant", following)
    return any(turn.status != REFUSED for turn in answers)
