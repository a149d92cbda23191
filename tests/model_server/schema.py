"""What a request may hold, made from the types of the installed SDK: no further keys, and nothing of another kind.

The SDK sends whatever it is given; its types only say to a type checker what the API takes. Here they become a validator, so
that a parameter that the API would refuse is refused in the tests, in the API's words.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from os import PathLike
from types import NoneType
from typing import IO, Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Discriminator, Tag, TypeAdapter, ValidationError
from typing_extensions import TypedDict, is_typeddict

IN_HEADERS = frozenset({"betas", "user_profile_id", "workspace_id"})
"""Parameters of the SDK that it sends as headers."""
HIDDEN = "|"
"""Begins the tags that tell alternatives apart and are no part of a place as the API names it."""
TAG_KEYS = ("type", "role")
UNTYPED = {"type": "custom"}
"""What an object is that doesn't say it: a tool is the caller's own."""


def schema_complaints(body: object, *, beta: bool = False) -> Iterator[str]:
    """What the API would say about the shape of this request, what is missing first. ``beta``: it names a beta in a header."""
    try:
        request_type(beta).validate_python(body, strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        for problem in sorted(problems, key=lambda problem: problem["type"] != "missing"):
            place = ".".join(str(part) for part in problem["loc"] if not str(part).startswith(HIDDEN))
            yield f"{place}: {problem['msg']}" if place else problem["msg"]


@cache
def request_type(beta: bool) -> TypeAdapter[Any]:
    types = import_module(f"anthropic.types{'.beta' if beta else ''}.message_create_params")  # takes two seconds
    return TypeAdapter(json_type(types.MessageCreateParamsStreaming))


def json_type(kind: Any) -> Any:
    """What the SDK's type is in JSON: objects without further keys, lists for iterables, tagged alternatives."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        return object_type(kind)
    if origin is Annotated:
        return json_type(arguments[0])
    if origin in (Required, NotRequired):
        return origin[json_type(arguments[0])]
    if origin is Union:
        return union_type([member for member in arguments if is_json(member)])
    if origin is dict or kind is object:
        return dict[str, Any] if origin is dict else Any
    if origin is Literal or kind in (str, int, float, bool, NoneType):
        return kind
    assert len(arguments) == 1, f"what is {kind} in JSON?"
    return list[json_type(arguments[0])]  # type: ignore[misc]  # Iterable, List, Sequence


@cache
def object_type(kind: Any) -> Any:
    hints = get_type_hints(kind, include_extras=True)
    fields = {name: field_type(hint) for name, hint in hints.items() if name not in IN_HEADERS}
    made = TypedDict(kind.__name__, fields)  # type: ignore[misc]
    is_open = getattr(kind, "__pydantic_config__", {}).get("extra") == "allow"
    made.__pydantic_config__ = ConfigDict(extra="allow" if is_open else "forbid")  # type: ignore[attr-defined]
    return made


def field_type(hint: Any) -> Any:
    """The SDK declares its objects with ``total=False`` and marks what is required."""
    return json_type(hint) if get_origin(hint) is Required else NotRequired[json_type(hint)]


def is_json(kind: Any) -> bool:
    """Not so the SDK's models of answers, which its parameters also take, and files, which it reads."""
    if get_origin(kind) is Annotated or get_origin(kind) is Union:
        return is_json(get_args(kind)[0])
    return not (isinstance(kind, type) and issubclass(kind, BaseModel | PathLike)) and get_origin(kind) is not IO


def union_type(members: Sequence[Any]) -> Any:
    """One of the alternatives, told by the kind of the value, or for objects by their tag."""
    objects = [member for member in members if is_typeddict(member)]
    key = next((key for key in TAG_KEYS if len(objects) > 1 and all(tags(member, key) for member in objects)), "")
    choices: dict[str, Any] = {}
    for member in members:
        if member in objects and key:
            choices |= {tag if key == "type" else HIDDEN + tag: json_type(member) for tag in tags(member, key)}
        elif get_origin(member) is not dict or not objects:  # the SDK offers a free object beside a typed one
            choices[value_tag(member)] = json_type(member)
    tagged: Any = Union[*(Annotated[choice, Tag(tag)] for tag, choice in choices.items())]
    told_apart = Annotated[tagged, Discriminator(tag_of(key), *NO_SUCH_TAG)]
    return told_apart if len(choices) > 1 else next(iter(choices.values()))


NO_SUCH_TAG = ("no_such_tag", "Input tag does not match any of the expected tags", None)


def tags(kind: Any, key: str) -> list[str]:
    hint = get_type_hints(kind).get(key)
    literals = [member for member in (hint, *get_args(hint)) if get_origin(member) is Literal]
    return [value for literal in literals for value in get_args(literal)]


def value_tag(kind: Any) -> str:
    if is_typeddict(kind) or get_origin(kind) is dict:
        return f"{HIDDEN}dict"
    if get_origin(kind) is Literal:
        return value_tag(type(get_args(kind)[0]))
    return HIDDEN + (kind.__name__ if kind in (str, int, float, bool, NoneType) else "list")


def tag_of(key: str) -> Callable[[Any], str]:
    def tag(value: Any) -> str:
        if key and isinstance(value, dict):
            said = value.get(key, UNTYPED.get(key))
            return str(said) if key == "type" else f"{HIDDEN}{said}"
        return HIDDEN + type(value).__name__

    return tag
