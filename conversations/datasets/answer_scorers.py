"""What the answer to a case must hold, as staff write it, and whether an answer does. Pure."""

import json
from collections.abc import Mapping

from conversations.datasets.expectations import lines_of
from conversations.moderation.patterns import compiled

CONTAINS, PATTERNS, SCHEMA, JUDGE = "answer_contains", "answer_patterns", "answer_schema", "judge"
SCORERS = (CONTAINS, PATTERNS, SCHEMA, JUDGE)
COLUMNS = (CONTAINS, PATTERNS, SCHEMA, "answer", "criterion")
"""Of a case."""
FENCE = "```"


def check(patterns: str, schema: str) -> None:
    """Raises ``InvalidExpectation`` and ``InvalidPattern``."""
    from conversations.datasets.json_schemas import validator  # noqa: PLC0415  (takes long to load)

    compiled(patterns)
    if schema.strip():
        validator(schema)


def scores(expected: Mapping[str, str], text: str) -> dict[str, bool]:
    """By the scorer, of those that the case has something for, but for the judge: whether all of it is there."""
    results: dict[str, bool] = {}
    folded = text.casefold()
    if texts := lines_of(expected[CONTAINS]):
        results[CONTAINS] = all(each.casefold() in folded for each in texts)
    if patterns := compiled(expected[PATTERNS]):
        results[PATTERNS] = all(expression.search(text) for _, expression in patterns)
    if expected[SCHEMA].strip():
        results[SCHEMA] = _fits(expected[SCHEMA], text)
    return results


def without_fence(text: str) -> str:
    """JSON as models write it: within one block of code, or bare."""
    lines = text.strip().splitlines()
    if len(lines) > 1 and lines[0].startswith(FENCE) and lines[-1].strip() == FENCE:
        return "\n".join(lines[1:-1])
    return text


def _fits(schema: str, text: str) -> bool:
    from conversations.datasets.json_schemas import validator  # noqa: PLC0415  (takes long to load)

    try:
        return bool(validator(schema).is_valid(json.loads(without_fence(text))))
    except (ValueError, RecursionError):
        return False
