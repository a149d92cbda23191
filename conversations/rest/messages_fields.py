"""What a body of the Messages API asks for beside its messages: the program's tools, texts to stop at, a format. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from conversations.errors import InvalidMessage
from conversations.providers.caller_fields import CallerFields
from conversations.runtime.text import clean, clean_deep

Json = dict[str, Any]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST_TOOLS, MOST_STOPS = 256, 16
WITHOUT_EFFECT: Mapping[str, Sequence[Any]] = {
    "type": ["custom"],
    "cache_control": [],
    "eager_input_streaming": [True, False],
    "defer_loading": [False],
    "allowed_callers": [["direct"]],
}
"""Of a definition, with the values that change nothing; ``cache_control`` may have any."""
MEMORY_TYPE = "memory_20250818"
PATH = {"type": "string", "description": "Begins with /memories."}
MEMORY: Json = {
    "name": "memory",
    "description": (
        "Files under /memories that stay from one conversation to the next. `view` lists a directory or shows a file, or the "
        "lines of it that view_range names, [first, last]; `create` writes a file with file_text; `str_replace` replaces the "
        "one old_str by new_str; `insert` puts insert_text after the line insert_line; `delete` removes a file or directory; "
        "`rename` moves old_path to new_path. Look at /memories before you begin, and write down what you will need later."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
            "path": PATH,
            "view_range": {"type": "array", "items": {"type": "integer"}},
            "file_text": {"type": "string"},
            "old_str": {"type": "string"},
            "new_str": {"type": "string"},
            "insert_line": {"type": "integer"},
            "insert_text": {"type": "string"},
            "old_path": PATH,
            "new_path": PATH,
        },
        "required": ["command"],
    },
}
"""The memory tool of the Messages API as any other: what it stores is the program's, in files of its own."""


def fields_of(body: Json) -> CallerFields:
    """Raises ``InvalidMessage``."""
    tools = tools_of(body.get("tools"))
    choice = body.get("tool_choice") or {}
    if not isinstance(choice, dict) or choice.get("type") not in (None, "auto", "any", "tool", "none"):
        raise InvalidMessage("`tool_choice.type` must be auto, any, tool or none.", field="tool_choice")
    serial = choice.get("disable_parallel_tool_use") or False
    if not isinstance(serial, bool):
        raise InvalidMessage("`disable_parallel_tool_use` must be true or false.", field="tool_choice")
    return chosen(
        CallerFields(
            tools=tools,
            parallel=not serial or not tools,
            stop_sequences=stops_of(body.get("stop_sequences"), "stop_sequences"),
            format=_format(body),
        ),
        choice.get("type") or "auto",
        choice.get("name"),
    )


def chosen(fields: CallerFields, kind: str, name: Any) -> CallerFields:
    """With which of the tools are to be called: ``auto``, ``any``, ``none`` or the ``tool`` of this name. Raises
    ``InvalidMessage``."""
    if kind == "none":  # what may not be called takes no room of the context
        return CallerFields(stop_sequences=fields.stop_sequences, format=fields.format, strict=fields.strict)
    if kind == "auto":
        return fields
    if not fields.tools or (kind == "tool" and name not in fields.names):
        raise InvalidMessage("`tool_choice` names a tool that is not among `tools`.", field="tool_choice")
    values = {"choice": kind} | ({"tool": name} if kind == "tool" else {})
    return CallerFields(**{**vars(fields), **values})


def tools_of(tools: Any) -> tuple[Json, ...]:
    """Definitions as the Messages API has them. Raises ``InvalidMessage``."""
    if tools is None:
        return ()
    if not isinstance(tools, list) or len(tools) > MOST_TOOLS:
        raise InvalidMessage(f"`tools` must be a list of at most {MOST_TOOLS} definitions.", field="tools")
    defined = tuple(_tool(tool, f"tools[{place}]") for place, tool in enumerate(tools))
    names = [tool["name"] for tool in defined]
    if len({*names}) < len(names):
        raise InvalidMessage("Two of `tools` have the same name.", field="tools")
    return defined


def _tool(tool: Any, place: str) -> Json:
    if not isinstance(tool, dict):
        raise InvalidMessage(f"`{place}` must be an object with `name` and `input_schema`.", field="tools")
    if tool.get("type") == MEMORY_TYPE:
        return MEMORY
    if tool.get("type") not in (None, "custom"):
        raise InvalidMessage(
            f"`{place}` is of type {str(tool['type'])[:60]!r}: here are tools that the program itself runs and defines, with "
            f"`name`, `description` and `input_schema`, and {MEMORY_TYPE}. What runs on the server is the assistant's.",
            field="tools",
        )
    for name, value in tool.items():
        known = name in ("name", "description", "input_schema", "strict", "cache_control")
        if not known and value is not None and value not in WITHOUT_EFFECT.get(name, ()):
            raise InvalidMessage(f"Leave `{place}.{name[:60]}` out: it is not supported here.", field="tools")
    return definition(
        place, tool.get("name"), tool.get("description"), tool.get("input_schema"), strict=tool.get("strict")
    )


def definition(place: str, name: Any, description: Any, schema: Any, *, strict: Any) -> Json:
    """Raises ``InvalidMessage``."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidMessage(f"`{place}` must have a name of at most 64 letters, digits, _ and -.", field="tools")
    if not isinstance(description, str | None) or not isinstance(strict, bool | None):
        raise InvalidMessage(f"`{place}`: `description` must be a text, `strict` true or false.", field="tools")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise InvalidMessage(f"`{place}` must have a JSON Schema of the type `object` for its input.", field="tools")
    defined: Json = {"name": name, "description": description or "", "input_schema": schema}
    said = {key: value for key, value in defined.items() if value != ""} | ({"strict": True} if strict else {})
    cleaned: Json = clean_deep(said)
    return cleaned


def stops_of(stops: Any, name: str) -> tuple[str, ...]:
    """Raises ``InvalidMessage``."""
    if stops is None:
        return ()
    if not isinstance(stops, list) or len(stops) > MOST_STOPS or not all(isinstance(stop, str) for stop in stops):
        raise InvalidMessage(f"`{name}` must be a list of at most {MOST_STOPS} texts.", field=name)
    return tuple(map(clean, stops))


def schema_of(schema: Any, name: str) -> Json:
    """Raises ``InvalidMessage``."""
    if not isinstance(schema, dict) or not schema:
        raise InvalidMessage(f"`{name}` must have a JSON Schema.", field=name)
    cleaned: Json = clean_deep(schema)
    return cleaned


def _format(body: Json) -> Json:
    config = body.get("output_config") or {}
    if not isinstance(config, dict):
        raise InvalidMessage("`output_config` must be an object.", field="output_config")
    for name, value in config.items():
        if name != "format" and value is not None:
            raise InvalidMessage(
                f"Leave `{name[:60]}` of `output_config` out: the assistant decides.", field="output_config"
            )
    name = "output_config" if config.get("format") is not None else "output_format"
    wanted = config.get("format") if name == "output_config" else body.get("output_format")
    if wanted is None:
        return {}
    if not isinstance(wanted, dict) or wanted.get("type") != "json_schema":
        raise InvalidMessage(f"The format of `{name}` must be of the type json_schema.", field=name)
    return schema_of(wanted.get("schema"), name)


def thinking_of(thinking: Any) -> int | None:
    """The tokens that may be thought: 0 for none, ``None`` for as many as the assistant says. Raises ``InvalidMessage``."""
    match thinking:
        case {"type": "disabled"}:
            return 0
        case {"type": "enabled", "budget_tokens": int(budget)} if budget >= 1_024:
            return budget
        case None | {"type": "adaptive"}:
            return None
    raise InvalidMessage(
        "`thinking` must be disabled, adaptive, or enabled with `budget_tokens` of 1,024 or more: how a model thinks beside "
        "that is the assistant's to say.",
        field="thinking",
    )
