"""A request as the model reads it – tools, system, messages, block by block – and what each block takes in tokens: pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from conversations.context.tokens.estimate import TURN_OVERHEAD, estimate_tokens
from tests.model_server.rules import blocks, system_blocks

TOKENS_PER_ESTIMATED = 1.3
"""As much more as the tokenizer since 4.7 counts, by its documentation, than the one that the estimate was fitted to."""
THINKING_TYPES = ("thinking", "redacted_thinking")

Place = tuple[int, int]
"""Of a block in ``messages``: message, block."""


@dataclass(frozen=True, kw_only=True)
class PromptBlock:
    """``level`` is "tools", "system" or "messages"; ``text`` tells it from others; ``mark`` is the life of its cache entry."""

    level: str
    text: str
    tokens: float
    mark: str = ""


def prompt_blocks(body: Mapping[str, Any], thinking_tokens: Mapping[Place, int]) -> list[PromptBlock]:
    """``thinking_tokens`` are those of the thinking blocks that the model gets to read; it gets no others."""
    made = [made_block("tools", {"type": "tool", **tool}) for tool in body.get("tools", [])]
    made += [made_block("system", block) for block in system_blocks(body)]
    for i, message in enumerate(body["messages"]):
        overhead = TURN_OVERHEAD * TOKENS_PER_ESTIMATED
        for j, block in enumerate(blocks(message)):
            if block["type"] in THINKING_TYPES:
                if (i, j) in thinking_tokens:
                    made.append(PromptBlock(level="messages", text=plain(block), tokens=thinking_tokens[i, j]))
            else:
                made.append(made_block("messages", block, role=message["role"], overhead=overhead))
                overhead = 0
    if made and body.get("cache_control"):
        last = made.pop()
        made.append(PromptBlock(level=last.level, text=last.text, tokens=last.tokens, mark=life(body)))
    return made


def made_block(level: str, block: Mapping[str, Any], *, role: str = "", overhead: float = 0) -> PromptBlock:
    tokens = estimate_tokens(block["text"] if block["type"] == "text" else plain(block)) * TOKENS_PER_ESTIMATED
    return PromptBlock(level=level, text=f"{role} {plain(block)}", tokens=tokens + overhead, mark=life(block))


def life(holder: Mapping[str, Any]) -> str:
    mark = holder.get("cache_control")
    return str(mark.get("ttl", "5m")) if mark else ""


def plain(value: Any) -> str:
    """JSON that is the same for what is the same to the API: without cache marks, in the order of the alphabet."""
    return json.dumps(unmarked(value), ensure_ascii=False, sort_keys=True)


def unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unmarked(part) for key, part in value.items() if key != "cache_control"}
    return [unmarked(part) for part in value] if isinstance(value, list) else value


def prefix_digest(body: Mapping[str, Any], message: int) -> str:
    """Of all that stands before this message, but for thinking: what a thinking block in it is bound to."""
    said = [(earlier["role"], block) for earlier in body["messages"][:message] for block in blocks(earlier)]
    spoken = [(role, block) for role, block in said if block["type"] not in THINKING_TYPES]
    turns = [[role, *(block for _, block in turn)] for role, turn in groupby(spoken, key=lambda pair: pair[0])]
    return digest(plain(sorted(body.get("tools", []), key=plain)), plain(system_blocks(body)), plain(turns))


def digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def total_tokens(prompt: Sequence[PromptBlock]) -> int:
    return round(sum(block.tokens for block in prompt))
