"""The model behind the local server, which behaves as the documentation of Claude 5.5 says."""

import itertools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.model_scripts import Script, ScriptedRefusal, ScriptedStream, error, refusal, texts_of
from tests.model_server.answers import ServedAnswer, Thinking, TokenRoom
from tests.model_server.caching import PromptCache
from tests.model_server.diagnostics import Diagnostics
from tests.model_server.families import family_of
from tests.model_server.prompts import prompt_blocks, total_tokens
from tests.model_server.rules import complaint
from tests.model_server.thinking import BINDING_BETA, ThinkingLedger

FORBIDDEN = "forbidden-topic"
"""A word that makes the model refuse each request in which a user's text holds it."""


@dataclass(kw_only=True)
class Claude:
    """A test may change any of this at any time.

    ``refused_words``: word to the category of the refusal, or None. ``never_refuse``: names of models. ``verbatim``:
    scripts go out as they are, and the model adds nothing. ``holds_max_tokens``: thinking and answer together end where the
    request's ``max_tokens`` are used up. ``context_window`` in tokens, if not the model's own. ``passed_seconds`` is added to
    the clock of the cache. ``offered`` are the models that it lists.
    """

    thinking: Thinking = field(default_factory=Thinking)
    refused_words: dict[str, str | None] = field(default_factory=lambda: {FORBIDDEN: "cyber"})
    never_refuse: set[str] = field(default_factory=set)
    verbatim: bool = False
    holds_max_tokens: bool = True
    context_window: int | None = None
    passed_seconds: float = 0
    offered: tuple[str, ...] = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-of-next-year")
    ledger: ThinkingLedger = field(default_factory=ThinkingLedger)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    def __post_init__(self) -> None:
        self.cache = PromptCache(clock=lambda: time.monotonic() + self.passed_seconds)
        self._numbers = itertools.count(1)

    def model_list(self) -> ScriptedRefusal:
        """What ``GET /v1/models`` answers, all on one page."""
        rows = [
            {
                "type": "model",
                "id": name,
                "display_name": name.replace("-", " ").title(),
                "created_at": "2026-10-01T00:00:00Z",
                "lifecycle": "active",
                "max_input_tokens": family_of(name).context_window,
                "max_tokens": family_of(name).longest_answer,
            }
            for name in self.offered
        ]
        body = {"data": rows, "has_more": False, "first_id": self.offered[0], "last_id": self.offered[-1]}
        return ScriptedRefusal(status=200, body=json.dumps(body).encode())

    def objection(self, body: Any, betas: str) -> ScriptedRefusal | None:
        """The error that the API answers instead of the model, if any."""
        if problem := complaint(body, beta=bool(betas)) or self.ledger.judge(body, betas).complaint:
            return error(400, problem)
        tokens = total_tokens(prompt_blocks(body, self.ledger.judge(body, betas).tokens))
        if tokens > self._window(body):
            return error(400, f"prompt is too long: {tokens} tokens > {self._window(body)} maximum")
        return None

    def refusal(self, body: Mapping[str, Any]) -> ScriptedStream | None:
        """The model's own no, for something that a user's text holds."""
        if not family_of(body["model"]).refuses or body["model"] in self.never_refuse:
            return None
        said = "\n".join(
            text for message in body["messages"] if message["role"] == "user" for text in texts_of(message)
        )
        return next((refusal(category=why) for word, why in self.refused_words.items() if word in said), None)

    def answer(self, body: Mapping[str, Any], betas: str, script: Script) -> Script:
        """What is sent where the script says what to say."""
        if isinstance(script, ScriptedRefusal) or self.verbatim:
            return script
        verdict, message_id = self.ledger.judge(body, betas), f"msg_local_{next(self._numbers)}"
        prompt = prompt_blocks(body, verdict.tokens)
        figures = self.cache.use(body, prompt)
        extras: dict[str, Any] = {}
        if "diagnostics" in body:
            extras["diagnostics"] = self.diagnostics.compare(body, prompt, message_id)
        if BINDING_BETA in betas:
            extras["input_transformations"] = verdict.transformations

        def sign(text: str, tokens: int, signature: str = "") -> str:
            return self.ledger.issue(
                body, answer=message_id, after=verdict.last, text=text, tokens=tokens, signature=signature
            )

        answer = ServedAnswer(
            body=body,
            message_id=message_id,
            figures=figures,
            thinking=self.thinking,
            sign=sign,
            room=self._room(body, figures.total),
            extras=extras,
        )
        stream = answer.of(script)
        self.ledger.note_calls(message_id, stream.steps)
        return stream

    def _room(self, body: Mapping[str, Any], prompt_tokens: int) -> TokenRoom:
        left = self._window(body) - prompt_tokens
        if left < body["max_tokens"]:
            return TokenRoom(tokens=left, stop_reason="model_context_window_exceeded")
        return TokenRoom(tokens=body["max_tokens"] if self.holds_max_tokens else float("inf"))

    def _window(self, body: Mapping[str, Any]) -> int:
        return self.context_window or family_of(body["model"]).context_window
