"""What the last conversation was about, for who comes back after more than a day (C7)."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from conversations.context.render.excerpts import quoted
from conversations.context.sources import Fitted, ItemKind, Place, Reading, Row, Source, SourceItem, SourceQuery
from conversations.models import Assistant
from conversations.providers.markers import Kind
from conversations.providers.quoting import unquote
from memory.models import ThreadSummary
from memory.sources.rows import Summary, fit_summary, parse_text, parse_time, summary_rule, summary_unrepeated

HEADING = "## Last Conversation"
ENDED_ON = re.compile(r"On (\d{4}-\d\d-\d\d):\n\n")
LONG_AWAY = timedelta(hours=24)


class LastConversationSource(Source[Summary]):
    name = "last_conversation"
    place = Place.STANDING
    label = "Last conversation"
    personal_label = "Last conversation"
    named_in_problems = {"last_conversation": "Your last conversation"}
    budget_field = "last_conversation_tokens"
    kinds = (
        ItemKind(
            code="summary", what="summary of the last conversation", model=ThreadSummary, text="text", thread="thread"
        ),
    )
    cut_order = 3
    gives_way = 2
    statement = """
SELECT json_agg(json_build_array(id, CASE WHEN octet_length(text) <= 20000 THEN text END, ended_at))
FROM (
    SELECT id, text, ended_at FROM (
        SELECT part.id, thread_id, text, ended_at
        FROM memory_threadsummary AS part
        WHERE %(long_away)s AND part.user_id = %(user)s AND ended_at < %(began_at)s
          AND coalesce((
              SELECT project_id FROM conversations_thread AS thread
              WHERE thread.user_id = %(user)s AND thread.id = part.thread_id
          ) = ANY(%(projects)s::uuid[]), false) = %(confined)s
        ORDER BY ended_at DESC, part.id DESC LIMIT 20
    ) AS newest
    WHERE thread_id IS DISTINCT FROM %(thread)s ORDER BY ended_at DESC, id DESC LIMIT 1
) AS conversation"""

    def values(self, query: SourceQuery) -> Mapping[str, Any]:
        began_at, away_since = query.session.started_at, query.session.away_since
        long_away = away_since is not None and began_at - away_since > LONG_AWAY
        return {"long_away": long_away, **query.memory.values}

    def read(self, rows: Sequence[Row], reading: Reading) -> Summary | None:
        def summary(row: Row) -> Summary:
            id, text, ended_at = row
            return Summary(id=str(id), text=parse_text(text), ended_on=parse_time(ended_at, reading.zone).date())

        return next(iter(reading.parsed(rows, summary)), None)

    def unrepeated(self, candidates: Summary, lines: Sequence[str]) -> Summary:
        return summary_unrepeated(candidates, lines)

    def fit(self, candidates: Summary, tokens: int) -> Fitted:
        ended = f"\n\nOn {candidates.ended_on.isoformat()}:" if candidates.ended_on else ""
        return fit_summary(candidates, HEADING + ended, quoted(candidates.text), tokens)

    def recorded(self, text: str, items: Sequence[SourceItem], at: datetime) -> Summary | None:
        body = text.partition("\n\n")[2]
        id = next((item.id for item in items if item.included), None)
        if id is None:
            return None
        if match := ENDED_ON.match(body):
            text, ended_on = body[match.end() :], date.fromisoformat(match[1])
            return Summary(id=id, text=unquote(Kind.SUMMARY, text), ended_on=ended_on)
        return Summary(id=id, text=unquote(Kind.SUMMARY, body))

    def columns(self, fitted: Fitted) -> Mapping[str, Any]:
        return {"last_conversation_present": bool(fitted.text)}

    def rule(self, assistant: Assistant) -> str:
        return summary_rule(assistant)
