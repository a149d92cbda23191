"""What a body of the Chat Completions API asks for beside its messages, and how it writes calls of tools. Pure."""

import json
from typing import Any

from conversations.errors import InvalidMessage
from conversations.providers.caller_fields import CallerFields
from conversations.rest.messages_fields import MOST_TOOLS, chosen, definition, schema_of, stops_of

Json = dict[str, Any]

CHOICES = {None: "auto", "auto": "auto", "none": "none", "required": "any"}
"""Of tools, as the Messages API calls them."""


def fields_of(body: Json) -> CallerFields:
    """Raises ``InvalidMessage``."""
    tools, stop = tools_of(body.get("tools")), body.get("stop")
    parallel = body.get("parallel_tool_calls")
    if not isinstance(parallel, bool | None):
        raise InvalidMessage("`parallel_tool_calls` must be true or false.", field="parallel_tool_calls")
    schema, strict = _format(body.get("response_format"))
    fields = CallerFields(
        tools=tools,
        parallel=parallel is not False or not tools,
        stop_sequences=stops_of([stop] if isinstance(stop, str) else stop, "stop"),
        format=schema,
        strict=strict,
    )
    match body.get("tool_choice"):
        case None | "auto" | "none" | "required" as choice:
            return chosen(fields, CHOICES[choice], None)
        case {"type": "function", "function": {"name": str(name)}}:
            return chosen(fields, "tool", name)
    raise InvalidMessage("`tool_choice` must be none, auto, required or a function by its name.", field="tool_choice")


def tools_of(tools: Any) -> tuple[Json, ...]:
    """Functions as definitions of the Messages API. Raises ``InvalidMessage``."""
    if tools is None:
        return ()
    if not isinstance(tools, list) or len(tools) > MOST_TOOLS:
        raise InvalidMessage(f"`tools` must be a list of at most {MOST_TOOLS} functions.", field="tools")
    return tuple(_function(tool, f"tools[{place}]") for place, tool in enumerate(tools))


def _function(tool: Any, place: str) -> Json:
    match tool:
        case {"type": "function", "function": {"name": name, **more}}:
            schema = more.get("parameters") or {"type": "object", "properties": {}}
            return definition(place, name, more.get("description"), schema, strict=more.get("strict"))
    raise InvalidMessage(f"`{place}` must be of the type function, with a `function`.", field="tools")


def calls_of(calls: Any) -> list[Json]:
    """The calls of a message as blocks of the Messages API, those alone that can be read."""
    return [block for call in calls or () if isinstance(call, dict) and (block := _call(call))]


def _call(call: Json) -> Json | None:
    match call:
        case {"id": str(id), "function": {"name": str(name), "arguments": str(arguments)}}:
            try:
                input = json.loads(arguments or "{}")
            except ValueError:
                return None
            return {"type": "tool_use", "id": id, "name": name, "input": input}
    return None


def tool_call(block: Json) -> Json:
    """A call as a message holds it."""
    arguments = json.dumps(block["input"], ensure_ascii=False)
    return {"id": block["id"], "type": "function", "function": {"name": block["name"], "arguments": arguments}}


def _format(wanted: Any) -> tuple[Json, bool]:
    match wanted:
        case None | {"type": "text"}:
            return {}, True
        case {"type": "json_schema", "json_schema": {"schema": schema, **more}}:
            return schema_of(schema, "response_format"), bool(more.get("strict"))
    raise InvalidMessage(
        "`response_format` must be text, or json_schema with a `schema`: what is to be JSON without one can be asked for in "
        "words.",
        field="response_format",
    )
