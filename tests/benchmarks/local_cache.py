"""The prompt cache of the real local model: what it reads anew for each turn of a long thread, with our window and with one
that slides.

Our requests are those of real replies, one after the other in one thread. Then, on another engine, the same turns are asked
with as many of the newest whole turns before them as the budget of the history holds. The engine itself reports how many
tokens of a prompt it processed and how many it had read before.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth.models import User
from django.test import override_settings

from conversations import replies
from conversations.context.render.rendering import api_messages, system_blocks
from conversations.context.tokens import calibration as token_calibration
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread
from conversations.providers import get_provider, model_catalog
from conversations.providers.base import Finished, Payload, TextDelta
from conversations.providers.local_model import PROVIDER, SMALL_MODEL
from conversations.providers.messages_api import RequestParts
from conversations.replies.journal import journal
from conversations.runtime.db import in_database
from tests.benchmarks.measuring import doing
from tests.conversations.context.corpus import corpus
from tests.conversations.factories import make_thread, make_user
from tests.local_model import engine_in, ready

FIRST, TURNS = 50, 20
"""The first turn of the user's that counts, and how many do."""
ANSWER_TOKENS = 32
WANTED = 3.0
"""How many times less is processed, in the median."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request: what the engine reports of its prompt, in tokens, and when the first word came."""

    processed: int
    reused: int
    first_token_ms: float


def main() -> None:
    logging.getLogger("openbook").setLevel(logging.WARNING)
    user = make_user("long talker")
    texts = list(islice(cycle(corpus(0)["English chat"]), 2 * (FIRST - 2) + TURNS + 1))
    thread = make_thread(user, texts[: 2 * (FIRST - 2)])
    Assistant.objects.filter(id=thread.assistant_id).update(max_output_tokens=ANSWER_TOKENS)
    with doing(f"{TURNS} turns of the local model, twice"):
        ours = on_an_engine(lambda: with_our_window(user, thread, texts[2 * (FIRST - 2) :]))
        sliding = on_an_engine(lambda: with_a_sliding_window(thread))
    table({"a window that slides turn by turn": sliding, "ours": ours})


def on_an_engine(ask: Callable[[], Coroutine[Any, Any, list[Asked]]]) -> list[Asked]:
    with TemporaryDirectory() as name, ExitStack() as stack:
        stack.enter_context(override_settings(LOCAL_DIR=Path(name), OPENBOOK_PROVIDER=PROVIDER))
        stack.enter_context(engine_in(Path(name)))
        ready(Path(name))
        return asyncio.run(ask())


async def with_our_window(user: User, thread: Thread, questions: Sequence[str]) -> list[Asked]:
    """The first one fills the cache and doesn't count."""
    asked = []
    for text in questions:
        opened = await replies.start(user=user, thread_id=thread.id, content=text)
        async for _ in replies.follow(opened.reply.id):
            pass
        assert (await Reply.objects.aget(id=opened.reply.id)).status == "completed"
        request = await ContextSnapshot.objects.aget(reply=opened.reply)
        asked.append(
            Asked(
                processed=request.usage["input_tokens"],
                reused=request.usage.get("cache_read_input_tokens", 0),
                first_token_ms=request.first_token_ms or 0,
            )
        )
    await replies.drain()
    await journal().stop()
    return asked[1:]


async def with_a_sliding_window(thread: Thread) -> list[Asked]:
    """The same turns, each with the newest whole turns that the budget of the history holds."""
    assistant = await Assistant.objects.aget(id=thread.assistant_id)
    turns = [Turn.of(row) async for row in Message.objects.filter(thread=thread, is_active=True).order_by("position")]
    row = await in_database(model_catalog.get)(PROVIDER, SMALL_MODEL)
    factor = await in_database(token_calibration.of_model)(PROVIDER, SMALL_MODEL)
    budget = factor.to_estimate(assistant.history_tokens_high)
    questions = [index for index, turn in enumerate(turns) if turn.role == "user"][-TURNS - 1 :]
    asked = []
    for index in questions:
        sent = [*newest_within(turns[:index], budget), turns[index]]
        payload = get_provider(PROVIDER).render(
            RequestParts(
                model=SMALL_MODEL,
                max_tokens=ANSWER_TOKENS,
                system=system_blocks([row.system_prompt]),
                messages=api_messages(sent),
            )
        )
        asked.append(await ask(payload))
    return asked[1:]


def newest_within(turns: Sequence[Turn], budget: int) -> list[Turn]:
    """Whole pairs, so that the first turn is the user's."""
    kept: list[Turn] = []
    for start in range(len(turns) - 2, -1, -2):
        pair = turns[start : start + 2]
        if sum(turn.token_count for turn in [*pair, *kept]) > budget:
            break
        kept = [*pair, *kept]
    return kept


async def ask(payload: Payload) -> Asked:
    started, first = time.perf_counter(), 0.0
    async for event in get_provider(PROVIDER).stream(payload):
        match event:
            case TextDelta() if not first:
                first = (time.perf_counter() - started) * 1000
            case Finished(usage=usage):
                return Asked(processed=usage.input_tokens, reused=usage.cache_read_input_tokens, first_token_ms=first)
    raise AssertionError("The engine did not answer.")


def table(measured: dict[str, list[Asked]]) -> None:
    print(f"\n== prompt of turns {FIRST} to {FIRST + TURNS - 1} on the real local model, median of {TURNS} turns")
    base = median(one.processed for one in next(iter(measured.values())))
    for name, asked in measured.items():
        processed, reused, first = (
            median(getattr(one, field) for one in asked) for field in ("processed", "reused", "first_token_ms")
        )
        whole = sum(one.processed for one in asked)
        moved = sum(one.processed > one.reused for one in asked)
        print(
            f"  {name:<36} processed {processed:6.0f}  reused {reused:6.0f} tokens  first token {first:8.0f} ms"
            f"  {base / processed:6.1f}x less  (all turns {whole:6.0f}; mostly anew in {moved} of {len(asked)})"
        )
    print(f"  wanted: at least {WANTED:.0f}x less processed")
