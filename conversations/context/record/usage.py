"""What a request took, as rows and answers have it. Unknown is ``null``, never 0, and estimates have names of their own."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from conversations.context.record.snapshot_shapes import UsageAnswer
from conversations.providers.base import Usage
from conversations.providers.prices import ESTIMATED_INPUT, ESTIMATED_OUTPUT

NAMES = tuple(asdict(Usage()))


def estimated_usage(usage: Usage) -> dict[str, int]:
    """As a row has what was not told."""
    told = asdict(usage)
    cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens
    return {ESTIMATED_INPUT: usage.input_tokens + cached, ESTIMATED_OUTPUT: told["output_tokens"]}


def told_usage(stored: Mapping[str, int]) -> Usage:
    """What the service told, of the column of a row."""
    return Usage(**{name: stored[name] for name in NAMES if name in stored})


def usage_answer(stored: Mapping[str, int]) -> UsageAnswer:
    told = told_usage(stored)
    figures: dict[str, Any] = asdict(told) if told.is_told else dict.fromkeys(NAMES)
    estimates = {name: stored.get(name) for name in (ESTIMATED_INPUT, ESTIMATED_OUTPUT)}
    return cast("UsageAnswer", figures | estimates)
