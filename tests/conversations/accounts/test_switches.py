"""What is switched off is refused with words at every door and not shown; what there was before is closed with it."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from pytest_django import Settings

from conversations.accounts import tokens
from conversations.accounts.switches import SWITCHES, on_by
from conversations.models import GroupAccess
from conversations.runtime.db import in_database
from tests.conversations.accounts.test_group_access import send
from tests.conversations.factories import make_user
from tests.conversations.web.sockets import Socket

ALL = frozenset(SWITCHES)


def test_any_group_of_a_person_allows_what_the_installation_has() -> None:
    assert on_by([], ALL) == ALL
    assert on_by([(False, True, True, True)], ALL) == ALL - {"sharing"}
    assert on_by([(False, True, False, True), (True, False, False, True)], ALL - {"export"}) == {"sharing", "uploads"}


async def answers(client: AsyncClient) -> dict[str, tuple[int, str]]:
    """Status and code of the error, of a call for each switch."""
    thread = (await client.post("/api/v1/threads/", {}, "application/json")).json()["id"]
    sent = {"content": "Hello.", "temporary": True}
    calls: dict[str, Any] = {
        "sharing": client.post(f"/api/v1/threads/{thread}/shares/", {}, "application/json"),
        "uploads": client.post("/api/v1/files/", {"file": SimpleUploadedFile("a.txt", b"words")}),
        "import": client.post("/api/v1/import/", {"format": "openbook/1", "threads": []}, "application/json"),
        "temporary": client.post("/api/v1/threads/", {"temporary": True}, "application/json"),
        "message": client.post("/api/v1/threads/new/messages/", sent, "application/json"),
        "export": client.get("/api/v1/export/"),
    }
    told = {}
    for name, call in calls.items():
        response = await call
        body = b"".join([part async for part in response]) if response.streaming else response.content
        is_error = response.status_code >= 400
        told[name] = (response.status_code, response.json()["error"]["code"] if is_error and body else "")
    return told


OFF = {
    "sharing": (403, "sharing_off"),
    "uploads": (403, "uploads_off"),
    "import": (403, "uploads_off"),
    "temporary": (403, "temporary_chats_off"),
    "message": (403, "temporary_chats_off"),
    "export": (403, "export_off"),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("by", ["setting", "group"])
async def test_what_is_off_is_refused_and_not_shown(settings: Settings, by: str) -> None:
    settings.OPENBOOK_SHARING = True
    user, client = await in_database(make_user)("ada"), AsyncClient()
    await client.aforce_login(user)
    before = (await client.get("/")).content.decode()
    assert 'id="export"' in before and 'id="attach" type="button" hidden' not in before
    assert {code for _, code in (await answers(client)).values()} & {code for _, code in OFF.values()} == set()

    if by == "setting":
        for name in SWITCHES:
            setattr(settings, f"OPENBOOK_{name.upper()}", False)
    else:
        group = await Group.objects.acreate(name="Ward")
        await GroupAccess.objects.acreate(group=group, **dict.fromkeys(SWITCHES, False))
        await user.groups.aadd(group)
    assert await answers(client) == OFF
    told = await client.get("/account/export/")
    assert (told.status_code, "Exporting everything is off here" in told.content.decode()) == (403, True)
    page = (await client.get("/")).content.decode()
    assert 'id="export"' not in page and 'id="attach" type="button" hidden' in page
    assert '"switches": []' in page and '"share_days": null' in page


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
async def test_models_and_tools_that_the_server_does_not_allow_are_not_offered_chosen_or_used(
    settings: Settings,
) -> None:
    user, client = await in_database(make_user)("ada"), AsyncClient()
    await client.aforce_login(user)
    token = await in_database(tokens.issue)(user=user, name="own")

    async def asked(path: str, **body: Any) -> tuple[int, Any]:
        response = await client.post(path, body, "application/json", headers={"X-Api-Key": token})
        return response.status_code, response.json()

    async def tools() -> list[str]:
        opened = await in_database(send)(user, assistant="analyst")
        assert opened.recorded
        return [tool["name"] for tool in opened.recorded[1].payload.get("tools", ())]

    sent = {"content": "Hello.", "assistant": "analyst"}
    call = {"model": "analyst", "max_tokens": 99, "messages": [{"role": "user", "content": "Hello."}]}
    status, answer = await asked("/api/v1/threads/new/messages/", **sent)
    assert (status, len(await tools()) > 1) == (201, True), answer

    settings.OPENBOOK_ALLOWED_TOOLS = frozenset({"save_artifact"})
    assert await tools() == ["save_artifact"]
    settings.OPENBOOK_ALLOWED_MODELS = frozenset({"anthropic/some-model"})
    refused = [
        await asked("/api/v1/threads/new/messages/", **sent),
        await asked(f"/api/v1/threads/{answer['thread']}/messages/", **sent),
        await asked(f"/api/v1/replies/{answer['reply']['id']}/retry/"),
        await asked("/api/v1/threads/new/messages/", **sent, model="offline"),
    ]
    assert [(status, told["error"]["code"]) for status, told in refused] == [(400, "model_not_offered")] * 4
    words = {told["error"]["message"] for _, told in refused[:3]}
    assert len(words) == 1 and "This server doesn't allow offline" in words.pop()
    status, told = await asked("/v1/messages", **call)
    assert (status, "This server doesn't allow offline" in told["error"]["message"]) == (400, True)

    socket = Socket(session=client.cookies["sessionid"].value)
    await socket.connect()
    await socket.send("message.send", **sent)
    frame = await socket.receive()
    assert (frame["type"], frame["data"]["code"]) == ("error", "model_not_offered")
    await socket.leave()
    assert (await client.get("/api/v1/models/")).json() == {"results": []}
    assert '"choices": []' in (await client.get("/")).content.decode()
