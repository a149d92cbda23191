"""Why a turn was forgotten: the answer in a line, then every request that held it or did not, and what stands for it now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models.functions import Left

from conversations.context.explain import turn_history
from conversations.context.explain.turn_history import FATES, Fate, Return, Stretch, Trace
from conversations.context.reasons import Reason
from conversations.context.record import snapshot_codec
from conversations.context.tokens.budget import in_tokens
from conversations.models import ContextSnapshot, Message
from conversations.providers.answering_model import own_row
from conversations.staff import display
from conversations.staff.trace import trace_reads
from memory.models import Preferences
from memory.staff.replacements import StandIn, covered, stand_ins_of

STRIP_WIDTH = 1_000
STRETCHES_SHOWN = 200
QUOTING_SHOWN = 20
QUOTING_LOOKED_AT = 1_000
EXCERPT_CHARS = 2_000
BESIDE = 25
"""So many turns after it stand on the page of the thread that it leads to."""
CAME_BACK = {
    Reason.OVER_BUDGET: "the window had room for it again: a larger budget, or newer turns left out",
    Reason.TURN_LIMIT: "the window had room for it again: a larger one, or newer turns left out",
    Reason.FULFILLED_ARTIFACT: "its artifact was deleted, or the filter switched off",
    Reason.REFUSED: "it was answered after all",
    Reason.FAILED: "the reply that it belongs to is no longer told as failed",
    Reason.OFFLINE: "the offline responder answers again, and keeps its own words",
    Reason.SUPERSEDED: "the chat went back to this attempt",
    Reason.OTHER_BRANCH: "the chat went back to this branch",
    Reason.ORPHAN_TOOL: "the other half of its tool call was there again",
}


@dataclass(frozen=True, kw_only=True)
class StretchRow:
    """Requests, one after the other, that did the same with the turn; and the place of them in the strip."""

    stretch: Stretch
    fate: Fate | None
    x: float
    width: float
    what: str
    title: str
    came_back: str


@dataclass(frozen=True, kw_only=True)
class WhyPage:
    answer: str
    notes: Sequence[str]
    rule: str
    code: str
    rows: Sequence[StretchRow]
    hidden: int
    total: int
    first_without: Stretch | None
    stand_ins: Sequence[StandIn]
    quoting: Sequence[ContextSnapshot]
    strip: Sequence[StretchRow]
    fates: Sequence[Fate]
    before: int
    excerpt: str
    is_cut: bool


def why_page(message: Message, *, shown: bool) -> WhyPage:
    """Without ``shown``, what memories and summaries say stays in the database."""
    thread = message.thread
    seen = trace_reads.outcomes(thread, message.position)
    trace = turn_history.traced(seen)
    rows = rows_of(trace)
    stand_ins = stand_ins_of(message, shown=shown)
    concerned = trace.concerned
    newest = concerned[-1] if concerned else None
    told = trace.gone if newest and newest.reason is Reason.RECALLED and trace.gone else newest
    reason = told.reason if told else None
    excerpt = text_of(message) if shown else ""
    return WhyPage(
        answer=" ".join([answer(message.position, trace), covered(stand_ins)]),
        notes=list(notes(message, trace)),
        rule=reason.rule if reason else "",
        code=reason.value if reason else "",
        rows=rows[-STRETCHES_SHOWN:],
        hidden=max(0, len(rows) - STRETCHES_SHOWN),
        total=len(seen),
        first_without=trace.first_without,
        stand_ins=stand_ins,
        quoting=quoting(message),
        strip=rows,
        fates=[fate for fate in Fate if any(row.fate is fate for row in rows)],
        before=message.position + BESIDE,
        excerpt=excerpt[:EXCERPT_CHARS],
        is_cut=len(excerpt) > EXCERPT_CHARS,
    )


def text_of(message: Message) -> str:
    """The beginning of what it says, one character more than is shown."""
    text: str = Message.objects.values_list(Left("text", EXCERPT_CHARS + 1), flat=True).get(pk=message.pk)
    return text


def answer(position: int, trace: Trace) -> str:
    """What became of the turn in its thread: until when it was sent, by which rule it is not, and who was reminded of it.
    Pure."""
    turn, concerned = f"Turn {position:,}", trace.concerned
    if not concerned:
        return f"{turn} has not been in question yet: no request has been made since it was said."
    newest = concerned[-1]
    if not any(stretch.is_held for stretch in concerned):
        return f"{turn} was never sent, in {_requests(trace.left_out)} since it was said: {because(newest)}."
    if newest.is_held and newest.reason is not Reason.RECALLED:
        if trace.left_out:
            return f"{turn} {_sent_again(trace, newest)}, after {_requests(trace.left_out)} without it."
        beside = f"; of these {trace.recalled:,} recalled it beside the message" if trace.recalled else ""
        return f"{turn} was given to every request since it was said, {trace.sent + trace.recalled:,} so far{beside}."
    return " ".join([_sent_until(turn, trace), _left_out(trace), *_reminded(trace, newest)])


def _sent_again(trace: Trace, newest: Stretch) -> str:
    since = display.moment(newest.first.at)
    if not trace.returns:  # held for the first time
        return f"is sent since {since}"
    return f"is sent again since {since}: {CAME_BACK[trace.returns[-1].gone]}"


def _sent_until(turn: str, trace: Trace) -> str:
    last = trace.last_sent
    if last is None:
        return f"{turn} was never sent in its place."
    return f"{turn} was sent with {_requests(trace.sent)}, until {display.moment(last.last.at)}."


def _left_out(trace: Trace) -> str:
    since = "Since then it is" if trace.last_sent else "It is"
    return f"{since} left out: {because(trace.gone)}." if trace.gone else f"{since} before the window."


def _reminded(trace: Trace, newest: Stretch) -> Iterator[str]:
    recalled = trace.last_recalled
    if recalled:
        last = "" if newest is recalled else ", and not by the newest"
        yield (
            f"It was recalled beside the message by {_requests(trace.recalled)}, the last of them request "
            f"{recalled.last.number:,}{last}."
        )


def because(stretch: Stretch) -> str:
    """The reason in words."""
    assert stretch.reason
    label = stretch.reason.label
    return f"{label[0].lower()}{label[1:]}"


def _requests(count: int) -> str:
    return display.with_noun(count, "request")


def notes(message: Message, trace: Trace) -> Iterator[str]:
    """What else bears on it."""
    thread = message.thread
    if message.forgotten_at:
        yield f"Its text was forgotten at the person’s wish, {display.moment(message.forgotten_at)}."
    if not message.is_active:
        yield "It was replaced, or stands on a branch that was left: it is not on the path that the chat shows."
    if not thread.remembers:
        yield "Memory is off for this thread: nothing of it is recalled in other threads."
    if not thread.assistant.uses_memory:
        yield f"Its assistant, {thread.assistant}, uses no memory: what has left the window is not recalled."
    if Preferences.objects.filter(user=thread.user_id, remembers=False).exists():
        yield "The person has switched memory off: nothing is recalled or remembered."
    reasons = {stretch.reason for stretch in trace.concerned}
    if reasons & {Reason.OVER_BUDGET, Reason.TURN_LIMIT}:
        row = own_row(thread.assistant)
        at = in_tokens(thread.assistant, row.context_window) if row else thread.assistant
        yield (
            f"The window of {at} today: at most {at.history_turns_max:,} turns and {at.history_tokens_high:,} tokens; "
            f"when it is full it drops to about {at.history_tokens_low:,} tokens."
        )


def rows_of(trace: Trace) -> list[StretchRow]:
    scale = STRIP_WIDTH / max(sum(stretch.count for stretch in trace.stretches), 1)
    returns = {return_.stretch.first.number: return_ for return_ in trace.returns}
    return [
        StretchRow(
            stretch=stretch,
            fate=FATES[stretch.reason] if stretch.reason else None,
            x=round((stretch.first.number - 1) * scale, 1),
            width=round(max(stretch.count * scale, 1), 1),
            what=what(stretch),
            title=f"{numbers(stretch)}: {what(stretch)}",
            came_back=came_back(returns.get(stretch.first.number)),
        )
        for stretch in trace.stretches
    ]


def came_back(return_: Return | None) -> str:
    if return_ is None:
        return ""
    if return_.stretch.reason is Reason.RECALLED:
        return "it bore on that message"
    return CAME_BACK[return_.gone]


def what(stretch: Stretch) -> str:
    return FATES[stretch.reason].label if stretch.reason else "not said yet, or said after the message"


def numbers(stretch: Stretch) -> str:
    first, last = stretch.first.number, stretch.last.number
    return f"request {first:,}" if first == last else f"requests {first:,} to {last:,}"


def quoting(message: Message) -> list[ContextSnapshot]:
    """The newest requests that quote the turn within a text: for a contextualised query, or to note what was said."""
    snapshots = ContextSnapshot.objects.filter(thread=message.thread_id, created_at__gte=message.created_at)
    newest = snapshots.exclude(purpose__in=trace_reads.REPLYING).order_by("-created_at", "-id")
    return [
        snapshot
        for snapshot in newest.only("id", "purpose", "round", "status", "runs", "created_at")[:QUOTING_LOOKED_AT]
        if snapshot_codec.reason_at(snapshot.runs, message.position) in turn_history.HOLDING
    ][:QUOTING_SHOWN]
