"""Dollars of a reply by how it ends, beside one that is whole, by the shipped prices and by what the provider says is billed:
https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback.

The model server counts as newer models do, thinks, and fills the prompt cache. Each reply is to another person's 80 turns.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from decimal import Decimal

from django.contrib.auth.models import User
from django.test import override_settings

from conversations import replies
from conversations.models import Assistant, ContextSnapshot, Reply
from conversations.providers import prices
from conversations.replies.journal import journal
from conversations.runtime.db import in_database
from conversations.upkeep.hourly_figures import cost_of
from tests import model_scripts as scripts
from tests.benchmarks.measuring import doing
from tests.conversations.factories import make_thread, make_user
from tests.model_scripts import BrokenStream, Script
from tests.model_server import ModelServer

TURNS = [f"Turn {n}: the harbour lay quiet, and nobody had yet come down to the boats." for n in range(80)]
ANSWER = "They came at first light, and the harbour master wrote it down. " * 12
HALF = ANSWER[: len(ANSWER) // 2]
OTHER = "claude-opus-4-8"
WHOLE = "whole"
ENDINGS: Mapping[str, Sequence[Script]] = {
    WHOLE: [scripts.text(ANSWER)],
    "refused at once: cyber, general_harms, without a category": [scripts.refusal()],
    "refused at once: bio, frontier_llm, reasoning_extraction": [scripts.refusal(category="bio")],
    "refused half-way": [scripts.refusal(HALF)],
    f"refused at once (cyber), answered by {OTHER}": [scripts.refusal(), scripts.text(ANSWER)],
    "cut off half-way": [scripts.stream(*scripts.opening_steps(), scripts.text_delta(HALF), BrokenStream())],
}


def main() -> None:
    logging.getLogger("openbook").setLevel(logging.ERROR)
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer())
        stack.enter_context(doing("ending replies"))
        stack.enter_context(
            override_settings(
                OPENBOOK_PROVIDER="anthropic", ANTHROPIC_API_KEY="key-of-the-bench", ANTHROPIC_BASE_URL=model.url
            )
        )
        costs = dict(asyncio.run(measured(model)))
    print("\n== dollars of a reply, by how it ends")
    for name, (cost, tokens) in costs.items():
        print(f"  {name:<60} {cost:8.5f} USD  {cost / costs[WHOLE][0]:6.2f}x  {tokens:5.0f} tokens reported")


async def measured(model: ModelServer) -> list[tuple[str, tuple[Decimal, int]]]:
    result = []
    for number, (name, answers) in enumerate(ENDINGS.items()):
        user: User = await in_database(make_user)(f"reader{number}")
        thread = await in_database(make_thread)(user, TURNS)
        other = {"fallback_model": OTHER, "fallback_automatic": len(answers) > 1}
        await Assistant.objects.filter(id=thread.assistant_id).aupdate(**other)
        model.claude.cache.entries.clear()
        model.script(*answers)
        opened = await replies.start(user=user, thread_id=thread.id, content="And when did they come?")
        async for _ in replies.follow(opened.reply.id):
            pass
        result.append((name, await in_database(spent)(opened.reply)))
    await replies.drain()
    await journal().stop()
    return result


def spent(reply: Reply) -> tuple[Decimal, int]:
    requests = list(ContextSnapshot.objects.filter(reply=reply))
    return sum((cost_of(each) or Decimal(0) for each in requests), Decimal(0)), sum(map(tokens_of, requests))


def tokens_of(request: ContextSnapshot) -> int:
    usage = prices.tokens_of(request.usage)
    return usage.prompt + usage.output if usage else 0
