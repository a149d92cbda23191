"""What a model may do beside writing: each file here that has a ``TOOL`` is one. A new tool is one more file."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from conversations.context.tool_sections import NO_TOOLS, ToolTexts
from conversations.models import Assistant
from conversations.providers import Provider, model_catalog, model_of
from conversations.tools.base import Tool


@cache
def registered() -> dict[str, Tool]:
    """All tools by name."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    tools: list[Tool] = [module.TOOL for module in modules if hasattr(module, "TOOL")]
    return {tool.name: tool for tool in tools}


def tools_for(assistant: Assistant, provider: Provider) -> ToolTexts:
    """What an assistant's tools add to its requests, where its provider and its model take any. In the registry's order: the
    same set gives the same request."""
    if not (provider.calls_tools and model_catalog.get(provider.name, model_of(assistant, provider)).takes_tools):
        return NO_TOOLS
    tools = [tool for name, tool in registered().items() if name in assistant.tools]
    return ToolTexts(
        definitions=[tool.definition() for tool in tools],
        rules="\n\n".join(tool.rules for tool in tools if tool.rules),
    )
