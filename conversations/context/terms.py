"""What a program that sends a message asks of its reply."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Terms:
    """``instructions`` stand after the assistant's own. ``max_tokens`` can only lower what the assistant may say."""

    instructions: str = ""
    max_tokens: int | None = None

    def at_most(self, tokens: int) -> int:
        return tokens if self.max_tokens is None else min(tokens, self.max_tokens)


NO_TERMS = Terms()
