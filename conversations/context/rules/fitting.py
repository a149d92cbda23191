"""The parts of a context brought within the budget and the hard cap. Pure: the same parts give the same context (W5, W6)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from math import ceil
from typing import Any

from conversations.context.files.excerpts import FileExcerpt
from conversations.context.files.results import NO_RESULTS, Results, named_parts
from conversations.context.render.rendering import GO_ON, round_text, text_digest
from conversations.context.rules.standing import Tier, cut_tiers
from conversations.context.rules.windowing import least_kept, whole
from conversations.context.tokens.budget import Budget, shorten
from conversations.context.tokens.estimate import TURN_OVERHEAD, estimate_tokens, text_of, turn_tokens
from conversations.context.turns.groups import FILE, Block, without_thinking
from conversations.context.turns.turn import Turn, stand_in
from conversations.models import text_blocks
from conversations.runtime.values import dataclass

SMALLEST_SHARE = 32
"""Estimated tokens that even a shortened turn keeps."""

INSTRUCTION, INSTRUCTIONS, MATERIAL, ROUND, TOOLS = "instruction", "instructions", "material", "round", "tools"
PROGRAM, CITING, CALLER = "program", "citing", "caller"
BESIDE_SYSTEM = (PROGRAM, TOOLS, CALLER)
"""Sections that come before the system text and are no part of it."""
TEXTS = ("text", "input", "content")
SHORTER = (2_000, 500, 120, 30)
"""Estimated tokens that each text of a round is shortened to, step by step."""

MESSAGE_ROOM = 300
"""Kept free for the newest message and what stands beside it, so that a message of usual length moves nothing else."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A text that Openbook puts into the request, by its name in the snapshot."""

    name: str
    text: str
    tokens: int

    @classmethod
    @lru_cache(maxsize=256)  # the same texts come again with every request
    def of(cls, name: str, text: str) -> "Section":
        return cls(name=name, text=text, tokens=estimate_tokens(text))


GO_ON_WORDS = """\
Please continue from where you left off. Begin with the very next character, be it in the middle of a word or of code. Repeat \
nothing and say nothing about this request."""
SAID = frozenset({ROUND, GO_ON})
"""The sections that tell what the reply said and did before."""


def resumed(blocks: Sequence[Block]) -> list[Section]:
    """What a reply has said and done so far, and that it is to go on with it."""
    return [round_section(round_text(blocks)), Section.of(GO_ON, GO_ON_WORDS)]


def said_section(name: str, text: str) -> Section:
    """What the reply said and did, or was asked, as a snapshot has it."""
    return Section.of(name, text) if name == GO_ON else round_section(text)


@lru_cache(maxsize=64)
def round_section(text: str) -> Section:
    """A round of the reply. What the model thought in it goes back to it, but takes no room of the context: it has its own."""
    return Section(name=ROUND, text=text, tokens=estimate_tokens(round_text(without_thinking(json.loads(text)))))


def without_thoughts(part: Section) -> Section:
    if part.name == GO_ON:
        return part
    return replace(part, text=round_text(without_thinking(json.loads(part.text))))


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a request is made of, in the order in which it is sent. ``rounds`` are what the reply said and did before, with what
    it ``read`` of files and the ``results`` that are sent of that."""

    program: Section | None = None
    tools: Section | None = None
    caller: Section | None = None
    base: Section
    rules: Section | None = None
    citing: Section | None = None
    instructions: Section | None = None
    tiers: Sequence[Tier] = ()
    history: Sequence[Turn] = ()
    newest: Turn
    silent: bool = False
    additions: Sequence[Section] = ()
    rounds: Sequence[Section] = ()
    read: Sequence[FileExcerpt] = ()
    results: Results = NO_RESULTS

    @cached_property
    def prefix(self) -> list[Section]:
        """What comes before the turns, in order: what the provider's program adds, the tools, the system text (C1)."""
        sections = [Section(name=tier.name, text=tier.text, tokens=tier.tokens) for tier in self.tiers if tier.text]
        return [*self.fixed, *sections]

    @property
    def turns(self) -> list[Turn]:
        """The turns that are sent. The newest is none where it is silent: then it is an instruction of Openbook's."""
        return [*self.history] if self.silent else [*self.history, self.newest]

    @property
    def beside(self) -> list[Section]:
        """What stands beside the person's words in the last message of the user."""
        if not self.silent:
            return [*self.additions]
        text = text_of(self.newest.content)
        return [*self.additions, Section(name=INSTRUCTION, text=text, tokens=self.newest.token_count)]

    @property
    def digests(self) -> list[str]:
        """Of the texts that come before the turns."""
        return [text_digest(section.text) for section in self.prefix]

    @property
    def positions(self) -> list[int]:
        """Of the turns that are sent, negative where one is shortened."""
        return [-turn.position if turn.shortened else turn.position for turn in self.turns]

    @cached_property
    def fixed(self) -> list[Section]:
        """What staff, and the program that asks, wrote and nothing can cut."""
        tools, texts = (self.tools, self.caller), (self.base, self.rules, self.citing, self.instructions)
        return [part for part in (self.program, *tools, *texts) if part]

    @cached_property
    def fixed_tokens(self) -> int:
        return sum(part.tokens for part in self.fixed)

    @cached_property
    def prefix_tokens(self) -> int:
        return self.fixed_tokens + sum(tier.tokens for tier in self.tiers)

    @cached_property
    def round_blocks(self) -> list[list[Block]]:
        """What the reply said and did, as blocks."""
        return [json.loads(part.text) for part in self.rounds if part.name == ROUND]

    @property
    def rounds_tokens(self) -> int:
        return sum(part.tokens for part in self.rounds)

    @property
    def message_tokens(self) -> int:
        return self.newest.token_count + sum(addition.tokens for addition in self.additions)

    @cached_property
    def history_tokens(self) -> int:
        return sum([turn.token_count for turn in self.history])

    @cached_property
    def file_tokens(self) -> int:
        """What stands of files in the turns that are sent, and was read of them since."""
        return sum([turn.file_tokens for turn in self.turns if turn.files]) + self.read_tokens

    @property
    def read_tokens(self) -> int:
        return sum(excerpt.tokens for excerpt in self.read)

    @cached_property
    def total_tokens(self) -> int:
        parts = (self.prefix_tokens, self.history_tokens, self.message_tokens, self.rounds_tokens, self.file_tokens)
        return sum(parts)


def tiers_room(fixed_tokens: int, budget: Budget) -> int:
    """What the tiers may take together: they are the same all session long, so they leave room for a history that grows."""
    growing = (budget.history_tokens - budget.history_tokens_low) // 3
    return max(0, budget.total_tokens - fixed_tokens - budget.history_tokens_low - growing - MESSAGE_ROOM)


def memory_room(fixed_tokens: int, budget: Budget) -> int:
    """What the memory may take, which nothing else cuts: beside it the cap leaves room for a message of usual length."""
    return max(0, budget.hard_cap - fixed_tokens - MESSAGE_ROOM)


def history_room(prefix_tokens: int, budget: Budget) -> Budget:
    """The budget with the high mark that is left beside what stands before the history."""
    room = max(budget.total_tokens - prefix_tokens - MESSAGE_ROOM, 0)
    high = min(budget.history_tokens, room)
    return replace(budget, history_tokens=high, history_tokens_low=min(budget.history_tokens_low, high))


def fit(parts: Parts, budget: Budget) -> Parts:
    """Within the budget by cutting the tiers, then dropping the oldest turns; within the hard cap whatever it takes (W5, W6).

    Under the cap no turn is shortened. Above it the last pair loses its tool calls, and it and the newest message are
    shortened, with a visible mark; the message gets at least three quarters of the room.
    """
    over = parts.total_tokens - budget.total_tokens
    if over <= 0 and parts.total_tokens <= budget.hard_cap:
        return parts
    if over > 0:
        cuttable = sum(tier.tokens for tier in parts.tiers)
        parts = replace(parts, tiers=cut_tiers(parts.tiers, max(0, cuttable - over)))
    parts = replace(parts, history=_newest_that_fit(parts, budget))
    if parts.total_tokens > budget.hard_cap and parts.rounds:
        parts = replace(
            parts, rounds=_shorter(parts.rounds, budget.hard_cap - parts.total_tokens + parts.rounds_tokens)
        )
    if parts.total_tokens > budget.hard_cap and any(block["type"] == "tool_result" for block in parts.newest.content):
        parts = _with_short_calls(parts, budget.hard_cap)
    if parts.total_tokens > budget.hard_cap:
        parts = _shortened_to(replace(parts, additions=()), budget.hard_cap)
    return parts


def _shorter(rounds: Sequence[Section], room: int) -> Sequence[Section]:
    """The rounds with their long texts – contents that were written, results that were read – shortened until all fit the
    room, those of the earliest rounds first."""
    sections = list(rounds)
    for tokens in SHORTER:
        for index, part in enumerate(sections):
            if sum(part.tokens for part in sections) <= room:
                return sections
            if part.name == GO_ON:
                continue
            sections[index] = round_section(
                round_text([_shorter_block(block, tokens) for block in json.loads(part.text)])
            )
    return sections


def _with_short_calls(parts: Parts, cap: int) -> Parts:
    """What tools were called with and what they gave, which the newest turn goes on with, shortened until all fits the cap,
    that of the earliest turns first. What still finds no room goes, but for the last calls."""
    parts = replace(parts, additions=())
    turns = parts.turns
    for tokens in SHORTER:
        for index, turn in enumerate(turns):
            if parts.total_tokens <= cap:
                return parts
            turns[index] = _with_short_blocks(turn, tokens)
            parts = replace(parts, history=turns[:-1], newest=turns[-1])
    while parts.total_tokens > cap and len(parts.history) > 1:
        parts = replace(parts, history=whole(parts.history[1:], parts.newest)[0])
    return parts


def _with_short_blocks(turn: Turn, tokens: int) -> Turn:
    content = [block if block["type"] == FILE else _shorter_block(block, tokens) for block in turn.content]
    if content == turn.content:
        return turn
    count = ceil(turn_tokens(content) * _counted_ratio(turn))
    return replace(turn, content=content, token_count=count, shortened=stand_in(content))


def _shorter_block(block: Block, tokens: int) -> Block:
    """Names and ids stay: by them a call and its result belong together."""
    if any(named_parts([block])):
        return block
    return {name: _with_short_texts(value, tokens) if name in TEXTS else value for name, value in block.items()}


def _with_short_texts(value: Any, tokens: int) -> Any:
    match value:
        case str():
            return shorten(value, tokens)
        case dict():
            return {name: _with_short_texts(part, tokens) for name, part in value.items()}
        case list():
            return [_with_short_texts(part, tokens) for part in value]
    return value


def _newest_that_fit(parts: Parts, budget: Budget) -> Sequence[Turn]:
    """The history without its oldest turns, as many as it takes; the last pair stays, and tool calls stay whole."""
    history = list(parts.history)
    least = least_kept(history, budget)
    tokens = parts.total_tokens
    while len(history) > least and tokens > budget.total_tokens:
        oldest = history.pop(0)
        tokens -= oldest.token_count + oldest.file_tokens
    return whole(history, parts.newest)[0] if len(history) < len(parts.history) else parts.history


def _shortened_to(parts: Parts, cap: int) -> Parts:
    room = max(cap - parts.prefix_tokens - parts.rounds_tokens - parts.file_tokens, SMALLEST_SHARE)
    turns = _shortened_texts(parts.history)
    history = turns[max(0, len(turns) + 1 - room // SMALLEST_SHARE) :]
    parts = replace(parts, history=history)
    if parts.newest.token_count + parts.history_tokens <= room:
        return parts
    newest = shortened(parts.newest, room - min(parts.history_tokens, max(room // 4, SMALLEST_SHARE * len(history))))
    left = room - newest.token_count
    if parts.history_tokens > left:
        history = [shortened(turn, left // len(history)) for turn in history]
    return replace(parts, history=history, newest=newest)


def _shortened_texts(turns: Sequence[Turn]) -> list[Turn]:
    """What can be shortened: the texts. Tool calls go whole, and so with their results."""
    texts = [(turn, text_of(turn.content)) for turn in turns]
    return [
        shortened(turn, ceil(turn_tokens(text_blocks(text)) * _counted_ratio(turn))) for turn, text in texts if text
    ]


def _counted_ratio(turn: Turn) -> float:
    """Tokens of a turn for each that the estimate gives it."""
    return turn.token_count / turn_tokens(turn.content) if turn.counted else 1.0


def shortened(turn: Turn, tokens: int) -> Turn:
    """The turn as text with a mark in the middle, in about so many tokens; unchanged where it is no longer than that. What is
    kept of a turn that was counted takes as many tokens for each estimated one as the whole."""
    if turn.token_count <= tokens:
        return turn
    ratio = _counted_ratio(turn)
    text = shorten(text_of(turn.content), int(tokens / ratio) - TURN_OVERHEAD)
    content = text_blocks(text)
    count = ceil(turn_tokens(content) * ratio)
    # The mark itself takes some tokens, more than the shortest turns have.
    if count >= turn.token_count:
        return turn
    turn = replace(turn, content=content, token_count=count, shortened=text)
    return replace(turn, files=(), results=NO_RESULTS) if turn.role == "assistant" else turn
