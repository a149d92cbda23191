"""What every request must fulfil, or the model is not called. The last look before money is spent and an answer is given."""

from collections.abc import Iterator, Mapping
from typing import Any

from conversations.providers.base import Payload
from conversations.providers.request_parts import in_messages_api


class BrokenInvariant(Exception):
    """A request that must not be sent. ``rule`` is stable and machine-readable, the message says what to do."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


def check(payload: Payload, *, newest: str, total_tokens: int, hard_cap: int, go_on: str = "") -> None:
    """Raises ``BrokenInvariant`` for the first rule that is broken. ``newest`` is the text of the message to answer, ``go_on``
    are words of Openbook's that may follow it."""
    for rule, message in broken(payload, newest=newest, total_tokens=total_tokens, hard_cap=hard_cap, go_on=go_on):
        raise BrokenInvariant(rule, message)


def broken(
    payload: Payload, *, newest: str, total_tokens: int, hard_cap: int, go_on: str = ""
) -> Iterator[tuple[str, str]]:
    request = in_messages_api(payload)
    messages = request["messages"]
    if not any(block["text"].strip() for block in request["system"]):
        yield (
            "system_prompt",
            "The assistant has no system prompt. Whoever runs this Openbook can write one in the admin.",
        )
    question = next((message for message in reversed(messages) if _asks(message, go_on=go_on)), None)
    if question is None or not _asks(question, newest):
        yield "newest_message", "The newest message is missing from the request."
    roles = [message["role"] for message in messages]
    if roles != [("user", "assistant")[index % 2] for index in range(len(roles))] or roles[-1:] != ["user"]:
        yield "roles", "The turns of the request do not alternate between user and assistant, from user to user."
    if not all(message["content"] for message in messages):
        yield "empty_turn", "A turn of the request is empty."
    if orphans := list(_orphans(messages)):
        yield "tool_pairs", f"Half of a tool call stands alone in the request: {', '.join(orphans[:3])}."
    if total_tokens > hard_cap:
        yield (
            "hard_cap",
            f"The request would take about {total_tokens:,} tokens, more than the hard cap of {hard_cap:,}. "
            "Whoever runs this Openbook can shorten the assistant's system prompt or raise the cap.",
        )


def _asks(message: Mapping[str, Any], newest: str = "", *, go_on: str = "") -> bool:
    """Whether it is a message in words, with these words whole in it. What follows it are rounds of tool calls and results."""
    texts = [block["text"] for block in message["content"] if block["type"] == "text" and block["text"] != go_on]
    says = texts or any(block["type"] == "document" for block in message["content"])
    return message["role"] == "user" and bool(says) and newest in "\n\n".join(texts)


def _orphans(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Ids of tool calls without a result in the next turn, and of results without their call in the turn before."""
    waiting: set[str] = set()
    for message in messages:
        results = {block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"}
        yield from sorted(waiting ^ results)
        waiting = {block["id"] for block in message["content"] if block["type"] == "tool_use"}
    yield from sorted(waiting)
