"""What the person wants every answer to know and do: their own words for all threads, for a project, for this thread."""

from collections.abc import Mapping, Sequence
from typing import Any

from conversations.context.reasons import Reason
from conversations.context.render.excerpts import count, piece, quoted
from conversations.context.sources import Fitted, ItemKind, Place, Reading, Row, Source, SourceItem, SourceQuery
from conversations.models import Assistant, Instructions, Project, Thread
from conversations.providers.markers import Kind
from conversations.providers.quoting import unquote
from conversations.runtime.values import dataclass

HEADING = """\
## Instructions From the Person

Written by the person for every answer. Follow them as far as what stands above allows:"""
TITLES = {
    "about": "About the person:",
    "style": "How to answer:",
    "project": "In this project:",
    "thread": "In this conversation:",
}
KINDS = {
    "about": "instructions",
    "style": "instructions",
    "project": "project_instructions",
    "thread": "thread_instructions",
}
"""What an item of each is called."""
SHARE = 3
"""They may take one part in so many of what a request should take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """One text. ``row`` is the id of the row that holds it."""

    kind: str
    row: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """In the order in which they are sent. ``body`` is what was sent of them, where only that is known."""

    texts: tuple[Wish, ...]
    body: str = ""


class InstructionsSource(Source[Wishes]):
    name = "instructions"
    place = Place.STANDING
    label = "Instructions of the person"
    personal_label = "Your instructions"
    named_in_problems = {"instructions": "Your instructions"}
    is_memory = False
    kinds = (
        ItemKind(code="instructions", what="own instructions", model=Instructions, text="about"),
        ItemKind(code="project_instructions", what="instructions of the project", model=Project, text="instructions"),
        ItemKind(
            code="thread_instructions",
            what="instructions of the thread",
            model=Thread,
            text="instructions",
            thread="id",
        ),
    )
    statement = """
SELECT json_agg(json_build_array(kind, id, text) ORDER BY place)
FROM (
    SELECT 1 AS place, 'about' AS kind, id, about AS text FROM conversations_instructions
    WHERE user_id = %(user)s
    UNION ALL
    SELECT 2, 'style', id, style FROM conversations_instructions WHERE user_id = %(user)s
    UNION ALL
    SELECT 3, 'project', id, instructions FROM conversations_project
    WHERE user_id = %(user)s AND id = %(project)s::uuid
    UNION ALL
    SELECT 4, 'thread', id, instructions FROM conversations_thread WHERE user_id = %(user)s AND id = %(thread)s
    LIMIT 4
) AS written
WHERE text <> '' AND (place > 2 OR NOT EXISTS (
    SELECT FROM conversations_thread
    WHERE user_id = %(user)s AND id = %(thread)s AND NOT uses_account_instructions
))"""

    def values(self, query: SourceQuery) -> Mapping[str, Any]:
        return {"project": query.memory.project}

    def read(self, rows: Sequence[Row], reading: Reading) -> Wishes | None:
        texts = tuple(Wish(kind=kind, row=row, text=text) for kind, row, text in rows)
        return Wishes(texts=texts) if texts else None

    def fit(self, candidates: Wishes, tokens: int) -> Fitted:
        body = candidates.body or "\n\n".join(map(_paragraph, candidates.texts))
        text = piece(HEADING, body, tokens)
        whole = text == f"{HEADING}\n\n{body}"
        reason = Reason.INSTRUCTED if whole else Reason.SHORTENED if text else Reason.OVER_BUDGET
        left, items = count(text), dict[tuple[str, str], SourceItem]()
        for wish in candidates.texts:
            kind = KINDS[wish.kind]
            before = items.get((kind, wish.row))
            own = min(left, count(_paragraph(wish))) if text else 0
            left -= own
            items[kind, wish.row] = SourceItem(
                kind=kind,
                id=wish.row,
                included=bool(text),
                reason=reason,
                tokens=own + (before.tokens if before else 0),
            )
        return Fitted(text=text, items=list(items.values()))

    def recorded(self, text: str, items: Sequence[SourceItem], at: Any) -> Wishes | None:
        body = text.removeprefix(f"{HEADING}\n\n")
        kinds = {code: kind for kind, code in reversed(KINDS.items())}
        texts = tuple(Wish(kind=kinds[item.kind], row=item.id, text=unquote(Kind.SUMMARY, body)) for item in items)
        return Wishes(texts=texts, body=body) if body and texts else None

    def tokens(self, assistant: Assistant) -> int:
        return assistant.total_tokens // SHARE

    def rule(self, assistant: Assistant) -> str:
        return f"Instructions of the person take at most {self.tokens(assistant):,} tokens, a third of the budget."


def _paragraph(wish: Wish) -> str:
    return f"{TITLES[wish.kind]}\n{quoted(wish.text)}"
