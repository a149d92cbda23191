"""Whole trees go out and come in: the same turns under the same parents, the same path, and that alone is learnt from."""

import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conversations.import_export import export_pages, json_stream
from conversations.models import Message, Thread, text_blocks
from conversations.models.data_map import FORGOTTEN
from memory.models import IndexedPassage
from tests.conversations.factories import make_user
from tests.conversations.import_export.test_importers import chatgpt, node
from tests.conversations.import_export.test_trees import parents_of, trees, way
from tests.conversations.rest.client import Api
from tests.conversations.rest.documents import iso
from tests.conversations.threads.test_paths import remembered

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

FEW = settings(max_examples=5, suppress_health_check=[*HealthCheck], phases=[Phase.generate])
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@st.composite
def threads(draw: st.DrawFn) -> dict[str, Any]:
    """A thread of the format as an export writes it: any tree, any path in it, and what hangs on its turns."""
    parents = parents_of(draw(trees))
    ids = {number: str(uuid.uuid4()) for number in parents}
    path = way(parents, draw(st.sampled_from(list(parents))))
    roles = {number: ("assistant", "user")[len(way(parents, number)) % 2] for number in parents}
    turns = {number: turn(ids[number], roles[number], number, draw) for number in parents}
    beside = [number for number in parents if number not in path]
    branches = [
        turns[number]
        | {
            "parent": ids.get(parents[number]),
            "after_position": sum(each < number for each in path),
        }
        for number in beside
    ]
    makers = [number for number in parents if roles[number] == "assistant"]
    made = draw(st.lists(st.sampled_from(makers), max_size=2)) if makers else []
    artifacts = [artifact(ids[number], number, path, minute) for minute, number in enumerate(made)]
    through = draw(st.integers(min_value=0, max_value=len(parents)))
    values: dict[str, Any] = {
        "id": str(uuid.uuid4()),
        "title": "A tree",
        "assistant": "companion",
        "messages": [turns[number] for number in path],
        "artifacts": artifacts,
        "summaries": [summary(draw(st.integers(min_value=1, max_value=len(path))))],
    }
    return values | ({"branches": branches} if branches else {}) | ({"title_through": through} if through else {})


def turn(id: str, role: str, number: int, draw: st.DrawFn) -> dict[str, Any]:
    status = draw(st.sampled_from(["complete", "complete", "stopped" if role == "assistant" else "refused"]))
    said = {"id": id, "role": role, "content": text_blocks(f"Turn {number}"), "created_at": iso(number)}
    more: dict[str, Any] = {"status": status} if status != "complete" else {}
    if role == "assistant" and draw(st.booleans()):
        times = {"created_at": iso(99), "updated_at": iso(99)}
        verdict = {"value": 1, "reason": "", "text": "", "show_conversation": False} | times
        more |= {"model": "m", "feedback": verdict}
    return said | more


def artifact(maker: str, number: int, path: list[int], minute: int) -> dict[str, Any]:
    own: dict[str, Any] = {"id": str(uuid.uuid4()), "title": "Made", "kind": "document", "language": "", "preset": ""}
    place = {"after_position": sum(each <= number for each in path), "created_at": iso(100 + minute)}
    beside = {} if number in path else {"after": maker}
    return own | place | beside | {"content": "x", "origin": "reply", "message": maker}


def summary(last: int) -> dict[str, Any]:
    times = {"started_at": iso(0), "ended_at": iso(1), "made_at": iso(2)}
    own = {"id": str(uuid.uuid4()), "first": 1, "last": last, "text": "Said.", "key_moments": [], "sources": []}
    return own | times | {"made_by": "rules"}


@contextmanager
def in_pieces(size: int) -> Iterator[None]:
    """Lists of more than so many elements are written page by page, and read into a file."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(export_pages, "PAGE", size)
        patched.setattr(json_stream, "FEW", size)
        yield


def book(*some: dict[str, Any]) -> dict[str, Any]:
    return {"format": "openbook/1", "threads": list(some), "memories": [], "topics": [], "prompts": []}


def shape(document: Any) -> str:
    """With ids that are told apart, and nothing else of them."""
    numbers: dict[str, int] = {}
    return ID.sub(lambda id: str(numbers.setdefault(id[0], len(numbers))), json.dumps(document, sort_keys=True))


@pytest.mark.wide
@FEW
@given(st.lists(threads(), min_size=1, max_size=3), st.sampled_from([2, 200]))
def test_any_tree_goes_out_as_it_came_in_also_to_another(given: list[dict[str, Any]], size: int) -> None:
    given = [thread | {"created_at": iso(number)} for number, thread in enumerate(given)]  # they go out by it
    if len(given) > 1:
        source = given[0]
        given[-1]["forked_from"] = {"thread": source["id"], "message": source["messages"][0]["id"]}

    mine, others = Api(make_user()), Api(make_user())

    async def there_and_back() -> None:
        answer = await mine.post("import/", book(*given))
        assert answer.status == 201, answer.body
        exported = (await mine.get("export/")).body
        assert exported == book(*given)
        assert (await others.post("import/", exported)).status == 201
        assert shape((await others.get("export/")).body) == shape(exported)
        again = (await mine.post("import/", exported)).body
        assert again == {"threads": [], "memories": 0, "known": {"threads": len(given)}}

    with in_pieces(size):
        async_to_sync(there_and_back)()


PETS = chatgpt(
    node("hello", "root", "user", "Hello there.", minute=0),
    node("hi", "hello", "assistant", "Hi.", minute=1),
    node("dog", "hi", "user", "My dog is called Rex.", minute=2),
    node("nice", "dog", "assistant", "Nice.", minute=3),
    node("nicer", "dog", "assistant", "How nice.", minute=4),
    node("cat", "hi", "user", "My cat is called Tom.", minute=5),
    node("good", "cat", "assistant", "Good.", minute=6),
    current="good",
)


async def test_of_a_tree_of_another_maker_the_path_alone_is_learnt_until_its_person_goes_elsewhere(
    user: User, api: Api
) -> None:
    answer = await api.post("import/", [PETS])
    thread = answer.body["threads"][0]["id"]
    assert answer.body == {"threads": [{"id": thread, "message_count": 4}], "memories": 0, "branches": 2}
    path = (await api.get(f"threads/{thread}/messages/")).body["results"]
    assert [turn["text"] for turn in path] == ["Hello there.", "Hi.", "My cat is called Tom.", "Good."]
    every = {turn["text"]: turn for turn in (await api.get(f"threads/{thread}/messages/?path=all")).body["results"]}
    dog, cat = every["My dog is called Rex."], every["My cat is called Tom."]
    assert cat["versions"] == dog["versions"] == [dog["id"], cat["id"]]
    assert every["Nice."]["versions"] == [every["Nice."]["id"], every["How nice."]["id"]]

    assert [each async for each in _indexed(thread)] == ["Hello there.", "Hi.", "My cat is called Tom.", "Good."]
    learnt = await remembered(user)
    assert "Tom" in learnt and "Rex" not in learnt
    assert "Rex" not in str((await api.get("memories/search/?q=dog called Rex")).body)

    assert (await api.call("PATCH", f"threads/{thread}/", {"active": dog["id"]})).status == 200
    learnt = await remembered(user)
    assert "Rex" in learnt and "Tom" not in learnt
    assert [each async for each in _indexed(thread)] == ["Hello there.", "Hi.", "My dog is called Rex.", "How nice."]


async def _indexed(thread: str) -> Any:
    positions = (
        IndexedPassage.objects.filter(thread__id=thread, number=0).order_by("depth").values_list("position", flat=True)
    )
    async for position in positions:
        yield (await Message.objects.aget(thread__id=thread, position=position)).text


async def test_an_export_of_later_moves_to_the_branch_that_was_begun_there(user: User, api: Api) -> None:
    older = {name: each for name, each in PETS["mapping"].items() if name not in ("cat", "good", "nicer")}
    first = await api.post("import/", [PETS | {"mapping": older, "current_node": "nice"}])
    thread = first.body["threads"][0]["id"]
    assert "Rex" in await remembered(user)
    answer = await api.post("import/", [PETS])
    assert answer.body["longer"] == [{"id": thread, "message_count": 4, "added": 3}]
    assert answer.body["branches"] == 1
    learnt = await remembered(user)
    assert "Tom" in learnt and "Rex" not in learnt
    assert [each async for each in _indexed(thread)] == ["Hello there.", "Hi.", "My cat is called Tom.", "Good."]
    row = await Thread.objects.aget(id=thread)
    assert (row.message_count, row.last_position, row.path_version) == (4, 7, 1)
    assert (await api.post("import/", [PETS])).body["known"] == {"threads": 1}


async def test_a_title_that_a_model_made_goes_with_the_turn_that_it_tells_of(user: User, api: Api) -> None:
    turns = [{"id": str(uuid.UUID(int=n)), "role": "user", "content": f"Number {n}"} for n in (1, 2)]
    thread = {"title": "Wedding plans", "title_through": 1, "messages": turns}
    answer = await api.post("import/", {"format": "openbook/1", "threads": [thread]})
    id = answer.body["threads"][0]["id"]
    assert (await api.post(f"messages/{turns[1]['id']}/forget/")).status == 200
    assert (await api.get(f"threads/{id}/")).body["title"] == "Wedding plans"
    assert (await api.post(f"messages/{turns[0]['id']}/forget/")).status == 200
    assert (await api.get(f"threads/{id}/")).body["title"] == FORGOTTEN


async def test_a_fork_finds_its_source_where_that_is_here(user: User, api: Api, others_api: Api) -> None:
    source, said, fork = (str(uuid.UUID(int=number)) for number in (1, 2, 3))
    first = {"id": source, "messages": [{"id": said, "role": "user", "content": "Hello"}]}
    assert (await api.post("import/", book(first))).status == 201
    copy = {"id": fork, "messages": [], "forked_from": {"thread": source, "message": said}}
    assert (await api.post("import/", book(copy))).status == 201
    assert (await api.get(f"threads/{fork}/")).body["forked_from"] == {"thread": source, "message": said}
    [there] = (await others_api.post("import/", book(copy))).body["threads"]
    assert (await others_api.get(f"threads/{there['id']}/")).body["forked_from"] is None
