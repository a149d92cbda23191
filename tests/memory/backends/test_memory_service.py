"""Another memory service orders the facts of a session. Down, slow or wrong, it costs the snippet and nothing else (C9)."""

import asyncio
import uuid
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from conversations.context.source_problems import Problem, ProblemKind
from conversations.models import Message, Thread
from conversations.runtime.db import in_database
from memory.backends.mirroring import mirror
from memory.models import Memory
from memory.tags import thread_tag
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.memory.factories import make_memory, make_preferences, make_topic
from tests.memory_server import MemoryServer, answer, results
from tests.model_scripts import Gate, Raw, Script, ScriptedStream, Stall

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture(autouse=True)
def _quick_answers(settings: Settings) -> None:
    settings.OPENBOOK_OFFLINE_WORD_SECONDS = 0


QUESTION = "Where could one go sailing with a boat?"
BOAT, JOB, CODE = "Ada keeps a boat in Kiel.", "Ada works as nurse.", "The code word of this thread is heron."


async def send_message(api: Api, thread: uuid.UUID | str, content: str = QUESTION) -> dict[str, Any]:
    """The recorded request of a message that was answered."""
    answered = await api.post(f"threads/{thread}/messages/", {"content": content})
    assert answered.status == 201
    return dict((await api.get(f"requests/{answered.body['request']}/")).body)


def snippet(request: dict[str, Any]) -> list[str]:
    """The lines of the memory section."""
    texts = [section["text"] for section in request["sections"] if section["name"] == "memory"]
    return [line.removeprefix("- ") for text in texts for line in text.splitlines() if line.startswith("- ")]


def facts(request: dict[str, Any]) -> list[tuple[str, bool]]:
    return sorted((item["id"], item["included"]) for item in request["items"] if item["kind"] == "memory")


def make_memories(user: User) -> tuple[Thread, list[Memory]]:
    """A thread with facts, of which the newest bear least on the question, and some that are none of its business."""
    thread, now = make_thread(user), timezone.now()
    texts = [BOAT, *(f"Ada likes soup number {number}." for number in range(41)), JOB]
    made = [make_memory(user, text, created_at=now - timedelta(days=90 - day)) for day, text in enumerate(texts)]
    made.append(make_memory(user, CODE, tags=[thread_tag(thread.id)], created_at=now - timedelta(days=100)))
    make_memory(user, "Another thread has a boat.", tags=[thread_tag(make_thread(user).id)])
    make_topic(user, "The trip to Lisbon")
    mirror(user.pk)
    return thread, made


async def test_the_facts_come_in_the_order_of_the_service(user: User, api: Api, memory_service: MemoryServer) -> None:
    """Also one that is too old to be among the newest; each candidate is accounted for once."""
    thread, (boat, *_) = await in_database(make_memories)(user)
    request = await send_message(api, thread.id)
    lines = snippet(request)
    assert lines[:3] == [BOAT, JOB, "Ada likes soup number 40."]
    ids = [id for id, _ in facts(request)]
    assert (request["problems"], ids, str(boat.pk) in ids) == ([], sorted(set(ids)), True)
    assert "what matters most here first" in str(request["request"])

    last = memory_service.requests[-1]
    assert (last.path, last.body["query"], last.body["filter"]["operands"]) == (
        f"/ns/openbook_user_{user.pk}/search",
        QUESTION,
        [{"field": "container", "operator": "eq", "value": tag} for tag in (f"user:{user.pk}", f"thread:{thread.id}")],
    )
    here = await send_message(api, thread.id, "What is the code word?")
    assert (snippet(here), memory_service.requests[-1]) == (lines, last), "it is asked once a session"


async def test_a_fact_goes_the_moment_it_is_forgotten_whatever_the_service_says(
    user: User, other_user: User, api: Api, memory_service: MemoryServer
) -> None:
    thread, (boat, *_, job, _) = await in_database(make_memories)(user)
    others = await in_database(make_memory)(other_user, "Bob has a boat.")
    elsewhere = await Memory.objects.aget(content="Another thread has a boat.")
    await Memory.objects.filter(pk=job.pk).aupdate(ended_at=timezone.now())
    wrong = [{"memory": str(id)} for id in (others.pk, uuid.uuid4(), elsewhere.pk, job.pk, boat.pk, boat.pk)]
    memory_service.script(answer(results(*wrong, {"memory": "an old scheme"}, {})))
    assert snippet(await send_message(api, thread.id))[:2] == [BOAT, "Ada likes soup number 40."]

    await boat.adelete()
    assert snippet(await send_message(api, thread.id, "And now?"))[0] == "Ada likes soup number 40."


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        (ScriptedStream(steps=(Stall(0.02),)), ProblemKind.TIMED_OUT, "Supermemory did not answer within 0.3 s."),
        (answer([1, 2]), ProblemKind.GARBAGE, "What Supermemory answered can't be used."),
        (answer("oh", status=500), ProblemKind.ERROR, "Supermemory answered with status 500."),
    ],
)
async def test_a_service_that_fails_costs_the_snippet_and_nothing_else(
    user: User, api: Api, memory_service: MemoryServer, settings: Settings, script: Script, kind: str, message: str
) -> None:
    settings.OPENBOOK_MEMORY_SECONDS = 0.3 if kind is ProblemKind.TIMED_OUT else 30
    thread = await in_database(made_of_little)(user)
    memory_service.script(script)
    failed = await send_message(api, thread)

    problem = asdict(Problem(source="memory", kind=ProblemKind(kind), message=message))
    names = [section["name"] for section in failed["sections"]]
    assert (failed["problems"], facts(failed), failed["status"]) == ([problem], [], "completed")
    assert ("memory" in names, "open_threads" in names, failed["open_threads_count"]) == (False, True, 1)
    assert (await send_message(api, thread, "Once more"))["problems"] == [problem]
    assert len(memory_service.requests) == 1, "what is down is not waited for with every message"


def made_of_little(user: User) -> uuid.UUID:
    make_memory(user, BOAT)
    make_topic(user, "The trip to Lisbon")
    return make_thread(user).id


async def test_the_turn_is_stored_before_the_service_is_asked(
    user: User, api: Api, memory_service: MemoryServer, settings: Settings
) -> None:
    settings.OPENBOOK_MEMORY_SECONDS = 10
    thread, gate = await in_database(made_of_little)(user), Gate()
    memory = await Memory.objects.aget()
    found = answer(results({"memory": str(memory.pk)}))
    memory_service.script(ScriptedStream(steps=(gate, Raw(found.body)), headers={"content-type": "application/json"}))
    sending = asyncio.create_task(send_message(api, thread))
    await asyncio.to_thread(gate.wait_until_reached)
    assert [row.text async for row in Message.objects.filter(thread_id=thread)] == [QUESTION]
    gate.open()
    request = await sending
    assert (snippet(request), request["problems"]) == ([BOAT], [])


@pytest.mark.parametrize("off", ["person", "thread", "assistant"])
async def test_where_nothing_remembered_is_wanted_not_even_the_question_leaves_the_house(
    user: User, api: Api, memory_service: MemoryServer, off: str
) -> None:
    thread = await in_database(made_of_little)(user)
    await in_database(switch_off)(off, user, thread)
    assert ((await send_message(api, thread))["problems"], memory_service.requests) == ([], [])
    assert (await api.post(f"threads/{thread}/context/", {"content": QUESTION})).status == 200
    assert memory_service.requests == []


def switch_off(what: str, user: User, thread_id: uuid.UUID) -> None:
    thread = Thread.objects.get(id=thread_id)
    if what == "person":
        make_preferences(user, remembers=False)
    elif what == "thread":
        Thread.objects.filter(id=thread_id).update(remembers=False)
    else:
        type(thread.assistant).objects.update(uses_memory=False)


async def test_a_new_thread_and_a_preview_are_ordered_too(user: User, api: Api, memory_service: MemoryServer) -> None:
    await in_database(make_memories)(user)
    preview = await api.post("threads/new/context/", {"content": QUESTION})
    assert snippet(preview.body)[0] == BOAT
    assert snippet(await send_message(api, "new"))[0] == BOAT
