"""A conversation goes on from one of its turns in a thread of its own, and both are whole without the other."""

from copy import copy
from datetime import timedelta
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from artifacts.models import Artifact, ArtifactVersion
from conversations.files import storage
from conversations.files.store import file_block
from conversations.models import File, Message, Thread, TurnFile
from conversations.models.deletion_guard import allow_deletion
from conversations.runtime.db import in_database
from conversations.threads.deletion import delete_thread
from memory import forgetting
from memory.consolidation.consolidate import consolidate
from memory.index import word_index
from memory.index.index_turns import said_turn
from memory.index.word_index import SaidTurn
from memory.models import IndexedPassage, Memory, ThreadSummary
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_file, make_user
from tests.conversations.threads.test_paths import Talk, sent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture(autouse=True)
def _offline(settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "offline"


@pytest.fixture
def talk(user: User) -> Talk:
    return Talk(user)


async def fork(talk: Talk, message: str) -> Talk:
    answer = await talk.api.post(f"threads/{talk.thread}/fork/", {"message": message})
    assert answer.status == 201, answer.body
    forked = copy(talk)
    forked.thread = answer.body["id"]
    return forked


def told(turns: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(turn["role"], turn["text"], turn["created_at"], turn["model"], turn["status"]) for turn in turns]


async def test_a_fork_has_the_path_up_to_the_turn_and_goes_its_own_way(talk: Talk) -> None:
    await talk.say("My dog is called Rex.")
    second = await talk.say("He likes fish.")
    await talk.say("He likes bones.", edits=second["id"])
    await talk.say("And long walks.")
    before = await talk.turns()
    forked = await fork(talk, before[3]["id"])
    turns = await forked.turns()
    assert told(turns) == told(before[:4])
    assert [turn["position"] for turn in turns] == [1, 2, 3, 4]
    assert not {turn["id"] for turn in turns} & {turn["id"] for turn in before}
    assert [turn["parent"] for turn in turns[1:]] == [turn["id"] for turn in turns[:-1]]
    off_path = await fork(talk, second["id"])
    assert await off_path.said() == ["My dog is called Rex.", "He likes fish."]
    await forked.say("What does he like?")
    request = await forked.newest_request()
    assert request.message_history_count == 4
    assert "bones" in await sent(request)
    assert await talk.turns() == before


async def test_both_threads_tell_of_one_another_while_both_are_there(talk: Talk) -> None:
    said = await talk.say("Hello there.")
    known = (await talk.api.get(f"threads/{talk.thread}/")).headers["etag"]
    forked = await fork(talk, said["id"])
    there = (await talk.api.get(f"threads/{talk.thread}/")).body
    assert (there["forked_from"], there["forks"]) == (None, [forked.thread])
    again = await talk.api.get(f"threads/{talk.thread}/", **{"If-None-Match": known})
    assert again.status == 200
    new = (await talk.api.get(f"threads/{forked.thread}/")).body
    assert new["forked_from"] == {"thread": talk.thread, "message": said["id"]}
    assert new["title"] == there["title"]
    listed = (await talk.api.get("threads/")).body["results"]
    assert [thread["id"] for thread in listed] == [forked.thread, talk.thread]
    assert (await talk.api.call("DELETE", f"threads/{talk.thread}/")).status == 204
    left = (await talk.api.get(f"threads/{forked.thread}/")).body
    assert left["forked_from"] is None and left["message_count"] == 1
    assert [turn["text"] for turn in await forked.turns()] == ["Hello there."]


async def test_only_a_turn_of_the_caller_s_own_thread_can_be_forked_from(talk: Talk) -> None:
    said = await talk.say("Hello there.")
    other = await in_database(lambda: Talk(make_user()))()
    await other.say("Mine.")
    for thread, message in ((talk.thread, said["id"]), (other.thread, said["id"])):
        assert (await other.api.post(f"threads/{thread}/fork/", {"message": message})).status == 404
    assert (await talk.api.post(f"threads/{talk.thread}/fork/", {})).status == 400


async def test_a_temporary_chat_is_not_forked(talk: Talk) -> None:
    said = await talk.say("Only for now.", temporary=True)
    answer = await talk.api.post(f"threads/{talk.thread}/fork/", {"message": said["id"]})
    assert answer.code == (409, "conflict", "temporary_thread")


@pytest.mark.wide
async def test_what_was_brought_and_made_comes_along_and_stays_when_the_source_goes(talk: Talk) -> None:
    said = await talk.say("Here is my plan.")
    await in_database(furnish)(talk.thread)
    later = await talk.say("And now the next one.")
    await in_database(make_version)(talk.thread, later["id"], "Of a later turn")
    forked = await fork(talk, (await talk.turns())[1]["id"])
    assert (await talk.api.call("DELETE", f"threads/{talk.thread}/")).status == 204
    await in_database(check_furnished)(forked.thread)
    turns = await forked.turns()
    assert [turn["text"] for turn in turns] == [said["text"], turns[1]["text"]]
    [artifact] = (await talk.api.get(f"threads/{forked.thread}/artifacts/")).body["results"]
    assert (artifact["content"], artifact["version"]) == ("By hand", 2)


def furnish(thread_id: str) -> None:
    """A file in the first turn, and an artifact of the second, changed by hand since."""
    thread = Thread.objects.get(id=thread_id)
    question, answer = thread.messages.order_by("position")
    file = make_file(thread.user, b"The plan", name="plan.txt", thread=thread, parts=["The plan"])
    with allow_deletion():
        Message.objects.filter(id=question.id).update(content=[*question.blocks, file_block(file)])
    TurnFile.objects.create(
        thread=thread, user=thread.user, position=1, place=0, file=file, numbers=[1], outlined=False
    )
    artifact = make_artifact(thread, "Made", message=answer, created_at=answer.created_at)
    make_version(thread_id, None, "By hand", artifact)


def make_version(thread_id: str, message: str | None, content: str, artifact: Artifact | None = None) -> None:
    artifact = artifact or Artifact.objects.get(thread__id=thread_id)
    Artifact.objects.filter(id=artifact.id).update(version=artifact.version + 1)
    answer = Message.objects.get(parent__id=message) if message else None
    ArtifactVersion.objects.create(
        artifact=artifact,
        thread_id=thread_id,
        user_id=artifact.user_id,
        number=artifact.version + 1,
        content=content,
        origin="reply" if answer else "hand",
        message=answer,
        created_at=timezone.now(),
    )


def check_furnished(thread_id: str) -> None:
    question, answer = Message.objects.filter(thread__id=thread_id).order_by("position")
    file = File.objects.get(thread__id=thread_id)
    assert question.content and question.content[-1]["file"] == str(file.id)
    given = TurnFile.objects.get(thread__id=thread_id)
    assert (given.position, given.file_id, given.numbers) == (1, file.id, [1])
    while storage.remove_due(timezone.now() + timedelta(days=1)):
        pass
    with storage.open_bytes(file.place) as opened:
        assert opened.read() == b"The plan"
    versions = ArtifactVersion.objects.filter(thread__id=thread_id).order_by("number")
    assert [(each.content, each.message_id) for each in versions] == [("Made", answer.id), ("By hand", None)]


@pytest.mark.wide
async def test_nothing_is_learnt_of_a_copy_and_what_is_said_after_it_is(talk: Talk) -> None:
    said = await talk.say("My name is Ann and I live in Oslo.")
    await in_database(check_learnt)(talk.thread, {said["id"]})
    forked = await fork(talk, said["id"])
    after = await forked.say("I work as a baker in Bergen.")
    await in_database(check_learnt)(talk.thread, {said["id"], after["id"]})
    await forked.say("I have a cat called Tom.", edits=(await forked.turns())[0]["id"])
    await forked.go_to(after["id"])
    await in_database(check_learnt)(talk.thread, {said["id"], after["id"]})
    await in_database(check_indexed)(forked.thread)


async def test_turns_of_a_path_that_was_left_while_they_were_read_are_not_indexed(talk: Talk) -> None:
    first = await talk.say("I have a cat called Tom.")
    await talk.say("I have a dog called Rex.", edits=first["id"])
    late = await in_database(said_turns)(talk.thread)
    await talk.go_to(first["id"])
    user = await in_database(owner)(talk.thread)
    await in_database(word_index.store)(user.pk, late)
    await in_database(check_indexed)(talk.thread)


def said_turns(thread_id: str) -> list[SaidTurn]:
    """As whoever is about to index them has read them."""
    path = Thread.objects.get(id=thread_id).path_version
    names = ("thread_id", "depth", "position", "role", "text", "created_at")
    rows = Message.objects.filter(thread__id=thread_id, is_active=True).values(*names)
    return [said_turn({**row, "path": path}) for row in rows]


def check_learnt(thread_id: str, sources: set[str]) -> None:
    """What is remembered rests on these turns alone."""
    user = Thread.objects.get(id=thread_id).user
    consolidate(user.pk, at=timezone.now() + timedelta(hours=1))
    rows = Memory.objects.filter(user=user, ended_at=None).values_list("sources", flat=True)
    assert {str(source) for row in rows for source in row} == sources
    told = ThreadSummary.objects.filter(user=user).exclude(text="").values_list("sources", flat=True)
    mine = set(
        Message.objects.filter(user=user, role="user", id__in=[id for row in told for id in row]).values_list("id")
    )
    assert {str(id) for (id,) in mine} == sources


def check_indexed(thread_id: str) -> None:
    places = ("depth", "position")
    indexed = {*IndexedPassage.objects.filter(thread__id=thread_id).values_list(*places)}
    assert indexed == {*Message.objects.filter(thread__id=thread_id, is_active=True).values_list(*places)}


@pytest.mark.wide
async def test_what_is_forgotten_is_forgotten_in_every_copy(talk: Talk) -> None:
    await talk.say("My secret is a red bicycle in the yard.")
    second = await talk.say("Tell me about lakes.")
    first = (await talk.turns())[0]
    forked = await fork(talk, second["id"])
    await in_database(forgetting.forget_turn)(await in_database(owner)(talk.thread), first["id"])
    assert (await forked.turns())[0]["status"] == (await talk.turns())[0]["status"] == "forgotten"
    again = await fork(talk, second["id"])
    assert (await again.turns())[0]["status"] == "forgotten"
    await in_database(delete_thread)(await in_database(Thread.objects.get)(id=talk.thread))
    assert (await forked.turns())[2]["text"] == "Tell me about lakes."


def owner(thread_id: str) -> User:
    return Thread.objects.get(id=thread_id).user


@pytest.mark.wide
async def test_the_conversation_to_read_says_what_of_it_stands_on_other_branches(talk: Talk) -> None:
    first = await talk.say("Call me Ann.")
    await talk.say("Call me Bea.", edits=first["id"])
    archive: Any = await talk.api.client.get(f"/api/v1/threads/{talk.thread}/export/", headers=talk.api.headers)
    with ZipFile(BytesIO(b"".join([part async for part in archive]))) as opened:
        [name] = [name for name in opened.namelist() if name.endswith(".md")]
        text = opened.read(name).decode()
    assert "2 turns on other branches of it stand in `conversation.json` alone." in text
    assert "Bea" in text and "Ann" not in text.partition("\n\n")[2]
