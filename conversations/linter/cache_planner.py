"""What the prompt cache would have cost with other lifetimes and other marks, by the pauses that there really were.

Requests of one assistant and model that are alike in all that decides about a price are one ``Step``, their tokens added up: a
price is linear in them. A request is compared with the one before it in its thread; that others share its prefix is not
counted, nor that a window begins anew when its entries have expired.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from enum import Enum, IntEnum

from conversations.context.rules.prompt_cache import FIVE_MINUTES, HOUR, LIVES
from conversations.models import ModelPrice
from conversations.runtime.values import dataclass

MILLION = 1_000_000


class Pause(IntEnum):
    """How long before a request the one before it was, or that there was none, as ``pause_of`` tells."""

    MINUTES = 0
    """Within five minutes."""
    HOUR = 1
    LONGER = 2


class Marks(Enum):
    """Where a request is marked."""

    NONE = "none"
    SYSTEM = "system"
    BOTH = "system,message"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Requests after pauses of one kind. Of the tokens of all of them together ``system`` are those of the system text,
    ``same_system`` those of it that the request before had, too, and ``shared`` all with which both begin. ``lived`` is the
    lifetime of the entries before, ``lives`` that of their own; ``keeps_…``: it is as much as the model caches."""

    pause: Pause
    lived: str
    lives: str
    marks: Marks
    keeps_system: bool
    keeps_all: bool
    requests: int
    example: str
    total: int
    system: int
    same_system: int
    shared: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """``lifetime`` is empty where each request keeps its own, as it was sent."""

    lifetime: str = ""
    marks: Marks | None = None


AS_SENT = Policy()
POLICIES = (
    Policy(lifetime=FIVE_MINUTES, marks=Marks.BOTH),
    Policy(lifetime=HOUR, marks=Marks.BOTH),
    Policy(lifetime=FIVE_MINUTES, marks=Marks.SYSTEM),
    Policy(lifetime=HOUR, marks=Marks.SYSTEM),
    Policy(lifetime=FIVE_MINUTES, marks=Marks.NONE),
)
NAMES = (FIVE_MINUTES, HOUR, f"system {FIVE_MINUTES}", f"system {HOUR}", "none")
"""Of the costs of these."""


def pause_of(pause: timedelta | None) -> Pause:
    if pause is None or pause > LIVES[HOUR]:
        return Pause.LONGER
    return Pause.HOUR if pause > LIVES[FIVE_MINUTES] else Pause.MINUTES


def cost(steps: Iterable[Step], policy: Policy, price: ModelPrice) -> Decimal:
    """USD of the prompts of these requests."""
    return sum((_cost(step, policy, price) for step in steps), Decimal(0))


def _cost(step: Step, policy: Policy, price: ModelPrice) -> Decimal:
    marks = policy.marks or step.marks
    writes = price.cache_write_hour if (policy.lifetime or step.lives) == HOUR else price.cache_write
    lives = Pause.HOUR if (policy.lifetime or step.lived) == HOUR else Pause.MINUTES
    read = written = 0
    if marks is Marks.BOTH and step.keeps_all:
        read = step.shared if step.pause <= lives else 0
        written = step.total - read
    elif marks is not Marks.NONE and step.keeps_system:
        read = step.same_system if step.pause <= lives else 0
        written = step.system - read
    plain = step.total - read - written
    return (price.cache_read * read + writes * written + price.input * plain) / MILLION


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """USD of thirty days, for prompts of so many ``tokens`` together. ``costs`` are of all ``POLICIES``; ``reported`` is what
    the provider's figures came to, ``None`` where it told none."""

    requests: int
    tokens: int
    example: str
    as_sent: Decimal
    costs: Sequence[Decimal]
    reported: Decimal | None

    @property
    def recommended(self) -> str:
        """The lifetime that costs least where all is marked as it is."""
        five_minutes, hour, *_ = self.costs
        return FIVE_MINUTES if five_minutes <= hour else HOUR

    @property
    def recommended_cost(self) -> Decimal:
        return min(self.costs[:2])

    @property
    def saving(self) -> Decimal:
        """What the recommended lifetime would have cost less than what was sent. 0 or less: leave it as it is."""
        return self.as_sent - self.recommended_cost

    @property
    def by_name(self) -> dict[str, float | None]:
        """As ``CacheForecast.costs``."""
        named = {name: float(cost) for name, cost in zip(NAMES, self.costs, strict=True)}
        reported = None if self.reported is None else float(self.reported)
        return {**named, "as sent": float(self.as_sent), "reported": reported}


def plan(steps: Sequence[Step], price: ModelPrice, reported: Decimal | None) -> Plan:
    return Plan(
        requests=sum(step.requests for step in steps),
        tokens=sum(step.total for step in steps),
        example=max(step.example for step in steps),
        as_sent=cost(steps, AS_SENT, price),
        costs=[cost(steps, policy, price) for policy in POLICIES],
        reported=reported,
    )


def together(plans: Sequence[Plan]) -> Plan:
    """Of the models of one assistant."""
    told = [each.reported for each in plans if each.reported is not None]
    return Plan(
        requests=sum(each.requests for each in plans),
        tokens=sum(each.tokens for each in plans),
        example=max(each.example for each in plans),
        as_sent=sum((each.as_sent for each in plans), Decimal(0)),
        costs=[sum(same, Decimal(0)) for same in zip(*(each.costs for each in plans), strict=True)],
        reported=sum(told, Decimal(0)) if len(told) == len(plans) else None,
    )
