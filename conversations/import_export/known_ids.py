"""What of a document is here already, and by which ids.

An id may be taken by another person, who must not be told of: what comes from elsewhere is stored by an id that is derived from
whoever imports it. An id of our own format is kept where it is free. The next import finds a thing by either.
"""

import uuid
from collections.abc import Iterable, Mapping
from itertools import batched
from typing import NamedTuple

from django.db.models import Model

from artifacts.models import Artifact
from conversations.models import File, Message
from memory.models import ThreadSummary

AT_ONCE = 1_000
OF_THREADS: Mapping[str, type[Model]] = {
    "messages": Message,
    "branches": Message,
    "artifacts": Artifact,
    "files": File,
    "summaries": ThreadSummary,
}
"""What a thread of a document lists, by the name of the list."""


class IdChoice(NamedTuple):
    """``derives``: the thing, and what belongs to it, is stored by derived ids. ``known``: it is here already."""

    derives: bool = False
    known: bool = False


class KnownIds:
    """Those of one person."""

    def __init__(self, user_id: int) -> None:
        self._user_id = user_id
        self._space = uuid.uuid5(uuid.NAMESPACE_URL, f"openbook:user:{user_id}")

    def derived(self, id: uuid.UUID) -> uuid.UUID:
        return uuid.uuid5(self._space, id.hex)

    def choices(
        self, model: type[Model], ids: Iterable[uuid.UUID], *, foreign: bool = False
    ) -> dict[uuid.UUID, IdChoice]:
        """Of threads, memories or topics. ``foreign``: their ids are never kept."""
        found: dict[uuid.UUID, IdChoice] = {}
        for some in batched(ids, AT_ONCE // 2):
            both = [*some, *map(self.derived, some)]
            owners = dict(model._default_manager.filter(pk__in=both).values_list("pk", "user_id"))
            for id in some:
                if owners.get(id) == self._user_id:
                    found[id] = IdChoice(known=True)
                else:
                    known = owners.get(self.derived(id)) == self._user_id
                    found[id] = IdChoice(derives=foreign or known or id in owners, known=known)
        return found

    def are_taken(self, kind: str, ids: Iterable[uuid.UUID]) -> bool:
        """Whether any of these, of a thread that is not here, belongs to something else that is."""
        model = OF_THREADS[kind]
        return any(model._default_manager.filter(pk__in=some).exists() for some in batched(ids, AT_ONCE))
