"""Projects and a person's own instructions over REST."""

import uuid

import pytest
from django.contrib.auth.models import User

from conversations.models import File, Project, Thread
from conversations.runtime.db import in_database
from tests.conversations.factories import make_file, make_project, make_thread
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


async def test_instructions_are_empty_until_written_and_each_is_changed_alone(api: Api) -> None:
    assert (await api.get("account/instructions/")).body == {"about": "", "style": ""}
    await api.call("PATCH", "account/instructions/", {"about": " I keep bees. "})
    changed = await api.call("PATCH", "account/instructions/", {"style": "Short."})
    assert changed.body == {"about": "I keep bees.", "style": "Short."}
    assert (await api.call("PATCH", "account/instructions/", {"about": "x" * 1_501})).status == 400
    assert (await api.get("account/instructions/")).body == {"about": "I keep bees.", "style": "Short."}


async def test_a_project_is_made_listed_and_changed(user: User, api: Api) -> None:
    made = await api.post("projects/", {"name": " Garden ", "colour": "green", "presets": ["brd"]})
    expected = {
        "name": "Garden",
        "colour": "green",
        "instructions": "",
        "assistant": None,
        "model": "",
        "presets": ["brd"],
        "uses_outside_memory": False,
        "shares_memory": False,
        "thread_count": 0,
        "file_count": 0,
    }
    assert (made.status, {name: made.body[name] for name in expected}) == (201, expected)
    await in_database(make_thread)(user, ["Hi"], project=await Project.objects.aget())
    changes = {"assistant": "analyst", "shares_memory": True, "instructions": "In metres."}
    changed = await api.call("PATCH", f"projects/{made.body['id']}/", changes)
    assert {name: changed.body[name] for name in expected} == expected | changes | {"thread_count": 1}
    assert (await api.get("projects/")).body["results"] == [changed.body]
    uncounted = (await api.get("projects/?counts=false")).body["results"]
    counts = {"thread_count", "file_count"}
    assert uncounted == [{name: value for name, value in changed.body.items() if name not in counts}]


@pytest.mark.parametrize(
    "body", [{}, {"name": " "}, {"name": "x" * 101}, {"name": "x", "colour": "mud"}, {"name": "x", "presets": ["no"]}]
)
async def test_a_project_that_can_not_be_is_refused(api: Api, body: dict[str, object]) -> None:
    assert (await api.post("projects/", body)).status == 400
    assert await Project.objects.acount() == 0


async def test_a_thread_is_opened_in_a_project_with_its_assistant_and_moves(user: User, api: Api) -> None:
    made = (await api.post("projects/", {"name": "Garden", "assistant": "analyst"})).body
    thread = (await api.post("threads/", {"project": made["id"]})).body
    assert (thread["project"], thread["assistant"]) == (made["id"], "analyst")
    named = (await api.post("threads/", {"project": made["id"], "assistant": "companion"})).body
    assert named["assistant"] == "companion"
    sent = (await api.post("threads/new/messages/", {"content": "Hello", "project": made["id"]})).body["thread"]
    listed = (await api.get(f"threads/?project={made['id']}")).body["results"]
    assert {each["id"] for each in listed} == {thread["id"], named["id"], sent}
    assert (await api.get("threads/?project=none")).body["results"] == []
    moved = await api.call("PATCH", f"threads/{thread['id']}/", {"project": None, "instructions": "In metres."})
    assert (moved.body["project"], moved.body["instructions"]) == (None, "In metres.")
    assert [each["id"] for each in (await api.get("threads/?project=none")).body["results"]] == [thread["id"]]


async def test_a_thread_moves_into_no_project_of_another_person(user: User, other_user: User, api: Api) -> None:
    thread, theirs = await in_database(make_thread)(user), await in_database(make_project)(other_user)
    for project in (theirs.id, uuid.uuid4()):
        answer = await api.call("PATCH", f"threads/{thread.id}/", {"project": str(project)})
        assert answer.code == (404, "not_found", "project_not_found")
        assert (await api.post("threads/", {"project": str(project)})).code == answer.code
    assert (await Thread.objects.aget()).project_id is None


@pytest.mark.wide
async def test_deleting_a_project_asks_what_becomes_of_what_it_holds(user: User, api: Api) -> None:
    def filled() -> tuple[Project, Thread, File]:
        project = make_project(user)
        return project, make_thread(user, ["Hi"], project=project), make_file(user, parts=["Rain"], project=project)

    project, thread, _ = await in_database(filled)()
    refused = await api.call("DELETE", f"projects/{project.id}/")
    assert refused.code == (409, "conflict", "project_not_empty")
    assert refused.body["error"]["details"] == {"threads": 1, "files": 1, "memories": 0}
    assert (await api.call("DELETE", f"projects/{project.id}/?threads=keep")).status == 204
    assert (await Thread.objects.aget()).id == thread.id
    assert await File.objects.acount() == 0
    project, *_ = await in_database(filled)()
    assert (await api.call("DELETE", f"projects/{project.id}/?threads=delete")).status == 204
    assert [each.id async for each in Thread.objects.all()] == [thread.id]
    assert (await api.call("DELETE", f"projects/{(await in_database(make_project)(user)).id}/")).status == 204


@pytest.mark.wide
async def test_what_is_exported_is_imported_by_another_person_with_all_that_belongs_together(
    user: User, other_user: User, api: Api, others_api: Api
) -> None:
    await api.call("PATCH", "account/instructions/", {"about": "I keep bees.", "style": "Short."})
    project = (await api.post("projects/", {"name": "Garden", "colour": "green", "instructions": "In metres."})).body
    thread = (await api.post("threads/", {"project": project["id"], "instructions": "In verse."})).body
    await api.call("PATCH", f"threads/{thread['id']}/", {"uses_account_instructions": False})
    note = {"content": "The shed is green.", "tags": [f"project:{project['id']}", f"thread:{thread['id']}"]}
    assert (await api.post("memories/", note)).status == 201
    book = (await api.get("export/")).body
    assert (await others_api.post("import/", book)).status == 201
    [copy] = (await others_api.get("projects/")).body["results"]
    told = ("name", "colour", "instructions", "thread_count")
    assert {name: copy[name] for name in told} == {name: project[name] for name in told} | {"thread_count": 1}
    [there] = (await others_api.get("threads/")).body["results"]
    assert (there["project"], there["instructions"], there["uses_account_instructions"]) == (
        copy["id"],
        "In verse.",
        False,
    )
    [remembered] = (await others_api.get("memories/")).body["results"]
    assert remembered["tags"] == [f"project:{copy['id']}", f"thread:{there['id']}"]
    assert (await others_api.get("account/instructions/")).body == {"about": "I keep bees.", "style": "Short."}
    again = await others_api.post("import/", book)
    assert (again.status, again.body["known"]) == (201, {"threads": 1, "memories": 1})
    assert len((await others_api.get("projects/")).body["results"]) == 1


async def test_instructions_stand_before_the_turns_and_are_accounted_for(user: User, api: Api) -> None:
    await api.call("PATCH", "account/instructions/", {"about": "I keep bees.", "style": "Short sentences."})
    project = (await api.post("projects/", {"name": "Garden", "instructions": "In metres."})).body
    body = {"content": "Hello", "project": project["id"]}
    thread = (await api.post("threads/new/messages/", body)).body["thread"]
    await api.call("PATCH", f"threads/{thread}/", {"instructions": "In verse."})

    async def given(**changes: object) -> tuple[str, dict[str, tuple[bool, str]]]:
        await api.call("PATCH", f"threads/{thread}/", changes)
        preview = (await api.post(f"threads/{thread}/context/", {"content": "And now?"})).body
        texts = [section["text"] for section in preview["sections"] if section["name"] == "instructions"]
        items = {
            item["kind"]: (item["included"], item["reason"]) for item in preview["items"] if "instr" in item["kind"]
        }
        assert sum(section["tokens"] for section in preview["sections"]) == preview["total_tokens"]
        return "".join(texts), items

    text, items = await given()
    assert text.partition(":\n\n")[2] == (
        "About the person:\nI keep bees.\n\nHow to answer:\nShort sentences.\n\n"
        "In this project:\nIn metres.\n\nIn this conversation:\nIn verse."
    )
    whole = (True, "instructed")
    kinds = ("instructions", "project_instructions", "thread_instructions")
    assert items == dict.fromkeys(kinds, whole)
    text, items = await given(uses_account_instructions=False, remembers=False)
    assert ("bees" in text, "In metres." in text, "In verse." in text) == (False, True, True)
    assert items == dict.fromkeys(kinds[1:], whole)
    text, _ = await given(project=None, instructions="")
    assert text == ""
