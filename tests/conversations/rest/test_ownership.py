"""What is another user's does not exist: on every call with an id in its path, in the same words as an unknown id."""

import asyncio
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db.models import Model
from pytest_django import Settings

from artifacts.models import Artifact, ArtifactVersion
from conversations.accounts import tokens
from conversations.models import (
    Assistant,
    ContextSnapshot,
    Feedback,
    File,
    FilePart,
    GroupManager,
    McpCall,
    McpServer,
    McpSignIn,
    McpTool,
    Message,
    Project,
    Reply,
    Schedule,
    Scope,
    Share,
    Thread,
    Webhook,
    WebhookDelivery,
)
from conversations.runtime.db import in_database
from conversations.threads.deletion import allow_deletion
from conversations.webhooks import webhooks
from memory.models import Memory, Topic
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import (
    make_feedback,
    make_file,
    make_invitation,
    make_mcp_call,
    make_project,
    make_prompt,
    make_schedule,
    make_share,
    make_snapshot,
    make_thread,
    make_webhook,
)
from tests.conversations.rest.client import Api
from tests.memory.factories import make_memory, make_topic

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

MESSAGE = {"content": "Hello"}
CALLS: list[tuple[str, str, Any, str]] = [
    ("GET", "threads/{thread}/", None, "thread_not_found"),
    ("PATCH", "threads/{thread}/", {"title": "Mine now"}, "thread_not_found"),
    ("DELETE", "threads/{thread}/", None, "thread_not_found"),
    ("GET", "threads/{thread}/messages/", None, "thread_not_found"),
    ("GET", "threads/{thread}/messages/?before=end", None, "thread_not_found"),
    ("POST", "threads/{thread}/messages/", MESSAGE, "thread_not_found"),
    ("POST", "threads/{thread}/messages/stream/", MESSAGE, "thread_not_found"),
    ("POST", "threads/{thread}/context/", MESSAGE, "thread_not_found"),
    ("GET", "threads/{thread}/clearing/", None, "thread_not_found"),
    ("POST", "threads/{thread}/clear/", None, "thread_not_found"),
    ("GET", "threads/{thread}/requests/", None, "thread_not_found"),
    ("GET", "threads/{thread}/artifacts/", None, "thread_not_found"),
    ("POST", "threads/{thread}/artifacts/", {"title": "Mine", "content": "now"}, "thread_not_found"),
    ("GET", "threads/{thread}/presets/", None, "thread_not_found"),
    ("POST", "threads/{thread}/presets/brd/", None, "thread_not_found"),
    ("POST", "threads/{thread}/presets/brd/stream/", None, "thread_not_found"),
    ("GET", "memories/?thread={thread}", None, "thread_not_found"),
    ("GET", "memories/{memory}/", None, "memory_not_found"),
    ("PATCH", "memories/{memory}/", {"content": "Mine now."}, "memory_not_found"),
    ("DELETE", "memories/{memory}/", None, "memory_not_found"),
    ("POST", "memories/{memory}/restore/", None, "memory_not_found"),
    ("GET", "memories/{memory}/uses/", None, "memory_not_found"),
    ("GET", "memories/{memory}/forgetting/", None, "memory_not_found"),
    ("POST", "memories/{memory}/forget/", None, "memory_not_found"),
    ("DELETE", "messages/{message}/", None, "message_not_found"),
    ("GET", "messages/{message}/forgetting/", None, "message_not_found"),
    ("POST", "messages/{message}/forget/", None, "message_not_found"),
    ("GET", "messages/{answer}/feedback/", None, "message_not_found"),
    ("POST", "messages/{answer}/feedback/", {"value": 1}, "message_not_found"),
    ("DELETE", "messages/{answer}/feedback/", None, "message_not_found"),
    ("PATCH", "topics/{topic}/", {"resolved": True}, "topic_not_found"),
    ("DELETE", "topics/{topic}/", None, "topic_not_found"),
    ("GET", "artifacts/{artifact}/", None, "artifact_not_found"),
    ("PATCH", "artifacts/{artifact}/", {"title": "Mine now", "content": "mine"}, "artifact_not_found"),
    ("DELETE", "artifacts/{artifact}/", None, "artifact_not_found"),
    ("POST", "artifacts/{artifact}/restore/", None, "artifact_not_found"),
    ("GET", "artifacts/{artifact}/versions/", None, "artifact_not_found"),
    ("GET", "artifacts/{artifact}/versions/1/", None, "artifact_not_found"),
    ("GET", "artifacts/{artifact}/export/", None, "artifact_not_found"),
    ("GET", "threads/{thread}/export/", None, "thread_not_found"),
    ("DELETE", "tokens/{token}/", None, "token_not_found"),
    ("DELETE", "auth/tokens/{token}/", None, "token_not_found"),
    ("GET", "requests/{request}/", None, "not_found"),
    ("POST", "replies/{reply}/stop/", None, "reply_not_found"),
    ("POST", "replies/{reply}/retry/", None, "reply_not_found"),
    ("POST", "replies/{reply}/continue/", None, "reply_not_found"),
    ("GET", "replies/{reply}/events/", None, "reply_not_found"),
    ("GET", "files/{file}/", None, "file_not_found"),
    ("GET", "files/{file}/content/", None, "file_not_found"),
    ("GET", "files/{file}/parts/", None, "file_not_found"),
    ("GET", "files/{file}/parts/1/", None, "file_not_found"),
    ("GET", "files/{file}/parts/1/picture/", None, "file_not_found"),
    ("GET", "files/{file}/given/", None, "file_not_found"),
    ("GET", "files/{file}/thumbnail/", None, "file_not_found"),
    ("GET", "files/{file}/pages/1/", None, "file_not_found"),
    ("PATCH", "files/{file}/", {"project": "{project}"}, "file_not_found"),
    ("GET", "memories/?project={project}", None, "project_not_found"),
    ("GET", "memories/search/?q=Rain&project={project}", None, "project_not_found"),
    ("DELETE", "files/{file}/", None, "file_not_found"),
    ("GET", "prompts/{prompt}/", None, "prompt_not_found"),
    ("PATCH", "prompts/{prompt}/", {"name": "Mine now"}, "prompt_not_found"),
    ("DELETE", "prompts/{prompt}/", None, "prompt_not_found"),
    ("GET", "projects/{project}/", None, "project_not_found"),
    ("PATCH", "projects/{project}/", {"name": "Mine now"}, "project_not_found"),
    ("DELETE", "projects/{project}/", None, "project_not_found"),
    ("GET", "threads/?project={project}", None, "project_not_found"),
    ("GET", "files/?project={project}", None, "project_not_found"),
    ("POST", "threads/{thread}/shares/", {}, "thread_not_found"),
    ("POST", "threads/{thread}/fork/", {"message": "{message}"}, "thread_not_found"),
    ("POST", "artifacts/{artifact}/shares/", {}, "artifact_not_found"),
    ("GET", "shares/?thread={thread}", None, "thread_not_found"),
    ("DELETE", "shares/{share}/", None, "share_not_found"),
    ("GET", "schedules/{schedule}/", None, "schedule_not_found"),
    ("PATCH", "schedules/{schedule}/", {"paused": True}, "schedule_not_found"),
    ("DELETE", "schedules/{schedule}/", None, "schedule_not_found"),
    ("GET", "mcp-servers/{server}/", None, "server_not_found"),
    ("PATCH", "mcp-servers/{server}/", {"is_active": False}, "server_not_found"),
    ("POST", "mcp-servers/{server}/refresh/", None, "server_not_found"),
    ("POST", "mcp-servers/{server}/sign-in/", None, "server_not_found"),
    ("DELETE", "mcp-servers/{server}/sign-in/", None, "server_not_found"),
    ("GET", "mcp-servers/{server}/resources/", None, "server_not_found"),
    ("POST", "mcp-servers/{server}/resources/attach/", {"uri": "x://y"}, "server_not_found"),
    ("GET", "mcp-servers/{server}/prompts/", None, "server_not_found"),
    ("POST", "mcp-servers/{server}/prompts/x/", {"arguments": {}}, "server_not_found"),
    ("DELETE", "mcp-servers/{server}/", None, "server_not_found"),
    ("POST", "mcp-calls/{call}/answer/", {"answer": "once"}, "tool_call_not_found"),
    ("GET", "webhooks/{webhook}/", None, "webhook_not_found"),
    ("PATCH", "webhooks/{webhook}/", {"is_active": False}, "webhook_not_found"),
    ("GET", "webhooks/{webhook}/deliveries/", None, "webhook_not_found"),
    ("POST", "webhooks/{webhook}/deliveries/{delivery}/redeliver/", None, "webhook_not_found"),
    ("POST", "webhooks/{webhook}/ping/", None, "webhook_not_found"),
    ("POST", "webhooks/{webhook}/secret/", None, "webhook_not_found"),
    ("DELETE", "webhooks/{webhook}/", None, "webhook_not_found"),
]
TABLES: list[type[Model]] = [Thread, Message, Reply, ContextSnapshot, Artifact, ArtifactVersion, Memory, Topic]
TABLES += [
    Feedback,
    File,
    FilePart,
    McpCall,
    McpServer,
    McpSignIn,
    McpTool,
    Project,
    Schedule,
    Share,
    Webhook,
    WebhookDelivery,
]
IDS = [
    "thread",
    "request",
    "reply",
    "artifact",
    "message",
    "answer",
    "memory",
    "topic",
    "token",
    "file",
    "project",
    "share",
    "prompt",
    "schedule",
    "webhook",
    "delivery",
    "server",
    "call",
]
NO_IDS = ["nonsense", "0", "-1", "null", "..%2f..", "%00", "0198c0de-0000-7000-8000-00000000000", "ё" * 40]


def belongings(user: User) -> dict[str, Any]:
    """Something of everything that has an id."""
    thread = make_thread(user, ["My secret", "Kept"], assistant=Assistant.objects.get(slug="analyst"))
    snapshot = make_snapshot(thread)
    turn = thread.messages.get(position=1)
    assert snapshot.reply_id
    webhook, call = make_webhook(user), make_mcp_call(thread)
    with allow_deletion():  # an answer that can be gone on with
        thread.messages.filter(position=2).update(status="incomplete", reply=snapshot.reply_id)
    return {
        "thread": thread.id,
        "request": snapshot.id,
        "reply": snapshot.reply_id,
        "artifact": make_artifact(thread, "secret").id,
        "message": turn.id,
        "answer": make_feedback(thread.messages.get(position=2)).message_id,
        "memory": make_memory(user, sources=[turn.id]).id,
        "token": spare_token(user),
        "topic": make_topic(user, thread=thread, sources=[turn.id]).id,
        "file": make_file(user, parts=["secret"], picture=b"\x89PNG").id,
        "project": make_project(user).id,
        "share": make_share(thread).id,
        "prompt": make_prompt(user).id,
        "schedule": make_schedule(user, thread=thread).id,
        "server": call.tool.server_id,
        "call": call.id,
        "webhook": webhook.id,
        "delivery": webhooks.ping(webhook).id,
    }


def spare_token(user: User) -> int:
    tokens.issue(user=user, name="spare")
    return tokens.of(user)[0].pk


def rows() -> list[Any]:
    return [list(kind._default_manager.order_by("pk").values()) for kind in TABLES]


@pytest.fixture(autouse=True)
def sharing_is_on(settings: Settings) -> None:
    settings.OPENBOOK_SHARING, settings.OPENBOOK_WEBHOOKS, settings.OPENBOOK_SCHEDULES = True, 100, 100
    settings.OPENBOOK_MCP_SERVERS, settings.OPENBOOK_LIMIT_REQUESTS_MINUTE = 100, 0


@pytest.mark.wide
async def test_another_users_rows_answer_as_unknown_ones_do_and_stay_as_they_are(
    user: User, other_user: User, others_api: Api
) -> None:
    ids = await in_database(belongings)(user)
    before = await in_database(rows)()
    unknown = dict.fromkeys(ids, uuid.uuid4())
    for method, path, body, code in CALLS:
        answer = await others_api.call(method, path.format(**ids), filled(body, ids))
        assert answer.code == (404, "not_found", code), path
        assert answer.refusal == (await others_api.call(method, path.format(**unknown), body)).refusal, path
        if method != "GET":
            assert await in_database(rows)() == before, path
    assert await in_database(rows)() == before


async def test_anothers_invitation_is_an_unknown_one_to_who_may_invite(user: User, other_user: User) -> None:
    group = await Group.objects.acreate(name="Research")
    await GroupManager.objects.acreate(group=group, user=other_user)
    secret = await in_database(tokens.issue)(user=other_user, name="own", scopes=[Scope.STAFF_INVITATIONS])
    api = Api(authorization=f"Token {secret}")
    theirs, own = [await in_database(make_invitation)(maker) for maker in (user, other_user)]
    answer = await api.call("DELETE", f"invitations/{theirs.id}/")
    assert answer.code == (404, "not_found", "invitation_not_found")
    assert answer.refusal == (await api.call("DELETE", f"invitations/{uuid.uuid4()}/")).refusal
    await theirs.arefresh_from_db()
    assert theirs.revoked_at is None
    assert (await api.call("DELETE", f"invitations/{own.id}/")).status == 204


ORDER = ["GET", "PATCH", "POST", "DELETE"]


def filled(body: Any, ids: dict[str, Any]) -> Any:
    """With the id of a row where one is named."""
    named = next((name for name in ("message", "project") if body == {name: f"{{{name}}}"}), None)
    return {named: str(ids[named])} if named else body


ASKED = ("refresh/", "sign-in/", "resources/", "resources/attach/", "prompts/", "prompts/x/")
NOT_THERE = {"files/{file}/thumbnail/", "files/{file}/pages/1/", *(f"mcp-servers/{{server}}/{path}" for path in ASKED)}
"""The file is a text, and the server is nowhere."""


async def no_reply_runs() -> None:
    """Nothing is forgotten meanwhile."""
    async with asyncio.timeout(30):
        while await Reply.objects.filter(status=Reply.Status.RUNNING).aexists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.wide
async def test_their_owner_has_them(user: User, api: Api) -> None:
    ids = await in_database(belongings)(user)
    for method, path, body, _ in sorted(CALLS, key=lambda call: ORDER.index(call[0])):
        if method not in ("GET", "PATCH"):  # which leave them there
            await no_reply_runs()
            ids = await in_database(belongings)(user)
        status = (await api.call(method, path.format(**ids), filled(body, ids))).status
        assert 200 <= status < 300 or path in NOT_THERE, path


@pytest.mark.wide
async def test_what_is_no_id_is_not_found(user: User, api: Api) -> None:
    for method, path, body, _ in CALLS:
        for no_id in NO_IDS:
            answer = await api.call(method, path.format(**dict.fromkeys(IDS, no_id)), body)
            assert answer.code[:2] == (404, "not_found"), (path, no_id)
    assert await Thread.objects.acount() == 0
