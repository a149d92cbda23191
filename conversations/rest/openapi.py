"""What the schema says of every call beyond what its view tells: how it can fail, what its path means, an example body."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema as BaseAutoSchema

from conversations.errors import ErrorAnswer
from conversations.models import Scope
from conversations.rest.authentication import HeaderSession, TokenAuthentication, needed
from conversations.rest.descriptions import Description, description_of
from conversations.rest.serializers import described
from conversations.runtime.word_tables import read_tables
from conversations.wire.events import OF_REPLIES

type Schema = dict[str, Any]
ROOT = "/api/v1/"

TABLES = read_tables(__file__)
FAILURES = {int(status): about for status, about in TABLES["failures"].items()}
ALSO, EXAMPLES, IN_PATHS = TABLES["also"], TABLES["examples"], TABLES["in_paths"]
TAGGED = frozenset(TABLES["tagged"])
EVERYWHERE = (400, 429, 500, 503)
SIGNED_IN = (401, 403)
WITH_BODY = (413, 415)
DONE = {"201": "Stored.", "202": "Under way.", "304": "The caller has it already."}
EVENT_STREAM = "text/event-stream"
EVENTS = (
    "Server-Sent Events. Each has `id` (its `seq`, from 1 without a hole), `event` (its type) and `data`: one JSON object "
    f'`{{"type", "reply", "seq", "at", "data"}}`. Types: {", ".join(f"`{type}`" for type in OF_REPLIES)}; the page of the '
    "WebSocket says what each holds. The last four end a reply. A comment line is sent every 15 seconds while nothing happens. "
    "A stream that broke off goes on at `replies/{id}/events/?after={seq}`."
)
EVENT: Schema = {
    "type": "object",
    "description": "The fields of each event.",
    "properties": {
        "id": {"type": "string", "description": "Its `seq`."},
        "event": {"type": "string", "description": "Its type."},
        "data": {"type": "string", "contentMediaType": "application/json", "description": "One JSON object."},
    },
    "required": ["id", "event", "data"],
}
REQUEST_ID = {"description": "Id of this request in the server's log.", "schema": {"type": "string"}}
ETAG = {"description": "The version that this is.", "schema": {"type": "string"}}
VERSION_HEADERS = {
    "GET": ("If-None-Match", "An `ETag` that the caller has: where it still holds, the answer is 304 without a body."),
    "PATCH": ("If-Match", "The `ETag` of what the caller has seen: where it holds no longer, nothing is done."),
}
VERSION_HEADERS["DELETE"] = VERSION_HEADERS["PATCH"]


@cache
def whole_schema() -> Schema:
    """Of all calls. It takes a third of a second to make, and nobody has to be signed in to ask for it."""
    schema: Schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema


class HeaderSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """Described as any session is."""

    target_class = HeaderSession  # type: ignore[assignment]  # the class or its path


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema describes it. Known to drf-spectacular by its mere definition."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        about = "`Authorization: Token …` (or `Bearer …`), with a token from POST auth/token/."
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": about}


class AutoSchema(BaseAutoSchema):
    @property
    def own(self) -> Description:
        """What is written beside the call."""
        return description_of(self.view, self.method)

    def get_operation_id(self) -> str:
        return self.own.get("operation_id") or super().get_operation_id()

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular's own
        return self.own.get("description") or super().get_description()

    def get_override_parameters(self) -> list[Any]:
        return list(self.own.get("parameters", ()))

    def get_request_serializer(self) -> Any:
        own = self.own
        return made(own["request"]) if "request" in own else super().get_request_serializer()

    def get_response_serializers(self) -> Any:
        own = self.own
        return made(own["responses"]) if "responses" in own else super().get_response_serializers()

    def get_operation(self, *args: Any, **kwargs: Any) -> Schema | None:
        operation: Schema | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        path = self.path.removeprefix(ROOT)
        call = f"{self.method} {path}"
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                parameter["description"] = IN_PATHS[parameter["name"]]
        _demand(operation, needed(self.view, self.method))
        for content in operation.get("requestBody", {}).get("content", {}).values():
            if call in EXAMPLES:
                content["example"] = EXAMPLES[call]
        if path in TAGGED and self.method in VERSION_HEADERS:
            _tag(operation, self.method)
        error = {"schema": self.resolve_serializer(made(described(ErrorAnswer)), "response").ref}
        for status in failures_of(operation, call):
            failure = {"description": FAILURES[status], "content": {"application/json": error}}
            operation["responses"].setdefault(str(status), failure)
        for status, response in operation["responses"].items():
            response.setdefault("headers", {})["X-Request-ID"] = REQUEST_ID
            response["description"] = response.get("description") or DONE.get(status, "As asked.")
            if stream := response.get("content", {}).get(EVENT_STREAM):
                response["description"], stream["schema"] = EVENTS, EVENT
        return operation


def made(value: Any) -> Any:
    """With the serializers of what was ``described``."""
    match value:
        case partial():
            return value()
        case Mapping():
            return {key: made(each) for key, each in value.items()}
    return value


def failures_of(operation: Schema, call: str) -> list[int]:
    """The statuses with which a call can be refused, or fail."""
    also = {*EVERYWHERE, *ALSO.get(call, ())}
    if {} not in operation.get("security", [{}]):
        also |= {*SIGNED_IN}
    if "requestBody" in operation:
        also |= {*WITH_BODY}
    if "{" in call:
        also.add(404)
    return sorted(also)


def _demand(operation: Schema, any_of: Sequence[Scope]) -> None:
    """OpenAPI 3.1 lets any kind of security name the roles that a call needs: all of one way, so that each scope which will do
    is a way of its own."""
    if ways := operation.get("security"):
        others = [way for way in ways if "token" not in way]
        names = [[scope.value] for scope in any_of] or [[]]
        operation["security"] = [*({"token": each} for each in names if len(others) < len(ways)), *others]


def _tag(operation: Schema, method: str) -> None:
    header, about = VERSION_HEADERS[method]
    parameter = {"in": "header", "name": header, "description": about, "schema": {"type": "string"}}
    operation.setdefault("parameters", []).append(parameter)
    if method == "GET":
        operation["responses"]["304"] = {"headers": {"ETag": ETAG}}
    if method != "DELETE":
        operation["responses"]["200"].setdefault("headers", {})["ETag"] = ETAG
