"""What is another user's does not exist: on every call with an id in its path, in the same words as an unknown id."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Model

from artifacts.models import Artifact, ArtifactVersion
from conversations.db import in_database
from conversations.models import ContextSnapshot, Message, Reply, Thread
from tests.artifacts.factories import make_artifact
from tests.conversations.api.client import Api
from tests.conversations.factories import make_snapshot, make_thread

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

MESSAGE = {"content": "Hello"}
CALLS = [
    ("GET", "threads/{thread}/", None, "thread_not_found"),
    ("PATCH", "threads/{thread}/", {"title": "Mine now"}, "thread_not_found"),
    ("DELETE", "threads/{thread}/", None, "thread_not_found"),
    ("GET", "threads/{thread}/messages/", None, "thread_not_found"),
    ("GET", "threads/{thread}/messages/?before=end", None, "thread_not_found"),
    ("POST", "threads/{thread}/messages/", MESSAGE, "thread_not_found"),
    ("POST", "threads/{thread}/messages/stream/", MESSAGE, "thread_not_found"),
    ("POST", "threads/{thread}/context/", MESSAGE, "thread_not_found"),
    ("GET", "threads/{thread}/requests/", None, "thread_not_found"),
    ("GET", "threads/{thread}/artifacts/", None, "thread_not_found"),
    ("POST", "threads/{thread}/artifacts/", {"title": "Mine", "content": "now"}, "thread_not_found"),
    ("GET", "threads/{thread}/presets/", None, "thread_not_found"),
    ("GET", "artifacts/{artifact}/", None, "artifact_not_found"),
    ("PATCH", "artifacts/{artifact}/", {"title": "Mine now", "content": "mine"}, "artifact_not_found"),
    ("DELETE", "artifacts/{artifact}/", None, "artifact_not_found"),
    ("POST", "artifacts/{artifact}/restore/", None, "artifact_not_found"),
    ("GET", "artifacts/{artifact}/versions/", None, "artifact_not_found"),
    ("GET", "artifacts/{artifact}/versions/1/", None, "artifact_not_found"),
    ("GET", "artifacts/{artifact}/export/", None, "artifact_not_found"),
    ("GET", "threads/{thread}/export/", None, "thread_not_found"),
    ("GET", "requests/{request}/", None, "not_found"),
    ("POST", "replies/{reply}/stop/", None, "reply_not_found"),
    ("POST", "replies/{reply}/retry/", None, "reply_not_found"),
    ("GET", "replies/{reply}/events/", None, "reply_not_found"),
]
TABLES: list[type[Model]] = [Thread, Message, Reply, ContextSnapshot, Artifact, ArtifactVersion]
NO_IDS = ["nonsense", "0", "-1", "null", "..%2f..", "%00", "0198c0de-0000-7000-8000-00000000000", "ё" * 40]

each_call = pytest.mark.parametrize(("method", "path", "body", "code"), CALLS, ids=lambda value: str(value)[:40])


def rows() -> list[Any]:
    return [list(kind._default_manager.order_by("pk").values()) for kind in TABLES]


@each_call
async def test_another_users_rows_answer_as_unknown_ones_do_and_stay_as_they_are(
    user: User, other_user: User, others_api: Api, method: str, path: str, body: Any, code: str
) -> None:
    thread = await in_database(make_thread)(user, ["My secret", "Kept"])
    snapshot = await in_database(make_snapshot)(thread)
    artifact = await in_database(make_artifact)(thread, "secret")
    before = await in_database(rows)()
    ids = {"thread": thread.id, "request": snapshot.id, "reply": snapshot.reply_id, "artifact": artifact.id}
    unknown = dict.fromkeys(ids, uuid.uuid4())

    answer = await others_api.call(method, path.format(**ids), body)
    assert answer.code == (404, "not_found", code)
    assert answer.refusal == (await others_api.call(method, path.format(**unknown), body)).refusal
    assert await in_database(rows)() == before


@each_call
async def test_their_owner_has_them(user: User, api: Api, method: str, path: str, body: Any, code: str) -> None:
    thread = await in_database(make_thread)(user, ["My secret", "Kept"])
    snapshot = await in_database(make_snapshot)(thread)
    artifact = await in_database(make_artifact)(thread, "secret")
    ids = {"thread": thread.id, "request": snapshot.id, "reply": snapshot.reply_id, "artifact": artifact.id}
    assert 200 <= (await api.call(method, path.format(**ids), body)).status < 300


@each_call
@pytest.mark.parametrize("no_id", NO_IDS)
async def test_what_is_no_id_is_not_found(
    user: User, api: Api, method: str, path: str, body: Any, code: str, no_id: str
) -> None:
    answer = await api.call(method, path.format(thread=no_id, request=no_id, reply=no_id, artifact=no_id), body)
    assert answer.code[:2] == (404, "not_found")
    assert await Thread.objects.acount() == 0
