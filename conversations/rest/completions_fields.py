"""What a body of the Chat Completions API asks for beside its messages, and how it writes calls of tools. Pure."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from conversations.errors import InvalidMessage
from conversations.providers.caller_fields import CallerFields
from conversations.rest.messages_fields import MOST_TOOLS, chosen, definition, schema_of, stops_of

Json = dict[str, Any]

CHOICES = {None: "auto", "auto": "auto", "none": "none", "required": "any"}
"""Of tools, as the Messages API calls them."""


type Described = Callable[[Any], Any]
"""What a tool, or the choice of one, says of its function: each API of OpenAI has it elsewhere. ``None``: it is no function."""


def fields_of(body: Json) -> CallerFields:
    """Raises ``InvalidMessage``."""
    tools, stop = tools_of(body.get("tools"), _described, wrong="with a `function`"), body.get("stop")
    parallel = is_parallel(body, tools)
    schema, strict = _format(body.get("response_format"))
    fields = CallerFields(
        tools=tools,
        parallel=parallel,
        stop_sequences=stops_of([stop] if isinstance(stop, str) else stop, "stop"),
        format=schema,
        strict=strict,
    )
    return with_choice(fields, body.get("tool_choice"), _described)


def _described(tool: Any) -> Any:
    match tool:
        case {"type": "function", "function": function}:
            return function
    return None


def is_parallel(body: Json, tools: Sequence[Json]) -> bool:
    """Whether several may be called at once. Raises ``InvalidMessage``."""
    parallel = body.get("parallel_tool_calls")
    if not isinstance(parallel, bool | None):
        raise InvalidMessage("`parallel_tool_calls` must be true or false.", field="parallel_tool_calls")
    return parallel is not False or not tools


def with_choice(fields: CallerFields, choice: Any, described: Described) -> CallerFields:
    """Raises ``InvalidMessage``."""
    match choice:
        case None | "auto" | "none" | "required":
            return chosen(fields, CHOICES[choice], None)
    match described(choice):
        case {"name": str(name)}:
            return chosen(fields, "tool", name)
    raise InvalidMessage("`tool_choice` must be none, auto, required or a function by its name.", field="tool_choice")


def tools_of(tools: Any, described: Described, *, wrong: str) -> tuple[Json, ...]:
    """Functions as definitions of the Messages API; ``wrong`` says how they have to be beside their type. Raises
    ``InvalidMessage``."""
    if tools is None:
        return ()
    if not isinstance(tools, list) or len(tools) > MOST_TOOLS:
        raise InvalidMessage(f"`tools` must be a list of at most {MOST_TOOLS} functions.", field="tools")
    return tuple(_function(described(tool), f"tools[{place}]", wrong) for place, tool in enumerate(tools))


def _function(function: Any, place: str, wrong: str) -> Json:
    match function:
        case {"name": name, **more}:
            schema = more.get("parameters") or {"type": "object", "properties": {}}
            return definition(place, name, more.get("description"), schema, strict=more.get("strict"))
    raise InvalidMessage(f"`{place}` must be of the type function, {wrong}.", field="tools")


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
