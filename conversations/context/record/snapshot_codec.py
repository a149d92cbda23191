"""How a snapshot writes down what it holds: short texts that people can read too. As JSON they take three times the room.

Pure. What can't have been written here is refused with a ``ValueError`` when it is read.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from conversations.context.reasons import Reason
from conversations.context.record.turn_account import TurnRun
from conversations.context.rules.prompt_cache import CachePlan, CacheState, Lifetime
from conversations.runtime.values import dataclass

BETWEEN = ";"
DIGEST = r"[\w-]{43}"
# Only what is included has tokens, and only where turns of other paths lie between is the count another than it seems.
RUN = re.compile(rf"(\d+)(?:-(\d+))?(?:/(\d+))? ([a-z_]+)(?: (\d+)(?: ({DIGEST}))?)?", re.ASCII)
NAMED = re.compile(rf"([a-z_]+) (\d+) ({DIGEST})", re.ASCII)
COUNT = re.compile(r"(\d+) (\d+)", re.ASCII)
TIMING = re.compile(r"([a-z_]+) (\d+(?:\.\d+)?)", re.ASCII)
CACHE = re.compile(r"([a-z_]+) (\d+) (-|[a-z,]+)(?:@(5m|1h):([\d.]+):([\d.]+))?(?: (.+))?", re.ASCII | re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedText:
    """A text of the request by its name, its digest in hex, and its tokens."""

    name: str
    sha256: str
    tokens: int


def pack_runs(runs: Iterable[TurnRun]) -> str:
    """For example ``1-4 turn_limit;5-84 recent 1896;85 newest 24``."""
    return BETWEEN.join(map(_run, runs))


def unpack_runs(text: str) -> list[TurnRun]:
    return [_read_run(part) for part in text.split(BETWEEN)] if text else []


def reason_at(text: str, position: int) -> Reason | None:
    """Why the turn at a position is in these runs or not; ``None`` where they don't reach it."""
    run = run_at(text, position)
    return run.reason if run else None


def run_at(text: str, position: int) -> TurnRun | None:
    """The run of these that a position lies in. Reads no further than that."""
    for part in text.split(BETWEEN) if text else ():
        run = _read_run(part)
        if run.last >= position:
            return run
    return None


def pack_texts(parts: Iterable[NamedText]) -> str:
    """For example ``base 312 47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU``."""
    return BETWEEN.join(f"{part.name} {part.tokens} {short(part.sha256)}" for part in parts)


def unpack_texts(text: str) -> list[NamedText]:
    return [_read_text(part) for part in text.split(BETWEEN)] if text else []


def pack_timings(timings: Mapping[str, float]) -> str:
    """For example ``history 1.204;total 2.51``, without what took no time."""
    return BETWEEN.join(f"{name} {taken}" for name, taken in timings.items() if taken)


def unpack_timings(text: str) -> dict[str, float]:
    return {name: float(taken) for name, taken in _each(TIMING, text)}


def pack_cache(plan: CachePlan) -> str:
    """For example ``warm 2410 system,message@1h:0.71:0.42 msg_01``, and nothing where there is nothing to tell."""
    if plan == CachePlan():
        return ""
    previous = f" {plan.previous_message_id}" if plan.previous_message_id else ""
    lives = plan.lifetime
    lifetime = "" if lives == Lifetime() else f"@{lives.name}:{lives.cost_five_minutes}:{lives.cost_hour}"
    return f"{plan.state.value} {plan.expected} {','.join(plan.marks) or '-'}{lifetime}{previous}"


def unpack_cache(text: str) -> CachePlan:
    if not text:
        return CachePlan()
    state, expected, marks, lifetime, five_minutes, hour, previous = _groups(CACHE, text)
    return CachePlan(
        state=CacheState(state),
        expected=int(expected),
        marks=() if marks == "-" else tuple(marks.split(",")),
        lifetime=Lifetime(name=lifetime, cost_five_minutes=float(five_minutes), cost_hour=float(hour))
        if lifetime
        else Lifetime(),
        previous_message_id=previous or "",
    )


def pack_counts(counts: Mapping[int, int]) -> str:
    """For example ``12 4310;17 1222``: position and tokens."""
    return BETWEEN.join(f"{position} {tokens}" for position, tokens in sorted(counts.items()))


def unpack_counts(text: str) -> dict[int, int]:
    return {int(position): int(tokens) for position, tokens in _each(COUNT, text)}


def _run(run: TurnRun) -> str:
    last = f"-{run.last}" if run.last != run.first else ""
    count = f"/{run.count}" if run.count != run.last - run.first + 1 else ""
    tokens = f" {run.tokens}" if run.included else ""
    digest = f" {short(run.sha256)}" if run.sha256 else ""
    return f"{run.first}{last}{count} {run.reason.value}{tokens}{digest}"


@lru_cache(maxsize=4_096)
def _read_run(part: str) -> TurnRun:
    """Kept, as the requests of a thread say the same of most of its turns."""
    first, last, count, reason, tokens, digest = _groups(RUN, part)
    end = int(last or first)
    return TurnRun(
        first=int(first),
        last=end,
        count=int(count) if count else end - int(first) + 1,
        included=tokens is not None,
        reason=Reason(reason),
        tokens=int(tokens or 0),
        sha256=_hex(digest) if digest else "",
    )


@lru_cache(maxsize=4_096)
def _read_text(part: str) -> NamedText:
    """Kept, as what stands before the turns is the same in all requests of a session."""
    name, tokens, digest = _groups(NAMED, part)
    return NamedText(name=name, tokens=int(tokens), sha256=_hex(digest))


def _each(pattern: re.Pattern[str], text: str) -> list[tuple[Any, ...]]:
    return [_groups(pattern, part) for part in text.split(BETWEEN)] if text else []


def _groups(pattern: re.Pattern[str], part: str) -> tuple[Any, ...]:
    match = pattern.fullmatch(part)
    if match is None:
        raise ValueError(f"not in the notation of snapshots: {part!r}")
    return match.groups()


def short(digest: str) -> str:
    """A digest in hex as it is written down."""
    return urlsafe_b64encode(bytes.fromhex(digest)).decode().rstrip("=")


def _hex(digest: str) -> str:
    return urlsafe_b64decode(f"{digest}=").hex()
