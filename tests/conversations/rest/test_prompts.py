"""Prompts: one's own are kept, changed and taken along; those of staff are offered to everybody."""

import pytest
from django.contrib.auth.models import User

from conversations.models import Prompt, SharedPrompt
from conversations.runtime.db import in_database
from tests.conversations.factories import make_prompt, make_shared_prompt, make_user
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


async def test_prompts_are_kept_and_staffs_are_offered_but_not_changed(user: User, other_user: User, api: Api) -> None:
    shared = await in_database(make_shared_prompt)()
    await in_database(make_prompt)(other_user)
    made = await api.post("prompts/", {"name": "Boats\n", "text": "Of {{ kind }}, {{Jahr-Zahl}} and {{kind}}: {{}}\n"})
    assert made.status == 201
    assert {name: made.body[name] for name in ("name", "text", "variables", "shared")} == {
        "name": "Boats",
        "text": "Of {{ kind }}, {{Jahr-Zahl}} and {{kind}}: {{}}\n",
        "variables": ["kind", "Jahr-Zahl"],
        "shared": False,
    }
    listed = (await api.get("prompts/")).body["results"]
    assert [(each["name"], each["shared"], each["variables"]) for each in listed] == [
        ("Boats", False, ["kind", "Jahr-Zahl"]),
        ("Summary", True, ["what"]),
    ]
    changed = await api.call("PATCH", f"prompts/{made.body['id']}/", {"text": "Plain"})
    assert (changed.body["text"], changed.body["variables"]) == ("Plain", [])
    refused = await api.call("PATCH", f"prompts/{shared.id}/", {"text": "Mine"})
    assert refused.code == (403, "permission", "prompt_not_yours")
    for body in ({"name": " ", "text": "x"}, {"name": "x", "text": "\n"}, {"name": "x", "text": "x" * 10_001}):
        assert (await api.post("prompts/", body)).status == 400
    many = " ".join(f"{{{{v{number}}}}}" for number in range(21))
    assert (await api.post("prompts/", {"name": "x", "text": many})).status == 400
    assert (await api.call("DELETE", f"prompts/{made.body['id']}/")).status == 204


async def test_staff_who_may_write_prompts_for_everybody(user: User, api: Api) -> None:
    refused = await api.post("prompts/", {"name": "Boats", "text": "Of {{kind}}.", "shared": True})
    assert refused.code == (403, "permission", "prompt_not_yours")
    staff = await in_database(Api)(await in_database(make_user)("staff", is_staff=True))
    refused = await staff.post("prompts/", {"name": "Boats", "text": "Of {{kind}}.", "shared": True})
    assert refused.code == (403, "permission", "prompt_not_yours")
    staff = await in_database(Api)(await in_database(make_user)("head", is_staff=True, is_superuser=True))
    made = await staff.post("prompts/", {"name": "Boats", "text": "Of {{kind}}.", "shared": True})
    assert (made.status, made.body["shared"]) == (201, True)
    assert (await api.get(f"prompts/{made.body['id']}/")).body == made.body
    changed = await staff.call("PATCH", f"prompts/{made.body['id']}/", {"text": "Of boats."})
    assert (changed.body["text"], changed.body["shared"]) == ("Of boats.", True)
    assert (await staff.call("DELETE", f"prompts/{made.body['id']}/")).status == 204
    assert not await SharedPrompt.objects.aexists()


async def test_prompts_go_and_come_with_the_document(user: User, other_user: User, api: Api) -> None:
    await in_database(make_prompt)(user, text="Of {{kind}}.", name="Boats")
    document = (await api.get("export/")).body
    assert [(each["name"], each["text"]) for each in document["prompts"]] == [("Boats", "Of {{kind}}.")]
    assert (await api.post("import/", document)).status == 201
    assert await Prompt.objects.filter(user=user).acount() == 1
    other_api = await in_database(Api)(other_user)
    assert (await other_api.post("import/", document)).status == 201
    assert await Prompt.objects.filter(user=other_user, name="Boats", text="Of {{kind}}.").acount() == 1
