"""The models that a service says it offers, at ``GET /v1/models``. Pure.

The Messages API and the OpenAI-compatible servers answer alike, ``{"data": [{"id": …}]}``; what else they tell of a model,
each names in its own way.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WINDOWS = (
    *("max_input_tokens", "context_window", "context_length", "max_context_length", "max_model_len", "meta.n_ctx"),
    "meta.n_ctx_train",  # of llama.cpp, which says so where a request is larger than it was started for
)
OUTPUTS = ("max_tokens", "max_completion_tokens", "top_provider.max_completion_tokens")
LABELS = ("display_name", "name")
MOST = 2_000
NO_CHAT = re.compile(
    r"embed|rerank|whisper|tts|dall-e|image|moderation|transcribe|realtime|audio|sora|guard", re.IGNORECASE
)
"""Models that a server lists beside those that one can talk to."""
LONGEST_ID = 80
"""As much as the table of models takes."""


@dataclass(frozen=True, kw_only=True)
class OfferedModel:
    """``context_window`` and ``max_output`` are in tokens; 0 where the service doesn't say."""

    id: str
    label: str
    context_window: int = 0
    max_output: int = 0


def parse_models(body: object) -> list[OfferedModel]:
    """As they come. Raises ``ValueError`` where this is no list of models."""
    match body:
        case {"data": list(rows)}:
            return [_offered(row) for row in rows[:MOST] if isinstance(row, dict) and _text(row, ("id",))]
    raise ValueError("not a list of models")


def can_chat(id: str) -> bool:
    """As far as the name of a model tells."""
    return not NO_CHAT.search(id)


def _offered(row: Mapping[str, Any]) -> OfferedModel:
    id = row["id"]
    return OfferedModel(
        id=id,
        label=_text(row, LABELS) or id,
        context_window=_number(row, WINDOWS),
        max_output=_number(row, OUTPUTS),
    )


def _text(row: Mapping[str, Any], names: Sequence[str]) -> str:
    found = (value for name in names if isinstance(value := _at(row, name), str))
    return next((text for text in found if 0 < len(text) <= LONGEST_ID and text.isprintable()), "")


def _number(row: Mapping[str, Any], names: Sequence[str]) -> int:
    found = (value for name in names if isinstance(value := _at(row, name), int) and not isinstance(value, bool))
    return next((number for number in found if 0 < number < 2**31), 0)


def _at(row: Mapping[str, Any], path: str) -> object:
    value: object = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
