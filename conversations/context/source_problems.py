"""What went wrong with a source of the context, and was left out (C9)."""

from dataclasses import dataclass
from enum import StrEnum


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
