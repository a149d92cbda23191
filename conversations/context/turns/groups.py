"""What belongs together in a thread: a tool call and its result, a question and all that answers it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple, Protocol

Block = dict[str, Any]
NONE: frozenset[str] = frozenset()
FILE = "file"
"""The type of a block that names a file of the person's. A model is given what stands of it in the turn instead."""
SENDABLE = frozenset({"text", "tool_use", "tool_result", "image", "document", FILE})
"""What a model takes of earlier turns. Their thinking is left out, which is always valid: it is bound to all that stood before
it, and a window moves."""
THINKING = frozenset({"thinking", "redacted_thinking"})
USUAL_PAIR = 4
"""Among so many of the newest turns the last pair is looked for first."""

IDS = {"tool_use": "id", "tool_result": "tool_use_id"}


class TurnContent(Protocol):
    """A turn, as far as its place in an exchange needs it."""

    @property
    def role(self) -> str: ...
    @property
    def content(self) -> Sequence[Block]: ...


class SentMessage(NamedTuple):
    """What a turn is sent as, or a part of it: the results that stand within an assistant turn are the user's to the API."""

    role: str
    content: Sequence[Block]


def parts_of(turn: TurnContent) -> list[SentMessage]:
    """A turn as the API's messages. A reply with tool calls is one assistant turn: calls, results, calls, results, answer."""
    if turn.role != "assistant" or all(block["type"] != "tool_result" for block in turn.content):
        return [SentMessage(turn.role, turn.content)]
    runs = groupby(turn.content, key=lambda block: block["type"] == "tool_result")
    return [SentMessage("user" if are_results else "assistant", list(blocks)) for are_results, blocks in runs]


def only_texts(turns: Sequence[TurnContent]) -> bool:
    """Most threads: nothing in them has another half, and all of it can be sent."""
    for turn in turns:  # a loop, as it is asked several times of all turns of a request
        for block in turn.content:
            if block["type"] != "text":
                return False
    return True


def calls(turns: Sequence[TurnContent]) -> list[frozenset[str]]:
    """For each turn the ids of the tool calls in it whose results stand in the turn that directly follows (W4)."""
    if only_texts(turns):
        return [NONE] * len(turns)
    return [*(_answered(parts_of(turn)[-1], parts_of(after)[0]) for turn, after in pairwise(turns)), NONE]


def exchanges(turns: Sequence[TurnContent]) -> list[range]:
    """The places of the turns of each exchange: the question, if there is one, the tool calls, their results, the answer."""
    answered = calls(turns)
    groups: list[range] = []
    index = 0
    while index < len(turns):
        if turns[index].role == "assistant":
            first = index - 1 if index and is_question(turns[index - 1]) else index
            while answered[index]:
                index += 1
                if index + 1 < len(turns) and turns[index + 1].role == "assistant":
                    index += 1
            groups.append(range(first, index + 1))
        index += 1
    return groups


def last_pair(turns: Sequence[TurnContent]) -> int:
    """How many of the newest turns it takes to hold the last question with its whole answer; 0 where there is none (W3)."""
    if len(turns) > USUAL_PAIR and (groups := last_pair(turns[-USUAL_PAIR:])):
        return groups
    for exchange in reversed(exchanges(turns)):
        if is_question(turns[exchange[0]]) and turns[exchange[-1]].role == "assistant":
            return len(turns) - exchange[0]
    return 0


def is_question(turn: TurnContent) -> bool:
    """Whether a person says something in it; results of tools are user turns too."""
    return turn.role == "user" and any(block["type"] != "tool_result" for block in turn.content)


def without_thinking[B: Mapping[str, Any]](content: Iterable[B]) -> list[B]:
    return [block for block in content if block.get("type") not in THINKING]


def whole_blocks(turns: Sequence[TurnContent]) -> list[Sequence[Block]]:
    """The content of each turn without what can't be sent: tool calls or results whose other half is missing, and blocks of
    kinds that no model takes. Results come first."""
    if only_texts(turns):
        return [turn.content for turn in turns]
    parts = [(index, part) for index, turn in enumerate(turns) for part in parts_of(turn)]
    answered = [*(_answered(part, after) for (_, part), (_, after) in pairwise(parts)), NONE]
    contents: list[list[Block]] = [[] for _ in turns]
    for (index, part), mine, before in zip(parts, answered, [NONE, *answered], strict=False):
        contents[index] += _whole(part.content, calls=mine, results=before)
    return list(contents)


def _answered(turn: TurnContent, following: TurnContent) -> frozenset[str]:
    if turn.role != "assistant" or following.role != "user":
        return NONE
    called = _ids(turn.content, "tool_use")
    return called & _ids(following.content, "tool_result") if called else NONE


def _ids(content: Sequence[Block], kind: str) -> frozenset[str]:
    return frozenset([_id(block) for block in content if block["type"] == kind]) - {""}


def _id(block: Block) -> str:
    """Imported blocks may have anything there."""
    value = block.get(IDS[block["type"]])
    return value if isinstance(value, str) else ""


def _whole(content: Sequence[Block], *, calls: frozenset[str], results: frozenset[str]) -> list[Block]:
    missing = {"tool_use": set(calls), "tool_result": set(results)}
    blocks: list[Block] = []
    for block in content:
        if block["type"] in IDS:
            # Each id counts once: the API takes neither two calls nor two results of one id.
            if _id(block) not in missing[block["type"]]:
                continue
            missing[block["type"]].remove(_id(block))
        if block["type"] in SENDABLE:
            blocks.append(block)
    return sorted(blocks, key=lambda block: block["type"] != "tool_result")
