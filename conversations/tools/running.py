"""One tool call from the model's input to its result. Whatever goes wrong, the model gets a result to go on with."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any

from conversations.accounts import allowances
from conversations.runtime.db import in_database
from conversations.tools import registered
from conversations.tools.base import Tool, ToolContext, ToolError, ToolResult
from conversations.tools.quotations import note_quotes

log = logging.getLogger("openbook.tools")

LONGEST_RESULT = 40_000
"""Characters of a result that go back to the model."""
LOOKS = 5
"""How often a tool looks while the person forgets, before the model hears of it."""
CUT = "\n[… {count} characters left out here]"


@dataclass(frozen=True, kw_only=True)
class ToolOutcome:
    """What a call came to, and whether it is an error."""

    result: ToolResult
    is_error: bool = False


async def run(name: str, input: Mapping[str, Any] | None, call: ToolContext, *, offered: set[str]) -> ToolOutcome:
    """Run a tool of those that were offered. Never raises."""
    tool = registered().get(name) if name in offered else None
    if tool is None:
        return _failed(f"There is no tool {name!r} here. There are: {', '.join(sorted(offered)) or 'none'}.")
    if input is None:
        return _failed(f"The input of {name} was cut off or is no JSON object. Call it again, with a shorter input.")
    if wrong := complaint(tool.schema, input):
        return _failed(f"The input of {name} is wrong: {wrong}. Call it again.")
    try:
        if iscoroutinefunction(tool.run):
            result = await tool.run(call, input)
        else:
            result = await in_database(_with_noted_quotes)(tool, call, input)
    except ToolError as error:
        return _failed(str(error))
    except Exception:  # a tool that is broken must not break the reply
        log.exception("tool failed", extra={"tool": name, "reply": str(call.reply_id)})
        return _failed(f"{name} failed on the server. Tell the person that it did not work; nothing was stored.")
    return ToolOutcome(result=result)


def _with_noted_quotes(tool: Tool, call: ToolContext, input: Mapping[str, Any]) -> ToolResult:
    """What a tool gives, once it is noted what that quotes. What was forgotten while it looked is quoted to nobody: it looks
    again. Raises ``ToolError``."""
    for _ in range(LOOKS):
        forgettings = allowances.forgettings_of(call.user_id)
        result = tool.run(call, input)
        assert isinstance(result, ToolResult)
        if not result.quoted:
            return result
        if note_quotes(call, result.quoted, forgettings):
            return result
    raise ToolError("Something is being forgotten just now. Call it again in a moment.")


def complaint(schema: Mapping[str, Any], input: Mapping[str, Any]) -> str | None:
    """What is wrong with the input, in a few words that don't repeat it; ``None`` where nothing is."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415  (takes long, and most processes never call a tool)

    error = next(
        iter(sorted(Draft202012Validator(schema).iter_errors(input), key=lambda error: list(error.path))), None
    )
    if error is None:
        return None
    place = ".".join(str(part) for part in error.path)
    wanted = {
        "required": f"{', '.join(sorted(set(schema.get('required', ())) - set(input)))} must be given",
        "type": f"must be of type {error.validator_value}",
        "enum": f"must be one of {', '.join(map(str, error.validator_value))}" if error.validator == "enum" else "",
    }.get(str(error.validator), f"breaks the rule {error.validator}: {json.dumps(error.validator_value)[:200]}")
    return f"`{place}` {wanted}" if place else wanted


def shortened(text: str) -> str:
    if len(text) <= LONGEST_RESULT:
        return text
    return text[:LONGEST_RESULT] + CUT.format(count=f"{len(text) - LONGEST_RESULT:,}")


def _failed(text: str) -> ToolOutcome:
    return ToolOutcome(result=ToolResult(text=text, summary="It did not work"), is_error=True)
