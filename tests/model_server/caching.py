"""The prompt cache: entries for prefixes, written at marks, which live as long as they are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from tests.model_server.families import family_of, thinking_settings
from tests.model_server.prompts import PromptBlock, digest, plain

LIVES = {"5m": 300.0, "1h": 3_600.0}
LOOKBACK = 20
"""Blocks before a mark among which an entry is looked for."""


@dataclass
class Entry:
    life: str
    ends: float


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Tokens of a request by what they are billed as."""

    fresh: int
    read: int = 0
    written_5m: int = 0
    written_1h: int = 0

    @property
    def total(self) -> int:
        return self.fresh + self.read + self.written_5m + self.written_1h

    def usage(self) -> dict[str, Any]:
        return self.cumulative() | {
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
            "service_tier": "standard",
        }

    def cumulative(self) -> dict[str, Any]:
        """As the end of a stream says it again, where written tokens are not told apart."""
        return {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.written_5m + self.written_1h,
            "cache_read_input_tokens": self.read,
        }


@dataclass
class PromptCache:
    clock: Callable[[], float]
    entries: dict[str, Entry] = field(default_factory=dict)

    def use(self, body: Mapping[str, Any], prompt: Sequence[PromptBlock]) -> Figures:
        """Read the longest prefix that is there, write those that are marked."""
        keys, ends = prefix_keys(body, prompt), [round(sum) for sum in accumulate(block.tokens for block in prompt)]
        shortest = family_of(body["model"]).cacheable_from
        marks = [i for i, block in enumerate(prompt) if block.mark and ends[i] >= shortest]
        hit = max((i for mark in marks for i in self._matches(keys, mark)), default=-1)
        for i in marks:
            self._keep(keys[i], prompt[i].mark)
        if hit >= 0:
            self._keep(keys[hit])
        read = ends[hit] if hit >= 0 else 0
        long = max((ends[i] for i in marks if prompt[i].mark == "1h"), default=0)
        last = max((ends[i] for i in marks), default=0)
        return Figures(
            fresh=ends[-1] - max(last, read),
            read=read,
            written_1h=max(long - read, 0),
            written_5m=max(last - max(long, read), 0),
        )

    def _matches(self, keys: Sequence[str], mark: int) -> list[int]:
        now = self.clock()
        near = range(max(0, mark - LOOKBACK + 1), mark + 1)
        return [i for i in near if keys[i] in self.entries and self.entries[keys[i]].ends > now]

    def _keep(self, key: str, life: str = "") -> None:
        """A read begins an entry's life anew; a longer one is kept."""
        known = self.entries.get(key)
        if known and known.ends > self.clock():
            life = max(life, known.life, key=lambda life: LIVES.get(life, 0))
        self.entries[key] = Entry(life=life, ends=self.clock() + LIVES[life])


def prefix_keys(body: Mapping[str, Any], prompt: Sequence[PromptBlock]) -> list[str]:
    """A key for each prefix. How the model thinks and which tools it may choose counts from the messages on."""
    settings = plain([thinking_settings(body), body.get("tool_choice")])
    key, keys = body["model"] + str(body.get("speed") or ""), list[str]()
    for block in prompt:
        key = digest(key, settings if block.level == "messages" else "", block.text)
        keys.append(key)
    return keys
