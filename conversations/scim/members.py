"""The members of a group, apart from the rest of it: a group may have thousands, and the library makes an object of each and
compares each with each. Here they are sets of ids, and a change reads no more members than it names."""

from collections.abc import Iterable, Iterator
from typing import Any

from scim2_models import Path, ResponseParameters
from scim2_models import exceptions as scim_errors
from scim2_models.path import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator

from conversations.accounts.directory import MemberChange
from conversations.scim import filters
from conversations.scim.resources import Group, user_address

NAME = "members"
FULL_NAME = f"{Group.__schema__}:{NAME}".lower()
PARTS = ("value", "type", "$ref")
NOTHING = {"op": "add", "path": NAME, "value": []}
"""Stands for an operation that was taken out."""

type Body = dict[str, Any]
type Step = tuple[str, frozenset[int] | None]
"""``add``, ``replace`` or ``remove``, and of whom; ``None`` is everybody."""


def split_resource(body: Body) -> tuple[Body, MemberChange]:
    """A group as it is to be, without its members; and them, in the place of all that there are."""
    names = [name for name in body if _is_members(name)]
    ids = frozenset[int]().union(*(_demand_ids(body[name]) for name in names))
    return {name: value for name, value in body.items() if name not in names}, MemberChange(added=ids, replaces=True)


def split_patch(body: Body) -> tuple[Body, MemberChange]:
    """The operations that change no members; and what the others do to them, one after the other."""
    name = next((name for name in body if name.lower() == "operations"), "Operations")
    operations = body.get(name)
    if not isinstance(operations, list):
        return body, MemberChange()
    others, steps = [], list[Step]()
    for operation in operations:
        other, found = _split_operation(operation)
        others.append(other)
        steps += found
    return body | {name: others}, _after(steps)


def _split_operation(operation: Any) -> tuple[Any, list[Step]]:
    """What the library finds wrong is left to it."""
    asked = {name.lower(): value for name, value in operation.items()} if isinstance(operation, dict) else {}
    op, value = str(asked.get("op")).lower(), asked.get("value")
    if op not in ("add", "replace", "remove"):
        return operation, []
    try:
        path = Path[Group](asked.get("path") or "")
        binding = path.resolve() if path.model is None else None
    except (scim_errors.SCIMException, TypeError):
        return operation, []
    if path.model is not None and op != "remove" and isinstance(value, dict):
        names = [name for name in value if _is_members(name)]
        others = {name: each for name, each in value.items() if name not in names}
        left = asked | {"value": others} if others else NOTHING
        return (left if names else operation), [(op, _demand_ids(value[name])) for name in names]
    if binding is None or binding.field_name != NAME:
        return operation, []
    if op == "remove" and not binding.sub_field_name:
        return NOTHING, [(op, _selected(path.value_filter, value))]
    if binding.sub_field_name or path.value_filter is not None:
        raise scim_errors.InvalidPathException(detail="Members are added and removed, not changed.")
    if value is None and (op == "add" or "value" not in asked):
        return operation, []
    return NOTHING, [(op, _demand_ids(value))]


def _selected(filter: FilterNode | None, value: Any) -> frozenset[int] | None:
    """Whom a removal names: by its path, as Okta does, or by its value, as Entra does."""
    if filter is not None:
        return _of(_filtered(filter))
    return None if value is None else _of(_values(value))


def _filtered(node: FilterNode) -> Iterator[Any]:
    match node:
        case Comparison(op=CompareOperator.eq, attr_path=path, value=value) if str(path).lower() == "value":
            yield value
        case LogicalExpr(op=LogicalOperator.or_, terms=terms):
            for term in terms:
                yield from _filtered(term)
        case _:
            raise scim_errors.InvalidFilterException(detail='Members are chosen by `value eq "…"`, joined by `or`.')


def _after(steps: Iterable[Step]) -> MemberChange:
    added, removed, replaces = frozenset[int](), frozenset[int](), False
    for op, ids in steps:
        match op:
            case "add":
                added, removed = added | (ids or frozenset()), removed - (ids or frozenset())
            case "remove" if ids is not None:
                added, removed = added - ids, removed | ids
            case _:
                added, removed, replaces = ids if op == "replace" and ids else frozenset(), frozenset(), True
    return MemberChange(added=added, removed=removed, replaces=replaces)


def _is_members(name: str) -> bool:
    return name.lower() in (NAME, FULL_NAME)


def _values(members: Any) -> Iterator[Any]:
    """Of one or many, each an object with a ``value``."""
    for each in members if isinstance(members, list) else [] if members is None else [members]:
        if not isinstance(each, dict):
            raise scim_errors.InvalidValueException(detail="Each member is an object with a `value`.")
        yield each["value"] if "value" in each else next((v for k, v in each.items() if k.lower() == "value"), None)


def _demand_ids(members: Any) -> frozenset[int]:
    values = list(_values(members))
    if wrong := [value for value in values if not filters.is_id(value)]:
        raise scim_errors.InvalidValueException(detail=f"{str(wrong[0])[:40]} is no id of a user.")
    return _of(values)


def _of(values: Iterable[Any]) -> frozenset[int]:
    """Nobody has what is no id."""
    return frozenset(int(value) for value in values if filters.is_id(value))


def told_parts(parameters: ResponseParameters[Any]) -> list[str]:
    """What an answer tells of each member; nothing where it was not asked for."""
    if parameters.attributes:
        return _named(parameters.attributes)
    left_out = _named(parameters.excluded_attributes or ())
    return [part for part in PARTS if part not in left_out]


def _named(paths: Iterable[Any]) -> list[str]:
    """The parts of members among the attributes that are named."""
    names = {str(path).lower().removeprefix(f"{Group.__schema__}:".lower()) for path in paths}
    return [part for part in PARTS if NAME in names or f"{NAME}.{part}" in names]


def tell(ids: Iterable[int], parts: list[str], site: str) -> list[dict[str, str]]:
    """As an answer has them."""
    return [
        {part: {"value": str(pk), "type": "User", "$ref": user_address(pk, site)}[part] for part in parts} for pk in ids
    ]
