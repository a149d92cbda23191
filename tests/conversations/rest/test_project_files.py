"""Files of a project: all its threads are given what bears on their messages, and no other thread is given any of it."""

import json
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from artifacts.models import Preset
from conversations.context import replay
from conversations.context.files.excerpts import read_ranges
from conversations.context.files.ranking import scores, sought_words
from conversations.context.files.thread_files import NO_PICTURES
from conversations.context.gather import project_files
from conversations.context.record import request_record, snapshots
from conversations.files import of_projects
from conversations.models import ContextSnapshot, File, Project, TurnFile
from conversations.runtime.db import in_database, read_only
from conversations.staff.snapshot.files import other_files
from tests import model_scripts as scripts
from tests.conversations.factories import make_file, make_project, make_thread
from tests.conversations.rest.client import Api
from tests.conversations.rest.test_messages_with_files import make_report, pages, sent_text
from tests.conversations.rest.test_reading_files import read_file, result_text
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

ASKED = "How many orchids are in the greenhouse?"
TOLD = "The greenhouse keeps 300 orchids. "


def filled(user: User) -> tuple[Project, File]:
    """A project whose second file tells it, and that file."""
    project = make_project(user)
    make_report(user, pages(20, p4="Ann paid for the boat. "), name="boats.pdf", project=project)
    file = make_report(user, pages(30, p17=TOLD, p9="The director’s bicycle is green. "), project=project)
    make_report(user, ["Rain."], name="weather.pdf", project=project)
    make_file(user, parts=[TOLD], name="half.pdf", project=project, state=File.State.READING)
    return project, file


async def send(api: Api, content: str, *, thread: str = "new", **values: Any) -> dict[str, Any]:
    answer = await api.post(f"threads/{thread}/messages/", {"content": content, **values})
    assert answer.status == 201, answer.body
    body: dict[str, Any] = answer.body
    return body


def made_again(id: str) -> ContextSnapshot:
    """The request, which is proven, and which *What if* makes byte for byte of what is recorded."""
    snapshot = ContextSnapshot.objects.get(id=id)
    assert snapshots.proof(snapshot)
    record = request_record.record_of(snapshot)
    with read_only():
        made = replay.remake(record, record.settings)
    assert made.is_exact
    assert json.loads(json.dumps(made.own.files)) == snapshot.files
    return snapshot


async def test_each_thread_is_given_what_bears_of_all_files_and_it_can_be_proven(
    user: User, api: Api, model: ModelServer
) -> None:
    project, file = await in_database(filled)(user)
    first = await send(api, ASKED, project=str(project.id))
    text = sent_text(model.bodies[-1])
    assert "300 orchids" in text
    assert 'parts="30"' in text
    assert "half.pdf" not in text and "Ann paid" not in text
    await in_database(made_again)(first["request"])
    request = (await api.get(f"requests/{first['request']}/")).body
    (told,) = [each for each in request["files"] if each["given"]]
    assert (told["id"], told["parts"], told["given"][0]["position"]) == (str(file.id), 30, 1)
    assert 17 in read_ranges(told["given"][0]["parts"])
    numbers = [told["given"][0]["parts"], *(row["parts"] for row in told["left_out"])]
    assert sorted(number for ranges in numbers for number in read_ranges(ranges)) == list(range(1, 31))
    others = [fate["what"] for fate in request["fates"] if fate["kind"] == "file" and not fate["file"]]
    assert others == ["2 other files of the project"]
    recorded = await ContextSnapshot.objects.aget(id=first["request"])
    assert other_files(recorded.files).startswith("Other files of the project: 2, with 21 parts.")

    second = await send(api, "And what colour is the bicycle of the director?", thread=first["thread"])
    before, now = (body["messages"] for body in model.bodies[-2:])
    assert (
        json.dumps(now[0]["content"]).count("300 orchids") == json.dumps(before[0]["content"]).count("300 orchids") == 1
    )
    assert "bicycle is green" in sent_text(model.bodies[-1])
    assert "300 orchids" not in sent_text(model.bodies[-1])
    await in_database(made_again)(second["request"])
    third = await send(api, "Thank you. What was it that Zebulon said?", thread=first["thread"])
    await in_database(made_again)(third["request"])
    for ended in (first, second):  # as they were, whatever came later
        await in_database(made_again)(ended["request"])


async def test_the_model_reads_more_of_a_file_that_it_was_not_given(user: User, api: Api, model: ModelServer) -> None:
    project, _ = await in_database(filled)(user)
    model.script(read_file("4", file="boats.pdf"), scripts.text("Ann [boats.pdf, section 4]."), scripts.text("Well."))
    first = await send(api, ASKED, project=str(project.id))
    assert "Ann paid for the boat." in result_text(model.bodies[-1])
    assert [(each["name"], each["part"], each["given"]) for each in first["assistant_message"]["citations"]] == [
        ("boats.pdf", 4, True)
    ]
    await in_database(made_again)(first["request"])
    second = await send(api, "Thank you.", thread=first["thread"])
    assert "Ann paid for the boat." in result_text(model.bodies[-1])
    await in_database(made_again)(second["request"])


@pytest.mark.wide
async def test_no_thread_elsewhere_is_given_anything_of_it(
    user: User, other_user: User, api: Api, model: ModelServer
) -> None:
    project, file = await in_database(filled)(user)
    other = await in_database(make_project)(user, "Office", uses_outside_memory=True)
    theirs = await in_database(make_project)(other_user)
    await in_database(make_report)(other_user, [TOLD + "Theirs. "], project=theirs)

    async def sees(*, thread: str = "new", **values: Any) -> bool:
        """Whether the next message is given it, by the book that it would get and by what the model is sent."""
        book = (await api.post(f"threads/{thread}/context/", {"content": ASKED, **values})).body
        await send(api, ASKED, thread=thread, **values)
        said = json.dumps([book, model.bodies[-1]])
        assert "Theirs." not in said
        return "300 orchids" in said

    first = await send(api, ASKED, project=str(project.id))
    thread = first["thread"]
    await Project.objects.filter(id=project.id).aupdate(shares_memory=True)
    assert not await sees() and not await sees(project=str(other.id))
    await Project.objects.filter(id=project.id).aupdate(shares_memory=False)

    await api.call("PATCH", f"threads/{thread}/", {"project": str(other.id)})
    assert not await sees(thread=thread)
    moved = (await api.get(f"threads/{thread}/requests/")).body["results"][0]
    assert {row["reason"] for each in moved["files"] for row in each["left_out"]} == {"other_project"}
    await in_database(made_again)(moved["id"])
    await api.call("PATCH", f"threads/{thread}/", {"project": str(project.id)})
    assert await sees(thread=thread)

    changed = await api.call("PATCH", f"files/{file.id}/", {"project": str(other.id)})
    assert (changed.status, changed.body["project"]) == (200, str(other.id))
    assert not await sees(thread=thread) and not await sees(project=str(project.id))
    assert await sees(project=str(other.id))
    assert (await api.call("DELETE", f"files/{file.id}/")).status == 204
    assert not await sees(project=str(other.id))


async def test_files_are_moved_within_limits_and_not_out_of_conversations(
    user: User, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_projects, "MOST_FILES", 1)
    project = await in_database(make_project)(user)
    first, second = [await in_database(make_report)(user, ["Rain."]) for _ in range(2)]
    of_thread = await in_database(make_report)(user, ["Rain."], thread=await in_database(make_thread)(user))
    move = {"project": str(project.id)}
    assert (await api.call("PATCH", f"files/{first.id}/", move)).body["project"] == str(project.id)
    assert (await api.call("PATCH", f"files/{first.id}/", move)).status == 200
    refused = await api.call("PATCH", f"files/{second.id}/", move)
    assert refused.code == (409, "conflict", "too_many_files")
    assert (await api.call("PATCH", f"files/{of_thread.id}/", move)).code == (409, "conflict", "file_elsewhere")
    unknown = await api.call("PATCH", f"files/{second.id}/", {"project": str(uuid.uuid4())})
    assert unknown.code == (404, "not_found", "project_not_found")


@pytest.mark.wide
async def test_what_was_given_goes_along_with_a_fork_and_an_import(
    user: User, api: Api, others_api: Api, model: ModelServer
) -> None:
    project, file = await in_database(filled)(user)
    first = await send(api, ASKED, project=str(project.id))
    given = await TurnFile.objects.values_list("numbers", flat=True).aget()
    message = first["assistant_message"]["id"]
    fork = (await api.post(f"threads/{first['thread']}/fork/", {"message": message})).body
    copied = await TurnFile.objects.aget(thread=fork["id"])
    assert (copied.file_id, copied.numbers) == (file.id, given)
    book = (await api.get("export/")).body
    for each in book["projects"][0]["files"]:
        each["text"] = "Words."  # as its bytes lie beside the document
        each.pop("sha256", None)
    assert (await others_api.post("import/", book)).status == 201
    there = await TurnFile.objects.exclude(user=user).values_list("numbers", "file__project__name").afirst()
    assert there == (given, "Garden")


async def test_its_threads_offer_its_presets(user: User, api: Api) -> None:
    slug = (await Preset.objects.filter(is_active=True).afirst()).slug  # type: ignore[union-attr]  # they are shipped
    await Preset.assistants.through.objects.all().adelete()
    project = await in_database(make_project)(user, presets=[slug])
    inside, outside = [(await api.post("threads/", {"project": each})).body for each in (str(project.id), None)]
    offered = {
        place["id"]: [each["slug"] for each in (await api.get(f"threads/{place['id']}/presets/")).body["results"]]
        for place in (inside, outside)
    }
    assert offered == {inside["id"]: [slug], outside["id"]: []}


def test_a_common_word_costs_as_little_as_a_rare_one(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a word that stands nearly everywhere only so many parts are looked at, and the rare one decides."""
    monkeypatch.setattr(project_files, "COMMON", 5)
    project = make_project(user)
    for number in range(4):
        told = {"p3": "Orchids grow. "} if number == 2 else {}
        make_report(user, [f"The greenhouse is warm. {text[:80]}" for text in pages(10, **told)], project=project)
    query = project_files.ProjectQuery(
        user_id=user.pk,
        project=project.id,
        pictures=NO_PICTURES,
        words=sought_words(user.pk, "orchids in the greenhouse"),
    )
    with read_only():
        found = project_files.read_project(query)
    assert (found.files, found.parts) == (4, 40)
    assert len(found.words) <= 2 * project_files.COMMON
    weighed = scores(found.words, found.others)
    best = max(weighed, key=lambda key: weighed[key])
    assert best[1] == 3
    assert weighed[best] > 5 * sorted(weighed.values())[-2]
