"""What went wrong with a source of the context, and was left out (C9)."""

from enum import StrEnum

from conversations.runtime.values import dataclass


class ProblemKind(StrEnum):
    ERROR = "error"
    TIMED_OUT = "timed_out"
    GARBAGE = "garbage"
    TOO_LARGE = "too_large"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """``message`` is for staff: no texts of users, no secrets."""

    source: str
    kind: ProblemKind
    message: str
