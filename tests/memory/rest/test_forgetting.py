"""A fact on its way through the doors, forgotten: it is in no answer, no export and no row any more, and one can talk on."""

import pytest
from django.contrib.auth.models import User

from conversations.context.record import snapshots
from conversations.models import ContextSnapshot
from conversations.runtime.db import in_database
from memory import forgetting
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.memory.factories import make_memory
from tests.memory.forgetting.test_forgetting import rows_with
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SAID = "By the way, my locker code is ZEBRA-QUOKKA."
QUESTION = "What is the code of my locker?"


async def test_a_needle_of_another_thread_is_recalled_and_once_forgotten_never_again(
    user: User, api: Api, model: ModelServer
) -> None:
    model.script(*map(scripts.text, ["Noted.", "It is ZEBRA-QUOKKA.", "I don't know it.", "And again: no."]))
    told = (await api.post("threads/new/messages/", {"content": SAID})).body
    memory = await in_database(make_memory)(user, "Locker code: ZEBRA-QUOKKA", sources=[told["user_message"]["id"]])
    asked = (await api.post("threads/new/messages/", {"content": QUESTION})).body
    assert "ZEBRA-QUOKKA" in str(model.bodies[1])

    done = await in_database(forgetting.forget_memory)(user, memory.id)
    assert [(str(turn.id), turn.why) for turn in done.turns] == [
        (told["user_message"]["id"], "source"),
        (asked["assistant_message"]["id"], "mention"),
    ]
    assert await in_database(rows_with)("ZEBRA", "QUOKKA") == []
    request = (await api.get(f"requests/{asked['request']}/")).body
    assert request["request"] is None and request["forgotten_at"]
    assert {one["name"]: (one["text"], bool(one["forgotten_at"])) for one in request["sections"]}["memory"] == (
        None,
        True,
    )

    again = [
        (await api.post(f"threads/{thread}/messages/", {"content": QUESTION})).body
        for thread in (told["thread"], asked["thread"])
    ]
    assert "QUOKKA" not in str(model.bodies[2:]) and "[forgotten]" in str(model.bodies[2:])
    rows = [await ContextSnapshot.objects.aget(id=one["request"]) for one in again]
    assert [await in_database(snapshots.proof)(row) for row in rows] == [True, True]
    listed = (await api.get(f"threads/{asked['thread']}/messages/")).body["results"]
    assert [(one["text"], one["status"]) for one in listed][:2] == [
        (QUESTION, "complete"),
        ("[forgotten]", "forgotten"),
    ]
    exported = (await api.get("export/")).body
    assert "QUOKKA" not in str(exported) and "forgotten" in str(exported)
    assert (await api.get("memories/search/?q=locker code zebra")).body["results"][0]["content"] == QUESTION
