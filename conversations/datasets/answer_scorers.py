"""What the answer to a case must hold, as staff write it, and whether an answer does. Pure.

Patterns are RE2's, those within a JSON Schema too: their time grows with the text alone. A schema that names others (``$ref``)
could name them without end, so it is refused, and so are patterns of names, which the library matches by backtracking.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import re2
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend

from conversations.datasets.expectations import InvalidExpectation, lines_of
from conversations.moderation.patterns import MOST_MEMORY, compiled

CONTAINS, PATTERNS, SCHEMA, JUDGE = "answer_contains", "answer_patterns", "answer_schema", "judge"
SCORERS = (CONTAINS, PATTERNS, SCHEMA, JUDGE)
COLUMNS = (CONTAINS, PATTERNS, SCHEMA, "answer", "criterion")
"""Of a case."""
REFUSED = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "patternProperties"})
FENCE = "```"


def check(patterns: str, schema: str) -> None:
    """Raises ``InvalidExpectation`` and ``InvalidPattern``."""
    compiled(patterns)
    if schema.strip():
        _validator(schema)


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
    try:
        return bool(_validator(schema).is_valid(json.loads(without_fence(text))))
    except (ValueError, RecursionError):
        return False


@lru_cache(maxsize=64)
def _validator(text: str) -> Any:
    try:
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
        if refused := REFUSED.intersection(_names(schema)):
            raise InvalidExpectation(f"A schema with {', '.join(sorted(refused))} is not taken.")
        for pattern in _patterns(schema):
            _compiled(pattern)
    except SchemaError as error:
        raise InvalidExpectation(f"It is no JSON Schema: {error.message[:200]}") from None
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, InvalidExpectation) else InvalidExpectation("It is no JSON.") from None
    return _WITH_RE2(schema)


def _names(schema: Any) -> Iterator[str]:
    match schema:
        case dict():
            yield from schema
            for each in schema.values():
                yield from _names(each)
        case list():
            for each in schema:
                yield from _names(each)


def _patterns(schema: Any) -> Iterator[str]:
    match schema:
        case dict():
            if isinstance(pattern := schema.get("pattern"), str):
                yield pattern
            for each in schema.values():
                yield from _patterns(each)
        case list():
            for each in schema:
                yield from _patterns(each)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MOST_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error:
        raise InvalidExpectation(f"RE2 takes no pattern such as {pattern[:100]!r}.") from None


def _matches(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError("It matches no pattern.")


_WITH_RE2: Any = extend(Draft202012Validator, {"pattern": _matches})  # type: ignore[no-untyped-call]
