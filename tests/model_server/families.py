"""What the documentation says of each model, as far as requests and answers differ by it: pure.

Apart from the product's own table of models, so that a mistake there fails a test here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

ADAPTIVE, ENABLED, BETWEEN_TOOLS, DISABLED = "adaptive", "enabled", "between_tools", "disabled"
OFF = frozenset({BETWEEN_TOOLS, DISABLED})
LEVELS = ("low", "medium", "high", "xhigh", "max")
TOO_HIGH_WITHOUT_THINKING = frozenset({"xhigh", "max"})
NO_FORCED_TOOL = 'tool_choice: type "tool" and "any" are not supported for this model.'
STEER = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
SEND_BETWEEN_TOOLS = (
    'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}. '
    "The model does not think before responding. The short updates it writes between tool calls come back as thinking blocks."
)


@dataclass(frozen=True, kw_only=True)
class Family:
    """``notes``: which texts between tool calls come back as thinking: "none", the "long" ones, or "all".

    ``binds_prefix``: a thinking block is good only while all before it is unchanged. ``reads``: whose thinking it can read
    besides its own.
    """

    thinking_types: frozenset[str] = frozenset({ADAPTIVE})
    thinks_unasked: bool = True
    shows_thinking: bool = False
    efforts: tuple[str, ...] = LEVELS
    effort: str = "high"
    thinks_above_high: bool = True
    notes: str = "none"
    binds_prefix: bool = False
    forced_tools: bool = True
    refuses: bool = True
    cacheable_from: int = 512
    context_window: int = 1_000_000
    longest_answer: int = 128_000
    reads: frozenset[str] = frozenset()


CLAUDE_4 = frozenset(f"claude-{name}" for name in ("opus-4-8", "opus-4-7", "opus-4-6", "opus-4-5"))
CLAUDE_4 |= frozenset(f"claude-{name}" for name in ("sonnet-4-6", "sonnet-4-5", "haiku-4-5"))
TO_SONNET_5 = CLAUDE_4 | {"claude-sonnet-5"}
TO_FABLE_5 = TO_SONNET_5 | {"claude-opus-5", "claude-fable-5", "claude-mythos-5"}

FABLE_5 = Family(notes="all", reads=TO_FABLE_5)
FABLE_5_1 = replace(
    FABLE_5,
    binds_prefix=True,
    forced_tools=False,
    reads=TO_FABLE_5 | {"claude-opus-5-5", "claude-fable-5-", "claude-mythos-5-"},
)
OPUS_5_5 = Family(
    effort="medium",
    notes="all",
    binds_prefix=True,
    forced_tools=False,
    reads=TO_SONNET_5 | {"claude-opus-5", "claude-sonnet-5-5", "claude-haiku-5-5"},
)
SONNET_5_5 = Family(
    thinking_types=frozenset({ADAPTIVE, BETWEEN_TOOLS}),
    notes="long",
    binds_prefix=True,
    forced_tools=False,
    reads=TO_SONNET_5 | {"claude-haiku-5-5"},
)
HAIKU_5_5 = Family(
    thinking_types=frozenset({ADAPTIVE, DISABLED}), effort="medium", binds_prefix=True, reads=TO_SONNET_5
)
OPUS_5 = Family(thinking_types=frozenset({ADAPTIVE, DISABLED}), reads=TO_SONNET_5)
SONNET_5 = replace(OPUS_5, thinks_above_high=False, refuses=False, cacheable_from=1_024, reads=CLAUDE_4)
OPUS_4_8 = replace(SONNET_5, thinks_unasked=False)
CLAUDE_4_6 = replace(
    OPUS_4_8,
    thinking_types=frozenset({ADAPTIVE, ENABLED, DISABLED}),
    shows_thinking=True,
    efforts=("low", "medium", "high", "max"),
)
CLAUDE_4_5 = replace(
    CLAUDE_4_6,
    thinking_types=frozenset({ENABLED, DISABLED}),
    efforts=(),
    context_window=200_000,
    longest_answer=64_000,
)
# By what the name begins with, the most specific first.
FAMILIES = {
    "claude-fable-5-": FABLE_5_1,
    "claude-mythos-5-": FABLE_5_1,
    "claude-fable-5": FABLE_5,
    "claude-mythos-5": FABLE_5,
    "claude-opus-5-5": OPUS_5_5,
    "claude-sonnet-5-5": SONNET_5_5,
    "claude-haiku-5-5": HAIKU_5_5,
    "claude-opus-5": OPUS_5,
    "claude-sonnet-5": SONNET_5,
    "claude-opus-4-8": OPUS_4_8,
    "claude-opus-4-7": replace(OPUS_4_8, cacheable_from=2_048),
    "claude-opus-4-6": replace(CLAUDE_4_6, cacheable_from=4_096),
    "claude-sonnet-4-6": CLAUDE_4_6,
    "claude-opus-4-5": replace(CLAUDE_4_5, efforts=("low", "medium", "high"), cacheable_from=4_096),
    "claude-sonnet-4-5": CLAUDE_4_5,
    "claude-haiku-4-5": replace(CLAUDE_4_5, cacheable_from=4_096),
}
LIKE_UNKNOWN = "claude-sonnet-5-5"
"""As which a model behaves whose name is not known: the names of tests."""


def kind_of(model: str) -> str:
    return next((kind for kind in FAMILIES if model.startswith(kind)), LIKE_UNKNOWN)


def family_of(model: str) -> Family:
    return FAMILIES[kind_of(model)]


def can_read(model: str, writer: str) -> bool:
    """Whether the model can read the thinking of the writer. What it can't read, the API drops without a word."""
    return kind_of(writer) in family_of(model).reads | {kind_of(model)}


def effort_of(body: Mapping[str, Any]) -> str:
    return (body.get("output_config") or {}).get("effort") or family_of(body["model"]).effort


def thinking_settings(body: Mapping[str, Any]) -> list[Any]:
    """How the model is to think. What is said that goes without saying changes nothing."""
    unasked = ADAPTIVE if family_of(body["model"]).thinks_unasked else DISABLED
    thinking = body.get("thinking") or {}
    return [thinking.get("type", unasked), thinking.get("budget_tokens"), effort_of(body)]


def thinks(body: Mapping[str, Any]) -> bool:
    """Whether the model thinks before it answers this request."""
    family, choice = family_of(body["model"]), (body.get("thinking") or {}).get("type")
    forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
    return not forced and (family.thinks_unasked if choice is None else choice not in OFF)


def shows_thinking(body: Mapping[str, Any]) -> bool:
    display = (body.get("thinking") or {}).get("display")
    return display == "summarized" if display else family_of(body["model"]).shows_thinking


def shows_notes(body: Mapping[str, Any]) -> bool:
    """Whether the text of notes between tool calls is shown, which come as thinking."""
    thinking = body.get("thinking") or {}
    return thinking.get("type") == BETWEEN_TOOLS or thinking.get("display") == "updates" or shows_thinking(body)


def family_complaints(body: Mapping[str, Any]) -> Iterator[str]:
    """What this model refuses of what the API knows."""
    family, effort = family_of(body["model"]), (body.get("output_config") or {}).get("effort")
    yield from thinking_complaints(body, family)
    if effort and effort not in family.efforts:
        yield f"output_config.effort: '{effort}' is not supported for this model."
    if body["max_tokens"] > family.longest_answer:
        yield (
            f"max_tokens: {body['max_tokens']} > {family.longest_answer}, which is the maximum allowed number of output "
            f"tokens for {body['model']}"
        )
    forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
    if forced and not family.forced_tools:
        yield NO_FORCED_TOOL
    if forced and (body.get("thinking") or {}).get("type") == ENABLED:
        yield "Thinking may not be enabled when tool_choice forces tool use."


def thinking_complaints(body: Mapping[str, Any], family: Family) -> Iterator[str]:
    thinking = body.get("thinking") or {}
    choice, effort = thinking.get("type"), effort_of(body)
    if choice is not None and choice not in family.thinking_types:
        yield not_supported(choice, family)
    if choice in OFF and family.thinks_above_high and effort in TOO_HIGH_WITHOUT_THINKING:
        yield (
            f"output_config.effort '{effort}' is not supported when thinking is disabled on this model. "
            "Use effort 'high' or below, or enable thinking."
        )
    if choice == ENABLED and thinking["budget_tokens"] < 1_024:
        yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    if choice == ENABLED and thinking["budget_tokens"] >= body["max_tokens"]:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."


def not_supported(choice: str, family: Family) -> str:
    if choice == ADAPTIVE:
        return "adaptive thinking is not supported on this model"
    if choice == DISABLED and BETWEEN_TOOLS in family.thinking_types:
        return SEND_BETWEEN_TOOLS
    said = f'"thinking.type.{choice}" is not supported for this model.'
    return said if choice == BETWEEN_TOOLS else f"{said} {STEER}"
