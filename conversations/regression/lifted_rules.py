"""Rules of choosing that can be lifted, and a request's settings without one. A rule is called by the reason that it gives."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace

from conversations.context.reasons import Reason
from conversations.context.record.request_record import Record, Settings
from conversations.context.tokens.budget import TOKEN_FIELDS
from conversations.models import Assistant

REMEMBERED = ("memory_tokens", "today_tokens", "open_threads_tokens", "last_conversation_tokens")
NO_LIMIT = 2_000_000
"""Tokens or turns that no thread reaches."""


def settings_without(record: Record, rule: Reason) -> Settings:
    """All else stays as recorded."""
    assistant = copy.copy(record.settings.assistant)
    LIFTED[rule](assistant, record.window or NO_LIMIT)
    return replace(record.settings, assistant=assistant)


def _hold_all_tokens(assistant: Assistant, window: int) -> None:
    """As many as the model's window does; each part may take all of it."""
    for name in TOKEN_FIELDS:
        setattr(assistant, name, window)


def _hold_all_turns(assistant: Assistant, window: int) -> None:
    assistant.history_turns_max = NO_LIMIT


def _keep_fulfilled(assistant: Assistant, window: int) -> None:
    assistant.filters_artifacts = False


def _remember_nothing(assistant: Assistant, window: int) -> None:
    for name in REMEMBERED:
        setattr(assistant, name, 0)


def _recall_nothing(assistant: Assistant, window: int) -> None:
    assistant.recall_tokens = 0


LIFTED: Mapping[Reason, Callable[[Assistant, int], None]] = {
    Reason.OVER_BUDGET: _hold_all_tokens,
    Reason.TURN_LIMIT: _hold_all_turns,
    Reason.FULFILLED_ARTIFACT: _keep_fulfilled,
    Reason.REMEMBERED: _remember_nothing,
    Reason.RECALLED: _recall_nothing,
}
"""Those that an assistant's settings decide about. What must hold in each request – one path, whole tool calls, the message
itself – is never lifted."""
CHOICES = [(rule.value, rule.label) for rule in LIFTED]
