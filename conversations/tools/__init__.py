"""What a model may do beside writing: ``TOOLS`` of the settings lists the tools, which lie in the apps of their subjects."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from conversations.accounts.group_access import ALL, Access
from conversations.context.render.tool_sections import NO_TOOLS, ToolTexts
from conversations.context.server_tools import FIND_TOOLS
from conversations.models import Assistant
from conversations.providers import Provider, model_of
from conversations.tools.base import Tool


@cache
def registered() -> dict[str, Tool]:
    """All tools by name."""
    return _at(settings.TOOLS)


def known() -> dict[str, Tool]:
    """With those that the operator has not switched on."""
    return _at([*settings.TOOLS, *settings.SWITCHED_TOOLS])


def _at(paths: Iterable[str]) -> dict[str, Tool]:
    tools: list[Tool] = [import_string(path) for path in paths]
    return {tool.name: tool for tool in tools}


def tools_for(assistant: Assistant, provider: Provider, model: str = "", access: Access = ALL) -> ToolTexts:
    """What an assistant's tools add to its requests, where the provider and the model take any: the assistant's own unless one
    is named, and those that the person's groups allow. In the registry's order: the same set gives the same request. Tools that
    read files only where there are some."""
    row = provider.describe(model or model_of(assistant, provider))
    if not (provider.calls_tools and row.takes_tools):
        return NO_TOOLS
    allowed = [tool for name, tool in registered().items() if name in assistant.tools and access.allows_tool(name)]
    tools = [tool for tool in allowed if tool.name != FIND_TOOLS]  # it comes with what it finds
    without = [tool for tool in tools if not tool.reads_files]
    return replace(
        _texts(without),
        with_files=_texts(tools) if len(without) < len(tools) else None,
        uses_servers=len(tools) < len(allowed),
    )


def _texts(tools: Sequence[Tool]) -> ToolTexts:
    return ToolTexts(
        definitions=[tool.definition() for tool in tools],
        rules="\n\n".join(tool.rules for tool in tools if tool.rules),
    )
