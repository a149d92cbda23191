"""The model looks at tools of connected servers, of which a request names too many to define them."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from conversations.context.server_tools import FIND, ServerTool
from conversations.mcp_client.servers import offered_to
from conversations.tools.base import Tool, ToolContext, ToolResult

MOST = 5
"""Definitions that one call gives."""
WORD = re.compile(r"[^\W_]+")


def run(call: ToolContext, input: Mapping[str, Any]) -> ToolResult:
    rows = offered_to(call.user_id).select_related("server").order_by("-server__for_all", "server__name", "name")
    tools = [
        ServerTool(
            id=str(row.id),
            server=row.server.name,
            name=row.name,
            description=row.description,
            schema=json.dumps(row.schema),
            unchanged=True,
        )
        for row in rows
    ]
    found = best(tools, input["query"])
    text = json.dumps([tool.definition for tool in found], ensure_ascii=False)
    return ToolResult(
        text=text if found else "No tool of a connected server bears on that.",
        summary=f"Looked at {', '.join(tool.full_name for tool in found)}" if found else "No tool found",
    )


def best(tools: Sequence[ServerTool], query: str) -> list[ServerTool]:
    """Those that share most words with the query, one that is called so first. Pure."""
    wanted = _words(query)

    def score(tool: ServerTool) -> int:
        if query.strip() == tool.full_name:
            return 1_000
        return 3 * len(wanted & _words(tool.full_name)) + len(wanted & _words(tool.description))

    ranked = sorted(tools, key=score, reverse=True)
    return [tool for tool in ranked[:MOST] if score(tool)]


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.casefold()))


TOOL = Tool(
    name=FIND["name"],
    description=FIND["description"],
    schema=FIND["input_schema"],
    run=run,
    doing="Looking for a tool",
)
