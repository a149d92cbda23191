"""What became of the contextualised query of a message."""

from dataclasses import dataclass

from django.utils.translation import gettext

from conversations.context.query.rewriting import RewritingOutcome
from conversations.context.record import snapshot_api, snapshots
from conversations.models import ContextSnapshot
from conversations.providers.quoting import query_in
from conversations.staff.snapshot.evidence import Evidence, Relatives

SPEECHLESS = (
    ContextSnapshot.Purpose.ARTIFACT,
    ContextSnapshot.Purpose.CONSOLIDATION,
    ContextSnapshot.Purpose.TITLE,
    ContextSnapshot.Purpose.JUDGE,
)
"""They have no message to put into other words."""


@dataclass(frozen=True, kw_only=True)
class ContextualQuery:
    outcome: str = ""
    query: str = ""


def contextual_query(evidence: Evidence, relatives: Relatives) -> ContextualQuery:
    """Of a request that asked for a query: as it was used."""
    snapshot = evidence.snapshot
    if snapshot.purpose in SPEECHLESS:
        return ContextualQuery()
    if snapshot.purpose != ContextSnapshot.Purpose.REWRITE:
        return _query(snapshot.rewriting, evidence.body["rewriting"]["query"])
    of_same_round = (each for each in relatives.others if each.round == snapshot.round)
    used = next((each for each in of_same_round if each.purpose != snapshot.purpose), None)
    if used is None:
        return ContextualQuery(outcome=gettext("No request was made with it"))
    query = snapshot_api.query_of(used, snapshots.material_from(used, [])) if evidence.shown else ""
    return _query(used.rewriting, query)


def _query(outcome: str, query: str | None) -> ContextualQuery:
    label = gettext(RewritingOutcome(outcome).label) if outcome else ""
    return ContextualQuery(outcome=label, query=query_in(query or "").strip())
