"""Topics that the person left open: newest first, and so those that were opened long ago stand behind the rest (C6)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Any

from conversations.context.reasons import Reason
from conversations.context.render.excerpts import bullet, fit_list
from conversations.context.sources import (
    Edit,
    Fitted,
    ItemKind,
    Place,
    Reading,
    Row,
    Source,
    SourceItem,
    SourceQuery,
)
from conversations.models import Assistant
from conversations.providers.markers import OPEN_SINCE
from conversations.providers.quoting import noted
from conversations.runtime.values import dataclass
from conversations.runtime.wording import filled
from memory.models import Topic
from memory.sources.rows import included_lines, list_item, parse_time, repeated_rows

HEADING = "## Open Threads"
MOST_TOPICS = 5
SINCE = re.compile(re.escape(f" {OPEN_SINCE}").replace(re.escape("{day}"), r"(\d{4}-\d\d-\d\d)") + r"\Z", re.ASCII)
FRESH = timedelta(days=7)


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenTopic:
    id: str
    title: str
    opened_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenTopics:
    began_at: datetime
    topics: tuple[OpenTopic, ...] = field(hash=False)  # hashing all of them took longer than comparing
    repeated: frozenset[str] = frozenset()
    """Ids of those that stand elsewhere in the request."""


class OpenTopicSource(Source[OpenTopics]):
    name = "open_threads"
    place = Place.STANDING
    label = "Open threads"
    personal_label = "Open topics"
    named_in_problems = {"open_threads": "Your open topics"}
    budget_field = "open_threads_tokens"
    kinds = (
        ItemKind(
            code="topic", what="topic", model=Topic, text="title", thread="thread", page="admin:memory_topic_change"
        ),
    )
    cut_order = 2
    statement = """
SELECT json_agg(json_build_array(id, title, opened_at) ORDER BY opened_at DESC, id DESC)
FROM (
    SELECT topic.id, topic.title, opened_at
    FROM memory_topic AS topic
    LEFT JOIN conversations_thread AS thread ON thread.user_id = %(user)s AND thread.id = topic.thread_id
    WHERE topic.user_id = %(user)s AND resolved_at IS NULL
      AND coalesce(thread.project_id = ANY(%(projects)s::uuid[]), false) = %(confined)s
    ORDER BY opened_at DESC, topic.id DESC LIMIT 10
) AS topics"""

    def values(self, query: SourceQuery) -> Mapping[str, Any]:
        return query.memory.values

    def read(self, rows: Sequence[Row], reading: Reading) -> OpenTopics | None:
        topics = reading.parsed(
            rows,
            lambda row: OpenTopic(id=row[0], title=row[1], opened_at=parse_time(row[2], reading.zone)),
        )
        return OpenTopics(began_at=reading.session.started_at, topics=topics) if topics else None

    def unrepeated(self, candidates: OpenTopics, lines: Sequence[str]) -> OpenTopics:
        repeated = repeated_rows(((topic.id, topic.title) for topic in candidates.topics if topic.title.strip()), lines)
        return replace(candidates, repeated=repeated)

    def fit(self, candidates: OpenTopics, tokens: int) -> Fitted:
        topics = [topic for topic in candidates.topics if topic.title.strip()]
        unrepeated = [topic for topic in topics if topic.id not in candidates.repeated]
        lines = {topic.id: _line(topic, candidates.began_at) for topic in unrepeated[:MOST_TOPICS]}
        text, fitted = fit_list(HEADING, lines, tokens)
        reasons = {topic.id: Reason.OVER_BUDGET if topic.id in lines else Reason.LIMIT for topic in topics}
        reasons |= dict.fromkeys(candidates.repeated, Reason.REPEATED)
        return Fitted(
            text=text, items=[list_item("topic", id, fitted, instead=reason) for id, reason in reasons.items()]
        )

    def recorded(self, text: str, items: Sequence[SourceItem], at: datetime) -> OpenTopics:
        lines = included_lines(text.partition("\n\n")[2], items)
        topics = tuple(_recorded(id, line, at) for id, line in lines)
        return OpenTopics(began_at=at, topics=topics)

    def edited(
        self, candidates: OpenTopics | None, items: Sequence[SourceItem], query: SourceQuery, edit: Edit
    ) -> OpenTopics | None:
        if not edit.touches(self.name, items):
            return candidates
        candidates = candidates or OpenTopics(began_at=query.session.started_at, topics=())
        known = {topic.id: topic for topic in candidates.topics}
        rows = Topic.objects.filter(user=query.user_id, id__in=[item.id for item in items])
        others = {str(row.pk): OpenTopic(id=str(row.pk), title=row.title, opened_at=row.opened_at) for row in rows}
        ids = [item.id for item in items if item.id not in edit.without]
        topics = tuple(topic for id in ids if (topic := known.get(id) or others.get(id)))
        return replace(candidates, topics=topics, repeated=frozenset()) if topics else None

    def columns(self, fitted: Fitted) -> Mapping[str, Any]:
        return {"open_threads_count": sum(item.included for item in fitted.items)}

    def rule(self, assistant: Assistant) -> str:
        return filled("Open threads take at most {tokens} tokens.", tokens=assistant.open_threads_tokens)


def _line(topic: OpenTopic, began_at: datetime) -> str:
    since = f" {OPEN_SINCE.format(day=topic.opened_at.date())}" if began_at - topic.opened_at > FRESH else ""
    return f"{bullet(topic.title)}{since}"


def _recorded(id: str, line: str, at: datetime) -> OpenTopic:
    """A topic of a line; where that doesn't say since when it is open, since then."""
    since = SINCE.search(line)
    opened_at = datetime.fromisoformat(since[1]).replace(tzinfo=at.tzinfo) if since else at
    return OpenTopic(id=id, title=noted(line[: since.start()] if since else line), opened_at=opened_at)
