"""What people say of replies over REST: theirs to say, to change and to take back."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.models import Feedback, Message
from conversations.runtime.db import in_database
from tests.conversations.factories import make_snapshot, make_thread
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

BAD = {"value": -1, "reason": "made_up", "text": " There is no such ferry.\n", "show_conversation": True}
SAID = BAD | {"text": "There is no such ferry."}


def answered(user: User) -> tuple[str, Message, Message]:
    """A thread with one answer that was made by a recorded request."""
    thread = make_thread(user, ["Is there a ferry?", "Yes, at nine."])
    make_snapshot(thread)
    question, answer = thread.messages.order_by("position")
    return str(thread.id), question, answer


def said(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in ("created_at", "updated_at")}


async def test_feedback_is_given_replaced_shown_and_taken_back(user: User, api: Api) -> None:
    thread, _, answer = await in_database(answered)(user)
    path = f"messages/{answer.id}/feedback/"
    assert (await api.get(path)).code == (404, "not_found", "feedback_not_found")
    tag = (await api.get(f"threads/{thread}/messages/")).headers["etag"]

    assert said((await api.post(path, BAD)).body) == SAID
    page = await api.get(f"threads/{thread}/messages/", **{"If-None-Match": tag})
    assert [said(turn["feedback"]) if "feedback" in turn else None for turn in page.body["results"]] == [None, SAID]

    good = {"value": 1, "reason": "", "text": "", "show_conversation": False}
    assert said((await api.post(path, {"value": 1})).body) == said((await api.get(path)).body) == good
    row = await Feedback.objects.aget()
    assert (row.user_id, str(row.thread_id), row.message_id, row.shown_since) == (user.pk, thread, answer.id, None)

    assert (await api.call("DELETE", path)).status == 204
    assert (await api.call("DELETE", path)).code == (404, "not_found", "feedback_not_found")
    assert not await Feedback.objects.aexists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "value"),
        ({"value": 0}, "value"),
        ({"value": "good"}, "value"),
        ({"value": 1, "reason": "mood"}, "reason"),
        ({"value": 1, "text": "x" * 2_001}, "text"),
        ({"value": 1, "show_conversation": "perhaps"}, "show_conversation"),
    ],
)
async def test_feedback_that_cannot_be_is_refused_and_stores_nothing(
    user: User, api: Api, body: dict[str, Any], field: str
) -> None:
    _, _, answer = await in_database(answered)(user)
    status, error = (await api.post(f"messages/{answer.id}/feedback/", body)).refusal
    assert (status, [*error["details"]["fields"]]) == (400, [field])
    assert not await Feedback.objects.aexists()


async def test_only_what_an_assistant_wrote_is_rated(user: User, api: Api) -> None:
    _, question, _ = await in_database(answered)(user)
    refused = await api.post(f"messages/{question.id}/feedback/", {"value": 1})
    assert refused.code == (409, "conflict", "cannot_rate")


async def test_feedback_is_in_the_export_and_comes_back_without_what_was_shown_to_support(
    user: User, api: Api, others_api: Api
) -> None:
    _, _, answer = await in_database(answered)(user)
    await api.post(f"messages/{answer.id}/feedback/", BAD)
    book = (await api.get("export/")).body
    exported = book["threads"][0]["messages"][1]["feedback"]
    assert said(exported) == SAID

    assert (await others_api.post("import/?ids=new", book)).status == 201
    copy = await Feedback.objects.exclude(user=user).aget()
    assert (copy.value, copy.reason, copy.text, copy.shown_since) == (-1, "made_up", SAID["text"], None)
    assert copy.state == Feedback.State.DONE
    book["threads"][0]["messages"][1]["feedback"] = {"value": 2}
    refused = await others_api.post("import/?ids=new", book)
    assert refused.code == (400, "invalid_request", "invalid_import")


async def test_feedback_goes_with_the_turn_that_is_forgotten_and_with_what_it_tells(user: User, api: Api) -> None:
    _, _, answer = await in_database(answered)(user)
    await api.post(f"messages/{answer.id}/feedback/", {"value": 1})
    assert (await api.post(f"messages/{answer.id}/forget/")).status == 200
    assert not await Feedback.objects.aexists()
    refused = await api.post(f"messages/{answer.id}/feedback/", {"value": 1})
    assert refused.code == (409, "conflict", "cannot_rate")
