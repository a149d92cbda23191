"""From the parts of a context to the exact request, and its digest. Pure: a stored context renders to the same bytes again."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from conversations.context.files.results import NO_RESULTS, Results, named_parts
from conversations.context.rules.prompt_cache import MESSAGE, SYSTEM, CachePlan, CacheState, marked
from conversations.context.rules.windowing import without_orphans
from conversations.context.tokens.thinking import OutputAllowance
from conversations.context.turns.groups import FILE, Block, SentMessage, only_texts, parts_of
from conversations.context.turns.turn import Turn
from conversations.models import text_blocks
from conversations.providers.base import Payload, Provider
from conversations.providers.caller_fields import CallerFields
from conversations.providers.markers import EARLIER, Kind
from conversations.providers.messages_api import RequestParts
from conversations.providers.quoting import mention as mentioned
from conversations.providers.quoting import quote
from conversations.runtime.values import dataclass

GO_ON = "go_on"
"""The name of words of Openbook's that ask the model to go on with what it has said so far."""
QUOTING = 1
"""How texts are told apart in the requests that are made now, as their snapshots say (``providers.quoting``). Requests of
earlier releases say nothing of it: what a turn said stood there as it was."""
MOST_ROUNDS = 8
"""Model requests of one reply. In the last one the model is asked to answer in words."""


@dataclass(frozen=True, kw_only=True)
class RequestTexts:
    """What a request says: the ``system`` texts, the turns, oldest first, what Openbook adds beside the last of them (C1, Q2),
    and what the reply has said and done in its earlier ``rounds``, each with its name.

    ``program``, ``tools``, ``caller`` and the rounds are JSON: what the provider's ``program()`` said, definitions, what the
    program that asks wants beside its messages, and blocks. ``results`` are what is sent in the place of results that name
    parts of files. ``quoting`` is how texts are told apart.
    """

    system: Sequence[str]
    turns: Sequence[Turn] = ()
    additions: Sequence[str] = ()
    program: str = ""
    tools: str = ""
    caller: str = ""
    rounds: Sequence[tuple[str, str]] = ()
    results: Results = NO_RESULTS
    quoting: int | None = QUOTING


def render(
    provider: Provider, model: str, allowance: OutputAllowance, texts: RequestTexts, cache: CachePlan
) -> Payload:
    """The exact request."""
    rounds, quoting = texts.rounds, texts.quoting
    return provider.render(
        RequestParts(
            model=model,
            max_tokens=allowance.max_tokens,
            system=system_blocks(texts.system, mark=cache.mark_at(SYSTEM)),
            messages=[
                *api_messages(texts.turns, texts.additions, mark=cache.mark_at(MESSAGE), quoting=quoting),
                *joined(part for name, text in rounds for part in round_parts(name, text, texts.results, quoting)),
            ],
            tools=json.loads(texts.tools) if texts.tools else (),
            tool_choice="none" if sum(name != GO_ON for name, _ in rounds) >= MOST_ROUNDS - 1 else "",
            previous_message_id=None if cache.state is CacheState.NONE else cache.previous_message_id,
            thinking=allowance.thinking,
            program=json.loads(texts.program) if texts.program else None,
            caller=CallerFields.of(texts.caller),
        )
    )


def render_material(
    provider: Provider,
    model: str,
    allowance: OutputAllowance,
    *,
    instructions: str,
    material: str,
    program: str = "",
    caller: str = "",
) -> Payload:
    """The exact request of a helping task: instructions, and all that they are about as one text. ``caller`` says the format
    of its answer."""
    return provider.render(
        RequestParts(
            model=model,
            max_tokens=allowance.max_tokens,
            system=text_blocks(instructions),
            messages=[{"role": "user", "content": text_blocks(material)}],
            thinking=allowance.thinking,
            program=json.loads(program) if program else None,
            caller=CallerFields.of(caller),
        )
    )


def system_blocks(texts: Iterable[str], *, mark: str = "") -> list[dict[str, Any]]:
    blocks = [block for text in texts for block in text_blocks(text)]
    return marked(blocks, mark) if mark else blocks


def api_messages(
    turns: Sequence[Turn], additions: Sequence[str] = (), *, mark: str = "", quoting: int | None = QUOTING
) -> list[dict[str, Any]]:
    """Turns as the API wants them: roles alternate and the first is the user's, so neighbours of one role are joined.

    A cache mark stands at the end of the person's own words, before the additions: the next request repeats only the former.
    ``mark`` is how long its entry lives; empty for none.
    """
    if quoting:
        turns = [*map(quoted_turn, turns)]
    if only_texts(turns) and not any(turn.file_blocks for turn in turns):
        parts = [SentMessage(turn.role, turn.content) for turn in turns if turn.content]
    else:
        parts = [part for turn in without_orphans(turns) for part in parts_of(with_files(turn, quoting))]
    if parts and parts[0].role == "assistant":
        parts.insert(0, SentMessage("user", text_blocks(EARLIER)))
    if mark and parts:
        parts[-1] = SentMessage(parts[-1].role, marked(list(parts[-1].content), mark))
    return joined([*parts, SentMessage("user", system_blocks(additions))])


def quoted_turn(turn: Turn) -> Turn:
    """The turn, where nothing that the person says passes for what Openbook puts beside it. An answer is all the model's."""
    if turn.role == "assistant":
        return turn
    texts = [quote(Kind.MESSAGE, block["text"]) if block["type"] == "text" else "" for block in turn.content]
    if not any(
        block["type"] == "text" and block["text"] != text for block, text in zip(turn.content, texts, strict=True)
    ):
        return turn
    content = [{**block, "text": text} if text else block for block, text in zip(turn.content, texts, strict=True)]
    return replace(turn, content=content)


def with_files(turn: Turn, quoting: int | None = QUOTING) -> Turn:
    """The turn with what is sent of its files, in the place of blocks that name them."""
    named = [block for block in turn.content if block["type"] == FILE]
    if turn.role == "assistant":
        if not named and not any(named_parts(turn.content)):
            return turn
        # Files of a reply come from imports; a model is given no pictures of its own.
        content = [mention(block, quoting) if block["type"] == FILE else block for block in turn.content]
        return replace(turn, content=with_results(content, turn.results, quoting))
    if not (named or turn.file_blocks):
        return turn
    own = [block for block in turn.content if block["type"] != FILE]
    given = [*(turn.file_blocks or [mention(block, quoting) for block in named]), *own]
    return replace(turn, content=sorted(given, key=lambda block: block["type"] != "tool_result"))


def with_results(content: Sequence[Block], results: Results, quoting: int | None = QUOTING) -> list[Block]:
    """With what is sent of the parts of files that results name."""
    calls = {call for call, _ in named_parts(content)}
    return [
        {**block, "content": _sendable(results.get(str(block["tool_use_id"]), block["content"]), quoting)}
        if block["type"] == "tool_result" and block["tool_use_id"] in calls
        else block
        for block in content
    ]


def _sendable(blocks: Sequence[Block], quoting: int | None) -> list[Block]:
    return [mention(block, quoting) if block["type"] == FILE else block for block in blocks]


def mention(block: Block, quoting: int | None = QUOTING) -> Block:
    """A file of which nothing is sent."""
    name = str(block.get("name") or "without a name")
    return text_blocks(mentioned("File", name) if quoting else f"[File: {name}]")[0]


def joined(parts: Iterable[SentMessage]) -> list[dict[str, Any]]:
    """Neighbours of one role as one message."""
    messages: list[dict[str, Any]] = []
    last_role = ""
    for role, content in parts:
        if not content:
            continue
        if role == last_role:
            messages[-1]["content"] += content
        else:
            messages.append({"role": role, "content": list(content)})
            last_role = role
    return messages


def round_parts(
    name: str, text: str, results: Results = NO_RESULTS, quoting: int | None = QUOTING
) -> list[SentMessage]:
    if name == GO_ON:
        return [SentMessage("user", text_blocks(text))]
    return parts_of(SentMessage("assistant", with_results(json.loads(text), results, quoting)))


def round_text(blocks: Sequence[Block]) -> str:
    """What a reply said and did in one round, as a snapshot keeps it. The API takes no blank texts."""
    sendable = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    return json.dumps(sendable, ensure_ascii=False, separators=(",", ":"))


def canonical(payload: Payload) -> bytes:
    """The request as JSON with sorted keys, without spaces, in UTF-8: what the digest is taken of (S4)."""
    return json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def digest(payload: Payload) -> bytes:
    return hashlib.sha256(canonical(payload)).digest()


def sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


@lru_cache(maxsize=256)  # what stands before the turns is the same in all requests of a session
def text_digest(text: str) -> str:
    return sha256(text).hex()
