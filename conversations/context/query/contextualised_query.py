"""The message said so that it stands by itself, beside the person's own words (Q2). What it is, ``rewriting`` decides."""

from conversations.context.sources import Fitted, MessageQuery, Place, Source
from conversations.providers.quoting import contextualised

QUERY = "query"


class ContextualisedQuerySource(Source[str]):
    name = QUERY
    place = Place.BESIDE
    label = "Contextualised query"
    personal_label = "What your message refers to"
    is_memory = False
    comes_from = ("the rules, applied anew", False)

    def search(self, candidates: str | None, query: MessageQuery, room: int) -> str | None:
        return query.query or None

    def searches_by(self, query: MessageQuery) -> str:
        return query.query

    def fit(self, candidates: str, tokens: int) -> Fitted:
        return Fitted(text=contextualised(candidates))
