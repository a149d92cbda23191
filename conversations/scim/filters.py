"""Filters of lists. The database narrows down what it can find; each row that is left is then asked by the filter itself, so
that all of them work."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q
from scim2_models.path import (
    AttrPath,
    CompareOperator,
    Comparison,
    FilterNode,
    LogicalExpr,
    LogicalOperator,
    Not,
    Present,
    ValuePath,
)

USERS = {"username": "username__iexact", "externalid": "directory__external_id", "id": "pk"}
GROUPS = {"displayname": "name__iexact", "externalid": "directory__external_id", "id": "pk"}


def narrowed(node: FilterNode, columns: dict[str, str]) -> Q:
    """Rows among which are all that match."""
    match node:
        case LogicalExpr(op=LogicalOperator.and_, terms=terms):
            found = Q()
            for term in terms:
                found &= narrowed(term, columns)
            return found
        case Comparison(op=CompareOperator.eq, attr_path=path, value=str(value)) if not path.sub_attr:
            lookup = columns.get(path.attr.lower())
            if lookup == "pk":
                return Q(pk=int(value)) if is_id(value) else Q(pk__in=())
            if lookup:
                return Q(**{lookup: value})
    return Q()


def named_members(node: FilterNode) -> frozenset[int] | None:
    """The only members that a group needs to be judged by a filter; ``None``: all of them."""
    found: set[int] = set()
    for path, value in _compared(node):
        if path.attr.lower() != "members":
            continue
        if value is None or (path.sub_attr or "value").lower() != "value":
            return None
        found |= {int(value)} if is_id(value) else set()
    return frozenset(found)


def _compared(node: FilterNode) -> Iterator[tuple[AttrPath, str | None]]:
    """Each attribute that a filter asks for, with what it is to be equal to; ``None`` for every other comparison."""
    match node:
        case Comparison(op=CompareOperator.eq, attr_path=path, value=str(value)):
            yield path, value
        case Comparison(attr_path=path) | Present(attr_path=path):
            yield path, None
        case LogicalExpr(terms=terms):
            for term in terms:
                yield from _compared(term)
        case Not(expr=expr):
            yield from _compared(expr)
        case ValuePath(attr_path=whole, val_filter=within):
            for part, compared in _compared(within):
                yield AttrPath(whole.attr, part.attr), compared


def is_id(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10
