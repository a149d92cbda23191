"""What was said today, in short, with its key moments (C5)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from conversations.context.reasons import Reason
from conversations.context.render.excerpts import bullet, count, quoted
from conversations.context.sources import (
    Fitted,
    InvalidRow,
    ItemKind,
    Place,
    Reading,
    Row,
    Source,
    SourceItem,
    SourceQuery,
)
from conversations.models import Assistant
from conversations.providers.markers import BULLET, Kind
from conversations.providers.quoting import noted, unquote
from memory.models import DailySummary
from memory.sources.rows import (
    Summary,
    fit_summary,
    parse_text,
    summary_fitted,
    summary_rule,
    summary_unrepeated,
    without_repeats,
)

HEADING = "## Today"
DROPPED = "- […]"


class TodaySource(Source[Summary]):
    name = "today"
    place = Place.STANDING
    label = "Today"
    personal_label = "Today"
    named_in_problems = {"today": "What you did today"}
    budget_field = "today_tokens"
    kinds = (ItemKind(code="summary", what="summary of the day", model=DailySummary, text="text"),)
    cut_order = 1
    gives_way = 1
    # Which day it is for the person is told by their time zone; UTC's date is at most a day from anyone's.
    statement = """
SELECT json_agg(json_build_array(id, CASE WHEN octet_length(text) <= 20000 THEN text END, day,
                                 CASE WHEN octet_length(key_moments::text) <= 20000 THEN key_moments END)
                ORDER BY project_id IS NOT DISTINCT FROM %(project)s::uuid DESC, project_id NULLS FIRST)
FROM memory_dailysummary
WHERE user_id = %(user)s AND day BETWEEN %(day)s::date - 1 AND %(day)s::date + 1
  AND coalesce(project_id = ANY(%(projects)s::uuid[]), false) = %(confined)s"""

    def values(self, query: SourceQuery) -> Mapping[str, Any]:
        scope = query.memory
        return {
            "day": query.session.started_at.astimezone(UTC).date(),
            "project": scope.project,
            **scope.values,
        }

    def read(self, rows: Sequence[Row], reading: Reading) -> Summary | None:
        """Of several projects whose days are open to the thread, as one: its own first."""
        day = reading.session.started_at.astimezone(reading.zone).date().isoformat()
        summaries = reading.parsed([row for row in rows if row[2] == day], _summary)
        return joined(summaries) if summaries else None

    def unrepeated(self, candidates: Summary, lines: Sequence[str]) -> Summary:
        return summary_unrepeated(candidates, lines)

    def fit(self, candidates: Summary, tokens: int) -> Fitted:
        """The summary and its key moments; if they are too long, the newest moments that fit; and if none does, a piece."""
        body = quoted(candidates.text, Kind.DAY)
        moments = [bullet(moment) for moment in candidates.moments if moment.strip()]
        if count(_day(body, moments)) > tokens and moments:
            kept = _newest(body, moments, tokens)
            if kept or (body and count(_day(body, [DROPPED])) <= tokens):
                return summary_fitted(candidates, _day(body, [DROPPED, *kept]), Reason.SHORTENED)
        return fit_summary(candidates, HEADING, _body(body, moments), tokens)

    def recorded(self, text: str, items: Sequence[SourceItem], at: datetime) -> Summary:
        body = text.partition("\n\n")[2]
        summary, _, last = body.rpartition("\n\n")
        lines = last.splitlines()
        if lines and all(line.startswith(BULLET) for line in lines):
            moments = tuple(map(noted, lines))
            return Summary(id=items[0].id, text=unquote(Kind.DAY, summary), moments=moments, others=_others(items))
        return Summary(id=items[0].id, text=unquote(Kind.DAY, body), others=_others(items))

    def columns(self, fitted: Fitted) -> Mapping[str, Any]:
        return {"today_summary_present": bool(fitted.text)}

    def rule(self, assistant: Assistant) -> str:
        return summary_rule(assistant)


def joined(days: Sequence[Summary]) -> Summary:
    """As one, by the name of the first."""
    first, *others = days
    if not others:
        return first
    return without_repeats(
        Summary(
            id=first.id,
            text="\n".join(filter(None, (day.text for day in days))),
            moments=tuple(moment for day in days for moment in day.moments),
            others=tuple(day.id for day in others),
        )
    )


def _others(items: Sequence[SourceItem]) -> tuple[str, ...]:
    return tuple(item.id for item in items[1:])


def _newest(body: str, moments: Sequence[str], tokens: int) -> list[str]:
    kept: list[str] = []
    left = tokens - count(_day(body, [DROPPED]))
    for moment in reversed(moments):
        left -= count(moment)
        if left < 0:
            break
        kept.insert(0, moment)
    while kept and count(_day(body, [DROPPED, *kept])) > tokens:
        kept.pop(0)
    return kept


def _day(body: str, moments: Sequence[str]) -> str:
    return f"{HEADING}\n\n{_body(body, moments)}"


def _body(body: str, moments: Sequence[str]) -> str:
    return "\n\n".join(filter(None, (body, "\n".join(moments))))


def _summary(row: Row) -> Summary:
    id, text, _, moments = row
    if not isinstance(moments, list) or not all(isinstance(moment, str) for moment in moments):
        raise InvalidRow(f"The key moments of summary {id} are no list of texts, or too long.")
    return without_repeats(Summary(id=str(id), text=parse_text(text), moments=tuple(moments)))
