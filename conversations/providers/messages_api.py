"""The parts of a model request, and the body of the Messages API made of them. Pure: the same parts give the same bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conversations.providers.caller_fields import NO_FIELDS, CallerFields
from conversations.providers.cited_documents import CAN_HOLD_DOCUMENTS, with_citations
from conversations.providers.history import definitions_for, types_in, with_ids_once
from conversations.providers.thinking import NO_THINKING, ThinkingPlan, payload_fields


@dataclass(frozen=True, kw_only=True)
class RequestParts:
    """What a provider renders as the body of a request: blocks, messages and tools as the Messages API has them.

    ``tools`` are definitions: name, description, input_schema. ``tool_choice`` is empty for "auto", or ``none`` for an answer
    in words. ``previous_message_id`` is the provider's id of its answer before, so that it can say why its cache missed.
    ``max_tokens`` hold what ``thinking`` has room for. ``program`` is what the provider's own ``program()`` said when the
    request was first made. ``caller`` is what the program that asks wants beside its messages: its tools stand after ``tools``.
    """

    model: str
    max_tokens: int
    system: Sequence[Mapping[str, Any]]
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str = ""
    previous_message_id: str | None = None
    thinking: ThinkingPlan = NO_THINKING
    program: Mapping[str, Any] | None = None
    caller: CallerFields = NO_FIELDS

    @property
    def all_tools(self) -> Sequence[Mapping[str, Any]]:
        return [*self.tools, *self.caller.tools]


def messages_api_payload(parts: RequestParts) -> dict[str, Any]:
    """The exact body for the Messages API, which knows no ``program``."""
    messages, tools, tool_choice = parts.messages, parts.all_tools, parts.tool_choice
    types = types_in(messages)
    if not types.isdisjoint(CAN_HOLD_DOCUMENTS):
        messages = with_citations(messages)
    if "tool_use" in types:
        messages = with_ids_once(messages)
        if not tools:
            tools, tool_choice = definitions_for(messages), "none"
    payload: dict[str, Any] = {
        "model": parts.model,
        "max_tokens": parts.max_tokens,
        "system": [dict(block) for block in parts.system],
        "messages": [dict(message) for message in messages],
        "stream": True,
        **payload_fields(parts.thinking),
    }
    if tools:
        payload["tools"] = [dict(tool) for tool in tools]
    if tool_choice:
        payload["tool_choice"] = {"type": tool_choice}
    elif choice := tool_choice_of(parts.caller):
        payload["tool_choice"] = choice
    if parts.caller.stop_sequences:
        payload["stop_sequences"] = [*parts.caller.stop_sequences]
    if parts.caller.format:
        wanted = {"type": "json_schema", "schema": dict(parts.caller.format)}
        payload["output_config"] = {**payload.get("output_config", {}), "format": wanted}
    if parts.previous_message_id is not None:
        payload["diagnostics"] = {"previous_message_id": parts.previous_message_id or None}
    return payload


def tool_choice_of(caller: CallerFields) -> dict[str, Any]:
    """What a request says of which tools are called; empty where the model decides."""
    if caller.parallel and not caller.choice:
        return {}
    choice: dict[str, Any] = {"type": caller.choice or "auto"}
    if caller.tool:
        choice["name"] = caller.tool
    return choice if caller.parallel else choice | {"disable_parallel_tool_use": True}
