"""A conversation in the terminal: what is typed goes the same way as from a browser, and the reply is printed as it comes."""

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User

from conversations import replies, threads
from conversations.context.reasons import Reason
from conversations.context.record import snapshot_api
from conversations.mcp_client import permissions
from conversations.models import ContextSnapshot, McpCall, Message
from conversations.models.mcp import JOINT
from conversations.replies.events import Event
from conversations.runtime.db import in_database
from conversations.runtime.text import one_line, shortened
from conversations.threads import paths

COMMANDS = {"/edit", "/versions"}
"""What is no message where it is typed."""
EDIT_HELP = "/edit TEXT says your last message in other words; both versions stay."
VERSION_CHARS = 100
ANSWERS = {
    "o": McpCall.Answer.ONCE,
    "t": McpCall.Answer.THREAD,
    "a": McpCall.Answer.ALWAYS,
    "n": McpCall.Answer.NO,
}
"""What may be typed to a question; all else is a no."""
QUESTION = "Allow it? [o]nce, in this [t]hread, [a]lways, [n]o: "
GO_ON = "Yes, go ahead."
"""What lets the model make a call that was allowed."""
CUT_SHORT = {
    "reply.stopped": "Stopped. The text so far is kept.",
    "reply.interrupted": "Interrupted. The text so far is kept.",
}


@dataclass(kw_only=True)
class Conversation:
    """``thread`` is ``None`` until a first message has opened one. ``model`` is the one of each message. ``write`` prints a
    text, ``note`` a line about it. ``questions`` are ids of the calls of tools that wait for the person's
    answer since the last reply."""

    user: User
    assistant: str | None
    model: str = ""
    thread: uuid.UUID | None
    temporary: bool = False
    shows_context: bool
    write: Callable[[str], None]
    note: Callable[[str], None]
    questions: list[str] = field(default_factory=list)
    _summary: str = ""
    _seconds: int = 0

    async def enter(self, line: str) -> bool:
        """A typed line: a message, or one of the commands. Raises as ``say`` does."""
        command, _, text = line.strip().partition(" ")
        if command not in COMMANDS or self.thread is None:
            return await self.say(line)
        last = await in_database(self._last_message)()
        if command == "/edit" and text.strip():
            return await self.say(text.strip(), edits=str(last.id))
        told = EDIT_HELP if command == "/edit" else await in_database(self._versions)(last, text.strip())
        for each in told.splitlines():
            self.note(each)
        return True

    def _last_message(self) -> Message:
        """The newest of the person's on the active path: there is one, as a message opened the thread."""
        assert self.thread
        turns = threads.messages_of(threads.get(self.user, self.thread))
        return turns.filter(role=Message.Role.USER).order_by("-depth")[0]

    def _versions(self, last: Message, number: str) -> str:
        """The versions of a message, or which one is the active one now."""
        versions = paths.versions([last])[last.id]
        numbered = dict(enumerate(versions.ids, versions.first))
        if number.isdecimal() and (chosen := numbered.get(int(number))):
            paths.activate(self.user, last.thread_id, chosen)
            return f"Version {number} of {versions.count}: {threads.message_of(self.user, chosen).text}"
        lines = [f"{'*' if id == last.id else ' '} {place}  {self._beginning(id)}" for place, id in numbered.items()]
        return "\n".join([*lines, "/versions NUMBER goes to one."] if len(lines) > 1 else [*lines, EDIT_HELP])

    def _beginning(self, message_id: uuid.UUID) -> str:
        return shortened(one_line(threads.message_of(self.user, message_id).text), VERSION_CHARS)

    async def say(self, text: str, edits: str | None = None) -> bool:
        """Send it and print the reply; to cancel this stops the reply. Returns whether it was completed. ``edits`` is the id of
        the message that it is another version of.

        Raises an ``OpenbookError`` that says what to do; then nothing is stored.
        """
        assistant = None if self.thread else self.assistant
        self.questions.clear()
        opened = await replies.start(
            user=self.user,
            thread_id=self.thread,
            content=text,
            assistant=assistant,
            model=self.model,
            temporary=self.temporary,
            edits=edits,
        )
        self.thread = opened.thread.id
        printing = asyncio.create_task(self._print(opened.reply.id))
        try:
            return await asyncio.shield(printing)
        except asyncio.CancelledError:
            await replies.stop(user=self.user, reply_id=opened.reply.id)
            return await printing

    async def describe_questions(self) -> None:
        """Say what the calls that wait would send."""
        for line in await in_database(self._question_lines)():
            self.note(line)

    def _question_lines(self) -> list[str]:
        calls = [permissions.get(self.user, id) for id in self.questions]
        return [
            f"{call.tool.server.name}{JOINT}{call.tool.name} may change something. It would be sent: "
            f"{json.dumps(permissions.input_of(call), ensure_ascii=False)}"
            for call in calls
        ]

    async def answer(self, answers: Mapping[str, str]) -> bool:
        """What was typed to each question. Returns whether something is allowed now, so that the model may go on."""
        choices = {id: ANSWERS.get(typed.strip().lower()[:1], McpCall.Answer.NO) for id, typed in answers.items()}
        await in_database(self._store)(choices)
        self.questions.clear()
        return any(choice != McpCall.Answer.NO for choice in choices.values())

    def _store(self, choices: Mapping[str, McpCall.Answer]) -> None:
        for id, choice in choices.items():
            permissions.answer(permissions.get(self.user, id), choice)

    async def _print(self, reply_id: uuid.UUID) -> bool:
        completed = False
        async for event in replies.follow(reply_id):
            await self._show(event)
            if event.type == "tool.finished" and event.data["question"]:
                self.questions.append(event.data["question"])
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
