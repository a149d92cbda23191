"""Exports of elsewhere, as each maker documents them: taken whole, once, by each person for themselves, and what can't be
taken is named."""

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations.import_export.known_ids import KnownIds
from conversations.import_export.values import MOST_CHARS
from conversations.models import Message, Thread
from conversations.runtime.db import in_database
from memory.models import IndexedPassage
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)


def id_of(number: int) -> str:
    return str(uuid.UUID(int=number))


def claude(number: int, *texts: str, **fields: Any) -> dict[str, Any]:
    """A conversation of Claude's export, of messages with these texts."""
    messages = [
        {
            "uuid": id_of(100 * number + place),
            "text": text,
            "content": [{"type": "text", "text": text}],
            "sender": ("human", "assistant")[place % 2],
            "created_at": (NINE + timedelta(minutes=place)).isoformat(),
            "attachments": [],
            "files": [],
        }
        for place, text in enumerate(texts)
    ]
    own = {"uuid": id_of(number), "name": f"Talk {number}", "created_at": NINE.isoformat(), "chat_messages": messages}
    return own | fields


def chatgpt(number: int, *texts: str, beside: str = "", **fields: Any) -> dict[str, Any]:
    """The same of ChatGPT's, whose messages are a tree."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    before = "root"
    for place, text in enumerate([*texts, *filter(None, [beside])]):
        is_beside = place == len(texts)
        message = {
            "id": id_of(100 * number + place),
            "author": {"role": ("user", "assistant")[(place - is_beside) % 2], "metadata": {}},
            "create_time": NINE.timestamp() + 60 * place,
            "content": {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
            "weight": 1.0,
            "metadata": {},
            "recipient": "all",
        }
        name = f"node-{place}"
        parent = f"node-{place - 2}" if is_beside else before
        nodes[name] = {"id": name, "message": message, "parent": parent, "children": []}
        before = before if is_beside else name
    own = {"title": f"Talk {number}", "create_time": NINE.timestamp(), "mapping": nodes, "current_node": before}
    return own | {"conversation_id": id_of(number), "id": id_of(number)} | fields


def book(number: int, *texts: str, **fields: Any) -> dict[str, Any]:
    """The same in the format of our own."""
    messages = [
        {"id": id_of(100 * number + place), "role": ("user", "assistant")[place % 2], "content": text}
        for place, text in enumerate(texts)
    ]
    thread = {"id": id_of(number), "title": f"Talk {number}", "created_at": NINE.isoformat(), "messages": messages}
    return thread | fields


MAKERS = {"claude": claude, "chatgpt": chatgpt, "book": book}


def export(maker: str, *conversations: dict[str, Any]) -> Any:
    return {"format": "openbook/1", "threads": list(conversations)} if maker == "book" else list(conversations)


async def texts(user: User) -> dict[str, list[str]]:
    """What is said in each thread of the user's, by its title."""
    said: dict[str, list[str]] = {}
    async for turn in Message.objects.filter(user=user).select_related("thread").order_by("thread__title", "position"):
        said.setdefault(turn.thread.title, []).append(turn.text)
    return said


@pytest.mark.parametrize("maker", MAKERS)
async def test_a_newer_export_brings_what_is_new_and_says_what_was_there(user: User, api: Api, maker: str) -> None:
    make = MAKERS[maker]
    first = await api.post("import/", export(maker, make(1, "a", "b"), make(2, "c", "d")))
    assert first.status == 201
    ids = [thread["id"] for thread in first.body["threads"]]
    newer = export(maker, make(1, "a", "b"), make(2, "c", "d", "e", "f"), make(3, "g"))
    again = await api.post("import/", newer)
    assert again.status == 201
    assert [thread["message_count"] for thread in again.body["threads"]] == [1]
    assert again.body["longer"] == [{"id": ids[1], "message_count": 4, "added": 2}]
    assert again.body["known"] == {"threads": 1}
    assert await texts(user) == {"Talk 1": ["a", "b"], "Talk 2": ["c", "d", "e", "f"], "Talk 3": ["g"]}
    turns = Message.objects.filter(thread=ids[1]).order_by("position")
    assert [(turn.position, turn.depth, turn.token_total) async for turn in turns] == [
        (n, n, n * 5) for n in (1, 2, 3, 4)
    ]
    last = await api.post("import/", newer)
    assert (last.body["threads"], last.body["known"], "longer" in last.body) == ([], {"threads": 3}, False)
    assert await IndexedPassage.objects.filter(thread=ids[1]).values("position").distinct().acount() == 4


@pytest.mark.parametrize("maker", MAKERS)
async def test_two_people_import_the_same_and_neither_learns_of_the_other(
    user: User, other_user: User, api: Api, others_api: Api, maker: str
) -> None:
    upload = export(maker, MAKERS[maker](1, "a", "b"))
    first, second = await api.post("import/", upload), await others_api.post("import/", upload)
    assert (first.status, second.status, first.body.keys()) == (201, 201, second.body.keys())
    assert await texts(user) == await texts(other_user) == {"Talk 1": ["a", "b"]}
    for again in (await api.post("import/", upload), await others_api.post("import/", upload)):
        assert (again.body["threads"], again.body["known"]) == ([], {"threads": 1})
    if maker != "book":  # of which a free id is kept
        ids = [str(KnownIds(one.pk).derived(uuid.UUID(id_of(1)))) for one in (user, other_user)]
        assert [answer.body["threads"][0]["id"] for answer in (first, second)] == ids


async def test_what_was_imported_by_its_own_id_before_is_known(user: User, api: Api) -> None:
    thread = await in_database(make_thread)(user, id=uuid.UUID(id_of(1)), title="Talk 1")
    said: dict[str, Any] = {"role": "user", "text": "a", "created_at": NINE, "token_count": 5, "token_total": 5}
    await Message.objects.acreate(id=uuid.UUID(id_of(100)), thread=thread, user=user, position=1, depth=1, **said)
    await Thread.objects.filter(pk=thread.pk).aupdate(message_count=1, last_position=1)
    answer = await api.post("import/", [claude(1, "a", "b")])
    assert answer.body["longer"] == [{"id": id_of(1), "message_count": 2, "added": 1}]
    assert await texts(user) == {"Talk 1": ["a", "b"]}


@pytest.mark.once("book")
@pytest.mark.parametrize("maker", MAKERS)
async def test_where_a_conversation_went_on_here_and_there_the_path_here_stays(
    user: User, api: Api, maker: str
) -> None:
    make = MAKERS[maker]
    first = await api.post("import/", export(maker, make(1, "a", "b")))
    thread = first.body["threads"][0]["id"]
    assert (await api.post(f"threads/{thread}/messages/", {"content": "and here"})).status == 201
    path = [turn["id"] for turn in (await api.get(f"threads/{thread}/messages/")).body["results"]]
    answer = await api.post("import/", export(maker, make(1, "a", "b", "c")))
    assert (answer.body["longer"], answer.body["branches"]) == ([{"id": thread, "message_count": 4, "added": 1}], 1)
    assert [turn["id"] for turn in (await api.get(f"threads/{thread}/messages/")).body["results"]] == path
    there = await Message.objects.aget(thread=thread, text="c")
    assert (str(there.parent_id), there.position, there.depth, there.is_active) == (path[1], 5, 3, False)
    again = await api.post("import/", export(maker, make(1, "a", "b", "c")))
    assert (again.body["known"], "longer" in again.body) == ({"threads": 1}, False)


@pytest.mark.parametrize("maker", MAKERS)
async def test_a_message_over_the_limit_is_left_out_by_name(user: User, api: Api, maker: str) -> None:
    answer = await api.post("import/", export(maker, MAKERS[maker](1, "a", "b" * (MOST_CHARS + 1), "c", "d")))
    ((named),) = answer.body["not_taken"]
    assert (answer.status, answer.body["not_taken_count"]) == (201, 1)
    assert named["place"].endswith("messages[1]") and f"the limit is {MOST_CHARS:,}" in named["what"]
    assert await texts(user) == {"Talk 1": ["a", "c", "d"]}


@pytest.mark.parametrize("maker", ["claude", "chatgpt"])
async def test_one_conversation_alone_is_taken_too(user: User, api: Api, maker: str) -> None:
    answer = await api.post("import/", MAKERS[maker](1, "a", "b"))
    assert (answer.status, await texts(user)) == (201, {"Talk 1": ["a", "b"]})


VOICE = {"type": "voice_note", "title": "A note", "text": "Buy oars."}
SILENT = {"type": "hologram", "bytes": 7}
UNKNOWN = {"blocks of the type “hologram”": 1}
SPOKEN = [
    {"content_type": "audio_transcription", "text": "spoken"},
    {"content_type": "audio_asset_pointer", "asset_pointer": "x"},
    {"content_type": "hologram"},
]


def noted(text: str, *content: Any) -> dict[str, Any]:
    return claude(1, chat_messages=[{"uuid": id_of(9), "sender": "human", "text": text, "content": list(content)}])


def branched() -> dict[str, Any]:
    messages = [(1, "human", 0), (2, "assistant", 1), (3, "assistant", 1)]
    return claude(
        1,
        chat_messages=[
            {"uuid": id_of(n), "sender": who, "text": str(n), "parent_message_uuid": id_of(parent)}
            for n, who, parent in messages
        ],
    )


def spoken() -> dict[str, Any]:
    conversation = chatgpt(1, "a")
    content = {"content_type": "multimodal_text", "parts": SPOKEN}
    conversation["mapping"]["node-0"]["message"]["content"] = content
    return conversation


@pytest.mark.parametrize(
    ("conversation", "said", "left_out"),
    [
        (noted("", VOICE), ["Buy oars."], {}),
        (noted("a", SILENT), ["a"], UNKNOWN),
        (noted("", SILENT), [], UNKNOWN),
        (branched(), ["1", "2", "3"], {}),
        (chatgpt(1, "a", "b", beside="c"), ["a", "b", "c"], {}),
        (spoken(), ["spoken"], UNKNOWN),
    ],
)
async def test_nothing_that_was_said_is_dropped_in_silence(
    user: User, api: Api, conversation: dict[str, Any], said: list[str], left_out: dict[str, int]
) -> None:
    answer = await api.post("import/", [conversation])
    assert answer.status == 201
    assert [text for of in (await texts(user)).values() for text in of] == said
    assert {each["what"]: each["count"] for each in answer.body.get("not_taken", [])} == left_out


async def test_a_date_to_come_does_not_stay_on_top_of_the_list(user: User, api: Api) -> None:
    far = json.loads(json.dumps(claude(1, "a", "b")).replace("2026-03-01", "2090-03-01"))
    await api.post("import/", [far])
    here = await in_database(make_thread)(
        user, ["hello"], title="Here", updated_at=timezone.now() + timedelta(seconds=1)
    )
    listed = (await api.get("threads/")).body["results"]
    assert listed[0]["id"] == str(here.pk)
