"""Datasets as lines of JSON, in the shapes of Langfuse's dataset items and of Phoenix's examples. Pure.

A case is told by ids and what staff expect; nothing of what people wrote.
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conversations.datasets.expectations import SCORERS, check
from conversations.models import Case

LANGFUSE, PHOENIX = "langfuse", "phoenix"
FORMATS = (LANGFUSE, PHOENIX)
MOST = 10_000
"""Letters of what a case expects, by scorer."""


class InvalidLine(ValueError):
    """Says the line, from 1, and what is wrong with it."""


def lines(cases: Iterable[Case], dataset: str, shape: str) -> Iterator[str]:
    for case in cases:
        yield json.dumps(_item(case, dataset) if shape == LANGFUSE else _example(case), ensure_ascii=False)


def read(texts: Iterable[str]) -> dict[uuid.UUID, Mapping[str, str]]:
    """What is expected by the id of the request, of lines in either shape. Raises ``InvalidLine``."""
    rows: dict[uuid.UUID, Mapping[str, str]] = {}
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
            expected = row["expectedOutput"] if "expectedOutput" in row else row.get("output")
            id = uuid.UUID(row["input"]["request"])
            rows[id] = _checked(expected or {})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidLine(f"Line {number} is no case: {error}") from None
    return rows


def _checked(expected: Mapping[str, Any]) -> dict[str, str]:
    texts = {name: "\n".join(map(str, expected.get(name, ()))) for name in SCORERS}
    if any(len(text) > MOST for text in texts.values()):
        raise ValueError(f"more than {MOST} letters are expected")
    check(texts["evidence"], texts["patterns"])
    return texts


def _expected(case: Case) -> dict[str, list[str]]:
    return {name: text.splitlines() for name in SCORERS if (text := getattr(case, name))}


def _item(case: Case, dataset: str) -> dict[str, Any]:
    return {
        "id": str(case.pk),
        "datasetName": dataset,
        "input": {"request": str(case.request_id)},
        "expectedOutput": _expected(case),
        "metadata": {"thread": str(case.thread_id)},
        "status": "ACTIVE",
    }


def _example(case: Case) -> dict[str, Any]:
    return {
        "id": str(case.pk),
        "input": {"request": str(case.request_id)},
        "output": _expected(case),
        "metadata": {"thread": str(case.thread_id)},
    }
