"""What the page of one model request shows: the answer first, the evidence below, the raw request last."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.db.models.functions import Left, Length

from conversations.admin import display
from conversations.admin.known import Known, Tally, known_rows, tallied
from conversations.admin.layers import Layer, layers
from conversations.context import describing, factors, snapshots
from conversations.context.reasons import Reason
from conversations.context.rewriting import RewritingOutcome
from conversations.models import ContextSnapshot, Message
from conversations.providers.base import CONTEXTUALISED

SENT_SHOWN = 100
SENT_OPEN = 10
EXCERPT_CHARS = 1_000
SECTION_CHARS = 20_000
INLINE_CHARS = 200_000
BAR_WIDTH = 1_000
SECTION_LABELS = {
    "tools": "Tools, as JSON",
    "base": "System prompt",
    "rules": "Rules about artifacts",
    "memory": "Memory",
    "today": "Today",
    "open_threads": "Open threads",
    "last_conversation": "Last conversation",
    "history": "Earlier turns",
    "message": "The message to answer",
    "reply": "What this reply said and did before, as JSON",
}
SILENT_LABELS = {"message": "The preset's instruction"}
REWRITE_LABELS = {"base": "Instructions", "message": "Memory, turns and message, as JSON"}
NOTES_LABELS = {"base": "Instructions", "message": "Turns, what is noted and topics, as JSON"}
REWRITE, SILENT, NOTES = (
    ContextSnapshot.Purpose.REWRITE,
    ContextSnapshot.Purpose.ARTIFACT,
    ContextSnapshot.Purpose.CONSOLIDATION,
)
OWN_LABELS: dict[str, dict[str, str]] = {REWRITE: REWRITE_LABELS, SILENT: SILENT_LABELS, NOTES: NOTES_LABELS}
TURN_KINDS = ("message", "range")
FAILURES = {"error": "failed", "timed_out": "timed out", "garbage": "could not be used"}
FAILED_QUERIES: dict[str, str] = {RewritingOutcome.FAILED: "failed", RewritingOutcome.TIMED_OUT: "timed out"}
MARK_LABELS = {"system": "after the system text", "message": "after the person's own words"}
SPOKEN_SECTIONS = {"history", "message"}
"""Sections made of turns, which are listed one by one."""

Item = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A section of the context and its place in the token bar, in units of ``BAR_WIDTH``."""

    name: str
    label: str
    tokens: int
    percent: str
    x: float
    width: float
    text: str
    is_cut: bool
    forgotten_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class SentTurn:
    id: str
    position: int
    role: str
    tokens: int
    reason: str
    excerpt: str
    is_cut: bool


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    what: str
    message: str | None
    count: int
    tokens: int | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A source that failed, and was left out."""

    source: str
    kind: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Two numbers for one thing, always labelled and side by side."""

    label: str
    estimated: int | None
    reported: int | None


@dataclass(frozen=True, kw_only=True)
class SnapshotPage:
    verdict: str
    proven: bool
    forgotten_at: datetime | None
    digest: str
    segments: Sequence[Segment]
    budget_x: float | None
    sent: Sequence[SentTurn]
    sent_folded: Sequence[SentTurn]
    sent_hidden: int
    sent_before: int
    left_out_counts: Sequence[tuple[str, int]]
    left_out: Sequence[LeftOut]
    request: str
    request_chars: int
    known: Sequence[Known]
    known_tally: Sequence[Tally]
    layers: Sequence[Layer]
    message: str
    query: str
    query_outcome: str
    problems: Sequence[Problem]
    cache: str
    diagnostics: str
    figures: Sequence[Figure]
    factor: str
    timings: Sequence[tuple[str, str]]
    error: str
    previous: ContextSnapshot | None
    next: ContextSnapshot | None
    others: Sequence[ContextSnapshot]


def snapshot_page(snapshot: ContextSnapshot, *, shown: bool) -> SnapshotPage:
    """Without ``shown``, no text of it: neither what was sent nor what was answered."""
    page = whole_page(snapshot)
    return page if shown else masked(page)


def masked(page: SnapshotPage) -> SnapshotPage:
    return replace(
        page,
        segments=[replace(segment, text="", is_cut=False) for segment in page.segments],
        sent=[replace(turn, excerpt="", is_cut=False) for turn in page.sent],
        sent_folded=[replace(turn, excerpt="", is_cut=False) for turn in page.sent_folded],
        known=[replace(row, excerpt="") for row in page.known],
        layers=[replace(layer, artifacts=()) for layer in page.layers],
        message="",
        query="",
        request="",
    )


def whole_page(snapshot: ContextSnapshot) -> SnapshotPage:
    body = describing.body(snapshot)
    turns = [item for item in body["items"] if is_turn_of_thread(item)]
    included = [item for item in turns if item["included"]]
    sent = sent_turns(included[-SENT_SHOWN:])
    request = display.pretty(body["request"]) if body["request"] is not None else ""
    known = known_rows([item for item in body["items"] if not is_turn_of_thread(item)])
    others = of_same_reply(snapshot)
    outcome, query = rewriting(snapshot, body, others)
    return SnapshotPage(
        verdict=verdict(snapshot),
        proven=snapshots.proof(snapshot),
        forgotten_at=body["forgotten_at"],
        digest=body["digest"],
        segments=segments(snapshot, body["sections"]),
        budget_x=None if snapshot.quotes_turns else round(snapshot.budget * bar_scale(snapshot), 1),
        sent=sent[-SENT_OPEN:],
        sent_folded=sent[:-SENT_OPEN],
        sent_hidden=max(0, len(included) - SENT_SHOWN),
        sent_before=sent[0].position if sent else 1,
        left_out_counts=[(Reason(code).label, count) for code, count in left_out(snapshot).most_common()],
        left_out=[left_out_row(item) for item in turns if not item["included"]],
        request=request if len(request) <= INLINE_CHARS else "",
        request_chars=len(request),
        known=known,
        known_tally=tallied(known),
        layers=layers(snapshot, body),
        message=sent[-1].excerpt if sent and snapshot.purpose != SILENT else "",
        query=query,
        query_outcome=outcome,
        problems=[Problem(**problem | {"source": source_label(problem)}) for problem in body["problems"]],
        cache=cache(snapshot),
        diagnostics=display.pretty(snapshot.diagnostics) if snapshot.diagnostics else "",
        figures=figures(snapshot),
        factor=factor(snapshot),
        timings=timings(snapshot),
        error=display.pretty(snapshot.error) if snapshot.error else "",
        previous=neighbour(snapshot, later=False),
        next=neighbour(snapshot, later=True),
        others=others,
    )


def of_same_reply(snapshot: ContextSnapshot) -> list[ContextSnapshot]:
    if snapshot.reply_id is None:
        return []
    return list(ContextSnapshot.objects.filter(reply=snapshot.reply_id).exclude(pk=snapshot.pk).order_by("id"))


def is_turn_of_thread(item: Item) -> bool:
    """Whether it is a turn in its place; what was recalled stands beside the message."""
    return item["kind"] in TURN_KINDS and "thread" not in item


def left_out(snapshot: ContextSnapshot) -> Counter[str]:
    """How many turns were left out, by reason."""
    counts: Counter[str] = Counter()
    for run in snapshots.runs_of(snapshot):
        if not run.included and run.reason is not Reason.RECALLED:
            counts[run.reason.value] += run.count
    return counts


def verdict(snapshot: ContextSnapshot) -> str:
    noun = "turn" if snapshot.purpose == NOTES else "earlier turn"
    turns = display.counted(snapshot.message_history_count, noun)
    counts = left_out(snapshot)
    why = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in counts.most_common())
    missing = f"{counts.total():,} left out: {why}" if counts else "none left out"
    if snapshot.quotes_turns:
        what = "what to note of a conversation" if snapshot.purpose == NOTES else "a contextualised query"
        asked = f"{snapshot.model} asked for {what}, given {turns}, {missing}"
        return "; ".join([asked, display.counted(snapshot.total_tokens, "token"), *failures(snapshot)])
    size = f"{snapshot.total_tokens:,} of {snapshot.budget:,} tokens"
    return "; ".join([f"{turns} sent, {missing}", size, *failures(snapshot)])


def failures(snapshot: ContextSnapshot) -> list[str]:
    """What the request had to do without, or what became of a query that failed: a few words each."""
    if snapshot.quotes_turns:
        return [display.error_code(snapshot.error)] if snapshot.error else []
    failed = [f"{source_label(problem)} {FAILURES[problem['kind']]}" for problem in snapshot.problems or []]
    if snapshot.rewriting in FAILED_QUERIES:
        failed.append(f"contextualised query {FAILED_QUERIES[snapshot.rewriting]}")
    return failed


def source_label(problem: Item) -> str:
    return str(problem["source"]).replace("_", " ")


def rewriting(snapshot: ContextSnapshot, body: Item, others: Sequence[ContextSnapshot]) -> tuple[str, str]:
    """What became of the contextualised query, and the query; of a request that asked for one, as it was used."""
    if snapshot.purpose in (SILENT, NOTES):  # they have no message to put into other words
        return "", ""
    if snapshot.purpose != REWRITE:
        query = body["rewriting"]["query"]
    else:
        used = next((each for each in others if each.round == snapshot.round and each.purpose != REWRITE), None)
        if used is None:
            return "No request was made with it", ""
        snapshot, query = used, describing.query_of(used, snapshots.material_of(used))
    outcome = RewritingOutcome(snapshot.rewriting).label if snapshot.rewriting else ""
    return outcome, (query or "").removeprefix(CONTEXTUALISED).strip()


def bar_scale(snapshot: ContextSnapshot) -> float:
    """The budget is of requests that reply."""
    return BAR_WIDTH / max(snapshot.total_tokens, 0 if snapshot.quotes_turns else snapshot.budget, 1)


def segments(snapshot: ContextSnapshot, sections: Sequence[Item]) -> list[Segment]:
    labels = SECTION_LABELS | OWN_LABELS.get(snapshot.purpose, {})
    spoken = SPOKEN_SECTIONS if snapshot.purpose == ContextSnapshot.Purpose.REPLY else SPOKEN_SECTIONS - {"message"}
    scale, total = bar_scale(snapshot), sum(section["tokens"] for section in sections) or 1
    placed, before = [], 0
    for section in sections:
        name: str = section["name"]
        text = "" if name in spoken else section["text"] or ""
        placed.append(
            Segment(
                name=name,
                label=labels.get(name, name),
                tokens=section["tokens"],
                percent=f"{section['tokens'] / total:.0%}",
                x=round(before * scale, 1),
                width=round(section["tokens"] * scale, 1),
                text=text[:SECTION_CHARS],
                is_cut=len(text) > SECTION_CHARS,
                forgotten_at=section["forgotten_at"],
            )
        )
        before += section["tokens"]
    return placed


def sent_turns(items: Sequence[Item]) -> list[SentTurn]:
    """The turns of these items, in the order sent. What a page does not show is cut off in the database."""
    found = Message.objects.filter(id__in=[item["id"] for item in items])
    cut = found.annotate(excerpt=Left("text", EXCERPT_CHARS), length=Length("text"))
    rows = {str(row[0]): row[1:] for row in cut.values_list("id", "role", "excerpt", "length")}
    return [
        SentTurn(
            id=item["id"],
            position=item["position"],
            role=rows[item["id"]][0],
            tokens=item["tokens"],
            reason=Reason(item["reason"]).label,
            excerpt=rows[item["id"]][1],
            is_cut=rows[item["id"]][2] > EXCERPT_CHARS,
        )
        for item in items
    ]


def left_out_row(item: Item) -> LeftOut:
    reason = Reason(item["reason"]).label
    if item["kind"] == "range":
        first, last = item["first"], item["last"]
        what = f"turns {first:,} to {last:,}" if first < last else f"turn {first:,}"
        return LeftOut(what=what, message=None, count=item["count"], tokens=None, reason=reason)
    what = f"turn {item['position']:,}"
    return LeftOut(what=what, message=item["id"], count=1, tokens=item["tokens"], reason=reason)


def cache(snapshot: ContextSnapshot) -> str:
    """What was expected of the prompt cache, in a sentence."""
    if snapshot.quotes_turns:
        return "Not used: no two such requests begin alike."
    plan = snapshots.cache_of(snapshot)
    marks = f" Marks stand {' and '.join(MARK_LABELS[mark] for mark in plan.marks)}." if plan.marks else ""
    return f"{plan.state.label}.{marks}"


def figures(snapshot: ContextSnapshot) -> list[Figure]:
    usage = snapshot.usage
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    return [
        Figure(label="Input tokens", estimated=snapshot.total_tokens, reported=factors.reported_input(usage)),
        Figure(
            label="of these read from the prompt cache",
            estimated=snapshots.cache_of(snapshot).expected if snapshot.cache else None,
            reported=read,
        ),
        Figure(label="of these written to the prompt cache", estimated=None, reported=written),
        Figure(label="Output tokens", estimated=None, reported=usage.get("output_tokens")),
    ]


def factor(snapshot: ContextSnapshot) -> str:
    """What is known by now of the model's count beside the estimate."""
    found = factors.factor_of(provider=snapshot.provider, model=snapshot.model)
    requests = display.counted(found.samples, "request")
    if found.samples < factors.FEWEST:
        return f"No factor for {snapshot.model} yet: {requests} of the {factors.FEWEST} that it takes."
    return f"{snapshot.model} reports {found.value:.2f} tokens for each estimated one, by its newest {requests}."


def timings(snapshot: ContextSnapshot) -> list[tuple[str, str]]:
    total_last = sorted(snapshots.timings_of(snapshot).items(), key=lambda timing: timing[0] == "total")
    built = [(f"Context: {name}", display.milliseconds(value)) for name, value in total_last]
    first = ("First token", display.milliseconds(snapshot.first_token_ms))
    return [*built, first, ("From the record to the end", display.took(snapshot.created_at, snapshot.ended_at))]


def neighbour(snapshot: ContextSnapshot, *, later: bool) -> ContextSnapshot | None:
    """The next or previous model request of the thread."""
    compare = "gt" if later else "lt"
    beyond = Q(**{f"created_at__{compare}": snapshot.created_at})
    beyond |= Q(**{"created_at": snapshot.created_at, f"id__{compare}": snapshot.id})
    order = ["created_at", "id"] if later else ["-created_at", "-id"]
    return ContextSnapshot.objects.filter(beyond, thread=snapshot.thread_id).only("id").order_by(*order).first()
