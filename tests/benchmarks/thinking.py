"""Time from sending a message to the first visible word of its reply: a model that thinks before, beside one that doesn't.

The whole way over the engine and the official SDK, to a model server on this machine that thinks for a time that is known: what
a real model thinks is its own affair, what is added to it is ours.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from django.contrib.auth.models import User
from django.test import override_settings

from conversations import replies
from conversations.models import Assistant, Reply, Thread
from conversations.replies.journal import journal
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.benchmarks.measuring import doing, p50_p95, table
from tests.conversations.factories import make_thread, make_user
from tests.model_scripts import Delay, Script, Thought
from tests.model_server import ModelServer

TURNS = [f"Turn {n}: the harbour lay quiet, and nobody had yet come down to the boats." for n in range(80)]
ANSWER = "They came at first light, and the harbour master wrote it down."
SECONDS, PIECES, TIMES = 0.3, 60, 30
PIECE = (Delay(SECONDS / PIECES), scripts.block_delta(0, {"type": "thinking_delta", "thinking": "and then "}))
NONE = "without thinking"


def scripted(thought: Thought) -> Script:
    return scripts.turn(thought, ANSWER)


MODELS: Mapping[str, Callable[[], Script]] = {
    NONE: lambda: scripts.stream(*scripts.turn(ANSWER).steps, thinks=False),
    "thinking for 300 ms in silence": lambda: scripted(Thought(halfway=(Delay(SECONDS),))),
    "thinking for 300 ms and showing it in 60 pieces": lambda: scripted(Thought(halfway=PIECE * PIECES)),
}


def main() -> None:
    logging.getLogger("openbook").setLevel(logging.WARNING)
    user = make_user("thinker")
    thread = make_thread(user, TURNS)
    Assistant.objects.filter(id=thread.assistant_id).update(show_thinking="summary")
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer())
        stack.enter_context(doing("waiting for first words"))
        stack.enter_context(
            override_settings(
                OPENBOOK_PROVIDER="anthropic", ANTHROPIC_API_KEY="key-of-the-bench", ANTHROPIC_BASE_URL=model.url
            )
        )
        taken = asyncio.run(measured(user, thread, model))
    table("first visible word", taken, limit=NONE)
    plain, _ = p50_p95(taken[NONE])
    for name, values in taken.items():
        if name != NONE:
            print(f"  beside both the thinking and that: {p50_p95(values)[0] - plain - SECONDS * 1000:+.1f} ms {name}")


async def measured(user: User, thread: Thread, model: ModelServer) -> dict[str, list[float]]:
    """Milliseconds of each, sorted. They take turns; the first of each warms up and doesn't count."""
    taken: dict[str, list[float]] = {name: [] for name in MODELS}
    for _ in range(TIMES + 1):
        for name, script in MODELS.items():
            model.script(script())
            taken[name].append(await first_word(user, thread))
    await replies.drain()
    await journal().stop()
    return {name: sorted(values[1:]) for name, values in taken.items()}


async def first_word(user: User, thread: Thread) -> float:
    started, first = time.perf_counter(), 0.0
    opened = await replies.start(user=user, thread_id=thread.id, content="And when did they come?")
    async for event in replies.follow(opened.reply.id):
        if event.type == "reply.delta" and not first:
            first = (time.perf_counter() - started) * 1000
    reply = await in_database(Reply.objects.get)(id=opened.reply.id)
    assert first and reply.status == "completed", reply.error
    return first
