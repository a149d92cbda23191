"""From the parts of a context to the exact request, and its digest. Pure: a stored context renders to the same bytes again."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from conversations.context.caching import MESSAGE, SYSTEM, CachePlan, marked
from conversations.context.windowing import Turn, without_orphans
from conversations.models import text_blocks
from conversations.providers.base import Payload, Provider

EARLIER = "[Earlier turns are left out.]"


def render(
    provider: Provider,
    *,
    model: str,
    max_tokens: int,
    system: Sequence[str],
    turns: Sequence[Turn],
    additions: Sequence[str],
    cache: CachePlan,
) -> Payload:
    """The exact request: system texts, turns oldest first, and beside the last one what Openbook added to it (C1, Q2)."""
    return provider.render(
        model=model,
        max_tokens=max_tokens,
        system=system_blocks(system, mark=SYSTEM in cache.marks),
        messages=api_messages(turns, additions, mark=MESSAGE in cache.marks),
        previous_message_id=cache.previous_message_id,
    )


def system_blocks(texts: Iterable[str], *, mark: bool = False) -> list[dict[str, Any]]:
    blocks = [block for text in texts for block in text_blocks(text)]
    return marked(blocks) if mark else blocks


def api_messages(turns: Sequence[Turn], additions: Sequence[str] = (), *, mark: bool = False) -> list[dict[str, Any]]:
    """Turns as the API wants them: roles alternate and the first is the user's, so neighbours of one role are joined.

    A cache mark stands at the end of the person's own words, before the additions: the next request repeats only the former.
    """
    messages: list[dict[str, Any]] = []
    for turn in without_orphans(turns):
        if not messages and turn.role == "assistant":
            messages.append({"role": "user", "content": text_blocks(EARLIER)})
        if messages and messages[-1]["role"] == turn.role:
            messages[-1]["content"] = [*messages[-1]["content"], *turn.content]
        else:
            messages.append({"role": turn.role, "content": list(turn.content)})
    own = messages[-1]["content"]
    messages[-1]["content"] = [*(marked(own) if mark else own), *system_blocks(additions)]
    return messages


def canonical(payload: Payload) -> bytes:
    """The request as JSON with sorted keys, without spaces, in UTF-8: what the digest is taken of (S4)."""
    return json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def digest(payload: Payload) -> bytes:
    return hashlib.sha256(canonical(payload)).digest()


def sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
