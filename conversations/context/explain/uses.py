"""Which requests held a note, a turn or a file: how many, for how many replies, what it took in them, and when the last was."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from conversations.providers import prices
from conversations.providers.price_list import FREE, price_list
from conversations.providers.prices import Tokens
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass

SQL = read_statements(__file__)
ITEM, FILE = "held_item", "held_file"


@dataclass(frozen=True, kw_only=True, slots=True)
class Uses:
    """``requests`` are all model requests that held it, ``replies`` the answers that these were made for; a request to
    consolidate is for none. ``tokens`` of all these requests together, as their models count."""

    requests: int = 0
    replies: int = 0
    tokens: int = 0
    last: datetime | None = None


NONE = Uses()


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding:
    """What is asked for: the statement that finds the requests, with its values."""

    statement: str
    values: Mapping[str, Any]

    def run(self, name: str, **values: Any) -> list[Any]:
        return run(f"{SQL[self.statement]} {SQL[name]}", **self.values, **values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """A request that held it, with the tokens that it took there."""

    request: uuid.UUID
    thread: uuid.UUID
    at: datetime
    provider: str
    model: str
    tokens: int


def of_items(
    user_id: int, ids: Collection[uuid.UUID], *, here: Sequence[uuid.UUID] = (), estimated: int = 0
) -> Holding:
    """Of notes, topics and turns; ``here`` are requests that held the turn, of so many ``estimated`` tokens, in its place."""
    values = {"user": user_id, "ids": [str(id) for id in ids], "here": [*here], "estimated": estimated}
    return Holding(statement=ITEM, values=values)


def of_file(user_id: int, id: uuid.UUID) -> Holding:
    return Holding(statement=FILE, values={"user": user_id, "file": id})


def uses_of(user_id: int, ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Uses]:
    """Of the user's notes with these ids; one that no request held is missing."""
    return _uses(of_items(user_id, ids)) if ids else {}


def use_of(holding: Holding) -> Uses:
    """Of one item."""
    return next(iter(_uses(holding).values()), NONE)


def spent(holding: Holding) -> Decimal | None:
    """In USD, as if no cache had held it, by the prices of each day; ``None`` where the price of a model is not known."""
    known, whole = price_list(), Decimal(0)
    for provider, model, at, tokens in holding.run("spent"):
        if provider in FREE:
            continue
        cost = prices.cost(known, provider=provider, model=model, at=at, usage=Tokens(input=tokens))
        if cost is None:
            return None
        whole += cost
    return whole


def requests_holding(holding: Holding, *, most: int, before: uuid.UUID | None = None) -> list[Use]:
    """Newest first, those before a request of this id."""
    return [
        Use(request=request, thread=thread, at=at, provider=provider, model=model, tokens=tokens)
        for request, thread, at, provider, model, tokens in holding.run("requests", before=before, most=most)
    ]


def _uses(holding: Holding) -> dict[uuid.UUID, Uses]:
    return {
        uuid.UUID(id): Uses(requests=requests, replies=replies, tokens=tokens, last=last)
        for id, requests, replies, tokens, last in holding.run("uses")
    }
