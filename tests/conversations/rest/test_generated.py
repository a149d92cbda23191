"""Whatever the schema allows, and much that it doesn't, is sent to every call: no answer but those that it tells of."""

import os
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from copy import deepcopy
from typing import Any

import pytest
import schemathesis
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from django.db import connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from config.server.bodies import bounded
from conversations import replies
from conversations.accounts import tokens
from conversations.replies.journal import journal
from conversations.rest.openapi import whole_schema
from conversations.webhooks import webhooks
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import (
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
from tests.memory.factories import make_memory, make_topic

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = int(os.environ.get("OPENBOOK_TEST_CALLS", "1"))
"""Of each kind for each call."""
PARTS = 2
KEPT = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
SITE = "http://testserver"
DRAIN = "/drain/"

Event = MutableMapping[str, Any]
Application = Callable[..., Awaitable[None]]


def drained(application: Application) -> Application:
    """The application, where one path waits until nothing that was begun goes on."""

    async def called(scope: Event, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == DRAIN:
            await replies.drain()
            journal().draining = False  # the loop of all these calls goes on
            await sync_to_async(connections.close_all)()
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})
            return
        await application(scope, receive, send)

    return called


@pytest.fixture
def things(user: User) -> dict[str, str]:
    """What there is, by the names that paths have for it."""
    thread = make_thread(user, ["Hello?"], title="Tea")
    snapshot = make_snapshot(thread)
    artifact = make_artifact(thread, "one")
    tokens.issue(user=user, name="another")
    found = {
        "thread_id": thread.id,
        "artifact_id": artifact.id,
        "memory_id": make_memory(user).id,
        "message_id": thread.messages.get().id,
        "reply_id": snapshot.reply_id,
        "request_id": snapshot.id,
        "token_id": user.api_tokens.get().pk,
        "topic_id": make_topic(user).id,
        "file_id": make_file(user, parts=["one"], picture=b"\x89PNG").id,
        "project_id": make_project(user).id,
        "prompt_id": make_prompt(user).id,
        "schedule_id": make_schedule(user).id,
        "share_id": make_share(thread).id,
        "leaver_id": user.pk,
        "invitation_id": make_invitation(user).id,
        "call_id": (call := make_mcp_call(thread)).id,
        "server_id": call.tool.server_id,
        "prompt_name": "review",
        "webhook_id": (webhook := make_webhook(user)).id,
        "delivery_id": webhooks.ping(webhook).id,
        **dict.fromkeys(("row_id", "run_id", "feedback_id", "finding_id"), 1),
        "slug": "brd",
        "number": 1,
    }
    return {name: str(value) for name, value in found.items()}


@pytest.fixture
def calls(user: User, settings: Any) -> Iterator[tuple[list[Any], dict[str, str]]]:
    """Every call of the schema, and the headers of a caller."""
    settings.OPENBOOK_OFFLINE_WORD_SECONDS = 0
    settings.OPENBOOK_LIMIT_REQUESTS_MINUTE = 0
    settings.ALLOWED_HOSTS = ["testserver"]
    schema = schemathesis.openapi.from_dict(deepcopy(whole_schema()))
    schema.app = drained(bounded(get_asgi_application()))
    results = list(schema.get_all_operations())
    found = [result.ok() for result in results if isinstance(result, Ok)]
    assert len(found) == len(results) > 0
    yield found, {"Authorization": f"Token {tokens.issue(user=user, name='tests')}"}
    found[0].Case(path_parameters={}).call(base_url=SITE)


def modes(operation: Any) -> list[GenerationMode]:
    """A call without a body or a query can't be made in a wrong way, and it takes seconds to find no example."""
    return list(GenerationMode) if operation.body or operation.query else [GenerationMode.POSITIVE]


@pytest.mark.wide
@pytest.mark.parametrize("part", range(PARTS))
def test_every_call_answers_as_the_schema_says_whatever_it_is_sent(
    things: dict[str, str], calls: tuple[list[Any], dict[str, str]], part: int
) -> None:
    operations, headers = calls
    failed = []
    for operation in operations[part::PARTS]:
        for mode in modes(operation):

            @settings(
                max_examples=EXAMPLES,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def answered(case: Any) -> None:
                for name, value in case.path_parameters.items():
                    if len(str(value)) % 2:
                        case.path_parameters[name] = things[name]
                case.call_and_validate(headers=headers, checks=KEPT)

            try:
                answered()
            except Exception as error:
                failed.append(f"{operation.label}, {mode.value}: {error}")
    assert not failed, "\n\n".join(failed)
