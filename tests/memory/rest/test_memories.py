"""What is remembered, over REST: told with where it came from, added, corrected and forgotten; topics, days, preferences."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from conversations.context.sessions import Session
from conversations.models import ContentAccess, Message, Reply, Thread
from conversations.runtime.db import in_database, read_only
from conversations.runtime.shapes import moment
from memory.consolidation.consolidate import consolidate
from memory.models import Consolidation, Memory, Preferences, Topic
from memory.sources.facts import Facts, FactSource
from memory.tags import thread_tag, user_tag
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.rest.client import Api, ApiResponse
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic
from tests.memory.profiles import read_profile

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def talk(user: User, *turns: str, **values: Any) -> tuple[Thread, list[Message]]:
    thread = await in_database(make_thread)(user, turns, created_at=NOON, **values)
    return thread, [turn async for turn in thread.messages.order_by("position")]


async def make_own_memory(user: User, content: str, **values: Any) -> Memory:
    return await in_database(make_memory)(user, content, **values)


def contents(answer: ApiResponse) -> list[str]:
    assert answer.status == 200, answer.body
    return [memory["content"] for memory in answer.body["results"]]


def place(turn: Message) -> dict[str, Any]:
    return {
        "message": str(turn.id),
        "thread": str(turn.thread_id),
        "position": turn.position,
        "created_at": moment(turn.created_at),
    }


async def test_a_memory_is_told_with_the_turns_that_are_still_there(user: User, api: Api) -> None:
    thread, (gone, _, said) = await talk(user, "Forget me", "Yes", "I moved to Bern")
    await in_database(Message.objects.filter(id=gone.id).update)(is_active=False)
    new = await make_own_memory(user, "Lives in Bern.", created_at=NOON)
    old = await make_own_memory(
        user,
        "Lives in Berlin.",
        origin=Memory.Origin.CONVERSATION,
        sources=[gone.id, said.id],
        tags=[user_tag(user.pk), thread_tag(thread.id)],
        created_at=NOON - timedelta(days=1),
        ended_at=NOON,
        superseded_by=new,
    )
    expected = {
        "id": str(old.id),
        "content": "Lives in Berlin.",
        "tags": [f"user:{user.pk}", f"thread:{thread.id}"],
        "project": None,
        "origin": "conversation",
        "source": place(said),
        "sources": [place(said)],
        "created_at": "2026-02-28T12:00:00Z",
        "said_at": "2026-02-28T12:00:00Z",
        "valid_from": None,
        "valid_until": None,
        "ended_at": "2026-03-01T12:00:00Z",
        "superseded_by": str(new.id),
        "supersedes": [],
    }
    assert (await api.get(f"memories/{old.id}/")).body == expected
    assert (await api.get("memories/?ended=true")).body["results"][1] == expected
    assert contents(await api.get("memories/")) == ["Lives in Bern."]


async def test_the_list_is_newest_first_by_pages_words_and_thread_and_the_callers_alone(
    user: User, other_user: User, api: Api
) -> None:
    thread, (said, *_) = await talk(user, "My cat is Miezi", "Noted.")
    for day in range(3):
        await make_own_memory(user, f"Note {day} on bread.", created_at=NOON + timedelta(days=day))
    await make_own_memory(user, "The cat's name is Miezi.", sources=[said.id], created_at=NOON - timedelta(days=1))
    await make_own_memory(user, "Only here.", tags=[thread_tag(thread.id)], created_at=NOON - timedelta(days=2))
    await make_own_memory(other_user, "Note on somebody else's bread.")

    first = await api.get("memories/?page_size=2")
    assert contents(first) == ["Note 2 on bread.", "Note 1 on bread."]
    assert contents(await api.get(first.body["next"])) == ["Note 0 on bread.", "The cat's name is Miezi."]
    assert contents(await api.get("memories/?q=BREAD 1")) == ["Note 1 on bread."]
    assert contents(await api.get("memories/?q=%25")) == contents(await api.get("memories/?q=bread cat")) == []
    assert contents(await api.get(f"memories/?thread={thread.id}")) == ["The cat's name is Miezi.", "Only here."]


async def test_what_is_added_says_who_added_it_and_whom_it_is_about(user: User, api: Api) -> None:
    thread, _ = await talk(user, "Hi", "Hello")
    by_program = (await api.post("memories/", {"content": "  Bakes\0 rye.\n", "valid_until": "2026-12-31"})).body
    body = {"content": "Is called Ada.", "tags": [thread_tag(thread.id), "names", "names"]}
    tagged = (await api.post("memories/", body)).body
    client = AsyncClient()
    await in_database(client.force_login)(user)
    by_hand = (await client.post("/api/v1/memories/", {"content": "Likes tea."}, "application/json")).json()
    assert [
        (each["content"], each["origin"], each["tags"], each["source"]) for each in (by_program, tagged, by_hand)
    ] == [
        ("Bakes\N{REPLACEMENT CHARACTER} rye.", "program", [f"user:{user.pk}"], None),
        ("Is called Ada.", "program", [f"thread:{thread.id}", "names"], None),
        ("Likes tea.", "hand", [f"user:{user.pk}"], None),
    ]
    assert by_program["valid_until"] == "2026-12-31T00:00:00Z"
    assert contents(await api.get("memories/")) == [
        "Likes tea.",
        "Is called Ada.",
        "Bakes\N{REPLACEMENT CHARACTER} rye.",
    ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"content": ""},
        {"content": " \n"},
        {"content": None},
        {"content": ["text"]},
        {"content": "x" * 10_001},
        {"content": "x", "tags": "user:1"},
        {"content": "x", "tags": ["user:0"]},
        {"content": "x", "tags": ["user:"]},
        {"content": "x", "tags": ["thread:1"]},
        {"content": "x", "tags": ["t" * 101]},
        {"content": "x", "tags": ["thread:0198c0de-0000-7000-8000-000000000000"]},
        {"content": "x", "valid_until": "soon"},
        {"content": "x", "valid_until": "9999-12-31T23:59:59-12:00"},
    ],
    ids=lambda body: str(body)[:40],
)
async def test_what_cannot_be_remembered_is_refused_and_changes_nothing(user: User, api: Api, body: Any) -> None:
    kept = await make_own_memory(user, "Kept.")
    assert (await api.post("memories/", body)).code[:2] == (400, "invalid_request")
    if body != {}:
        assert (await api.call("PATCH", f"memories/{kept.id}/", body)).code[:2] == (400, "invalid_request")
    assert contents(await api.get("memories/?ended=true")) == ["Kept."]


async def test_a_correction_holds_and_the_words_that_were_said_stay_as_replaced(user: User, api: Api) -> None:
    """Else what the person corrected would be found in that conversation once more, as if it were new."""
    _, (said, *_) = await talk(user, "I live in Berlin", "Noted.")
    found = await make_own_memory(user, "Lives in Berlin.", origin="conversation", sources=[said.id], created_at=NOON)
    answer = await api.call("PATCH", f"memories/{found.id}/", {"content": "Lives in Bern."})
    assert (answer.status, answer.body["id"], answer.body["content"]) == (200, str(found.id), "Lives in Bern.")
    assert answer.body["source"] == place(said)
    replaced = await Memory.objects.exclude(id=found.id).aget()
    told = (replaced.content, replaced.sources, replaced.superseded_by_id, replaced.ended_at is not None)
    assert told == ("Lives in Berlin.", [said.id], found.id, True)
    assert contents(await api.get("memories/")) == ["Lives in Bern."]

    own = (await api.post("memories/", {"content": "Likes te."})).body
    await api.call("PATCH", f"memories/{own['id']}/", {"content": "Likes tea.", "valid_until": "2026-12-31"})
    (before,) = (await api.get("memories/?ended=true&q=te.")).body["results"]
    (changed,) = (await api.get("memories/?q=likes")).body["results"]
    assert changed == own | {
        "content": "Likes tea.",
        "valid_until": "2026-12-31T00:00:00Z",
        "said_at": before["ended_at"],
        "valid_from": before["ended_at"],
        "supersedes": [before["id"]],
    }
    assert (before["content"], before["said_at"]) == ("Likes te.", own["said_at"])


async def test_what_forgetting_would_do_is_told_before_and_what_it_did_after(user: User, api: Api) -> None:
    _, (said, *_) = await talk(user, "The code is 4711", "Noted.")
    memory = await make_own_memory(user, "The code is 4711.", sources=[said.id])
    other = await make_own_memory(user, "Likes tea.")
    before = (await api.get(f"memories/{memory.id}/forgetting/")).body
    assert (before["memories"], before["turns"][0]["message"]) == ([str(memory.id)], str(said.id))
    assert len(contents(await api.get("memories/"))) == 2
    assert (await api.post(f"memories/{memory.id}/forget/")).body == before
    assert (await api.get(f"memories/{memory.id}/")).code == (404, "not_found", "memory_not_found")
    assert (await api.call("DELETE", f"memories/{other.id}/")).status == 204
    assert await Memory.objects.acount() == 0


async def test_a_turn_is_forgotten_in_place_but_not_while_a_reply_runs(user: User, api: Api) -> None:
    thread, (said, *_) = await talk(user, "The code is 4711", "Noted.")
    reply = await in_database(make_reply)(thread, status="running")
    for method, path in (("DELETE", ""), ("POST", "forget/")):
        answer = await api.call(method, f"messages/{said.id}/{path}")
        assert answer.code == (409, "conflict", "reply_in_progress")
    await in_database(Reply.objects.filter(id=reply.id).update)(status="completed", ended_at=NOON)
    assert (await api.get(f"messages/{said.id}/forgetting/")).body["turns"][0]["text"] == "The code is 4711"
    assert (await api.call("DELETE", f"messages/{said.id}/")).status == 204
    turns = (await api.get(f"threads/{thread.id}/messages/")).body["results"]
    told = [(turn["position"], turn["status"], turn["text"]) for turn in turns]
    assert told == [(1, "forgotten", "[forgotten]"), (2, "complete", "Noted.")]


async def test_everything_is_forgotten_only_where_it_is_said(user: User, other_user: User, api: Api) -> None:
    await make_own_memory(user, "Mine.")
    await make_own_memory(other_user, "Not mine.")
    bodies: list[Any] = [None, {}, {"all": False}, {"all": None}, []]
    for body in bodies:
        assert (await api.post("memories/forget/", body)).code[:2] == (400, "invalid_request")
    before = (await api.get("memories/forgetting/")).body
    assert (len(before["memories"]), await Memory.objects.acount()) == (1, 2)
    assert (await api.post("memories/forget/", {"all": True})).body == before
    assert [memory.content async for memory in Memory.objects.all()] == ["Not mine."]


async def test_topics_are_resolved_opened_again_and_removed(user: User, other_user: User, api: Api) -> None:
    thread, (said, *_) = await talk(user, "I should answer the landlord", "You should.", title="Letter")
    topic = await in_database(make_topic)(user, "The landlord", thread=thread, sources=[said.id], opened_at=NOON)
    await in_database(make_topic)(user, "Done", opened_at=NOON, resolved_at=NOON)
    await in_database(make_topic)(other_user, "Not mine")
    expected = {
        "id": str(topic.id),
        "title": "The landlord",
        "thread": {"id": str(thread.id), "title": "Letter"},
        "source": place(said),
        "opened_at": "2026-03-01T12:00:00Z",
        "resolved_at": None,
    }
    assert (await api.get("topics/")).body["results"] == [expected]
    resolved = (await api.call("PATCH", f"topics/{topic.id}/", {"resolved": True})).body
    assert (resolved | {"resolved_at": None}, resolved["resolved_at"] is None) == (expected, False)
    assert (await api.call("PATCH", f"topics/{topic.id}/", {"resolved": True})).body == resolved
    assert [each["title"] for each in (await api.get("topics/?resolved=true")).body["results"]].count(
        "The landlord"
    ) == 1
    assert (await api.get("topics/")).body["results"] == []
    assert (await api.call("PATCH", f"topics/{topic.id}/", {"resolved": False})).body == expected
    assert (await api.call("PATCH", f"topics/{topic.id}/", {})).code == (400, "invalid_request", "invalid")
    assert (await api.call("DELETE", f"topics/{topic.id}/")).status == 204
    assert [each.title async for each in Topic.objects.filter(user=user)] == ["Done"]


async def test_days_are_told_newest_first_with_the_threads_that_they_tell_of(user: User, api: Api) -> None:
    thread, _ = await talk(user, "Lisbon", "or Porto", title="Trip")
    parts = [
        await in_database(make_thread_summary)(thread, NOON, first_position=position, last_position=position)
        for position in (1, 2)
    ]
    await in_database(make_daily_summary)(user, "2026-02-28", "Ada rested.", updated_at=NOON)
    await in_database(make_daily_summary)(
        user,
        "2026-03-01",
        "Ada planned.",
        key_moments=["Porto it is."],
        parts=[part.id for part in parts],
        updated_at=NOON,
    )
    day = {"text": "Ada rested.", "key_moments": [], "threads": [], "updated_at": "2026-03-01T12:00:00Z"}
    assert (await api.get("days/")).body["results"] == [
        day
        | {
            "day": "2026-03-01",
            "text": "Ada planned.",
            "key_moments": ["Porto it is."],
            "threads": [{"id": str(thread.id), "title": "Trip"}],
        },
        day | {"day": "2026-02-28"},
    ]


async def test_preferences_hold_until_they_are_changed(user: User, api: Api) -> None:
    assert (await api.get("preferences/")).body == {"remembers": True, "time_zone": "UTC", "language": ""}
    assert await Preferences.objects.acount() == 0
    asked: list[dict[str, Any]] = [{"time_zone": "Europe/Lisbon"}, {"remembers": False}, {"language": "de"}, {}]
    for body in asked:
        answer = await api.call("PATCH", "preferences/", body)
    assert (answer.status, answer.body) == (200, {"remembers": False, "time_zone": "Europe/Lisbon", "language": "de"})
    assert (await Consolidation.objects.aget(user=user)).wanted_at
    for wrong in (
        {"time_zone": "Mars"},
        {"language": "tlh"},
        {"time_zone": ""},
        {"time_zone": "../UTC"},
        {"remembers": None},
        {"time_zone": 1},
    ):
        assert (await api.call("PATCH", "preferences/", wrong)).code == (400, "invalid_request", "invalid")
    assert (await api.get("preferences/")).body == answer.body


async def test_a_thread_is_taken_out_of_memory_and_back(user: User, api: Api) -> None:
    thread, _ = await talk(user, "Hi", "Hello", title="Greetings")
    before = (await api.get(f"threads/{thread.id}/")).body
    answer = await api.call("PATCH", f"threads/{thread.id}/", {"remembers": False})
    assert (before["remembers"], answer.body) == (True, before | {"remembers": False})
    assert (await Thread.objects.aget(id=thread.id)).remembers is False
    assert (await api.call("PATCH", f"threads/{thread.id}/", {"remembers": "maybe"})).code[0] == 400
    assert not await Consolidation.objects.aexists()
    assert (await api.call("PATCH", f"threads/{thread.id}/", {"remembers": True})).body == before
    assert (await Consolidation.objects.aget(user=user)).wanted_at  # what was said meanwhile is not lost


async def test_a_person_is_told_who_looked_and_nobody_elses(user: User, other_user: User, api: Api) -> None:
    thread, (turn, _) = await talk(user, "I moved to Bern", "Noted.")
    given = {"staff": other_user, "staff_name": "kim", "at": NOON, "request_id": "r", "reason": "Ticket 7"}
    rows: list[dict[str, Any]] = [
        {"user": user, "action": "read", "what": "message", "object_id": str(turn.id), "thread_id": thread.id},
        {"user": user, "action": "export", "what": "memory", "object_id": "m"},
        {"user": other_user, "action": "read", "what": "memory", "object_id": "m"},
    ]
    message, memory, _ = [
        await ContentAccess.objects.acreate(id=uuid.UUID(int=number), **given, **row) for number, row in enumerate(rows)
    ]
    told = {"at": "2026-03-01T12:00:00Z", "staff": "kim", "reason": "Ticket 7"}
    of_turn = {"action": "read", "what": "message", "object": str(turn.id), "thread": str(thread.id)}
    of_memory = {"action": "export", "what": "memory", "object": "m", "thread": None}
    newest = (await api.get("accesses/?page_size=1")).body
    assert newest["results"] == [{"id": str(memory.id), **told, **of_memory}]
    assert (await api.get(newest["next"])).body["results"] == [{"id": str(message.id), **told, **of_turn}]
    assert (await Api().get("accesses/")).status == 401


async def test_uses_say_what_a_memory_was_given_to(user: User, api: Api, others_api: Api) -> None:
    memory, unused = [await make_own_memory(user, words, created_at=NOON) for words in ("Has a dog.", "Has a cat.")]
    await in_database(Memory.objects.filter(id=unused.id).update)(ended_at=NOON)
    uses, threads = f"memories/{memory.id}/uses/", []
    assert (await api.get(uses)).body == {"requests": 0, "replies": 0, "tokens": 0, "last": None}
    for content in ("Good morning", "Which dog food is best?"):
        threads.append((await api.post("threads/new/messages/", {"content": content})).body["thread"])
    await api.post(f"threads/{threads[-1]}/messages/", {"content": "And which toy?"})

    listed = [each for thread in threads for each in (await api.get(f"threads/{thread}/requests/")).body["results"]]
    requests = [(await api.get(f"requests/{each['id']}/")).body for each in listed]
    items = [item for each in requests for item in each["items"] if item["id"] == str(memory.id) and item["included"]]
    assert len(items) == 3
    assert (await api.get(uses)).body == {
        "requests": 3,
        "replies": 3,
        "tokens": sum(item["tokens"] for item in items),
        "last": max(each["created_at"] for each in requests),
    }
    assert (await api.get(f"memories/{unused.id}/uses/")).body["requests"] == 0
    assert (await others_api.get(uses)).code == (404, "not_found", "memory_not_found")


async def said_and_noted(user: User, text: str, day: int) -> None:
    """In a thread of its own, on this day of March."""
    at = datetime(2026, 3, day, 9, tzinfo=UTC)
    await in_database(make_thread)(user, [text, "Noted."], created_at=at)
    await in_database(consolidate)(user.pk, at=at + timedelta(hours=2))


@in_database
def given(user: User) -> str:
    """What a model is told of the notes."""
    source = FactSource()
    with read_only():
        profile = read_profile(user_id=user.pk, thread_id=None, session=Session(started_at=NOON))
        return source.fit(Facts(began_at=NOON, facts=tuple(profile.facts)), 500).text


async def test_the_end_of_a_note_is_undone_with_all_that_a_model_is_given_as_before(user: User, api: Api) -> None:
    await said_and_noted(user, "I live in Lisbon and work at Siemens.", 1)
    before = await given(user)
    _, lines = before.split("\n2026-03-01:\n")
    assert {*lines.splitlines()} == {"- I live in Lisbon.", "- I work at Siemens."}
    await said_and_noted(user, "I moved from Lisbon to Porto.", 5)
    porto, lisbon = await note(api, "Porto"), await note(api, "live in Lisbon", "&ended=true")
    assert (lisbon["ended_at"], lisbon["superseded_by"]) == (porto["said_at"], porto["id"])
    assert porto["supersedes"] == [lisbon["id"]]
    assert {*contents(await api.get("memories/?at=2026-03-04"))} == {"I work at Siemens.", "I live in Lisbon."}
    assert contents(await api.get("memories/?at=2026-03-05T10:00:00Z")) == [porto["content"], "I work at Siemens."]
    assert (await api.get("memories/?at=soon")).status == 400

    restored = await api.post(f"memories/{lisbon['id']}/restore/")
    assert (restored.status, restored.body["ended_at"], restored.body["supersedes"]) == (200, None, [porto["id"]])
    assert await given(user) == before
    assert (await api.post(f"memories/{lisbon['id']}/restore/")).body == restored.body
    await said_and_noted(user, "I live in Porto.", 6)  # said before the person undid it
    assert (await note(api, "live in"))["content"] == "I live in Lisbon."

    await api.post(f"memories/{porto['id']}/restore/")
    assert contents(await api.get("memories/?q=Lisbon")) == [porto["content"]]
    again = await note(api, "live in Lisbon", "&ended=true")
    assert again | {"supersedes": []} == lisbon, "as before it was undone"


async def test_forgetting_a_note_takes_its_whole_history(user: User, api: Api) -> None:
    for day, city in enumerate(("Lisbon", "Porto", "Rome"), 1):
        await said_and_noted(user, f"I live in {city}.", day)
    await said_and_noted(user, "I have a dog.", 5)
    newest, middle = await note(api, "Rome"), await note(api, "Porto", "&ended=true")
    history = contents(await api.get(f"memories/?history={newest['id']}"))
    assert history == ["I live in Porto.", "I live in Lisbon."]
    assert (await api.get(f"memories/?history={uuid.uuid4()}")).status == 404
    assert (await api.call("DELETE", f"memories/{middle['id']}/")).status == 204
    assert contents(await api.get("memories/?ended=true")) == ["I have a dog."]


async def note(api: Api, words: str, more: str = "") -> dict[str, Any]:
    found: list[dict[str, Any]] = (await api.get(f"memories/?q={words}{more}")).body["results"]
    assert len(found) == 1
    return found[0]
