"""Replays that staff start in the admin: run by workers in slices, cancelled, gone on with, and told without any content."""

import json
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from conversations import versions
from conversations.context.record.assistant_versions import at_version
from conversations.models import Assistant, AuditEvent, Replay
from conversations.regression import replays
from conversations.regression.replaying import Change, replay_requests, requests_of
from conversations.regression.report import Report
from conversations.runtime import clock
from conversations.runtime.db import in_database
from tests.conversations.factories import make_user
from tests.conversations.regression.test_replay import WEEK, talk
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]
WORDS = ("harbour", "Lisbon", "cakes sell", "what of bread", "Has a dog")
"""Of what ``talk`` says."""
CHANGES = {"history_turns_max": 2, "history_turns_min": 2, "memory_tokens": 0}
STEPS = 50
FILES = ("report.json", "junit.xml")


def staff(*rights: str) -> User:
    """Who may see replays and requests, and read no content."""
    user = make_user("lead", is_staff=True)
    names = {"view_replay", "view_contextsnapshot", "view_assistant", *rights}
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    return user


def cancel_and_try_this_release(assistant: Assistant, client: Client, lead: User) -> None:
    again = replays.start(assistant, None, since=clock.now() - WEEK, author=lead)
    replays.advance(lambda: True)
    path = f"/admin/conversations/replay/{again.pk}/change/"
    assert client.post(path, {"cancel": "1"}).status_code == 302
    replays.advance(lambda: False)
    again.refresh_from_db()
    assert (again.state, Report.of(again.figures).requests) == ("cancelled", 1)
    unchanged = replays.start(assistant, None, since=clock.now() - WEEK, sample=3, author=lead)
    replays.advance(lambda: False)
    unchanged.refresh_from_db()
    same = Report.of(unchanged.figures)
    assert (unchanged.state, same.requests, same.identical) == ("done", 3, 3)
    acts = AuditEvent.objects.filter(kind="replay_changed").order_by("id")
    assert [act.details["act"] for act in acts] == ["started", "started", "cancelled", "started"]


async def test_staff_try_a_draft_and_read_what_it_would_change(user: User, api: Api) -> None:
    assistant = await talk(user, api)

    def walk() -> None:
        draft = versions.make_draft(assistant, CHANGES, author=None, note="cheaper")
        client, lead = Client(), staff()
        client.force_login(lead)
        form = {
            "tried": f"{assistant.pk}:{draft.pk}",
            "days": "7",
            "fail_on": "lost.turns > 10 %\nlost.cited > 1 %\ncost > 5 %",
        }
        add = "/admin/conversations/replay/add/"
        assert client.post(add, form).status_code == 403
        lead.user_permissions.add(Permission.objects.get(codename="add_replay"))
        assert "is no condition" in client.post(add, form | {"fail_on": "joy > 1"}).content.decode()
        page = client.post(add, form)["Location"]
        row = Replay.objects.get()
        assert (row.author, row.version, row.requests, row.state) == (lead, draft, 5, "running")

        # A worker that ends after each request: the next goes on behind it.
        steps = 0
        while replays.due().exists() and steps < STEPS:
            replays.advance(lambda: True)
            steps += 1
        row.refresh_from_db()
        assert (row.state, steps) == ("done", 6)
        whole = Report()
        ids = requests_of(assistant, since=clock.now() - WEEK)
        assert len([*replay_requests(ids, Change(assistant=assistant, wanted=at_version(assistant, draft)), whole)])
        report = Report.of(row.figures)
        assert report.answer([]) == whole.answer([])
        assert report.reasons["turns"]["turn_limit"] == report.lost["turns"] > 0
        assert report.reasons["memories"].total() == report.lost["memories"] == 5
        assert report.sections["history"].after < report.sections["history"].before

        answers = [client.get(page), *(client.get(f"{page.removesuffix('change/')}{name}") for name in FILES)]
        texts = [answer.content.decode() for answer in answers]
        worst = [each["request"] for each in report.worst]
        compare = client.get(f"/admin/conversations/contextsnapshot/{worst[0]}/compare/?version={draft.pk}")
        assert all(f"{id}/compare/?version={draft.pk}" in texts[0] for id in worst)
        assert "Fails: lost.turns &gt; 10 %" in texts[0]
        assert json.loads(texts[1]) == report.answer(["lost.turns > 10 %"])
        cases = ElementTree.fromstring(texts[2])  # noqa: S314  # our own
        assert [case.find("failure") is not None for case in cases] == [True, False, False]
        for text in (*texts, compare.content.decode(), client.get("/admin/conversations/replay/").content.decode()):
            assert not [word for word in WORDS if word.casefold() in text.casefold()]
        assert "dropped out" in compare.content.decode()
        cancel_and_try_this_release(assistant, client, lead)

    await in_database(walk)()
