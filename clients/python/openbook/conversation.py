"""A conversation in a terminal: a reply as it is written, and the questions of tools that may change something."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from openbook import calls, types
from openbook.client import Client, ReplyStream
from openbook.progress import Event, MessageOptions

CUT_SHORT = {
    "reply.stopped": "Stopped. The text so far is kept.",
    "reply.interrupted": "Interrupted. The text so far is kept.",
}
ANSWERS: dict[str, types.McpCallAnswerAnswerEnum] = {"o": "once", "t": "thread", "a": "always", "n": "no"}
QUESTION = "Allow it? [o]nce, in this [t]hread, [a]lways, [n]o: "
GO_ON = "Yes, go ahead."
"""What lets the model make a call that was allowed."""
CONTROLS = {code: None for code in [*range(32), *range(127, 160)] if chr(code) not in "\n\t"}
"""What would command the terminal."""


def printable(text: str | None) -> str:
    return (text or "").translate(CONTROLS)


@dataclass(kw_only=True)
class Conversation:
    """``write`` prints a text, ``note`` a line about it. ``ask`` asks its person and gives what they type; ``None``: there is
    nobody to ask. ``thread`` is ``None`` until a first message has opened one."""

    client: Client
    thread: str | None
    options: MessageOptions
    write: Callable[[str], None]
    note: Callable[[str], None]
    ask: Callable[[str], str] | None

    def say(self, text: str) -> bool:
        """Send it and print the reply, and those to what is allowed then; Ctrl-C stops the reply. Returns whether the last
        one was completed. Raises an ``OpenbookError``."""
        options = self.options if self.thread is None else without_thread(self.options)
        stream = self.client.stream(text, self.thread, **options)
        completed = self.show(stream)
        may_go_on = [self._allows(call) for call in stream.questions]
        return self.say(GO_ON) if any(may_go_on) else completed

    def show(self, stream: ReplyStream) -> bool:
        """Print it. Returns whether it was completed."""
        shown = Shown(self.write, self.note)
        events = iter(stream)
        while True:
            try:
                for event in events:
                    shown.take(event)
                break
            except KeyboardInterrupt:
                if not stream.reply:
                    raise
                self.client.send(calls.replies_stop_create(stream.reply))
                events = iter(self.client.resume(stream.reply, stream.seq))
        self.thread = stream.thread or self.thread
        return shown.is_completed

    def _allows(self, call_id: str) -> bool:
        """Ask the person whether a call may be made."""
        call = waiting_call(self.client, call_id)
        if call is None:
            return False
        self.note(f"{printable(call['tool'])} may change something, and waits for your permission. It would be sent:")
        self.note(printable(json.dumps(input_of(self.client, call), indent=2, ensure_ascii=False)))
        if self.ask is None:
            self.note(f"Answer with: openbook answer {call_id} once|thread|always|no")
            return False
        answer = ANSWERS.get(self.ask(QUESTION).strip().lower()[:1], "no")
        self.client.send(calls.mcp_calls_answer_create(call_id, {"answer": answer}))
        return answer != "no"


class Shown:
    """What of a reply stands in the terminal."""

    def __init__(self, write: Callable[[str], None], note: Callable[[str], None]) -> None:
        self.write, self.note = write, note
        self.is_completed = False
        self._seconds = 0

    def take(self, event: Event) -> None:
        data = event["data"]
        match event["type"]:
            case "reply.thinking":
                if not self._seconds and data["seconds"]:
                    self.note("Thinking …")
                self._seconds = data["seconds"]
            case "reply.delta":
                self.write(printable(data["text"]))
            case "tool.started":
                self.note(data["text"])
            case "reply.completed":
                self.is_completed = True
                self.write("\n")
            case "reply.failed":
                self.note(data["error"]["message"])
            case "reply.stopped" | "reply.interrupted":
                self.note(CUT_SHORT[event["type"]])


def without_thread(options: MessageOptions) -> MessageOptions:
    """Those of a message in a thread that is there."""
    kept: Any = {
        name: value
        for name, value in options.items()
        if name not in ("assistant", "thread_model", "project", "temporary")
    }
    return kept  # type: ignore[no-any-return]


def waiting_call(client: Client, call_id: str) -> types.McpCallAnswer | None:
    return next((call for call in client.all(calls.mcp_calls_list()) if call["id"] == call_id), None)


def input_of(client: Client, call: types.McpCallAnswer) -> Any:
    """What the model would send; ``None`` where the turn is gone."""
    turns = client.send(calls.threads_messages_list(call["thread"], before="end"))["results"]
    blocks = [block for turn in turns for block in turn["content"]]
    return next((block["input"] for block in blocks if block.get("id") == call["call_id"]), None)


def context_lines(body: types.SnapshotAnswer) -> Iterator[str]:
    """What a model request was given, section by section, and what was left out and why."""
    yield f"Given {body['total_tokens']:,} of {body['budget']:,} tokens, by {body['model']}, request {body['id']}:"
    for section in body["sections"]:
        yield f"{section['tokens']:>9,}  {section['name'].replace('_', ' ')}"
    for fate in body["fates"]:
        if not fate["included"]:
            yield f"           left out: {printable(fate['what'])}, {printable(fate['why'])}"


def newest_request(client: Client, thread: str) -> types.SnapshotAnswer | None:
    requests = client.send(calls.threads_requests_list(thread, page_size=1))["results"]
    return client.send(calls.requests_get(str(requests[0]["id"]))) if requests else None


def newest_thread(client: Client) -> types.ThreadAnswer | None:
    return next(iter(client.send(calls.threads_list(page_size=1))["results"]), None)
