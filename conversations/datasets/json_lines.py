"""Datasets as lines of JSON, in the shapes of Langfuse's dataset items and of Phoenix's examples. Pure.

A case is told by ids and what staff expect; nothing of what people wrote. What a context must hold are lists of lines, what an
answer must hold stands under ``answer``.
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from conversations.datasets import answer_scorers
from conversations.datasets.expectations import SCORERS, check
from conversations.models import Case, CaseAnswer, Experiment

LANGFUSE, PHOENIX = "langfuse", "phoenix"
FORMATS = (LANGFUSE, PHOENIX)
MOST = 10_000
"""Letters of what a case expects, by scorer."""
IN_ANSWER = {
    "contains": answer_scorers.CONTAINS,
    "patterns": answer_scorers.PATTERNS,
    "schema": answer_scorers.SCHEMA,
    "good_answer": "answer",
    "criterion": "criterion",
}
"""Columns of a case by what they are called in a line."""
LISTS = ("contains", "patterns")


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


def answers(rows: Iterable[CaseAnswer], experiment: Experiment, shape: str) -> Iterator[str]:
    """What models answered, a line each: as items of a run of Langfuse's, or as runs of an experiment of Phoenix's with what
    scorers said. These are words."""
    for row in rows:
        told = _run_item(row, experiment) if shape == LANGFUSE else _experiment_run(row)
        yield json.dumps(told, ensure_ascii=False)


def _run_item(row: CaseAnswer, experiment: Experiment) -> dict[str, Any]:
    return {
        "runName": f"{experiment.id} version {row.version} {row.model}",
        "datasetItemId": str(row.case_id),
        "output": row.text,
        "error": row.problem or None,
        "metadata": _about(row),
        "scores": [
            {"name": name, "value": int(row.scores[name]), "dataType": "BOOLEAN", **_comment(name, row, "comment")}
            for name in answer_scorers.SCORERS
            if name in row.scores
        ],
    }


def _experiment_run(row: CaseAnswer) -> dict[str, Any]:
    return {
        "dataset_example_id": str(row.case_id),
        "repetition_number": 1,
        "output": row.text,
        "error": row.problem or None,
        **_times(row),
        "metadata": _about(row),
        "annotations": [
            {
                "name": name,
                "annotator_kind": "LLM" if name == answer_scorers.JUDGE else "CODE",
                "score": int(row.scores[name]),
                "label": "passes" if row.scores[name] else "fails",
                **_comment(name, row, "explanation"),
            }
            for name in answer_scorers.SCORERS
            if name in row.scores
        ],
    }


def _about(row: CaseAnswer) -> dict[str, Any]:
    return {"version": row.version, "model": row.model, "request": str(row.request_id), **row.figures}


def _times(row: CaseAnswer) -> dict[str, str | None]:
    """When the answer was asked for and when it was there, which Phoenix demands of each run."""
    end = row.answered_at
    took = timedelta(milliseconds=row.figures.get("milliseconds", 0))
    return {
        "start_time": (end - took).isoformat() if end else None,
        "end_time": end.isoformat() if end else None,
    }


def _comment(name: str, row: CaseAnswer, called: str) -> dict[str, str]:
    return {called: row.reason} if name == answer_scorers.JUDGE else {}


def _checked(expected: Mapping[str, Any]) -> dict[str, str]:
    texts = {name: "\n".join(map(str, expected.get(name, ()))) for name in SCORERS}
    texts |= _of_answer(expected.get("answer") or {})
    if any(len(text) > MOST for text in texts.values()):
        raise ValueError(f"more than {MOST} letters are expected")
    check(texts["evidence"], texts["patterns"])
    answer_scorers.check(texts[answer_scorers.PATTERNS], texts[answer_scorers.SCHEMA])
    return texts


def _of_answer(told: Mapping[str, Any]) -> dict[str, str]:
    schema = told.get("schema")
    return {
        **{column: "\n".join(map(str, told.get(name, ()))) for name, column in IN_ANSWER.items() if name in LISTS},
        answer_scorers.SCHEMA: json.dumps(schema, ensure_ascii=False) if schema else "",
        **{
            column: str(told.get(name, ""))
            for name, column in IN_ANSWER.items()
            if name in ("good_answer", "criterion")
        },
    }


def _expected(case: Case) -> dict[str, Any]:
    expected: dict[str, Any] = {name: text.splitlines() for name in SCORERS if (text := getattr(case, name))}
    of_answer = {
        name: json.loads(text) if name == "schema" else text.splitlines() if name in LISTS else text
        for name, column in IN_ANSWER.items()
        if (text := getattr(case, column))
    }
    return expected | ({"answer": of_answer} if of_answer else {})


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
