"""Which assistants, models, connections and tools a person may use, by the installation and by the groups that they are in.

Of each of the four: a group that lists none of them allows all, and whoever is in several groups that have such lists
(``GroupAccess``) may what any of them allows. Models and tools are also limited to those of the installation's settings,
whatever groups say. Models that help beside a reply – titles, notes, contextualised queries –
are chosen by whoever runs the server and not asked about here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.conf import settings

from conversations.models import GroupAccess
from conversations.providers.model_catalog import ROWS_OF


@dataclass(frozen=True, kw_only=True)
class Access:
    """Names, or ``None`` for all. ``server``: what the installation allows, which counts beside it."""

    assistants: frozenset[str] | None = None
    models: frozenset[str] | None = None
    connections: frozenset[str] | None = None
    tools: frozenset[str] | None = None
    server: "Access | None" = None

    def allows_assistant(self, slug: str) -> bool:
        return self.assistants is None or slug in self.assistants

    def allows_model(self, provider: str, name: str) -> bool:
        """``provider``: who is asked for it, by the slug of a connection where it is one."""
        if self.server and not self.server.allows_model(provider, name):
            return False
        if self.connections is not None and provider not in self.connections:
            return False
        ids = {f"{provider}/{name}", f"{ROWS_OF.get(provider, provider)}/{name}"}
        return self.models is None or not self.models.isdisjoint(ids)

    def allows_tool(self, name: str) -> bool:
        is_here = self.server is None or self.server.allows_tool(name)
        return is_here and (self.tools is None or name in self.tools)


ALL = Access()
LISTS = ("assistants", "models", "connections", "tools")


def access_of(user_id: int | None) -> Access:
    """In one statement."""
    return access_by(GroupAccess.objects.filter(group__user=user_id).values_list(*LISTS), installation())


def installation() -> Access | None:
    """``None`` where its settings leave all to the groups."""
    models, tools = settings.OPENBOOK_ALLOWED_MODELS, settings.OPENBOOK_ALLOWED_TOOLS
    return None if models is None and tools is None else Access(models=models, tools=tools)


def access_by(rows: Iterable[Sequence[Sequence[str]]], server: Access | None = None) -> Access:
    """Of the lists of each group, in the order of ``LISTS``. Pure."""
    columns = list(zip(*rows, strict=True)) or [()] * len(LISTS)
    return Access(**{name: _union(lists) for name, lists in zip(LISTS, columns, strict=True)}, server=server)


def _union(lists: Iterable[Sequence[str]]) -> frozenset[str] | None:
    every = list(lists)
    return frozenset().union(*every) if every and all(every) else None
