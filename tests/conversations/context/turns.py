"""Turns by their place, role and size, for tests of the pure rules."""

from typing import Any

from conversations.context.tokens.budget import Budget
from conversations.context.turns.turn import Turn
from conversations.models import text_blocks

COMPANION = Budget(
    history_tokens=3_000,
    history_tokens_low=1_500,
    history_turns=80,
    history_turns_min=30,
    total_tokens=4_100,
    hard_cap=6_150,
)


def turn(position: int, role: str, tokens: int, content: list[dict[str, Any]] | None = None, depth: int = 0) -> Turn:
    blocks = content or text_blocks(f"turn {position}")
    return Turn(position=position, depth=depth or position, role=role, content=blocks, token_count=tokens)


def talk(*sizes: int) -> list[Turn]:
    """The user and the assistant in turn, the user first."""
    return [turn(n, ["user", "assistant"][(n - 1) % 2], size) for n, size in enumerate(sizes, 1)]


def call(position: int, tokens: int = 10, *ids: str) -> Turn:
    """An assistant turn that calls tools."""
    blocks = [{"type": "tool_use", "id": id, "name": "search", "input": {}} for id in ids or ("t",)]
    return turn(position, "assistant", tokens, blocks)


def result(position: int, tokens: int = 10, *ids: str) -> Turn:
    """The user turn that holds their results."""
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": "found"} for id in ids or ("t",)]
    return turn(position, "user", tokens, blocks)
