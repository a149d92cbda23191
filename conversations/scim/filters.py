"""Filters of lists. The database narrows down what it can find; each row that is left is then asked by the filter itself, so
that all of them work."""

from typing import Any

from django.db.models import Q
from scim2_models.path import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator

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


def is_id(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10
