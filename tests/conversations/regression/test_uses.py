"""Which requests held a note, a turn or a file, what they would have been without it, and with a note that nobody made."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.urls import reverse

from conversations.context.record import snapshots as recorded
from conversations.context.record.request_record import NotReplayable, record_of
from conversations.context.sources import AddedNote
from conversations.models import Assistant, ContextSnapshot, File, Message
from conversations.regression import counterfactual
from conversations.regression.outcomes import Held, held_by
from conversations.regression.replaying import remaking
from conversations.runtime import clock
from conversations.runtime.db import in_database
from memory.models import Memory
from tests.conversations.factories import make_file, make_user
from tests.conversations.regression.test_replay import talk
from tests.conversations.rest.client import Api
from tests.memory.factories import make_memory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]
WORDS = ("harbour", "Lisbon", "cakes sell", "what of bread", "Has a dog", "ferry", "violin")
RIGHTS = ("memory", "message", "file", "contextsnapshot", "user")
LONG = "Bakes bread with rye and caraway on each Sunday of the month, early in the morning. " * 2
ROOM = 90
"""Tokens of memory in which one of the two notes has room."""


def staff() -> Client:
    """Who may see the rows, and read no content."""
    lead, client = make_user("lead", is_staff=True), Client()
    lead.user_permissions.set(Permission.objects.filter(codename__in=[f"view_{name}" for name in RIGHTS]))
    client.force_login(lead)
    return client


def held_without(id: Any) -> Callable[[ContextSnapshot], Held]:
    def held(snapshot: ContextSnapshot) -> Held:
        with remaking():
            return held_by(counterfactual.without(record_of(snapshot), str(id)))

    return held


def snapshots() -> list[ContextSnapshot]:
    return [*ContextSnapshot.objects.select_related("thread__assistant").order_by("id")]


async def test_what_was_held_is_counted_and_taken_out_again(user: User, api: Api) -> None:
    older = await in_database(make_memory)(user, LONG, created_at=clock.now() - timedelta(days=2))
    await Assistant.objects.filter(is_default=True).aupdate(memory_tokens=ROOM)
    await talk(user, api)
    file = await in_database(make_file)(user, parts=["The ferry leaves at nine."], state=File.State.READY)
    body = {"content": "When does it leave?", "files": [str(file.pk)]}
    assert (await api.post("threads/new/messages/", body)).status == 201

    def look() -> None:
        requests, dog = snapshots(), Memory.objects.get(content="Has a dog.")
        first = Message.objects.order_by("id").select_related("thread")[0]
        pages = {
            dog: (6, f"memory {dog.pk}", "memories"),
            first: (5, str(first.pk), "turns"),
            File.objects.get(): (1, f"{file.pk} 1", "parts"),
        }
        client = staff()
        for row, (count, name, kind) in pages.items():
            meta = row._meta
            page = client.get(reverse(f"admin:{meta.app_label}_{meta.model_name}_uses", args=[row.pk]))
            held = [row.use.request for row in page.context["page"].rows]
            assert (len(held), page.context["page"].uses.requests, page.context["page"].uses.tokens > 0) == (
                count,
                count,
                True,
            ), name
            assert held == sorted(held, reverse=True)
            for snapshot in [each for each in requests if each.pk in held]:
                if row is first and snapshot.message_id == first.pk:
                    with pytest.raises(NotReplayable, match="that was answered"):
                        held_without(row.pk)(snapshot)
                    continue
                of_thread = row is first and snapshot.thread_id == first.thread_id
                left = getattr(held_without(row.pk)(snapshot), kind)
                assert ("1" if of_thread else name) not in left, (name, snapshot.pk)
            compare = page.context["page"].rows[0].without
            texts = [page.content.decode(), client.get(compare).content.decode()]
            assert not [word for word in WORDS for text in texts if word.casefold() in text.casefold()]
            assert ("taken away by this question" in texts[1]) is (kind != "parts"), name

        lifted = reverse("admin:conversations_contextsnapshot_compare", args=[requests[-1].pk])
        text = client.get(lifted, {"rule": "remembered"}).content.decode()
        assert "had this rule not held" in text and str(dog.pk) in text
        assert client.get(lifted, {"rule": "luck"}).status_code == 404
        before = {item["id"]: item["included"] for item in _items(requests[-1])}
        assert (before[str(older.pk)], before[str(dog.pk)]) == (False, True)
        assert f"memory {older.pk}" in held_without(dog.pk)(requests[-1]).memories  # it took the other's room
        earlier = client.get(reverse("admin:memory_memory_uses", args=[dog.pk]), {"before": str(requests[2].pk)})
        assert [row.use.request for row in earlier.context["page"].rows] == [requests[1].pk, requests[0].pk]
        _add_a_note(client, user)

    await in_database(look)()


def _items(snapshot: ContextSnapshot) -> list[Any]:
    return [*recorded.standing_items_of(snapshot, recorded.material_of(snapshot))]


def _add_a_note(client: Client, user: User) -> None:
    yesterday = clock.now() - timedelta(days=1)
    known = counterfactual.with_note(user.pk, AddedNote(text="Plays the violin.", at=yesterday))
    assert (known.requests, known.refused, known.left, len(known.outcomes)) == (6, 0, 0, 6)
    assert {name for outcome in known.outcomes for name in outcome.gained("memories")} >= {"memory added"}
    assert not counterfactual.with_note(user.pk, AddedNote(text="Plays the violin.", at=clock.now())).requests
    page = reverse("admin:auth_user_added", args=[user.pk])
    answer = client.post(page, {"text": "Plays the violin.", "since": yesterday.date().isoformat()})
    assert len(answer.context["rows"]) == len(known.outcomes)
    assert "dog" not in answer.content.decode()
    for row in answer.context["rows"]:
        beside = client.get(row.compare).content.decode()
        assert "with this note" in beside and "Plays the violin." in beside
        assert "dog" not in beside
    assert client.get(row.compare.partition("?")[0], {"added": "made up"}).status_code == 404
    assert not Memory.objects.filter(content__contains="violin").exists()
    assert connection.in_atomic_block is False
