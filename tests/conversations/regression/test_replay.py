"""`manage.py replay`: past requests as a draft, another version or this code would have built them."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from artifacts.models import Preset
from conversations import versions
from conversations.context.record.assistant_versions import at_version
from conversations.context.record.request_record import record_of
from conversations.context.rules.number import RULES
from conversations.models import Assistant, AssistantVersion, ContextSnapshot, Thread
from conversations.regression.lifted_rules import LIFTED
from conversations.regression.replaying import Change, outcome_of, replay_requests, requests_of
from conversations.regression.report import Report
from conversations.runtime import clock
from conversations.runtime.db import in_database, read_only
from conversations.runtime.db import run as execute
from tests.conversations.rest.client import Api
from tests.memory.factories import make_memory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]
WEEK = timedelta(days=7)
LONG = "Bakes bread with rye and caraway on each Sunday of the month, early in the morning. " * 3


async def talk(user: User, api: Api) -> Assistant:
    """Two threads, with a note that stands in each of their requests."""
    await in_database(make_memory)(user, "Has a dog.", created_at=clock.now())
    thread = (await api.post("threads/new/messages/", {"content": "My harbour cafe is in Lisbon"})).body["thread"]
    for content in ("Which cakes sell best?", "And what of bread?", "How long does it keep?"):
        assert (await api.post(f"threads/{thread}/messages/", {"content": content})).status == 201
    assert (await api.post("threads/new/messages/", {"content": "What is my harbour cafe called?"})).status == 201
    return await Assistant.objects.aget(is_default=True)


def run(assistant: Assistant, tmp_path: Path, *options: str) -> tuple[int, dict[str, Any]]:
    path = tmp_path / "report.json"
    try:
        call_command("replay", "--assistant", assistant.slug, "--json", str(path), *options)
    except SystemExit as error:
        return int(error.code or 0), json.loads(path.read_text())
    return 0, json.loads(path.read_text())


async def test_a_draft_is_tried_on_the_requests_that_were_made(user: User, api: Api, tmp_path: Path) -> None:
    assistant = await talk(user, api)
    replay = in_database(run)
    same = {"requests": 5, "identical": 5, "changed": 0, "not_replayable": 0, "inexact": 0}
    _, report = await replay(assistant, tmp_path)
    assert {name: report[name] for name in same} == same, report
    await in_database(versions.make_draft)(assistant, {}, author=None)
    assert {name: (await replay(assistant, tmp_path, "--draft"))[1][name] for name in same} == same

    changes = {"history_turns_max": 2, "history_turns_min": 2, "memory_tokens": 0}
    await in_database(versions.make_draft)(assistant, changes, author=None, note="cheaper")
    junit = tmp_path / "report.xml"
    status, report = await replay(
        assistant,
        tmp_path,
        "--draft",
        "--fail-on",
        "lost.turns > 10 %",
        "--fail-on",
        "cost > 5%",
        "--junit",
        str(junit),
    )
    assert (status, report["failed"]) == (1, ["lost.turns > 10 %"])
    assert (report["requests"], report["inexact"], report["changed"]) == (5, 0, 5)
    assert report["lost"]["turns"] > 0
    assert report["lost"]["memories"] == 5
    assert report["tokens"]["after"] < report["tokens"]["before"]
    lost = [each["lost"] for each in report["worst"]]
    assert lost == sorted(lost, reverse=True)
    cases = ElementTree.fromstring(junit.read_text())  # noqa: S314  # our own
    assert [(case.get("name"), case.find("failure") is not None) for case in cases] == [
        ("lost.turns > 10 %", True),
        ("cost > 5%", False),
    ]


async def test_a_request_is_made_again_from_its_own_version_after_any_change(
    user: User, api: Api, tmp_path: Path
) -> None:
    preset = await Preset.objects.acreate(slug="summary", name="Summary", prompt="Sum it up.")
    await preset.assistants.aadd(await Assistant.objects.aget(is_default=True))
    assistant = await talk(user, api)
    thread = await Thread.objects.alatest("created_at")
    made = await api.post(f"threads/{thread.pk}/presets/summary/", {})
    assert made.status == 201, made.body
    before = await AssistantVersion.objects.filter(assistant=assistant).alatest("number")
    changes = {
        "system_prompt": "Answer as a pirate.",
        "history_turns_max": 2,
        "history_turns_min": 2,
        "memory_tokens": 1,
        "uses_memory": False,
        "filters_artifacts": False,
        "recall_tokens": 0,
        "tools": [],
    }
    draft = await in_database(versions.make_draft)(assistant, changes, author=None)
    await in_database(versions.publish)(draft, author=None)
    await Preset.objects.filter(pk=preset.pk).aupdate(prompt="Make a rhyme of it.", name="Rhyme", kind="code")
    _, report = await in_database(run)(assistant, tmp_path)
    assert (report["requests"], report["identical"]) == (6, 6)
    await preset.adelete()
    _, back = await in_database(run)(assistant, tmp_path, "--version", str(before.number))
    assert (back["requests"], back["identical"]) == (6, 6)
    assert (before.content["presets"]["summary"]["prompt"], before.published_at is None) == (preset.prompt, False)
    last = await ContextSnapshot.objects.order_by("-id").values_list("id", flat=True).afirst()
    request = await api.get(f"requests/{last}/")
    assert (request.body["version"], request.body["rules"]) == (before.number, RULES)


@pytest.mark.wide
async def test_the_report_is_what_each_request_says_alone(user: User, api: Api) -> None:
    """Figures that grow are compared with sums over all outcomes."""
    assistant = await talk(user, api)

    def compare() -> None:
        draft = versions.make_draft(assistant, {"history_turns_max": 3, "history_turns_min": 2}, author=None)
        change = Change(assistant=assistant, wanted=at_version(assistant, draft))
        ids = [*requests_of(assistant, since=clock.now() - WEEK)]
        report = Report()
        for id in ids:
            assert [*replay_requests([id], change, report)] == [id]
            report = Report.of(report.stored)
        with read_only():
            outcomes = [
                outcome_of(record_of(each), change, {})[0] for each in ContextSnapshot.objects.filter(id__in=ids)
            ]
        answer = report.answer([])
        assert answer["lost"]["turns"] == sum(len(each.lost("turns")) for each in outcomes)
        assert answer["tokens"]["after"] == sum(each.after.tokens for each in outcomes)
        assert 0 < answer["changed"] == sum(not each.is_identical for each in outcomes)
        assert len([*requests_of(assistant, since=clock.now() - WEEK, sample=2)]) == 2

    await in_database(compare)()


async def test_a_rule_is_lifted_from_past_requests(user: User, api: Api, tmp_path: Path) -> None:
    """What it left out comes back, and what it gave goes; one that shaped none of them changes none."""
    await in_database(make_memory)(user, LONG, created_at=clock.now() - timedelta(days=1))
    limits = {"history_turns_max": 2, "history_turns_min": 2, "memory_tokens": 60, "recall_tokens": 0}
    await Assistant.objects.filter(is_default=True).aupdate(**limits)
    assistant = await talk(user, api)
    reports = {rule.value: (await in_database(run)(assistant, tmp_path, "--without", rule.value))[1] for rule in LIFTED}
    assert [report["inexact"] for report in reports.values()] == [0] * len(LIFTED)
    assert {rule: report["identical"] for rule, report in reports.items()} == {
        "over_budget": 0, "turn_limit": 3, "fulfilled_artifact": 5, "remembered": 0, "recalled": 5,
    }  # fmt: skip
    assert reports["over_budget"]["gained"]["memories"] == 5  # the note that had no room
    assert reports["remembered"]["lost"]["memories"] == 5
    assert reports["turn_limit"]["gained"]["turns"] == 6
    assert reports["turn_limit"]["tokens"]["after"] > reports["turn_limit"]["tokens"]["before"]


@pytest.mark.wide
async def test_a_switch_that_is_turned_on_later_changes_no_earlier_request(api: Api, tmp_path: Path) -> None:
    """A record tells what was given, and not what a switch that was off would have left out."""
    rows = Assistant.objects.filter(is_default=True)
    await rows.aupdate(filters_artifacts=False, tools=["save_artifact"])
    thread = (await api.post("threads/new/messages/", {"content": "Write me a list of ten cakes"})).body["thread"]
    assert (await api.get(f"threads/{thread}/artifacts/")).body["results"]
    await api.post(f"threads/{thread}/messages/", {"content": "Thank you"})
    await rows.aupdate(filters_artifacts=True)
    assert (await api.post(f"threads/{thread}/messages/", {"content": "Which of them is the best?"})).status == 201
    _, report = await in_database(run)(await rows.aget(), tmp_path)
    assert report["identical"] == report["requests"] >= 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--assistant", "nobody"], "There is no assistant"),
        (["--assistant", "companion", "--draft"], "has no draft"),
        (["--assistant", "companion", "--version", "99"], "has no version 99"),
        (["--assistant", "companion", "--since", "soon"], "12h, 7d or 4w"),
        (["--assistant", "companion", "--fail-on", "sadness > 3"], "is no condition"),
        (["--assistant", "companion", "--fail-on", "cost > 3"], "in per cent"),
    ],
)
def test_what_is_asked_for_wrongly_is_said(options: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("replay", *options)


@pytest.mark.wide
async def test_a_source_that_fails_now_is_no_loss_by_the_change(user: User, api: Api, tmp_path: Path) -> None:
    assistant = await talk(user, api)
    await in_database(versions.make_draft)(assistant, {"history_turns_max": 2, "history_turns_min": 2}, author=None)
    await in_database(execute)("ALTER TABLE memory_indexedpassage RENAME TO away")
    try:
        _, report = await in_database(run)(assistant, tmp_path, "--draft")
    finally:
        await in_database(execute)("ALTER TABLE away RENAME TO memory_indexedpassage")
    why = report["why_not_replayable"]
    assert (report["not_replayable"], report["lost"]["memories"]) == (sum(why.values()), 0), report
    assert list(why) == ["Could not be read now: recall."], why
