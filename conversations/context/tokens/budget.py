"""Token budgets, and texts cut to fit them. Pure."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

from conversations.context.tokens.estimate import estimate_tokens
from conversations.context.tokens.factor import Factor
from conversations.context.tokens.thinking import OutputAllowance
from conversations.models import Assistant, Model
from conversations.runtime.values import dataclass
from conversations.runtime.wording import filled

NO_ROW: Mapping[str, int | None] = {}

SHORTENED_MARK = "\n\n[… {count} characters left out here to fit the context …]\n\n"
SMALLEST_MARK = " […] "
"""Where the other would take all the room."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a context may take: tokens of the model as staff set them, or as many estimated ones, and turns.

    The history grows up to ``history_tokens`` or ``history_turns``, then drops in one step to the two others.
    """

    history_tokens: int
    history_tokens_low: int
    history_turns: int
    history_turns_min: int
    total_tokens: int
    hard_cap: int

    def estimated(self, factor: Factor) -> "Budget":
        """The same in estimated tokens, for a model that counts by this factor."""
        return replace(
            self,
            history_tokens=factor.to_estimate(self.history_tokens),
            history_tokens_low=factor.to_estimate(self.history_tokens_low),
            total_tokens=factor.to_estimate(self.total_tokens),
            hard_cap=factor.to_estimate(self.hard_cap),
        )

    @classmethod
    def of(cls, assistant: Assistant) -> "Budget":
        return cls(
            history_tokens=assistant.history_tokens_high,
            history_tokens_low=assistant.history_tokens_low,
            history_turns=assistant.history_turns_max,
            history_turns_min=assistant.history_turns_min,
            total_tokens=assistant.total_tokens,
            hard_cap=assistant.hard_cap_tokens,
        )

    def beside_files(self, tokens: int) -> "Budget":
        """The same with what files take, which have a room of their own."""
        if not tokens:
            return self
        return replace(self, total_tokens=self.total_tokens + tokens, hard_cap=self.hard_cap + tokens)

    def within(self, tokens: int) -> "Budget":
        """The same, where a model's window has no more room than this beside its answer."""
        cap = max(0, min(self.hard_cap, tokens))
        return replace(self, hard_cap=cap, total_tokens=min(self.total_tokens, cap))


TOKEN_FIELDS = (
    *("history_tokens_high", "history_tokens_low", "total_tokens", "hard_cap_tokens", "recall_tokens"),
    *("file_tokens", "memory_tokens", "today_tokens", "open_threads_tokens", "last_conversation_tokens"),
)
"""Columns of an assistant that a share of the window scales together."""


def in_tokens(assistant: Assistant, context_window: int) -> Assistant:
    """The assistant with its budget in tokens: itself, or a copy where it says a share of the model's window. Then the share is
    the hard cap, and all else keeps its proportion to it."""
    if assistant.budget_share is None:
        return assistant
    scaled = copy.copy(assistant)
    cap, before = context_window * assistant.budget_share // 100, max(assistant.hard_cap_tokens, 1)
    for name in TOKEN_FIELDS:
        setattr(scaled, name, getattr(assistant, name) * cap // before)
    scaled.hard_cap_tokens, scaled.budget_share = cap, None
    return scaled


@dataclass(frozen=True, kw_only=True)
class BudgetOrigin:
    """Where a budget comes from, in tokens of the model: ``share`` is in percent of its ``window``, ``None`` where staff set
    tokens. ``wanted`` is the hard cap before the window cut it, ``answer`` what the answer may take of the window."""

    share: int | None
    window: int
    wanted: int
    answer: int

    @classmethod
    def of(cls, assistant: Assistant, *, window: int, answer: int) -> Self:
        wanted = in_tokens(assistant, window).hard_cap_tokens
        return cls(share=assistant.budget_share, window=window, wanted=wanted, answer=answer)

    @classmethod
    def with_model(cls, assistant: Assistant, model: Model) -> Self:
        """Of a reply of usual length by this model."""
        allowance = OutputAllowance.of(model, assistant, answer=assistant.max_output_tokens)
        return cls.of(assistant, window=model.context_window, answer=allowance.max_tokens)

    @property
    def room(self) -> int:
        """What the window leaves beside the answer."""
        return max(0, self.window - self.answer)

    @property
    def is_cut(self) -> bool:
        """Whether the window is too small for the hard cap beside the answer."""
        return self.wanted > self.room

    @property
    def most(self) -> int:
        """The hard cap as it holds."""
        return min(self.wanted, self.room)

    @property
    def said(self) -> str:
        """What staff set, for example ``12 % of 200,000 = 24,000 tokens``."""
        if self.share is None:
            return filled("{wanted} tokens", wanted=self.wanted)
        return filled(
            "{share} % of {window} = {wanted} tokens", share=self.share, window=self.window, wanted=self.wanted
        )

    @property
    def words(self) -> str:
        """The same, and what the window left of it."""
        if not self.is_cut:
            return self.said
        return filled(
            "{said}, cut to {room}: a window of {window} with an answer of {answer} leaves no more",
            said=self.said,
            room=self.room,
            window=self.window,
            answer=self.answer,
        )


def shortage(assistant: Assistant, model: Model) -> str:
    """For the person, before anything is sent: that the window of the model is too small for the assistant's hard cap beside an
    answer; empty where it is not."""
    origin = BudgetOrigin.with_model(assistant, model)
    if not origin.is_cut:
        return ""
    return f"{model} takes in at most {origin.room:,} tokens of a conversation, where {assistant} may use {origin.wanted:,}."


def pack(budget: Budget, origin: BudgetOrigin, row: Mapping[str, int | None] = NO_ROW) -> str:
    """As a snapshot keeps what its other columns don't tell, for example ``12 200000 24000 10240 11707 5853 80 30 1024``.
    ``row`` is what the model's row says of ``ROW``, where that has any effect."""
    figures = (origin.share, origin.window, origin.wanted, origin.answer, *(getattr(budget, name) for name in MARKS))
    return " ".join("-" if figure is None else str(figure) for figure in (*figures, *row.values()))


def unpack_origin(text: str) -> BudgetOrigin | None:
    """``None`` of a snapshot that was recorded without it."""
    if not text:
        return None
    share, window, wanted, answer = text.split(" ")[:4]
    return BudgetOrigin(
        share=None if share == "-" else int(share), window=int(window), wanted=int(wanted), answer=int(answer)
    )


def unpack_marks(text: str) -> dict[str, int]:
    """The marks of the history by their name in ``Budget``; nothing of a snapshot that was recorded without them."""
    return dict(zip(MARKS, map(int, text.split(" ")[4:8]), strict=False))


def unpack_row(text: str) -> dict[str, int | None]:
    """What the model's row said of ``ROW``; nothing of a snapshot that was recorded without it."""
    return {
        name: None if figure == "-" else int(figure) for name, figure in zip(ROW, text.split(" ")[8:], strict=False)
    }


ROW = ("cacheable_from",)
"""Columns of a model's row that shape a request and stand in no other column of a snapshot."""
MARKS = ("history_tokens", "history_tokens_low", "history_turns", "history_turns_min")


def shorten(text: str, tokens: int) -> str:
    """The beginning and the end of a text, with a visible mark between them, in at most so many tokens (W6)."""
    if estimate_tokens(text) <= tokens:
        return text
    mark = SHORTENED_MARK if estimate_tokens(_without_middle(text, 0, SHORTENED_MARK)) <= tokens else SMALLEST_MARK
    low, high = 0, len(text)
    while low < high:
        kept = (low + high + 1) // 2
        low, high = (kept, high) if estimate_tokens(_without_middle(text, kept, mark)) <= tokens else (low, kept - 1)
    return _without_middle(text, low, mark)


def _without_middle(text: str, kept: int, mark: str) -> str:
    head = kept * 2 // 3
    tail = kept - head
    return text[:head] + mark.format(count=f"{len(text) - kept:,}") + (text[-tail:] if tail else "")
