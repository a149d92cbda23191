"""Staff watch a reply as it is written: recorded before the first word, masked without a reason, over once they may not."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient
from django.urls import reverse

from conversations import replies
from conversations.models import ContentAccess, ContextSnapshot, Thread
from conversations.rest import streams
from conversations.runtime.db import in_database
from conversations.staff import live
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_thread, make_user
from tests.conversations.staff.conftest import REASON, open_content
from tests.model_server import ModelServer
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SECRET = "The dog is called Biscuit."
THINKS, COUNTED = "The model thinks, 0 s.", "as the model counts (1.30 × the estimate)"
LEAD = ("view_thread", "read_content")


def sign_in(*permissions: str, reason: bool = True) -> AsyncClient:
    client = AsyncClient()
    user = make_user(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    if reason:
        open_content(client)
    return client


async def staff(*permissions: str, reason: bool = True) -> AsyncClient:
    return await in_database(sign_in)(*permissions, reason=reason)


async def watching(client: AsyncClient, thread: Thread, query: str = "") -> AsyncIterator[dict[str, Any]]:
    """What the page is told, as it comes."""
    response: Any = await client.get(reverse("admin:conversations_thread_live_events", args=[thread.pk]) + query)
    assert (response.status_code, response["Content-Type"]) == (200, "text/event-stream")
    async for part in response:
        fields = dict(line.split(": ", 1) for line in part.decode().splitlines() if line and not line.startswith(":"))
        if fields:
            yield json.loads(fields["data"]) | {"event": fields["event"], "id": fields.get("id")}


async def accesses() -> list[tuple[str, str, str]]:
    return [(row.action, row.object_id, row.reason) async for row in ContentAccess.objects.all()]


async def test_who_stated_a_reason_reads_along_and_it_is_recorded_before_the_first_word(
    user: User, model: ModelServer
) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("The dog is ", gate, "called Biscuit."))
    running = await replies.start(user=user, thread_id=None, content="What is it called?")
    told = watching(await staff(*LEAD), running.thread, f"?reply={running.reply.pk}")
    seen = [await anext(told)]
    assert await accesses() == [("watch", str(running.thread.pk), REASON)]
    gate.open()
    seen += [each async for each in told]
    snapshot = await ContextSnapshot.objects.aget()
    assert "".join(each.get("text", "") for each in seen) == SECRET
    assert [each["words"] for each in seen if each["event"] == "told" and each["words"] not in ("", THINKS)] == [
        "The message is stored.",
        f"0 earlier turns sent, none left out; {snapshot.total_tokens} of 4,100 tokens {COUNTED}.",
        "The model is asked.",
        "The reply is complete.",
    ]
    assert [each["event"] for each in seen][-1] == "over"
    assert len(await accesses()) == 1
    rest = [each async for each in watching(await staff(*LEAD), running.thread, f"?reply={seen[2]['id']}")]
    assert rest == seen[3:]


@pytest.mark.parametrize(("permissions", "reason"), [(LEAD, False), (["view_thread"], True)])
async def test_without_a_reason_or_permission_the_words_stay_masked(
    user: User, model: ModelServer, permissions: list[str], reason: bool
) -> None:
    model.script(scripts.text(SECRET))
    running = await replies.start(user=user, thread_id=None, content=SECRET)
    client = await staff(*permissions, reason=reason)
    seen = [each async for each in watching(client, running.thread, f"?reply={running.reply.pk}")]
    grown = [each["characters"] for each in seen if each.get("characters")]
    assert (sum(grown) >= len(SECRET), {each % 20 for each in grown}) == (True, {0})
    assert "Biscuit" not in json.dumps(seen)
    page: Any = await client.get(reverse("admin:conversations_thread_live", args=[running.thread.pk]))
    assert ("Biscuit" in page.text, "Content is masked" in page.text) == (False, True)
    assert await accesses() == []


async def test_it_is_over_once_the_reason_is_taken_back(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("The dog is ", gate, "called Biscuit."))
    running = await replies.start(user=user, thread_id=None, content="What is it called?")
    client = await staff(*LEAD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "CHECK_SECONDS", 0.05)
        told = watching(client, running.thread, f"?reply={running.reply.pk}")
        await anext(told)
        await client.post(reverse("admin:conversations_contentaccess_mask"), {"user": str(user.pk), "next": "/admin/"})
        rest = [each async for each in told]
    gate.open()
    assert (rest[-1]["event"], rest[-1]["words"]) == ("over", live.OVER)
    assert "Biscuit" not in json.dumps(rest)


async def test_a_page_that_waits_is_told_the_next_reply(user: User, model: ModelServer) -> None:
    thread = await in_database(make_thread)(user, ["Hello?"])
    await in_database(make_reply)(thread)
    told = watching(await staff(*LEAD), thread)
    first = asyncio.ensure_future(anext(told))
    await in_database(until)(ContentAccess.objects.exists)
    gate = scripts.Gate()
    model.script(scripts.text(gate, SECRET))
    running = await replies.start(user=user, thread_id=thread.pk, content="And now?")
    seen = [await first]
    gate.open()
    seen += [each async for each in told]
    assert "".join(each.get("text", "") for each in seen) == SECRET
    assert seen[0]["id"] == f"{running.reply.pk}/1"


async def test_a_reply_of_another_thread_is_not_found_and_who_may_see_no_threads_sees_none(user: User) -> None:
    theirs, mine = [await in_database(make_thread)(None, ["Hello?"]) for _ in range(2)]
    reply = await in_database(make_reply)(theirs)
    url = reverse("admin:conversations_thread_live_events", args=[mine.pk])
    assert (await (await staff(*LEAD)).get(f"{url}?reply={reply.pk}")).status_code == 404
    assert (await (await staff("read_content")).get(url)).status_code == 403
    assert (await AsyncClient().get(url)).status_code == 302
