"""The API's description of itself: complete, valid, and readable by people."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from django.core.management import call_command
from django.urls import URLPattern
from drf_spectacular import validation

from artifacts.rest import urls as artifacts_urls
from conversations.context.builder import STEPS
from conversations.rest import docs, openapi, urls
from memory.rest import urls as memory_urls
from tests.conversations.rest.client import Api
from tests.html import as_read

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

OF_OPENAPI = Path(validation.__file__).with_name("openapi_3_1_schema.json")
STAFF_TABLES = ("assistants", "presets", "models", "connections", "groups", "budgets")
STAFF_RUNS = ("replays", "experiments")
OF_THE_CONTRACT = {
    "POST auth/token/",
    "POST embed/token/",
    "GET auth/tokens/",
    "POST auth/tokens/",
    "DELETE auth/tokens/{token_id}/",
    "GET audit/",
    "POST tokens/",
    "GET tokens/",
    "GET tokens/current/",
    "DELETE tokens/{token_id}/",
    "DELETE invitations/{invitation_id}/",
    "GET invitations/",
    "GET mcp-servers/",
    "POST mcp-servers/",
    "GET mcp-servers/{server_id}/",
    "PATCH mcp-servers/{server_id}/",
    "DELETE mcp-servers/{server_id}/",
    "POST mcp-servers/{server_id}/refresh/",
    "POST mcp-servers/{server_id}/sign-in/",
    "DELETE mcp-servers/{server_id}/sign-in/",
    "GET mcp-servers/{server_id}/resources/",
    "POST mcp-servers/{server_id}/resources/attach/",
    "GET mcp-servers/{server_id}/prompts/",
    "POST mcp-servers/{server_id}/prompts/{prompt_name}/",
    "GET mcp-calls/",
    "POST mcp-calls/{call_id}/answer/",
    "GET webhooks/",
    "POST webhooks/",
    "GET webhooks/{webhook_id}/",
    "PATCH webhooks/{webhook_id}/",
    "DELETE webhooks/{webhook_id}/",
    "GET webhooks/{webhook_id}/deliveries/",
    "POST webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver/",
    "POST webhooks/{webhook_id}/ping/",
    "POST webhooks/{webhook_id}/secret/",
    "POST invitations/",
    "GET session/",
    "GET notice/",
    "POST notice/",
    "GET banners/",
    "GET leavers/",
    "GET leavers/{leaver_id}/shares/",
    "POST leavers/{leaver_id}/shares/",
    "GET limits/",
    "GET shares/",
    "DELETE shares/{share_id}/",
    "POST threads/{thread_id}/shares/",
    "POST artifacts/{artifact_id}/shares/",
    "GET threads/",
    "POST threads/",
    "PATCH threads/",
    "GET tags/",
    "GET prompts/",
    "POST prompts/",
    "GET prompts/{prompt_id}/",
    "PATCH prompts/{prompt_id}/",
    "DELETE prompts/{prompt_id}/",
    "GET threads/{thread_id}/",
    "PATCH threads/{thread_id}/",
    "DELETE threads/{thread_id}/",
    "POST threads/{thread_id}/fork/",
    "GET threads/{thread_id}/messages/",
    "POST threads/{thread_id}/messages/",
    "POST threads/{thread_id}/messages/stream/",
    "POST threads/{thread_id}/context/",
    "GET threads/{thread_id}/clearing/",
    "POST threads/{thread_id}/clear/",
    "GET threads/{thread_id}/requests/",
    "GET threads/{thread_id}/artifacts/",
    "POST threads/{thread_id}/artifacts/",
    "GET threads/{thread_id}/presets/",
    "POST threads/{thread_id}/presets/{slug}/",
    "POST threads/{thread_id}/presets/{slug}/stream/",
    "GET artifacts/{artifact_id}/",
    "PATCH artifacts/{artifact_id}/",
    "DELETE artifacts/{artifact_id}/",
    "POST artifacts/{artifact_id}/restore/",
    "GET artifacts/{artifact_id}/versions/",
    "GET artifacts/{artifact_id}/versions/{number}/",
    "GET requests/{request_id}/",
    "POST replies/{reply_id}/stop/",
    "POST replies/{reply_id}/retry/",
    "POST replies/{reply_id}/continue/",
    "GET replies/{reply_id}/events/",
    "GET assistants/",
    "GET assistants/{slug}/versions/",
    "POST assistants/{slug}/versions/",
    "POST assistants/{slug}/versions/{number}/publish/",
    "GET models/",
    "GET memories/search/",
    "GET memories/",
    "POST memories/",
    "GET memories/{memory_id}/",
    "PATCH memories/{memory_id}/",
    "DELETE memories/{memory_id}/",
    "GET memories/{memory_id}/forgetting/",
    "POST memories/{memory_id}/restore/",
    "GET memories/{memory_id}/uses/",
    "POST memories/{memory_id}/forget/",
    "GET memories/forgetting/",
    "POST memories/forget/",
    "DELETE messages/{message_id}/",
    "GET messages/{message_id}/forgetting/",
    "POST messages/{message_id}/forget/",
    "GET feedback/",
    "GET findings/",
    "PATCH feedback/{feedback_id}/",
    "PATCH findings/{finding_id}/",
    *(f"{method} staff/{table}/" for table in STAFF_TABLES for method in ("GET", "POST")),
    *(f"{method} staff/{table}/{{row_id}}/" for table in STAFF_TABLES for method in ("GET", "PATCH", "DELETE")),
    "POST staff/connections/{row_id}/test/",
    "GET staff/connections/{row_id}/models/",
    "POST staff/connections/{row_id}/models/",
    "GET staff/requests/",
    "POST staff/requests/{request_id}/look/",
    *(f"{method} staff/{runs}/" for runs in STAFF_RUNS for method in ("GET", "POST")),
    *(f"GET staff/{runs}/{{run_id}}/" for runs in STAFF_RUNS),
    *(f"POST staff/{runs}/{{run_id}}/cancel/" for runs in STAFF_RUNS),
    "GET messages/{message_id}/feedback/",
    "POST messages/{message_id}/feedback/",
    "DELETE messages/{message_id}/feedback/",
    "GET account/instructions/",
    "PATCH account/instructions/",
    "GET projects/",
    "POST projects/",
    "GET projects/{project_id}/",
    "PATCH projects/{project_id}/",
    "DELETE projects/{project_id}/",
    "GET schedules/",
    "POST schedules/",
    "GET schedules/{schedule_id}/",
    "PATCH schedules/{schedule_id}/",
    "DELETE schedules/{schedule_id}/",
    "GET preferences/",
    "PATCH preferences/",
    "GET topics/",
    "PATCH topics/{topic_id}/",
    "DELETE topics/{topic_id}/",
    "GET accesses/",
    "GET days/",
    "POST import/",
    "GET export/",
    "GET artifacts/{artifact_id}/export/",
    "GET threads/{thread_id}/export/",
    "GET files/",
    "POST files/",
    "GET files/{file_id}/",
    "PATCH files/{file_id}/",
    "DELETE files/{file_id}/",
    "GET files/{file_id}/content/",
    "GET files/{file_id}/parts/",
    "GET files/{file_id}/parts/{number}/",
    "GET files/{file_id}/parts/{number}/picture/",
    "GET files/{file_id}/given/",
    "GET files/{file_id}/pages/{number}/",
    "GET files/{file_id}/thumbnail/",
}


NEEDS = {
    "POST auth/token/": "no token",
    "POST embed/token/": "no token",
    "GET tokens/current/": "any token",
    "GET threads/": "token: read",
    "POST threads/{thread_id}/context/": "token: read",
    "DELETE threads/{thread_id}/": "token: write",
    "GET export/": "token: export",
}


def described() -> list[docs.EndpointDoc]:
    return list(docs.all_calls())


def validated(shape: dict[str, Any], value: Any) -> None:
    """Raises where the value is not of this shape."""
    whole = shape | {"components": openapi.whole_schema()["components"]}
    jsonschema_rs.validate(whole, value, validate_formats=True)


def test_the_schema_is_valid_and_nothing_in_it_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("spectacular", "--fail-on-warn", "--format", "openapi-json")
    schema = json.loads(capsys.readouterr().out)
    assert schema["openapi"].startswith("3.1")
    jsonschema_rs.validate(json.loads(OF_OPENAPI.read_text()), schema)


def test_every_call_is_described() -> None:
    calls = described()
    assert {f"{call.method} {call.path.removeprefix('/api/v1/')}" for call in calls} == OF_THE_CONTRACT
    assert [call.path for call in calls if not call.about] == []
    paths = {
        re.sub(r"<\w+:(\w+)>", r"{\1}", str(each.pattern))
        for each in [*artifacts_urls.urlpatterns, *memory_urls.urlpatterns, *urls.urlpatterns]
        if isinstance(each, URLPattern)
    }
    assert {call.path.removeprefix("/api/v1/") for call in calls} == paths - {
        "schema/",
        "docs/",
        "docs/messages/",
        "docs/reasons/",
        "docs/tour/",
        "^.*$",
    }


def test_every_field_and_every_parameter_is_described() -> None:
    schema = openapi.whole_schema()
    shapes = schema["components"]["schemas"]
    fields = {
        f"{name}.{field}": told for name, shape in shapes.items() for field, told in shape.get("properties", {}).items()
    }
    parameters = {
        f"{method} {path} {parameter['name']}": parameter
        for path, calls in schema["paths"].items()
        for method, call in calls.items()
        for parameter in call.get("parameters", [])
    }
    assert [name for name, told in (fields | parameters).items() if not told.get("description")] == []


def test_every_failure_that_is_told_of_belongs_to_a_call_and_has_the_one_shape() -> None:
    schema = openapi.whole_schema()
    answers = {
        f"{method.upper()} {path.removeprefix(openapi.ROOT)}": call["responses"]
        for path, calls in schema["paths"].items()
        for method, call in calls.items()
    }
    assert {*openapi.ALSO, *openapi.EXAMPLES} <= {*answers}
    assert {call.partition(" ")[2] for call in answers} >= openapi.TAGGED
    failures = [answer for told in answers.values() for status, answer in told.items() if status >= "400"]
    shape = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}}
    assert [failure for failure in failures if failure["content"] != shape] == []
    assert {*map(str, (400, 401, 403, 404, 409, 412, 413, 415, 429, 500, 503))} <= {
        *answers["PATCH artifacts/{artifact_id}/"]
    }


async def test_an_example_of_a_body_is_one() -> None:
    for call in openapi.EXAMPLES:
        schema = openapi.whole_schema()
        method, path = call.split()
        content = schema["paths"][openapi.ROOT + path][method.lower()]["requestBody"]["content"]["application/json"]
        validated(content["schema"], content["example"])


async def test_answers_of_the_main_calls_are_as_the_schema_says(api: Api) -> None:
    sent = await api.post("threads/new/messages/", {"content": "Who is Donald Trump?"})
    thread = sent.body["thread"]
    validated({"$ref": "#/components/schemas/ExchangeAnswer"}, sent.body)
    made = await api.post(f"threads/{thread}/artifacts/", {"title": "BRD", "content": "# BRD"})
    validated({"$ref": "#/components/schemas/ArtifactAnswer"}, made.body)
    remembered = await api.post("memories/", {"content": "Ada likes tea."})
    validated({"$ref": "#/components/schemas/MemoryAnswer"}, remembered.body)
    recorded = await api.get(f"requests/{sent.body['request']}/")
    validated({"$ref": "#/components/schemas/SnapshotAnswer"}, recorded.body)
    for path, shape in [
        ("threads/?q=donald", "PaginatedThreadAnswerList"),
        (f"threads/{thread}/messages/", "PaginatedMessageAnswerList"),
        (f"threads/{thread}/requests/", "PaginatedSnapshotAnswerList"),
        ("memories/", "PaginatedMemoryAnswerList"),
        ("memories/search/?q=tea", "FoundListAnswer"),
        ("models/", "ModelsAnswer"),
        ("export/", "Book"),
        ("threads/x/", "ErrorAnswer"),
    ]:
        validated({"$ref": f"#/components/schemas/{shape}"}, (await api.get(path)).body)


def test_a_call_is_described_with_its_body_and_its_answers() -> None:
    call = next(call for call in described() if call.path.endswith("/messages/") and call.method == "POST")
    assert [(field.name, field.required) for field in call.body] == [
        ("content", False),
        ("files", False),
        ("client_message_id", False),
        ("assistant", False),
        ("model", False),
        ("thread_model", False),
        ("project", False),
        ("edits", False),
        ("temporary", False),
    ]
    outer = [[field.name for field in answer.fields if "." not in field.name] for answer in call.answers]
    assert [(answer.status, answer.type) for answer in call.answers] == [("201", "ExchangeAnswer")]
    assert outer == [["thread", "user_message", "reply", "assistant_message", "request"]]
    assert call.needs_token


def test_a_snapshot_is_described_to_its_last_field() -> None:
    [call] = [call for call in described() if call.path.endswith("/requests/{request_id}/")]
    inner = [field.name for field in call.answers[0].fields if "." in field.name]
    assert inner == [
        *(f"switch.{name}" for name in ("request", "provider", "model", "text", "effects")),
        *(f"thinking.{name}" for name in ("mode", "display", "effort", "room")),
        *(f"budget_origin.{name}" for name in ("share", "context_window", "wanted", "is_cut", "text")),
        *(f"sections[].{name}" for name in ("name", "tokens", "text", "forgotten_at", "quotes")),
        *(f"sections[].quotes[].{name}" for name in ("line", "thread", "position")),
        "sections[].sources",
        *(f"sections[].sources[].{name}" for name in ("title", "url", "host", "read")),
        *(f"items[].{name}" for name in ("kind", "included", "reason", "id", "tokens", "exact")),
        *(f"items[].{name}" for name in ("position", "thread", "score")),
        "items[].passages",
        *(f"items[].passages[].{name}" for name in ("start", "end", "included", "reason", "tokens")),
        *(f"items[].{name}" for name in ("replaced_by", "first", "last", "count")),
        *(f"fates[].{name}" for name in ("kind", "source", "included", "reason", "count", "file", "parts")),
        *(f"fates[].{name}" for name in ("what", "why")),
        *(f"files[].{name}" for name in ("id", "name", "parts", "given")),
        *(f"files[].given[].{name}" for name in ("position", "parts", "whole", "outlined", "tokens")),
        "files[].read",
        *(f"files[].read[].{name}" for name in ("parts", "tokens")),
        "files[].left_out",
        *(f"files[].left_out[].{name}" for name in ("parts", "reason")),
        "files[].unread",
        *(f"files[].unread[].{name}" for name in ("what", "why", "count", "places", "text")),
        "files[].without_pictures",
        "files[].cited",
        *(f"files[].cited[].{name}" for name in ("text", "part", "given", "warning")),
        *(f"rewriting.{name}" for name in ("outcome", "query")),
        "memory.project",
        *(f"memory.project.{name}" for name in ("id", "name")),
        "memory.outside",
        "memory.shared",
        *(f"memory.shared[].{name}" for name in ("id", "name")),
        *(f"memory.{name}" for name in ("closed", "text")),
        *(f"against_duplicates.{name}" for name in ("rules", "tool_wording", "filtered_turns", "silent")),
        *(f"moderation[].{name}" for name in ("moderator", "stage", "result", "labels", "at")),
        *(f"problems[].{name}" for name in ("source", "kind", "message")),
        *(f"cache.{name}" for name in ("state", "marks", "expected", "lifetime", "cost_five_minutes", "cost_hour")),
        *(f"timings_ms.{step.name}" for step in STEPS),
        *(f"timings_ms.{name}" for name in ("render", "record", "total")),
        *(f"usage.{name}" for name in ("input_tokens", "output_tokens")),
        *(f"usage.cache_{name}_input_tokens" for name in ("read", "creation", "creation_1h")),
        *(f"usage.{name}" for name in ("thinking_tokens", "estimated_input_tokens", "estimated_output_tokens")),
    ]


async def test_every_field_of_a_recorded_snapshot_is_in_the_schema(api: Api) -> None:
    sent = (await api.post("threads/new/messages/", {"content": "Who is Donald Trump?"})).body
    recorded = (await api.get(f"requests/{sent['request']}/")).body
    [call] = [call for call in described() if call.path.endswith("/requests/{request_id}/")]
    assert [field.name for field in call.answers[0].fields if "." not in field.name] == list(recorded)


async def test_the_schema_is_served_to_anybody() -> None:
    answer = await Api().get("schema/", Accept="text/html")
    assert (answer.status, answer.body["openapi"]) == (200, "3.1.1")


async def test_the_page_lists_every_call_with_what_its_token_needs_and_runs_no_inline_script() -> None:
    answer = await Api().get("docs/")
    assert answer.status == 200
    listed = re.findall(r'<code class="method">(\w+)</code> <code>/api/v1/([^<]+)</code>', answer.body)
    calls = [f"{method} {path}" for method, path in listed]
    assert {*calls} == OF_THE_CONTRACT
    needs = dict(zip(calls, re.findall(r'<span class="needs">(.+?)</span>', as_read(answer.body)), strict=True))
    assert {call: needs[call] for call in NEEDS} == NEEDS
    assert "curl http://testserver/api/v1/auth/token/" in answer.body
    assert re.findall(r"<script(?![^>]*\bsrc=)", answer.body) == []
    assert "style=" not in answer.body


async def test_the_guide_to_the_messages_api_names_this_server() -> None:
    answer = await Api().get("docs/messages/")
    assert (answer.status, "127.0.0.1" in answer.body) == (200, False)
    assert "curl -sN http://testserver/v1/messages" in answer.body
    assert "<td><code>POST /v1/messages</code></td>" in answer.body


async def test_the_tour_stands_beside_it() -> None:
    answer = await Api().get("docs/tour/")
    assert (answer.status, "<h1>Five minutes with Openbook</h1>" in answer.body) == (200, True)
    assert "export OPENBOOK=http://testserver" in answer.body
