"""Preserved thinking: which thinking blocks this server has written, and whether those that come back are still good."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.model_scripts import Step
from tests.model_server.families import ENABLED, can_read, family_of
from tests.model_server.prompts import THINKING_TYPES, Place, prefix_digest
from tests.model_server.rules import blocks

BINDING_BETA = "thinking-binding-controls-2026-08-01"
TAMPERED = "Invalid `signature` in `thinking` block"
OTHER_CONVERSATION = (
    f"{TAMPERED}. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
NEEDS_BETA = f"That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header."
MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
EXPECTED = "Expected `thinking` or `redacted_thinking`"
STARTS = "When `thinking` is enabled, a final `assistant` message must start with a thinking block."


@dataclass(frozen=True, kw_only=True)
class Issued:
    """A thinking block as it was sent. ``before`` is the signature of the one before it, ``answer`` the id of the message."""

    signature: str
    model: str
    prefix: str
    before: str
    text: str
    tokens: int
    answer: str


@dataclass(kw_only=True)
class Verdict:
    """On the thinking of one request: the complaint, or what the model gets to read and what is dropped for which reason."""

    complaint: str = ""
    read: dict[Place, Issued] = field(default_factory=dict)
    dropped: dict[Place, str] = field(default_factory=dict)

    @property
    def last(self) -> str:
        """The signature of the block that the model read last."""
        return next((issued.signature for issued in reversed(self.read.values())), "")

    @property
    def tokens(self) -> dict[Place, int]:
        return {place: issued.tokens for place, issued in self.read.items()}

    @property
    def transformations(self) -> list[dict[str, str]]:
        return [
            {"type": "thinking_dropped", "path": f"messages.{i}.content.{j}", "reason": reason}
            for (i, j), reason in self.dropped.items()
        ]


@dataclass
class ThinkingLedger:
    """``account_is_new``: made since September 2026, so that thinking bound to another conversation is an error.

    ``demands_thinking``: a tool round that comes back without its thinking is an error. The documentation requires it to come
    back; the API itself lets the request pass, and the model has lost its thread.
    """

    account_is_new: bool = True
    demands_thinking: bool = True
    issued: list[Issued] = field(default_factory=list)
    called: dict[str, str] = field(default_factory=dict)
    """Ids of tool calls, and the answer that made them."""

    def issue(
        self, body: Mapping[str, Any], *, answer: str, after: str, text: str, tokens: int, signature: str = ""
    ) -> str:
        """The signature of a new block of this answer. ``after`` is the block that the model read last."""
        signature = signature or made_signature(f"{answer} {len(self.issued)}")
        earlier = self._of(answer)
        issued = Issued(
            signature=signature,
            model=body["model"],
            prefix=prefix_digest(body, len(body["messages"])),
            before=earlier[-1] if earlier else after,
            text=text,
            tokens=tokens,
            answer=answer,
        )
        self.issued.append(issued)
        return signature

    def note_calls(self, answer: str, steps: Sequence[Step]) -> None:
        """Which calls this answer makes, so that it is known which thinking belongs with their results."""
        started = [step["content_block"] for step in steps if isinstance(step, dict) and "content_block" in step]
        self.called |= {block["id"]: answer for block in started if block["type"] == "tool_use" and "id" in block}

    def judge(self, body: Mapping[str, Any], betas: str) -> Verdict:
        verdict = Verdict()
        for i, message in enumerate(body["messages"]):
            for j, block in enumerate(blocks(message)):
                if block["type"] in THINKING_TYPES and not verdict.complaint:
                    self._judge_block(body, (i, j), block, betas, verdict)
        verdict.complaint = verdict.complaint or self._missing(body, verdict)
        return verdict

    def _of(self, answer: str) -> list[str]:
        return [issued.signature for issued in self.issued if issued.answer == answer]

    def _judge_block(
        self, body: Mapping[str, Any], place: Place, block: Mapping[str, Any], betas: str, verdict: Verdict
    ) -> None:
        where, prefix = "messages.{}.content.{}: ".format(*place), prefix_digest(body, place[0])
        known = [issued for issued in self.issued if issued.signature == block.get("signature")]
        issued = next((issued for issued in known if issued.prefix == prefix), known[-1] if known else None)
        if issued is None:
            verdict.complaint = where + TAMPERED
        elif issued.text and block["thinking"] != issued.text:
            verdict.complaint = where + MODIFIED
        elif not can_read(body["model"], issued.model):
            verdict.dropped[place] = "model_binding_mismatch"
        elif self._binds(body) and (change := self._change(prefix, issued, verdict)):
            if binding(body).get("prefix_mismatch_behavior") == "drop_block":
                verdict.dropped[place] = "prefix_binding_mismatch"
            else:
                parts = [OTHER_CONVERSATION, *([] if BINDING_BETA in betas else [NEEDS_BETA]), change]
                verdict.complaint = where + " ".join(parts)
        else:
            verdict.read[place] = issued

    def _binds(self, body: Mapping[str, Any]) -> bool:
        asked = "prefix_mismatch_behavior" in binding(body)
        return family_of(body["model"]).binds_prefix and (self.account_is_new or asked)

    @staticmethod
    def _change(prefix: str, issued: Issued, verdict: Verdict) -> str:
        """What differs before this block, or nothing. One that follows a dropped block is lost with it."""
        if issued.prefix != prefix:
            return "Something before this block differs from when it was created."
        gap = bool(verdict.last) and issued.before != verdict.last
        lost = "prefix_binding_mismatch" in verdict.dropped.values()
        return "An earlier thinking block is missing or out of order." if gap or lost else ""

    def _missing(self, body: Mapping[str, Any], verdict: Verdict) -> str:
        """Of the latest assistant message all thinking has to be there, and as it was, where there is any."""
        i = max((i for i, message in enumerate(body["messages"]) if message["role"] == "assistant"), default=-1)
        there = [issued for (message, _), issued in verdict.read.items() if message == i]
        if (body.get("thinking") or {}).get("type") == ENABLED and i == len(body["messages"]) - 2:
            first, results = blocks(body["messages"][i])[:1], blocks(body["messages"][-1])
            if first and first[0]["type"] not in THINKING_TYPES and results[0]["type"] == "tool_result":
                return f"messages.{i}.content.0.type: {EXPECTED}, but found `{first[0]['type']}`. {STARTS}"
        needed = {issued.answer for issued in there}
        if self.demands_thinking and i == len(body["messages"]) - 2:
            needed |= {self.called.get(block.get("id", ""), "") for block in blocks(body["messages"][i])}
        for answer in needed:
            readable = [issued for issued in self.issued if can_read(body["model"], issued.model)]
            whole = [issued.signature for issued in readable if issued.answer == answer]
            if [issued.signature for issued in there if issued.answer == answer] != whole and not verdict.dropped:
                return f"messages.{i}.content.0: {MODIFIED}"
        return ""


def made_signature(seed: str) -> str:
    return base64.b64encode(hashlib.sha512(seed.encode()).digest() * 2).decode()


def binding(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return (body.get("thinking") or {}).get("block_binding") or {}
