"""Requests become cases of a dataset."""

import uuid
from collections.abc import Iterable, Mapping

from django.contrib.auth.models import User
from django.db import transaction

from conversations import audit
from conversations.audit import AuditKind
from conversations.datasets.answer_scorers import COLUMNS
from conversations.datasets.expectations import SCORERS
from conversations.models import Case, ContextSnapshot, Dataset
from conversations.regression.replaying import REPLYING
from conversations.runtime import clock

COLLECTED = "Collected"
"""The dataset that lists of the admin collect into."""
Expected = Mapping[str, str]
"""What a context must hold, by the scorer: lines; and an answer, by the column."""


@transaction.atomic
def add_cases(dataset: Dataset, expected: Mapping[uuid.UUID, Expected]) -> int:
    """Those of the requests, by id, that are there and are asked for a reply; how many are new. One that the dataset has
    already takes what is expected of it anew where something is."""
    found = ContextSnapshot.objects.filter(id__in=expected, purpose__in=REPLYING).values_list("id", "thread_id")
    known = set(Case.objects.filter(dataset=dataset).values_list("request_id", flat=True))
    now = clock.now()
    rows = [
        Case(dataset=dataset, request_id=id, thread_id=thread, created_at=now, **_lines(expected[id]))
        for id, thread in found
    ]
    new = [row for row in rows if row.request_id not in known]
    told = [row for row in rows if row.request_id in known and expected[row.request_id]]
    Case.objects.bulk_create(new)
    for row in told:
        Case.objects.filter(dataset=dataset, request=row.request_id).update(**_lines(expected[row.request_id]))
    audit.record(
        AuditKind.ROW_CHANGED, target=dataset, details={"act": "cases", "added": len(new), "changed": len(told)}
    )
    return len(new)


def collect(ids: Iterable[uuid.UUID], *, by: User) -> int:
    """Into the dataset of collected requests; how many are new."""
    dataset, _ = Dataset.objects.get_or_create(name=COLLECTED, defaults={"author": by, "created_at": clock.now()})
    return add_cases(dataset, {id: {} for id in ids})


def _lines(expected: Expected) -> dict[str, str]:
    return {name: expected.get(name, "") for name in (*SCORERS, *COLUMNS)}
