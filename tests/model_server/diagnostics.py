"""Cache diagnostics: how a request differs from the one before it, where both asked for that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.model_server.families import thinking_settings
from tests.model_server.prompts import PromptBlock, plain, total_tokens

# In the order in which they stand in the prompt: the first difference is told.
REASONS = {
    "model": "model_changed",
    "tools": "tools_changed",
    "system": "system_changed",
    "messages": "messages_changed",
}


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    parts: Mapping[str, str]
    messages: tuple[str, ...]
    settings: str
    tokens: int


@dataclass
class Diagnostics:
    seen: dict[str, Fingerprint] = field(default_factory=dict)

    def compare(self, body: Mapping[str, Any], prompt: list[PromptBlock], message_id: str) -> dict[str, Any] | None:
        """The answer's ``diagnostics``; the request is remembered under the answer's id."""
        if body.get("diagnostics") is None:
            return None
        now, previous_id = fingerprint(body, prompt), body["diagnostics"].get("previous_message_id")
        self.seen[message_id] = now
        if previous_id is None:
            return None
        reason = difference(self.seen.get(previous_id), now)
        return {"cache_miss_reason": reason} if reason else None


def fingerprint(body: Mapping[str, Any], prompt: list[PromptBlock]) -> Fingerprint:
    levels = {level: plain([block.text for block in prompt if block.level == level]) for level in ("tools", "system")}
    return Fingerprint(
        parts={"model": body["model"] + str(body.get("speed") or ""), **levels},
        messages=tuple(block.text for block in prompt if block.level == "messages"),
        settings=plain([thinking_settings(body), body.get("tool_choice")]),
        tokens=total_tokens(prompt),
    )


def difference(before: Fingerprint | None, now: Fingerprint) -> dict[str, Any] | None:
    if before is None:
        return {"type": "previous_message_not_found"}
    for part, reason in REASONS.items():
        changed = (
            now.messages[: len(before.messages)] != before.messages
            if part == "messages"
            else (now.parts[part] != before.parts[part])
        )
        if changed:
            return {"type": reason, "cache_missed_input_tokens": before.tokens}
    return {"type": "unavailable"} if now.settings != before.settings else None
