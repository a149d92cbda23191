"""The documentation page of the API, made from its schema, and the guides beside it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from drf_spectacular.generators import SchemaGenerator

from conversations.models import Scope
from conversations.runtime.site import site_address

METHODS = ("get", "post", "patch", "delete")
ROOT = "/api/v1/"
GUIDES = settings.BASE_DIR / "docs"
GUIDE_SITE = "http://127.0.0.1:8000"
"""Where the guides say that the server is."""
CHOICE = re.compile(r"^\* `(.*?)` - (.*)$", re.MULTILINE)
"""How drf-spectacular tells of a choice, and what it means, below a description."""
Schema = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class FieldDoc:
    """``choices`` are the values that it may have, each with what it means where its name doesn't say it."""

    name: str
    type: str
    required: bool
    about: str
    choices: Sequence[tuple[str, str]] = ()

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")


@dataclass(frozen=True, kw_only=True)
class ResponseDoc:
    status: str
    media: str
    type: str
    fields: list[FieldDoc]


@dataclass(frozen=True, kw_only=True)
class EndpointDoc:
    """One method of one address, as the page shows it."""

    method: str
    path: str
    about: str
    parameters: list[FieldDoc]
    body: list[FieldDoc]
    answers: list[ResponseDoc]
    failures: list[str]
    needs_token: bool
    scope: str

    @property
    def group(self) -> str:
        return self.path.removeprefix(ROOT).partition("/")[0]


def page(request: HttpRequest) -> HttpResponse:
    schema: Schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    context = {
        "groups": [(name, list(group)) for name, group in groupby(calls(schema), key=lambda call: call.group)],
        "scopes": [(scope.value, scope.label.partition(": ")[2]) for scope in Scope],
        "site": site_address(request),
        "base": request.build_absolute_uri(ROOT),
        "token_days": settings.OPENBOOK_TOKEN_DAYS,
    }
    return render(request, "conversations/api_docs.html", context)


def guide(request: HttpRequest, file: str) -> HttpResponse:
    """A guide of the repository, with the address of this server. Its sections can be linked to."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (takes a tenth of a second, which only this page should cost)

    text = (GUIDES / file).read_text(encoding="utf-8").replace(GUIDE_SITE, site_address(request))
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for heading, title in pairwise(tokens):
        if heading.type == "heading_open" and heading.tag == "h3":
            heading.attrSet("id", slugify(title.content))
    shown = markdown.renderer.render(tokens, markdown.options, {})
    return render(request, "conversations/guide.html", {"guide": shown})


def calls(schema: Schema) -> Iterator[EndpointDoc]:
    """Every call of an OpenAPI schema, by path."""
    components = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                yield _call(method, path, methods[method], components)


def _call(method: str, path: str, operation: Schema, components: Schema) -> EndpointDoc:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return EndpointDoc(
        method=method.upper(),
        path=path,
        about=operation.get("description", ""),
        parameters=[
            _field(parameter["name"], parameter | parameter["schema"], components, parameter.get("required", False))
            for parameter in operation.get("parameters", [])
            if parameter["in"] in ("query", "header")
        ],
        body=_fields(body, components),
        answers=[
            ResponseDoc(
                status=status,
                media=media,
                type=_type(content["schema"], {}),
                fields=_fields(content["schema"], components),
            )
            for status, answer in operation["responses"].items()
            if status < "300"
            for media, content in (answer.get("content") or {"": {"schema": {}}}).items()
        ],
        failures=[status for status in operation["responses"] if status >= "400"],
        needs_token={} not in operation.get("security", [{}]),
        scope=next((each["token"][0] for each in operation.get("security", []) if each.get("token")), ""),
    )


def _field(name: str, schema: Schema, components: Schema, required: bool) -> FieldDoc:
    about = schema.get("description", "")
    meanings = dict(CHOICE.findall(about))
    choices = [(str(value), meanings.get(value, "")) for value in _values(schema, components) if value is not None]
    return FieldDoc(
        name=name,
        type=_type(schema, components),
        required=required,
        about=CHOICE.sub("", about).strip(),
        choices=[(value, "" if _same(value, meaning) else meaning) for value, meaning in choices],
    )


def _values(schema: Schema, components: Schema) -> list[Any]:
    """Those that a field may have, where they are named."""
    shape = _resolved(_referred(schema) or schema, components)
    values: list[Any] = shape.get("enum", [])
    return values


def _same(value: str, meaning: str) -> bool:
    return meaning.casefold() == value.replace("_", " ").casefold()


def _fields(schema: Schema, components: Schema, path: str = "") -> list[FieldDoc]:
    """The fields of an object, each followed by the fields of what it holds; the results of a page are told in short."""
    schema = _resolved(schema, components)
    fields = []
    for name, field in schema.get("properties", {}).items():
        required = bool(path) or name in schema.get("required", [])
        fields.append(_field(path + name, field, components, required))
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


def _type(schema: Schema, components: Schema) -> str:
    if "$ref" in schema:
        name = _name(schema)
        named = components.get(name, {})
        return _type(named, components) if "enum" in named else name
    if options := schema.get("oneOf") or schema.get("allOf") or schema.get("anyOf"):
        return " or ".join(dict.fromkeys(_type(option, components) for option in options))
    if "items" in schema:
        return f"list of {_type(schema['items'], components)}"
    named = schema.get("type", "anything")
    kinds = named if isinstance(named, list) else [named]
    return " or ".join(str(schema.get("format", kind)) if kind != "null" else kind for kind in kinds)
