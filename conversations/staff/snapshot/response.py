"""What came back: the answer, how it ended, and the provider's figures beside ours."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from conversations.context.record import snapshots
from conversations.context.record.snapshot_shapes import ModerationAnswer
from conversations.context.rules.prompt_cache import HOUR, CachePlan
from conversations.context.tokens import calibration as token_calibration
from conversations.models import ContextSnapshot, Message, ModerationFinding, Stage
from conversations.providers import prices, refusals
from conversations.runtime.wording import filled, joined, lazy
from conversations.staff import display
from conversations.upkeep.hourly_figures import cost_of

ANSWER_CHARS = 20_000
STOP_REASONS = {
    "end_turn": lazy("it had finished"),
    "stop_sequence": lazy("a stop sequence"),
    "max_tokens": lazy("the longest answer that it was allowed"),
    "tool_use": lazy("it asked for a tool"),
    "pause_turn": lazy("it paused, to go on in another request"),
    "refusal": lazy("it declined"),
    "model_context_window_exceeded": lazy("no more fits into the model's context window"),
    "unknown": lazy("its server did not say why"),
}
MARK_LABELS = {"system": lazy("after the system text"), "message": lazy("after the person's own words")}
MISSES = {
    "model_changed": lazy("the request before went to another model"),
    "system_changed": lazy("the system text is another than in the request before"),
    "tools_changed": lazy("the definitions of tools are others than in the request before"),
    "messages_changed": lazy("the turns do not begin as they did in the request before"),
    "previous_message_not_found": lazy("it no longer knows the answer before, so it can't compare"),
    "unavailable": lazy("it can't say why"),
}


@dataclass(frozen=True, kw_only=True)
class TokenFigure:
    """Two numbers for one thing, always labelled and side by side."""

    label: str
    estimated: int | None
    reported: int | None


@dataclass(frozen=True, kw_only=True)
class AnswerTurn:
    """The turn that came of the reply. Empty where its words may not be shown."""

    id: UUID
    position: int
    tokens: int
    text: str
    is_cut: bool
    thought: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why the model declined, in its provider's words."""

    category: str
    explanation: str


@dataclass(frozen=True, kw_only=True)
class CheckRow:
    """What one check made of the message or of the reply."""

    moderator: str
    result: str
    of: str


def checks(findings: Iterable[ModerationAnswer]) -> list[CheckRow]:
    return [
        CheckRow(
            moderator=finding["moderator"],
            result=gettext(ModerationFinding.Result(finding["result"]).label),
            of=", ".join([gettext(Stage(finding["stage"]).label), *finding["labels"]]),
        )
        for finding in findings
    ]


def answer(turn: Message | None) -> AnswerTurn | None:
    if turn is None:
        return None
    return AnswerTurn(
        id=turn.id,
        position=turn.position,
        tokens=turn.token_count,
        text=turn.text[:ANSWER_CHARS],
        is_cut=len(turn.text) > ANSWER_CHARS,
        thought="\n\n".join(block["thinking"] for block in turn.blocks if block["type"] == "thinking")[:ANSWER_CHARS],
    )


def stop_reason(snapshot: ContextSnapshot) -> str:
    """Why the model stopped, in words; a reason that is not known yet speaks for itself."""
    return str(STOP_REASONS.get(snapshot.stop_reason, ""))


def refusal(snapshot: ContextSnapshot, *, shown: bool) -> Refusal | None:
    """The provider's own words for it may quote the person, and are content."""
    if snapshot.stop_reason != refusals.STOP_REASON:
        return None
    return Refusal(
        category=refusals.category_of(snapshot.stop_details) or gettext("no category"),
        explanation=refusals.explanation_of(snapshot.stop_details) if shown else "",
    )


def figures(snapshot: ContextSnapshot) -> list[TokenFigure]:
    usage = snapshot.usage
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    for_an_hour, thought = usage.get("cache_creation_1h_input_tokens"), usage.get("thinking_tokens")
    shown = [
        TokenFigure(
            label=gettext("Input tokens"),
            estimated=snapshot.total_tokens,
            reported=token_calibration.reported_input(usage),
        ),
        TokenFigure(
            label=gettext("of these read from the prompt cache"),
            estimated=snapshots.cache_of(snapshot).expected if snapshot.cache else None,
            reported=read,
        ),
        TokenFigure(label=gettext("of these written to the prompt cache"), estimated=None, reported=written),
        for_an_hour and TokenFigure(label=gettext("of these for an hour"), estimated=None, reported=for_an_hour),
        TokenFigure(
            label=gettext("Output tokens"),
            estimated=usage.get(prices.ESTIMATED_OUTPUT),
            reported=usage.get("output_tokens"),
        ),
        thought and TokenFigure(label=gettext("of these thinking"), estimated=None, reported=thought),
    ]
    return [figure for figure in shown if figure]


def factor(snapshot: ContextSnapshot) -> str:
    """What the request was fitted with, and what is known by now of the model's count beside the estimate."""
    now = token_calibration.of_model(snapshot.provider, snapshot.model)
    known = (
        filled("learnt from its newest {requests}", requests=display.with_noun(now.samples, "request"))
        if now.samples
        else filled("as shipped, until {fewest} requests have told", fewest=token_calibration.FEWEST)
    )
    fitted = filled(
        "Fitted with {token_factor} tokens of {model} for each estimated one.",
        token_factor=f"{snapshot.token_factor:.2f}",
        model=snapshot.model,
    )
    return filled("{fitted} Today it is {value}, {known}.", fitted=fitted, value=f"{now.value:.2f}", known=known)


def expected_of_cache(snapshot: ContextSnapshot) -> str:
    """What was expected of the prompt cache, in a sentence."""
    if snapshot.quotes_turns:
        return gettext("Not used: no two such requests begin alike.")
    plan = snapshots.cache_of(snapshot)
    marks = (
        filled(" Marks stand {marks}.", marks=joined([str(MARK_LABELS[mark]) for mark in plan.marks]))
        if plan.marks
        else ""
    )
    return f"{gettext(plan.state.label)}.{marks}{lifetime_of_cache(plan)}"


def lifetime_of_cache(plan: CachePlan) -> str:
    """How long its entries live, with the numbers that decided it."""
    if not plan.marks:
        return ""
    lives = plan.lifetime
    length = gettext("an hour") if lives.name == HOUR else gettext("five minutes")
    if not lives.cost_hour:
        return filled(
            " Entries live {length}: there are too few pauses of the person to tell what pays.", length=length
        )
    return filled(
        " Entries live {length}: with the person's latest pauses the prompt costs {cost_five_minutes} of "
        "its price with entries of five minutes, {cost_hour} with entries of an hour.",
        length=length,
        cost_five_minutes=f"{lives.cost_five_minutes:.2f}",
        cost_hour=f"{lives.cost_hour:.2f}",
    )


def hit(snapshot: ContextSnapshot) -> str:
    """What came from the prompt cache, in a sentence; nothing where nothing was reported."""
    whole, read = token_calibration.reported_input(snapshot.usage), snapshot.usage.get("cache_read_input_tokens")
    if not whole or read is None:
        return ""
    if not read:
        return gettext("Nothing was read from it.")
    return filled("{read} of the input was read from it.", read=f"{read / whole:.0%}")


def diagnosis(snapshot: ContextSnapshot) -> str:
    """The provider's own word on its prompt cache; nothing where it said nothing that we know."""
    diagnostics = snapshot.diagnostics or {}
    if "cache_miss_reason" not in diagnostics:
        return ""
    missed = diagnostics["cache_miss_reason"]
    if missed is None:
        return gettext("Nothing that was sent before had to be read anew.")
    code = missed.get("type") if isinstance(missed, dict) else missed
    tokens = missed.get("cache_missed_input_tokens") if isinstance(missed, dict) else None
    why = MISSES.get(str(code), str(code).replace("_", " "))
    size = f", {display.with_noun(tokens, 'token')}" if isinstance(tokens, int) else ""
    return filled("The cache was missed: {why}{size}.", why=why, size=size)


def cost(snapshot: ContextSnapshot) -> str:
    """By the prices of that day; empty where they are not known."""
    usd = cost_of(snapshot)
    return "" if usd is None else display.money(usd)
