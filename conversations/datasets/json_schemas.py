"""JSON Schemas that staff write for answers. Pure, and apart as the library takes long to load.

Patterns within them are RE2's: their time grows with the text alone. A schema that names others (``$ref``) could name them
without end, so it is refused, and so are patterns of names, which the library matches by backtracking.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import re2
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend

from conversations.datasets.expectations import InvalidExpectation
from conversations.moderation.patterns import expression_of

REFUSED = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "patternProperties"})


@lru_cache(maxsize=64)
def validator(text: str) -> Any:
    """Raises ``InvalidExpectation``."""
    try:
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
        parts = [*_parts(schema)]
    except SchemaError as error:
        raise InvalidExpectation(f"It is no JSON Schema: {error.message[:200]}") from None
    except (ValueError, RecursionError):
        raise InvalidExpectation("It is no JSON.") from None
    if refused := REFUSED.intersection(name for part in parts for name in part):
        raise InvalidExpectation(f"A schema with {', '.join(sorted(refused))} is not taken.")
    for part in parts:
        if isinstance(pattern := part.get("pattern"), str):
            _compiled(pattern)
    return _WITH_RE2(schema)


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Each object in it."""
    match schema:
        case dict():
            yield schema
            for each in schema.values():
                yield from _parts(each)
        case list():
            for each in schema:
                yield from _parts(each)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "re2._Regexp":
    try:
        return expression_of(pattern, is_case_sensitive=True)
    except re2.error:
        raise InvalidExpectation(f"RE2 takes no pattern such as {pattern[:100]!r}.") from None


def _matches(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError("It matches no pattern.")


_WITH_RE2: Any = extend(Draft202012Validator, {"pattern": _matches})  # type: ignore[no-untyped-call]
