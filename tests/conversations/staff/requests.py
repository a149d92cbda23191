"""Model requests of all kinds, at times of one's choice, without the conversations that they would belong to."""

import random
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from conversations.context.reasons import Reason
from conversations.context.record import snapshot_codec
from conversations.context.record.turn_account import TurnRun
from conversations.models import Assistant, ContextSnapshot, Thread
from conversations.runtime.ids import lowest_uuid7
from tests.conversations.factories import make_thread, make_user

STATUSES = ["completed"] * 6 + ["failed", "stopped", "interrupted", "pending"]
MODELS = ["claude-sonnet-5-5", "claude-haiku-5-5", "a-model-without-a-price"]
REASONS = [
    *(
        Reason.OVER_BUDGET,
        Reason.TURN_LIMIT,
        Reason.SUPERSEDED,
        Reason.OTHER_BRANCH,
        Reason.FULFILLED_ARTIFACT,
        Reason.ORPHAN_TOOL,
    ),
    *(Reason.RECALLED, Reason.OUTSIDE_PART, Reason.SHORTENED, Reason.RECENT),
    *(Reason.REFUSED, Reason.FAILED, Reason.OFFLINE),
]


def make_requests(seed: int, *, newest: datetime, days: int, count: int = 60) -> list[ContextSnapshot]:
    """Spread over so many days, oldest first. The first and the last are as far apart as they can be."""
    draw = random.Random(seed)
    threads = [make_thread(make_user(), assistant=one) for one in Assistant.objects.order_by("pk") for _ in range(2)]
    spread = timedelta(days=days).total_seconds()
    ages = sorted([0, spread, *(draw.uniform(0, spread) for _ in range(count - 2))], reverse=True)
    return ContextSnapshot.objects.bulk_create(
        make_request(draw, draw.choice(threads), newest - timedelta(seconds=age)) for age in ages
    )


def make_request(draw: random.Random, thread: Thread, at: datetime) -> ContextSnapshot:
    status = draw.choice(STATUSES)
    ended = status != "pending"
    usage = {
        "input_tokens": draw.choice([20, 90_000]),
        "output_tokens": draw.randrange(900),
        "cache_read_input_tokens": draw.randrange(20_000),
        "cache_creation_input_tokens": 500,
        "cache_creation_1h_input_tokens": draw.choice([0, 500, draw.randrange(500)]),
    }
    return ContextSnapshot(
        id=uuid.UUID(int=lowest_uuid7(at).int | 0x7 << 76 | draw.getrandbits(62)),
        thread=thread,
        purpose=draw.choice(["reply", "reply", *ContextSnapshot.Purpose.values]),
        created_at=at,
        provider="anthropic",
        model=draw.choice(MODELS),
        max_tokens=100,
        digest=b"",
        budget=100,
        hard_cap=200,
        total_tokens=draw.choice([50, 100, 101]),
        message_history_count=1,
        message_history_tokens=1,
        sections="",
        runs=snapshot_codec.pack_runs(random_runs(draw)),
        recalled=draw.choice([None, [{"kind": "memory", "id": str(uuid.UUID(int=1)), "included": True}]]),
        problems=draw.choice([None, None, [{"source": "memory", "kind": "timed_out", "message": "Late."}]]),
        status=status,
        stop_reason="end_turn" if status == "completed" else "",
        usage=usage if ended and draw.random() < 0.9 else {},
        error={"type": "model", "code": draw.choice(["overloaded", "timeout"])} if status == "failed" else None,
        first_token_ms=draw.choice([None, draw.randrange(5_000)]) if ended else None,
        ended_at=at + timedelta(milliseconds=draw.randrange(90_000)) if ended else None,
    )


def random_runs(draw: random.Random) -> Sequence[TurnRun]:
    runs: list[TurnRun] = []
    first = 1
    for reason in draw.sample(REASONS, draw.randrange(4)):
        last = first + draw.choice([0, 0, 3, 40])
        sent = reason in (Reason.RECENT, Reason.SHORTENED)
        count = last - first + 1 if sent or draw.random() < 0.5 else draw.randint(1, last - first + 1)
        digest = "ab" * 32 if reason is Reason.SHORTENED else ""
        runs.append(
            TurnRun(first=first, last=last, count=count, included=sent, reason=reason, tokens=7 * sent, sha256=digest)
        )
        first = last + 1
    return [*runs, TurnRun(first=first, last=first, count=1, included=True, reason=Reason.NEWEST, tokens=3)]
