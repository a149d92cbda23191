"""What the schema says of every call beyond what its view tells: how it can fail, what its path means, an example body."""

from typing import Any

from drf_spectacular.openapi import AutoSchema as BaseAutoSchema
from drf_spectacular.plumbing import ResolvedComponent

from conversations.errors import ErrorAnswer
from conversations.models import Scope
from conversations.rest.answers import answer
from conversations.rest.authentication import needed

Schema = dict[str, Any]
ROOT = "/api/v1/"

FAILURES = {
    400: "The call can't be read, or says something that can't be.",
    401: "Who calls is unknown: the token is missing, unknown, expired or revoked.",
    403: "The caller may not do this, or its token was not made for it.",
    404: "There is no such thing, or it is somebody else's.",
    409: "It can't be done as things stand: `code` says why.",
    412: "It was changed since the state that `If-Match` names. Nothing was done.",
    413: "The body or what it holds is too large. It is refused before it is read to its end.",
    415: "The body is not `application/json`.",
    422: "The content can't be laid out in this format.",
    429: "Too much was asked for. `Retry-After` says in how many seconds it can be tried again.",
    500: "Something went wrong on the server.",
    502: "The model failed. The message is stored; `details` names it and its reply, which can be tried again.",
    503: "The server can't reach its database. Nothing was stored.",
}
EVERYWHERE = (400, 429, 500, 503)
SIGNED_IN = (401, 403)
WITH_BODY = (413, 415)
ALSO = {
    "POST auth/token/": (401,),
    "PATCH threads/{thread_id}/": (412,),
    "DELETE threads/{thread_id}/": (409, 412),
    "POST threads/{thread_id}/messages/": (409, 502),
    "POST threads/{thread_id}/messages/stream/": (409,),
    "POST threads/{thread_id}/clear/": (409,),
    "POST threads/{thread_id}/presets/{slug}/": (409, 502),
    "POST threads/{thread_id}/presets/{slug}/stream/": (409,),
    "PATCH artifacts/{artifact_id}/": (409, 412),
    "DELETE artifacts/{artifact_id}/": (412,),
    "GET artifacts/{artifact_id}/export/": (413, 422),
    "POST replies/{reply_id}/retry/": (409,),
    "POST replies/{reply_id}/continue/": (409,),
    "GET memories/": (404,),
    "POST memories/forget/": (409,),
    "DELETE memories/{memory_id}/": (409,),
    "POST memories/{memory_id}/forget/": (409,),
    "DELETE messages/{message_id}/": (409,),
    "POST messages/{message_id}/forget/": (409,),
    "POST import/": (409,),
}
"""Failures of one call, beside those that its path, its body and its caller can have."""
IN_PATHS = {
    "thread_id": "Id of the thread. Where messages are sent, and for the context, `new` opens one.",
    "artifact_id": "Id of the artifact.",
    "memory_id": "Id of the memory.",
    "message_id": "Id of the turn.",
    "reply_id": "Id of the reply.",
    "request_id": "Id of the model request.",
    "token_id": "Id of the token.",
    "topic_id": "Id of the topic.",
    "slug": "The preset's slug.",
    "number": "Number of the version, from 1.",
}
EXAMPLES: dict[str, Schema] = {
    "POST auth/token/": {"username": "ada", "password": "correct horse battery staple", "name": "my script"},
    "POST threads/": {"title": "Weekend plans", "assistant": "companion"},
    "PATCH threads/{thread_id}/": {"title": "Summer plans"},
    "POST threads/{thread_id}/messages/": {"content": "Good morning!", "client_message_id": "my-first-message"},
    "POST threads/{thread_id}/messages/stream/": {"content": [{"type": "text", "text": "Tell me more."}]},
    "POST threads/{thread_id}/context/": {"content": "And where does she live?"},
    "POST threads/{thread_id}/artifacts/": {"title": "Packing list", "kind": "document", "content": "- tent\n- stove"},
    "PATCH artifacts/{artifact_id}/": {"content": "- tent\n- stove\n- tea", "version": 1},
    "POST memories/": {"content": "Ada is allergic to nuts.", "tags": ["food"]},
    "PATCH preferences/": {"time_zone": "Europe/Lisbon"},
    "POST import/": {
        "format": "openbook/1",
        "threads": [{"title": "Tea", "messages": [{"role": "user", "content": "Green or black?"}]}],
        "memories": [{"content": "Ada likes tea."}],
    },
}
TAGGED = {
    "threads/{thread_id}/",
    "threads/{thread_id}/messages/",
    "artifacts/{artifact_id}/",
    "artifacts/{artifact_id}/export/",
}
"""Paths whose answers bear an ``ETag``."""
EVENT_STREAM = "text/event-stream"
EVENTS = (
    "Server-Sent Events. Each has `id` (its `seq`, from 1 without a hole), `event` (its type) and `data`: one JSON object "
    '`{"type", "reply", "seq", "at", "data"}`. Types: `message.saved`, `context.built`, `reply.started`, `reply.thinking` '
    "(`data.seconds` so far, and `data.summary`: the next piece of what the model shows of it), `reply.delta` (`data.text`), "
    "`tool.started`, `tool.finished`, and at the end one of `reply.completed`, `reply.stopped`, "
    "`reply.interrupted`, `reply.failed`. A comment line is sent every 15 seconds while nothing happens. A stream that broke "
    "off goes on at `replies/{id}/events/?after={seq}`."
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


class AutoSchema(BaseAutoSchema):
    def get_operation(self, *args: Any, **kwargs: Any) -> Schema | None:
        operation: Schema | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        call = f"{self.method} {self.path.removeprefix(ROOT)}"
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                parameter["description"] = IN_PATHS[parameter["name"]]
        _demand(operation, needed(self.view, self.method))
        _illustrate(operation, call)
        _version(operation, call)
        error = self.resolve_serializer(answer(ErrorAnswer), "response")
        for status in failures_of(operation, call):
            operation["responses"].setdefault(str(status), _failure(status, error))
        for status, response in operation["responses"].items():
            response.setdefault("headers", {})["X-Request-ID"] = REQUEST_ID
            response["description"] = _described(status, response)
            if EVENT_STREAM in response.get("content", {}):
                response["content"][EVENT_STREAM]["schema"] = EVENT
        return operation


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


def _failure(status: int, error: ResolvedComponent) -> Schema:
    return {"description": FAILURES[status], "content": {"application/json": {"schema": error.ref}}}


def _described(status: str, answer: Schema) -> str:
    if EVENT_STREAM in answer.get("content", {}):
        return EVENTS
    description: str = answer.get("description", "")
    return description or {"201": "Stored.", "202": "Under way.", "304": "The caller has it already."}.get(
        status, "As asked."
    )


def _demand(operation: Schema, scope: Scope | None) -> None:
    """OpenAPI 3.1 lets any kind of security name the roles that a call needs."""
    for way in operation.get("security", []):
        if "token" in way:
            way["token"] = [scope.value] if scope else []


def _illustrate(operation: Schema, call: str) -> None:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        if call in EXAMPLES:
            content["example"] = EXAMPLES[call]


def _version(operation: Schema, call: str) -> None:
    method, path = call.split()
    if path not in TAGGED or method == "POST":
        return
    header, about = (
        ("If-None-Match", "An `ETag` that the caller has: where it still holds, the answer is 304 without a body.")
        if method == "GET"
        else ("If-Match", "The `ETag` of what the caller has seen: where it holds no longer, nothing is done.")
    )
    operation.setdefault("parameters", []).append(
        {"in": "header", "name": header, "description": about, "schema": {"type": "string"}}
    )
    if method == "GET":
        operation["responses"]["304"] = {"headers": {"ETag": ETAG}}
    if method != "DELETE":
        operation["responses"]["200"].setdefault("headers", {})["ETag"] = ETAG
