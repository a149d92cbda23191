"""A conversation in the terminal: what is typed goes the same way as from a browser, and the reply is printed as it comes."""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User

from conversations import replies
from conversations.context.reasons import Reason
from conversations.context.record import snapshot_api
from conversations.models import ContextSnapshot
from conversations.replies.events import Event
from conversations.runtime.db import in_database

CUT_SHORT = {
    "reply.stopped": "Stopped. The text so far is kept.",
    "reply.interrupted": "Interrupted. The text so far is kept.",
}


@dataclass(kw_only=True)
class Conversation:
    """``thread`` is ``None`` until a first message has opened one. ``model`` is the one of each message. ``write`` prints a
    text, ``note`` a line about it."""

    user: User
    assistant: str | None
    model: str = ""
    thread: uuid.UUID | None
    temporary: bool = False
    shows_context: bool
    write: Callable[[str], None]
    note: Callable[[str], None]
    _summary: str = ""
    _seconds: int = 0

    async def say(self, text: str) -> bool:
        """Send it and print the reply; to cancel this stops the reply. Returns whether it was completed.

        Raises an ``OpenbookError`` that says what to do; then nothing is stored.
        """
        assistant = None if self.thread else self.assistant
        opened = await replies.start(
            user=self.user,
            thread_id=self.thread,
            content=text,
            assistant=assistant,
            model=self.model,
            temporary=self.temporary,
        )
        self.thread = opened.thread.id
        printing = asyncio.create_task(self._print(opened.reply.id))
        try:
            return await asyncio.shield(printing)
        except asyncio.CancelledError:
            await replies.stop(user=self.user, reply_id=opened.reply.id)
            return await printing

    async def _print(self, reply_id: uuid.UUID) -> bool:
        completed = False
        async for event in replies.follow(reply_id):
            await self._show(event)
            completed = event.type == "reply.completed"
        return completed

    async def _show(self, event: Event) -> None:
        if event.type != "reply.thinking":
            self._end_thought()
        match event.type:
            case "context.built" if self.shows_context:
                for line in await in_database(context_lines)(self.user, uuid.UUID(event.data["request"])):
                    self.note(line)
            case "reply.thinking":
                self._think(event.data["seconds"], event.data["summary"])
            case "reply.delta":
                self.write(event.data["text"])
            case "tool.started":
                self.note(event.data["text"])
            case "reply.completed":
                self.write("\n")
            case "reply.failed":
                self.note(event.data["error"]["message"])
            case "reply.stopped" | "reply.interrupted":
                self.note(CUT_SHORT[event.type])

    def _think(self, seconds: int, summary: str) -> None:
        if seconds and not self._seconds:
            self.note("Thinking …")
        self._seconds, self._summary = seconds, self._summary + summary

    def _end_thought(self) -> None:
        if summary := self._summary.strip():
            self.note(summary)
        if self._seconds:
            self.note(f"Thought for {self._seconds} s.")
        self._summary, self._seconds = "", 0


def context_lines(user: User, request_id: uuid.UUID) -> list[str]:
    """What a model request was given, section by section, and what was left out and why."""
    body = snapshot_api.body(ContextSnapshot.objects.get(user=user, id=request_id))
    left_out: Counter[str] = Counter()
    for item in body["items"]:
        if not item["included"]:
            left_out[Reason(item["reason"]).label.lower()] += item.get("count", 1)
    return [
        f"Given {body['total_tokens']:,} of {body['budget']:,} tokens, request {body['id']}:",
        *(f"{section['tokens']:>9,}  {section['name'].replace('_', ' ')}" for section in body["sections"]),
        *(f"{count:>9,}  left out: {reason}" for reason, count in left_out.most_common()),
    ]
