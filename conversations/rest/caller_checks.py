"""Whether an assistant can give what a program asks for beside its messages. What it can't is refused by its name."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from conversations.context.caller_options import CallerOptions
from conversations.context.tokens.estimate import estimate_tokens
from conversations.context.tokens.thinking import plan_for
from conversations.errors import InvalidMessage
from conversations.models import Assistant
from conversations.providers import ProviderError, get_provider, model_of
from conversations.providers.base import Provider
from conversations.replies import fallbacks
from conversations.tools import registered

TOOLS, CHOICE, STOPS, FORMAT, THINKING = "tools", "tool_choice", "stop_sequences", "output_config", "thinking"
"""What may be asked for, by its name in the Messages API."""


class Unmet(NamedTuple):
    name: str
    why: str


def refuse_unmet(assistant: Assistant, options: CallerOptions, *, thinks: bool, names: Mapping[str, str]) -> None:
    """Raises ``InvalidMessage``. ``thinks``: the program asks for thinking; ``names`` are those of another API."""
    if not (options.fields.text or thinks or options.thinking_tokens is not None):
        return
    place = fallbacks.place_of(assistant, options)
    try:
        provider = get_provider(place.provider)
        model = options.model or model_of(assistant, provider)
        unmet = next(_unmet(provider, model, assistant, options, thinks=thinks), None)
    except ProviderError:
        return  # the reply tells what is wrong
    if unmet:
        name = names.get(unmet.name, unmet.name)
        raise InvalidMessage(f"`{name}` can't be honoured: {unmet.why}.", field=name)


def tokens_of(options: CallerOptions) -> int:
    """Estimated, of what a program puts before the turns."""
    return estimate_tokens(options.instructions) + estimate_tokens(options.fields.text)


def _unmet(
    provider: Provider, model: str, assistant: Assistant, options: CallerOptions, *, thinks: bool
) -> Iterator[Unmet]:
    fields, row = options.fields, provider.describe(model)
    if fields.tools and not (provider.calls_tools and row.takes_tools):
        yield Unmet(TOOLS, f"{row.name}, the model of this assistant, takes no tools")
    if taken := sorted(fields.names & registered().keys() & {*assistant.tools}):
        yield Unmet(TOOLS, f"the assistant has a tool {taken[0]} of its own, which runs on the server. Rename yours")
    if fields.choice and not provider.forces_tools():
        yield Unmet(CHOICE, "the provider of this assistant lets its model decide")
    if fields.stop_sequences and not provider.takes_stops:
        yield Unmet(STOPS, "the provider of this assistant takes none")
    if fields.format and not provider.takes_formats:
        yield Unmet(FORMAT, "the provider of this assistant takes no format")
    plan = plan_for(row, assistant)
    if thinks and plan.mode not in ("adaptive", "enabled"):
        yield Unmet(THINKING, "this assistant does not think. Leave it out, or name another as `model`")
    if options.thinking_tokens == 0 and plan_for(row, options.thinking(assistant)).mode in ("adaptive", "enabled"):
        yield Unmet(CHOICE if fields.choice else THINKING, f"{row.name}, the model of this assistant, always thinks")
