"""What was found, as programs read it."""

from typing import Annotated, TypedDict

from django.db.models import Case, F, OrderBy, QuerySet, Value, When

from conversations.models import LintFinding
from conversations.runtime.shapes import Id, Slug, Time, fill

State = LintFinding.State
PLACES = {State.OPEN: 0, State.ACCEPTED: 1, State.MENDED: 2}
ORDERING = (
    Case(*(When(state=state, then=Value(place)) for state, place in PLACES.items())).asc(),
    OrderBy(F("cost_month"), descending=True, nulls_last=True),
    "-tokens_month",
    "id",
)
"""Open ones first, and of these what costs the most."""


class FindingAnswer(TypedDict):
    """A finding of the linter: ids and figures of the last thirty days, never a text."""

    id: Annotated[Id, "Id of the finding."]
    finding: Annotated[str, "What was found: the slug of a rule, such as `unused_tool`."]
    assistant: Annotated[Slug, "In whose requests."]
    subject: Annotated[str, "The name of the tool, section or setting that it is about; may be empty."]
    state: Annotated[str, State, "What became of it."]
    reason: Annotated[str, "Why it was accepted; may be empty."]
    count: Annotated[int, "How often."]
    tokens_month: Annotated[int, "Tokens of it in thirty days."]
    cost_month: Annotated[float | None, "What these cost, in USD; null: nothing, or no price is known."]
    example: Annotated[Id | None, "Id of a request."]
    setting: Annotated[str, "The assistant's setting that mends it."]
    first_seen_at: Annotated[Time, "When it was first found."]
    seen_at: Annotated[Time, "When it was last found."]


def present() -> QuerySet[LintFinding]:
    """What the last look found."""
    rows = LintFinding.objects.exclude(state=State.MENDED).select_related("assistant")
    return rows.order_by(*ORDERING)


def finding_object(row: LintFinding) -> FindingAnswer:
    return fill(
        FindingAnswer,
        row,
        finding=row.rule,
        assistant=row.assistant.slug,
        cost_month=None if row.cost_month is None else float(row.cost_month),
        example=row.example_id,
    )
