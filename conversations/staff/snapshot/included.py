"""What a request was given, in the order sent: the system text, the turns, the message with what stands beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from conversations.context.explain.section_names import MESSAGE, label_of
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.snapshot_codec import NamedText
from conversations.context.rules.fitting import MATERIAL
from conversations.context.tokens.estimate import text_of
from conversations.context.turns.turn import Turn
from conversations.staff.snapshot.evidence import Evidence, Item, is_turn_of_thread

SENT_SHOWN = 100
SENT_OPEN = 10
EXCERPT_CHARS = 1_000
SECTION_CHARS = 20_000


@dataclass(frozen=True, kw_only=True)
class SectionRow:
    """A text that is no turn. It may be masked, or forgotten since, and then is empty."""

    name: str
    label: str
    tokens: int
    text: str
    is_cut: bool
    forgotten_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class SentTurn:
    id: str
    position: int
    role: str
    tokens: int
    exact: bool
    reason: str
    excerpt: str
    is_cut: bool


@dataclass(frozen=True, kw_only=True)
class IncludedParts:
    """``before`` and ``after`` the turns stands what is no turn. Of the turns only the newest are listed: ``hidden`` are
    those before position ``hidden_before``. ``folded`` are the older ones of the listed."""

    before: Sequence[SectionRow]
    folded: Sequence[SentTurn]
    open: Sequence[SentTurn]
    after: Sequence[SectionRow]
    hidden: int
    hidden_before: int

    @property
    def newest(self) -> str:
        """What the newest of the turns says."""
        return self.open[-1].excerpt if self.open else ""


def included(evidence: Evidence) -> IncludedParts:
    items = [item for item in evidence.items if is_turn_of_thread(item) and item["included"]]
    turns = sent_turns(items[-SENT_SHOWN:], evidence.turns)
    snapshot = evidence.snapshot
    return IncludedParts(
        before=[_section(evidence, part) for part in snapshots.sections_of(snapshot)],
        folded=turns[:-SENT_OPEN],
        open=turns[-SENT_OPEN:],
        after=[_section(evidence, part) for part in snapshots.additions_of(snapshot)],
        hidden=max(0, len(items) - SENT_SHOWN),
        hidden_before=turns[0].position if turns else 1,
    )


def sent_turns(items: Sequence[Item], turns: dict[int, Turn]) -> list[SentTurn]:
    """As they were sent: where a turn was shortened, by what stood in for it."""
    parts = []
    for item in items:
        turn = turns[item["position"]]
        text = text_of(turn.content)
        parts.append(
            SentTurn(
                id=item["id"],
                position=turn.position,
                role=turn.role,
                tokens=item["tokens"],
                exact=item.get("exact", False),
                reason=gettext(Reason(item["reason"]).label),
                excerpt=text[:EXCERPT_CHARS],
                is_cut=len(text) > EXCERPT_CHARS,
            )
        )
    return parts


def _section(evidence: Evidence, part: NamedText) -> SectionRow:
    text = evidence.text(part.sha256)
    name = MESSAGE if part.name == MATERIAL else part.name  # all of a helping task's message
    return SectionRow(
        name=part.name,
        label=gettext(label_of(name, evidence.snapshot.purpose)),
        tokens=part.tokens,
        text=text[:SECTION_CHARS],
        is_cut=len(text) > SECTION_CHARS,
        forgotten_at=evidence.material.forgotten.get(part.sha256),
    )
