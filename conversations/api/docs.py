"""The documentation page of the API, made from its schema."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator

METHODS = ("get", "post", "patch", "delete")
Schema = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Field:
    name: str
    type: str
    required: bool
    about: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: str
    media: str
    type: str
    fields: list[Field]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One method of one address, as the page shows it."""

    method: str
    path: str
    about: str
    parameters: list[Field]
    body: list[Field]
    answers: list[Answer]
    failures: list[str]
    needs_token: bool


def page(request: HttpRequest) -> HttpResponse:
    schema: Schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    context = {
        "calls": list(calls(schema)),
        "site": request.build_absolute_uri("/").rstrip("/"),
        "base": request.build_absolute_uri("/api/v1/"),
        "token_days": settings.OPENBOOK_TOKEN_DAYS,
    }
    return render(request, "conversations/api_docs.html", context)


def calls(schema: Schema) -> Iterator[Call]:
    """Every call of an OpenAPI schema, by path."""
    components = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                yield _call(method, path, methods[method], components)


def _call(method: str, path: str, operation: Schema, components: Schema) -> Call:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return Call(
        method=method.upper(),
        path=path,
        about=operation.get("description", ""),
        parameters=[
            Field(
                name=parameter["name"],
                type=_type(parameter["schema"]),
                required=parameter.get("required", False),
                about=parameter.get("description", ""),
            )
            for parameter in operation.get("parameters", [])
            if parameter["in"] in ("query", "header")
        ],
        body=_fields(body, components),
        answers=[
            Answer(
                status=status, media=media, type=_type(content["schema"]), fields=_fields(content["schema"], components)
            )
            for status, answer in operation["responses"].items()
            if status < "300"
            for media, content in (answer.get("content") or {"": {"schema": {}}}).items()
        ],
        failures=[status for status in operation["responses"] if status >= "400"],
        needs_token={} not in operation.get("security", [{}]),
    )


def _fields(schema: Schema, components: Schema, path: str = "") -> list[Field]:
    """The fields of an object, each followed by the fields of what it holds; the results of a page are told in short."""
    schema = _resolved(schema, components)
    fields = []
    for name, field in schema.get("properties", {}).items():
        required = bool(path) or name in schema.get("required", [])
        about = field.get("description", "")
        fields.append(Field(name=path + name, type=_type(field), required=required, about=about))
        if path.startswith("results"):
            continue
        if "items" in field:
            fields += _fields(field["items"], components, f"{path}{name}[].")
        elif reference := _referred(field):
            fields += _fields(reference, components, f"{path}{name}.")
    return fields


def _referred(schema: Schema) -> Schema | None:
    """The one object that a field refers to, also where it may be null."""
    return next((each for each in [schema, *schema.get("allOf", []), *schema.get("oneOf", [])] if "$ref" in each), None)


def _resolved(schema: Schema, components: Schema) -> Schema:
    return components[_name(schema)] if "$ref" in schema else schema


def _name(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _name(schema)
    if options := schema.get("oneOf") or schema.get("allOf") or schema.get("anyOf"):
        return " or ".join(_type(option) for option in options)
    if "items" in schema:
        return f"list of {_type(schema['items'])}"
    named = schema.get("type", "anything")
    kinds = named if isinstance(named, list) else [named]
    return " or ".join(str(schema.get("format", kind)) if kind != "null" else kind for kind in kinds)
