"""What a comparison of two model requests shows: the answer in words first, then the numbers, then the texts. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from conversations.context.explain.comparing import (
    Change,
    Comparison,
    Page,
    Prefix,
    TurnSpan,
    compare_pages,
    written_anew,
)
from conversations.context.explain.section_names import HISTORY, label_of
from conversations.context.reasons import Reason
from conversations.context.rules.fitting import BESIDE_SYSTEM, ROUND
from conversations.context.sources import ADDED, source_of
from conversations.context.tokens import calibration as token_calibration
from conversations.models import ContextSnapshot
from conversations.providers.request_parts import in_messages_api
from conversations.runtime.wording import counted, filled, lazy, marked
from conversations.staff import display
from conversations.staff.compare.sides import TAKEN, Side
from conversations.staff.compare.text_diff import Piece, diffed
from conversations.staff.compare.turn_groups import TurnGroup, count_of, turn_groups
from conversations.upkeep.hourly_figures import cost_of
from memory.models import ThreadSummary

BAR_WIDTH = 120
FOLDED_FROM = 8
SETTINGS = {
    "provider": lazy("provider"),
    "model": lazy("model"),
    "max_tokens": lazy("most tokens of answer and thinking"),
    "thinking": lazy("thinking"),
    "effort": lazy("effort"),
    "budget": lazy("budget"),
    "hard_cap": lazy("hard cap"),
    "budget_origin": lazy("where the budget comes from"),
}
USAGE = {
    "input": lazy("Input tokens"),
    "cache_read_input_tokens": lazy("of these read from the prompt cache"),
    "cache_creation_input_tokens": lazy("of these written to the prompt cache"),
    "cache_creation_1h_input_tokens": lazy("of these for an hour"),
    "output_tokens": lazy("Output tokens"),
    "thinking_tokens": lazy("of these thinking"),
}

CHANGES = {
    "added": marked("{count} turn came in", "{count} turns came in"),
    "removed": marked("{count} turn dropped out", "{count} turns dropped out"),
    "shortened": marked("{count} turn became shorter", "{count} turns became shorter"),
    "restored": marked("{count} turn became whole again", "{count} turns became whole again"),
}


@dataclass(frozen=True, kw_only=True)
class TierRow:
    """A tier with its tokens before and after, and the two bars of them."""

    name: str
    label: str
    change: str
    before: int | None
    after: int | None
    difference: str
    was: float
    now: float
    turns: str = ""
    pieces: Sequence[Piece] = ()
    is_masked: bool = False


@dataclass(frozen=True, kw_only=True)
class ItemRow:
    """A memory, topic, summary, artifact or recalled turn that only one of the two was given. ``url`` may be empty."""

    mark: str
    what: str
    id: str
    url: str
    why: str


@dataclass(frozen=True, kw_only=True)
class FigureChange:
    label: str
    before: str
    after: str
    difference: str = ""


@dataclass(frozen=True, kw_only=True)
class ComparePage:
    verdict: str
    settings: Sequence[FigureChange]
    tiers: Sequence[TierRow]
    total: TierRow
    groups: Sequence[TurnGroup]
    items: Sequence[ItemRow]
    cache: str
    kept: int | None
    anew: int
    usage: Sequence[FigureChange]
    cost: str
    """Before and after, by the prices of each day; empty where they are not known."""

    @property
    def is_long(self) -> bool:
        """Whether what turns say is folded."""
        return sum(len(group.ranges) for group in self.groups) > FOLDED_FROM

    @property
    def items_folded(self) -> bool:
        return len(self.items) > FOLDED_FROM

    @property
    def rewritten(self) -> list[TierRow]:
        return [row for row in self.tiers if row.pieces or row.is_masked]


def compare_page(a: Side, b: Side, summaries: Sequence[ThreadSummary]) -> ComparePage:
    """From ``a`` to ``b``. ``summaries`` are those of the thread of ``a``."""
    parts = [
        TurnSpan(thread=str(summary.thread_id), first=summary.first_position, last=summary.last_position)
        for summary in summaries
    ]
    comparison = compare_pages(a.page, b.page, summaries=parts)
    scale = BAR_WIDTH / max(
        [tier.before or 0 for tier in comparison.tiers] + [tier.after or 0 for tier in comparison.tiers] + [1]
    )
    total = Change[int | None](name="total", before=a.snapshot.total_tokens, after=b.snapshot.total_tokens)
    anew = written_anew(b.page.payload, comparison.prefix) if b.page.payload and comparison.prefix else 0
    return ComparePage(
        verdict=verdict(comparison, total, anew),
        settings=[
            FigureChange(label=SETTINGS[each.name], before=shown_value(each.before), after=shown_value(each.after))
            for each in comparison.settings
        ],
        tiers=[tier_row(tier, comparison, a, b, scale) for tier in comparison.tiers],
        total=row_of(total, gettext("Total"), "", 0),
        groups=list(turn_groups(comparison, a, b, summaries)),
        items=list(item_rows(a, b)),
        cache=where_it_breaks(comparison.prefix, b.page),
        kept=comparison.prefix.tokens if comparison.prefix else None,
        anew=anew,
        usage=usage(a.snapshot, b.snapshot),
        cost=cost(cost_of(a.snapshot), cost_of(b.snapshot)),
    )


def cost(before: Decimal | None, after: Decimal | None) -> str:
    if before is None or after is None:
        return ""
    sign = "+" if after >= before else "−"
    difference = f"{sign}{display.money(abs(after - before))}"
    return filled(
        "{before}, then {after} ({difference})",
        before=display.money(before),
        after=display.money(after),
        difference=difference,
    )


def verdict(comparison: Comparison, total: Change[int | None], anew: int) -> str:
    """What changed, in a line."""
    changes = [counted(*CHANGES[name], count) for name, count in counts_of(comparison).items() if count]
    if comparison.summarised:
        changes.append(filled("{count_of} of these summarised by now", count_of=count_of(comparison.summarised)))
    changes += [filled("{label} was rewritten", label=label(name)) for name in comparison.rewritten]
    tiers = [tier for tier in comparison.tiers if tier.name != HISTORY]
    changes += [filled("{label} was added", label=label(tier.name)) for tier in tiers if tier.before is None]
    changes += [filled("{label} was dropped", label=label(tier.name)) for tier in tiers if tier.after is None]
    changes += [filled("another {setting}", setting=SETTINGS[setting.name]) for setting in comparison.settings]
    size = filled("{before} → {after} tokens ({signed})", before=total.before, after=total.after, signed=signed(total))
    cached = (
        [filled("{tokens} in common from the beginning, {anew} anew", tokens=comparison.prefix.tokens, anew=anew)]
        if comparison.prefix
        else []
    )
    if comparison.is_empty:
        return "; ".join(
            [
                gettext("No difference: the same request, byte for byte")
                if comparison.prefix
                else gettext("No difference"),
                size,
            ]
        )
    return "; ".join([", ".join(changes) or gettext("The same turns and texts"), size, *cached])


def label(name: str) -> str:
    if name.startswith(ROUND):
        return filled("What the reply did in {round}", round=name)
    return gettext(label_of(name))


def signed(change: Change[int | None]) -> str:
    difference = (change.after or 0) - (change.before or 0)
    return f"{'+' if difference > 0 else '−'}{display.number(abs(difference))}" if difference else "±0"


def shown_value(value: str | int | None) -> str:
    return display.number(value) if isinstance(value, int) else value or display.NOTHING


def row_of(tier: Change[int | None], named: str, change: str, scale: float, **texts: object) -> TierRow:
    return TierRow(
        name=tier.name.partition(" ")[0],
        label=named,
        change=change,
        before=tier.before,
        after=tier.after,
        difference=signed(tier),
        was=round((tier.before or 0) * scale, 1),
        now=round((tier.after or 0) * scale, 1),
        **texts,  # type: ignore[arg-type]
    )


def tier_row(tier: Change[int | None], comparison: Comparison, a: Side, b: Side, scale: float) -> TierRow:
    pieces: Sequence[Piece] = ()
    changed = tier.name in comparison.rewritten and tier.name not in ("history", "message")
    if changed and a.shown and b.shown:
        pieces = diffed(text_of_tier(a, tier.name), text_of_tier(b, tier.name))
    masked = changed and not (a.shown and b.shown)
    turns = turns_changed(comparison) if tier.name == "history" else ""
    return row_of(
        tier, label(tier.name), change_of(tier, comparison), scale, turns=turns, pieces=pieces, is_masked=masked
    )


def counts_of(comparison: Comparison) -> dict[str, int]:
    """How many turns changed in each way of ``CHANGES``."""
    changed = (comparison.added, comparison.removed, comparison.shortened, comparison.restored)
    return {name: count_of(turns) for name, turns in zip(CHANGES, changed, strict=True)}


def turns_changed(comparison: Comparison) -> str:
    counts = [
        (comparison.added, gettext("added")),
        (comparison.removed, gettext("removed")),
        (comparison.shortened, gettext("shortened")),
        (comparison.restored, gettext("whole again")),
        (comparison.summarised, gettext("summarised by now")),
    ]
    return ", ".join(f"{display.number(count_of(ranges))} {what}" for ranges, what in counts if ranges)


def change_of(tier: Change[int | None], comparison: Comparison) -> str:
    if tier.before is None:
        return gettext_noop("added")
    if tier.after is None:
        return gettext_noop("dropped")
    if tier.name in comparison.rewritten:
        return gettext_noop("rewritten")
    if tier.before != tier.after:
        return gettext_noop("grew") if tier.after > tier.before else gettext_noop("shrank")
    return gettext_noop("same")


def text_of_tier(side: Side, name: str) -> str:
    digest = next((tier.digest for tier in side.page.tiers if tier.name == name), "")
    return side.texts.get(digest, "")


def item_rows(before: Side, after: Side) -> Iterator[ItemRow]:
    """What only one of the two was given, with the reason of the one that tells of it."""
    first, second = ({(item["kind"], item["id"]): item for item in side.items} for side in (before, after))
    for kind, id in {**first, **second}:
        was, now = first.get((kind, id)), second.get((kind, id))
        came, went = bool(now and now["included"]), bool(was and was["included"])
        if came == went:
            continue
        yield ItemRow(
            mark="+" if came else "−",
            what=gettext("recalled turn") if kind == "message" else gettext(kind),
            id=id,
            url=page_of((now or was or {}), id),
            why=_why(now, after.taken.takes(id)),
        )


def _why(item: Mapping[str, Any] | None, is_taken: bool) -> str:
    if is_taken:
        return gettext(TAKEN)
    return gettext(Reason(item["reason"]).item_label) if item else gettext("Not found any more")


def page_of(item: Mapping[str, Any], id: str) -> str:
    """Empty where it has none."""
    if id == ADDED:
        return ""
    source = source_of(item)
    pages = [kind.page for kind in source.kinds if kind.code == item["kind"] and kind.page] if source else []
    return reverse(pages[0], args=[id]) if pages else ""


def where_it_breaks(prefix: Prefix | None, page: Page) -> str:
    """Up to where what was sent before can come from the provider's cache."""
    if prefix is None:
        return gettext(
            "The exact bytes of one of them can't be had any more, so nothing can be said of the prompt cache."
        )
    if not prefix.breaks_at:
        if prefix.is_all:
            return gettext("Both are the same to the end.")
        return gettext("It never breaks: the longer one only goes on where the shorter one ends.")
    return filled(
        "It breaks at {named_place}. What comes before is the same in both.",
        named_place=named_place(prefix.breaks_at, page),
    )


def named_place(place: str, page: Page) -> str:
    """With the name of the tier, where the place is one of the system text."""
    number = place.removeprefix("system block ")
    if number == place:
        return place
    spoken = [tier.name for tier in page.tiers if tier.name not in BESIDE_SYSTEM]
    system = spoken[: spoken.index("history")] if "history" in spoken else spoken[:1]
    if page.payload and len(in_messages_api(page.payload)["system"]) < len(system):
        return gettext("the system text")  # which is sent as one
    index = int(number) - 1
    return (
        f"“{label(system[index])}” ({place})"
        if index < len(system)
        else filled("the end of the system text ({place})", place=place)
    )


def usage(a: ContextSnapshot, b: ContextSnapshot) -> list[FigureChange]:
    """As the provider reported it; nothing for a request that was never made."""
    if not b.usage:
        return []
    reported = [{**snapshot.usage, "input": token_calibration.reported_input(snapshot.usage)} for snapshot in (a, b)]
    rows = [(named, reported[0].get(name), reported[1].get(name)) for name, named in USAGE.items()]
    return [
        FigureChange(
            label=named,
            before=display.number(before),
            after=display.number(after),
            difference=signed(Change(name=named, before=before, after=after)),
        )
        for named, before, after in rows
        if before or after
    ]
