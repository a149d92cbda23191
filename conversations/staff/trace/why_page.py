"""Why a turn was forgotten: the answer in a line, then every request that held it or did not, and what stands for it now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models.functions import Left
from django.utils.translation import gettext

from conversations.context.explain import turn_history
from conversations.context.explain.turn_history import FATES, Fate, Return, Stretch, Trace
from conversations.context.reasons import Reason
from conversations.context.record import snapshot_codec
from conversations.context.tokens.budget import in_tokens
from conversations.models import ContextSnapshot, Message
from conversations.providers.answering_model import own_row
from conversations.runtime.wording import filled, lazy
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
    Reason.OVER_BUDGET: lazy("the window had room for it again: a larger budget, or newer turns left out"),
    Reason.TURN_LIMIT: lazy("the window had room for it again: a larger one, or newer turns left out"),
    Reason.FULFILLED_ARTIFACT: lazy("its artifact was deleted, or the filter switched off"),
    Reason.REFUSED: lazy("it was answered after all"),
    Reason.FAILED: lazy("the reply that it belongs to is no longer told as failed"),
    Reason.OFFLINE: lazy("the offline responder answers again, and keeps its own words"),
    Reason.SUPERSEDED: lazy("the chat went back to this attempt"),
    Reason.OTHER_BRANCH: lazy("the chat went back to this branch"),
    Reason.ORPHAN_TOOL: lazy("the other half of its tool call was there again"),
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
        rule=gettext(reason.rule) if reason else "",
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
    turn, concerned = filled("Turn {position}", position=position), trace.concerned
    if not concerned:
        return filled("{turn} has not been in question yet: no request has been made since it was said.", turn=turn)
    newest = concerned[-1]
    if not any(stretch.is_held for stretch in concerned):
        return filled(
            "{turn} was never sent, in {requests} since it was said: {because}.",
            turn=turn,
            requests=_requests(trace.left_out),
            because=because(newest),
        )
    if newest.is_held and newest.reason is not Reason.RECALLED:
        if trace.left_out:
            return filled(
                "{turn} {sent_again}, after {requests} without it.",
                turn=turn,
                sent_again=_sent_again(trace, newest),
                requests=_requests(trace.left_out),
            )
        beside = (
            filled("; of these {recalled} recalled it beside the message", recalled=trace.recalled)
            if trace.recalled
            else ""
        )
        return filled(
            "{turn} was given to every request since it was said, {sent} so far{beside}.",
            turn=turn,
            sent=trace.sent + trace.recalled,
            beside=beside,
        )
    return " ".join([_sent_until(turn, trace), _left_out(trace), *_reminded(trace, newest)])


def _sent_again(trace: Trace, newest: Stretch) -> str:
    since = display.moment(newest.first.at)
    if not trace.returns:  # held for the first time
        return filled("is sent since {since}", since=since)
    return filled("is sent again since {since}: {gone}", since=since, gone=CAME_BACK[trace.returns[-1].gone])


def _sent_until(turn: str, trace: Trace) -> str:
    last = trace.last_sent
    if last is None:
        return filled("{turn} was never sent in its place.", turn=turn)
    return filled(
        "{turn} was sent with {requests}, until {when}.",
        turn=turn,
        requests=_requests(trace.sent),
        when=display.moment(last.last.at),
    )


def _left_out(trace: Trace) -> str:
    since = gettext("Since then it is") if trace.last_sent else gettext("It is")
    return (
        filled("{since} left out: {because}.", since=since, because=because(trace.gone))
        if trace.gone
        else filled("{since} before the window.", since=since)
    )


def _reminded(trace: Trace, newest: Stretch) -> Iterator[str]:
    recalled = trace.last_recalled
    if recalled:
        last = "" if newest is recalled else gettext(", and not by the newest")
        yield (
            filled(
                "It was recalled beside the message by {requests}, the last of them request {number}{last}.",
                requests=_requests(trace.recalled),
                number=recalled.last.number,
                last=last,
            )
        )


def because(stretch: Stretch) -> str:
    """The reason in words."""
    assert stretch.reason
    label = gettext(stretch.reason.label)
    return f"{label[0].lower()}{label[1:]}"


def _requests(count: int) -> str:
    return display.with_noun(count, "request")


def notes(message: Message, trace: Trace) -> Iterator[str]:
    """What else bears on it."""
    thread = message.thread
    if message.forgotten_at:
        yield filled("Its text was forgotten at the person’s wish, {when}.", when=display.moment(message.forgotten_at))
    if not message.is_active:
        yield gettext(
            "It was replaced, or stands on a branch that was left: it is not on the path that the chat shows."
        )
    if not thread.remembers:
        yield gettext("Memory is off for this thread: nothing of it is recalled in other threads.")
    if not thread.assistant.uses_memory:
        yield filled(
            "Its assistant, {assistant}, uses no memory: what has left the window is not recalled.",
            assistant=thread.assistant,
        )
    if Preferences.objects.filter(user=thread.user_id, remembers=False).exists():
        yield gettext("The person has switched memory off: nothing is recalled or remembered.")
    reasons = {stretch.reason for stretch in trace.concerned}
    if reasons & {Reason.OVER_BUDGET, Reason.TURN_LIMIT}:
        row = own_row(thread.assistant)
        at = in_tokens(thread.assistant, row.context_window) if row else thread.assistant
        yield (
            filled(
                "The window of {assistant} today: at most {turns} turns and {high} tokens; "
                "when it is full it drops to about {low} tokens.",
                assistant=at,
                turns=at.history_turns_max,
                high=at.history_tokens_high,
                low=at.history_tokens_low,
            )
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
        return gettext("it bore on that message")
    return CAME_BACK[return_.gone]


def what(stretch: Stretch) -> str:
    return (
        gettext(FATES[stretch.reason].label) if stretch.reason else gettext("not said yet, or said after the message")
    )


def numbers(stretch: Stretch) -> str:
    first, last = stretch.first.number, stretch.last.number
    return (
        filled("request {first}", first=first)
        if first == last
        else filled("requests {first} to {last}", first=first, last=last)
    )


def quoting(message: Message) -> list[ContextSnapshot]:
    """The newest requests that quote the turn within a text: for a contextualised query, or to note what was said."""
    snapshots = ContextSnapshot.objects.filter(thread=message.thread_id, created_at__gte=message.created_at)
    newest = snapshots.exclude(purpose__in=trace_reads.REPLYING).order_by("-created_at", "-id")
    return [
        snapshot
        for snapshot in newest.only("id", "purpose", "round", "status", "runs", "created_at")[:QUOTING_LOOKED_AT]
        if snapshot_codec.reason_at(snapshot.runs, message.position) in turn_history.HOLDING
    ][:QUOTING_SHOWN]
