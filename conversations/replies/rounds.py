"""One round of a reply: the model is asked once, and the tools that it calls are run."""

import logging
import time
from contextlib import aclosing

from conversations.context.builder import Context
from conversations.providers import ProviderError, get_provider
from conversations.providers.base import (
    Finished,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ThinkingEvent,
    ThinkingStarted,
    ToolCalled,
    ToolDelta,
    ToolStarted,
)
from conversations.replies.journal import Journal, LiveReply
from conversations.replies.partial_input import InputWatcher
from conversations.replies.thinking_progress import ThinkingClock, clock
from conversations.replies.transcript import result_block
from conversations.runtime import telemetry
from conversations.runtime.db import in_database
from conversations.tools import registered, running
from conversations.tools.base import ToolContext
from conversations.wire.events import ToolDeltaData, ToolFinishedData

log = logging.getLogger("openbook.replies")

TEXT = "text"
"""The id under which the text of a silent reply is shown as it is written: it becomes an artifact, not a turn."""


async def ask(book: Journal, live: LiveReply, context: Context) -> Finished:
    """Call the model once; what it says and calls goes to readers and is kept in ``live.transcript``, how far the call
    has come in ``live.call``. Raises ``ProviderError``."""
    watched: dict[str, InputWatcher] = {}
    stream = get_provider(context.provider).stream(context.payload, seconds=live.ends_at - time.monotonic())
    with clock(lambda: book.think(live)) as thinking:
        async with aclosing(stream):
            async for event in stream:
                live.call.note(event)
                match event:
                    case TextDelta():
                        tell(book, live, live.transcript.say(event.text))
                    case ThinkingStarted() | ThinkingDelta() | ThinkingDone():
                        think(book, live, event, thinking)
                    case ToolStarted():
                        tell(book, live, live.transcript.pause())
                        watched[event.id] = begin(book, live, event)
                    case ToolDelta():
                        show(book, live, watched[event.id].feed(event.json))
                    case ToolCalled():
                        show(book, live, watched[event.id].end(event.input))
                        live.transcript.call(event)
    tell(book, live, live.transcript.pause())
    if live.call.finished is None:
        raise ProviderError("cut_off", "The model's answer was cut off. Try again.", retryable=True)
    return live.call.finished


def think(book: Journal, live: LiveReply, event: ThinkingEvent, clock: ThinkingClock) -> None:
    match event:
        case ThinkingStarted():
            tell(book, live, live.transcript.pause())
            clock.start()
        case ThinkingDelta():
            if summary := live.transcript.think(event.text):
                book.think(live, summary)
        case ThinkingDone():
            clock.stop()
            book.think(live, live.transcript.thought(event.block))


def begin(book: Journal, live: LiveReply, started: ToolStarted) -> InputWatcher:
    tool = registered().get(started.name)
    text = tool.doing if tool else "Working"
    book.append(live, "tool.started", {"id": started.id, "name": started.name, "text": text})
    return InputWatcher(id=started.id, streamed=tool.streamed if tool else "")


def show(book: Journal, live: LiveReply, data: ToolDeltaData | None) -> None:
    if data:
        book.append(live, "tool.delta", data)


def tell(book: Journal, live: LiveReply, text: str) -> None:
    if not text:
        return
    if live.silent:
        book.append(live, "tool.delta", {"id": TEXT, "text": text})
    else:
        book.say(live, text)


async def run_tools(
    book: Journal, live: LiveReply, calls: list[ToolCalled], *, call: ToolContext, offered: set[str]
) -> None:
    """Run the calls one after the other. Each gets a result, whatever happens, so that the model can go on."""
    if not calls:
        return
    results = []
    for called in calls:
        with telemetry.listener.tool(called.name, called.id) as step:
            done = await in_database(running.run)(called.name, called.input, call, offered=offered)
            if done.is_error:
                step.failed("tool_error")
        result = done.result
        if result.artifact:
            live.transcript.artifacts.append(result.artifact)
        data: ToolFinishedData = {
            "id": called.id,
            "name": called.name,
            "text": result.summary,
            "is_error": done.is_error,
            "artifact": result.artifact,
        }
        book.append(live, "tool.finished", data)
        log.info(
            "tool ran",
            extra={"reply": str(live.id), "tool": called.name, "is_error": done.is_error},
        )
        results.append(result_block(called.id, running.shortened(result.text), is_error=done.is_error))
    live.transcript.answer(results)
