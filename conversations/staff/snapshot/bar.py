"""The tokens of a request by section, as one stacked bar with its table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from conversations.context.explain.section_names import label_of
from conversations.models import ContextSnapshot

BAR_WIDTH = 1_000


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A section of the context and its place in the token bar, in units of ``BAR_WIDTH``."""

    name: str
    label: str
    tokens: int
    percent: str
    x: float
    width: float
    forgotten_at: datetime | None


def segments(snapshot: ContextSnapshot, sections: Sequence[dict[str, Any]]) -> list[Segment]:
    scale, total = scale_of(snapshot), sum(section["tokens"] for section in sections) or 1
    placed, before = [], 0
    for section in sections:
        tokens: int = section["tokens"]
        placed.append(
            Segment(
                name=section["name"],
                label=gettext(label_of(section["name"], snapshot.purpose)),
                tokens=tokens,
                percent=f"{tokens / total:.0%}",
                x=round(before * scale, 1),
                width=round(tokens * scale, 1),
                forgotten_at=section["forgotten_at"],
            )
        )
        before += tokens
    return placed


def budget_x(snapshot: ContextSnapshot) -> float | None:
    """Where the budget stands in the bar. It is of requests that reply."""
    return None if snapshot.quotes_turns else round(snapshot.budget * scale_of(snapshot), 1)


def scale_of(snapshot: ContextSnapshot) -> float:
    return BAR_WIDTH / max(snapshot.total_tokens, 0 if snapshot.quotes_turns else snapshot.budget, 1)
