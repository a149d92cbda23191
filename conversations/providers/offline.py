"""The offline responder: no key, no network, no model. It answers from the context that it was given and says so.

It makes Openbook usable and testable before a model is connected. What it answers stands or falls with the context: if
a turn is missing from the request, the answer that rests on it is missing too.
"""

import asyncio
import json
import math
import re
import uuid
from collections.abc import AsyncGenerator

from django.conf import settings

from conversations.providers.base import (
    Finished,
    Payload,
    Provider,
    ProviderEvent,
    TextDelta,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    Usage,
)
from conversations.providers.offline_answers import answer
from conversations.providers.offline_artifacts import SAVE, artifact_asked_for
from conversations.providers.offline_texts import text_of

PIECE_CHARS = 48


class OfflineProvider(Provider):
    name = "offline"
    rewrites = False
    marks_cache = False
    takes_formats = False
    takes_stops = False

    def default_model(self) -> str:
        return "offline"

    def forces_tools(self) -> bool:
        return False

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        """The answer piece by piece. The usage counts words, as an estimate: there is no tokenizer without a model."""
        tool_input = await asyncio.to_thread(artifact_asked_for, payload)
        if tool_input is not None:
            async for event in call(tool_input, payload):
                yield event
            return
        text = await asyncio.to_thread(answer, payload)  # a long context takes a moment, and others are being served
        for piece in re.findall(r"\S+\s*", text):
            yield TextDelta(text=piece)
            await asyncio.sleep(settings.OPENBOOK_OFFLINE_WORD_SECONDS)
        usage = Usage(input_tokens=count_words(payload), output_tokens=len(text.split()))
        yield Finished(stop_reason="end_turn", usage=usage)


async def call(tool_input: dict[str, str], payload: Payload) -> AsyncGenerator[ProviderEvent]:
    call_id, written = f"offline_{uuid.uuid4().hex}", json.dumps(tool_input, ensure_ascii=False)
    yield ToolStarted(id=call_id, name=SAVE)
    for start in range(0, len(written), PIECE_CHARS):
        yield ToolDelta(id=call_id, json=written[start : start + PIECE_CHARS])
        await asyncio.sleep(settings.OPENBOOK_OFFLINE_WORD_SECONDS)
    yield ToolCalled(id=call_id, name=SAVE, input=dict(tool_input))
    usage = Usage(input_tokens=count_words(payload), output_tokens=len(written.split()))
    yield Finished(stop_reason="tool_use", usage=usage)


def count_words(payload: Payload) -> int:
    texts = [block["text"] for block in payload["system"]] + [text_of(turn["content"]) for turn in payload["messages"]]
    return sum(len(text.split()) for text in texts)
