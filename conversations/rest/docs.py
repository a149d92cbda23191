"""The documentation page of the API, made from its schema, and the guides beside it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations.models import Scope
from conversations.rest.base import OnlyJSON
from conversations.runtime.site import requested_address

METHODS = ("get", "post", "patch", "delete")
ROOT = "/api/v1/"
GUIDES = settings.BASE_DIR / "docs"
GUIDE_SITE = "http://127.0.0.1:8000"
"""Where the guides say that the server is."""
CHOICE = re.compile(r"^\* `(.*?)` - (.*)$", re.MULTILINE)
"""How drf-spectacular tells of a choice, and what it means, below a description."""


type OpenApi = dict[str, Any]


def whole_schema() -> OpenApi:
    from conversations.rest import openapi  # noqa: PLC0415  (slow: drf-spectacular, and Django's test client with it)

    return openapi.whole_schema()


class Schema(APIView):
    """This API in OpenAPI 3.1."""

    schema = None
    permission_classes = [AllowAny]
    renderer_classes = [JSONRenderer]
    content_negotiation_class = OnlyJSON

    def get(self, request: Request) -> Response:
        return Response(whole_schema(), headers={"Content-Disposition": 'inline; filename="Openbook.json"'})


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


@dataclass(frozen=True)
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
    scopes: list[str]

    @property
    def group(self) -> str:
        return self.path.removeprefix(ROOT).partition("/")[0]


def page(request: HttpRequest) -> HttpResponse:
    context = {
        "groups": [(name, list(group)) for name, group in groupby(all_calls(), key=lambda call: call.group)],
        "scopes": [(scope.value, scope.label.partition(": ")[2]) for scope in Scope],
        "site": requested_address(request),
        "base": request.build_absolute_uri(ROOT),
        "token_days": settings.OPENBOOK_TOKEN_DAYS,
    }
    return render(request, "conversations/api_docs.html", context)


def guide(request: HttpRequest, file: str) -> HttpResponse:
    """A guide of the repository, with the address of this server. Its sections can be linked to."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (takes a tenth of a second, which only this page should cost)

    text = (GUIDES / file).read_text(encoding="utf-8").replace(GUIDE_SITE, requested_address(request))
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for heading, title in pairwise(tokens):
        if heading.type == "heading_open" and heading.tag == "h3":
            heading.attrSet("id", slugify(title.content))
    shown = markdown.renderer.render(tokens, markdown.options, {})
    return render(request, "conversations/guide.html", {"guide": shown})


@cache
def all_calls() -> Sequence[EndpointDoc]:
    return tuple(calls(whole_schema()))


def calls(schema: OpenApi) -> Iterator[EndpointDoc]:
    """Every call of an OpenAPI schema, by path."""
    shapes = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                yield _call(method, path, methods[method], shapes)


def _call(method: str, path: str, operation: OpenApi, shapes: OpenApi) -> EndpointDoc:
    bodies = operation.get("requestBody", {}).get("content", {})
    body = (bodies.get("application/json") or bodies.get("multipart/form-data") or {}).get("schema", {})
    security = operation.get("security", [{}])
    return EndpointDoc(
        method=method.upper(),
        path=path,
        about=operation.get("description", ""),
        parameters=[
            _field(parameter["name"], parameter | parameter["schema"], shapes, parameter.get("required", False))
            for parameter in operation.get("parameters", [])
            if parameter["in"] in ("query", "header")
        ],
        body=_fields(body, shapes),
        answers=[
            ResponseDoc(status, media, _type(content["schema"], shapes), _fields(content["schema"], shapes))
            for status, answer in operation["responses"].items()
            if status < "300"
            for media, content in (answer.get("content") or {"": {"schema": {}}}).items()
        ],
        failures=[status for status in operation["responses"] if status >= "400"],
        needs_token={} not in security,
        scopes=[each["token"][0] for each in security if each.get("token")],
    )


def _field(name: str, schema: OpenApi, shapes: OpenApi, required: bool) -> FieldDoc:
    about = schema.get("description", "")
    meanings = dict(CHOICE.findall(about))
    choices = [
        (str(value), meanings.get(value, ""))
        for value in _target(schema, shapes)[1].get("enum", [])
        if value is not None
    ]
    return FieldDoc(
        name=name,
        type=_type(schema, shapes),
        required=required,
        about=CHOICE.sub("", about).strip(),
        choices=[(value, "" if _same(value, meaning) else meaning) for value, meaning in choices],
    )


def _same(value: str, meaning: str) -> bool:
    return meaning.casefold() == value.replace("_", " ").casefold()


def _fields(schema: OpenApi, shapes: OpenApi, path: str = "") -> list[FieldDoc]:
    """The fields of an object, each followed by the fields of what it holds; the results of a page are told in short."""
    _, shape = _target(schema, shapes)
    fields = []
    for name, field in shape.get("properties", {}).items():
        fields.append(_field(path + name, field, shapes, bool(path) or name in shape.get("required", [])))
        if path.startswith("results"):
            continue
        inner, held = ("[].", field["items"]) if "items" in field else (".", field)
        fields += _fields(held, shapes, path + name + inner)
    return fields


def _target(schema: OpenApi, shapes: OpenApi) -> tuple[str, OpenApi]:
    """The name and the shape that a schema refers to, also where it may be null; itself without a name where it doesn't."""
    options = [schema, *schema.get("allOf", []), *schema.get("oneOf", [])]
    name = next((each["$ref"].rpartition("/")[2] for each in options if "$ref" in each), "")
    return name, shapes[name] if name else schema


def _type(schema: OpenApi, shapes: OpenApi) -> str:
    if "$ref" in schema:
        name, shape = _target(schema, shapes)
        return _type(shape, shapes) if "enum" in shape else name
    if options := schema.get("oneOf") or schema.get("allOf") or schema.get("anyOf"):
        return " or ".join(dict.fromkeys(_type(option, shapes) for option in options))
    if "items" in schema:
        return f"list of {_type(schema['items'], shapes)}"
    named = schema.get("type", "anything")
    kinds = named if isinstance(named, list) else [named]
    return " or ".join(str(schema.get("format", kind)) if kind != "null" else kind for kind in kinds)
