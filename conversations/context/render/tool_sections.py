"""What tools, and the program that stands before the model, add to a request. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conversations.context.rules.fitting import CALLER, PROGRAM, TOOLS, Section
from conversations.providers.caller_fields import CallerFields
from conversations.runtime.values import dataclass

HIDDEN_TOKENS = 350
"""What the API writes into the system text by itself where tools are given, by its documentation."""


@dataclass(frozen=True, kw_only=True)
class ToolTexts:
    """Definitions as the Messages API takes them, and what the system text says about using them (layers 1 and 2 of F9).
    ``with_files`` are those in a thread that has files, where they are others. ``uses_servers``: tools of connected servers
    are offered beside these."""

    definitions: Sequence[Mapping[str, Any]] = ()
    rules: str = ""
    with_files: "ToolTexts | None" = None
    uses_servers: bool = False


NO_TOOLS = ToolTexts()


def tools_section(definitions: Sequence[Mapping[str, Any]]) -> Section:
    section = Section.of(TOOLS, json.dumps(definitions, ensure_ascii=False, separators=(",", ":")))
    return replace(section, tokens=section.tokens + HIDDEN_TOKENS)


def caller_section(fields: CallerFields, *, beside_tools: bool) -> Section | None:
    """``beside_tools``: what the API writes by itself where there are tools is counted with others already."""
    if not fields.text:
        return None
    section = Section.of(CALLER, fields.text)
    hidden = HIDDEN_TOKENS if fields.tools and not beside_tools else 0
    return replace(section, tokens=section.tokens + hidden)


def program_section(program: Mapping[str, object] | None) -> Section | None:
    """Its tokens are those of what it adds, not of the account of it."""
    if program is None:
        return None
    tokens = program.get("adds_tokens", 0)
    assert isinstance(tokens, int)
    return Section(name=PROGRAM, text=json.dumps(program, ensure_ascii=False), tokens=tokens)
