"""Datasets of past requests, what versions would have given to them, and how honestly a difference is told."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from conversations import versions
from conversations.datasets import experiments, runs
from conversations.datasets.estimates import Plan
from conversations.datasets.paired import difference
from conversations.models import AuditEvent, Case, ContextSnapshot, Dataset, Experiment, Message, Thread
from conversations.runtime.db import in_database
from conversations.staff import display
from conversations.threads.deletion import delete_thread
from memory import forgetting
from memory.models import Memory
from tests.conversations.factories import make_dataset, make_feedback, make_snapshot, make_thread, make_user
from tests.conversations.regression.test_replay import talk
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]
CHEAPER = {"history_turns_max": 2, "history_turns_min": 2, "memory_tokens": 0, "recall_tokens": 0}


def test_a_difference_of_known_tables_has_their_p_and_its_sign() -> None:
    """Agresti's table of approval (794, 150, 86, 570), with the p-value that R's exact2x2 gives; and of nothing."""
    pairs = [(True, True)] * 794 + [(True, False)] * 150 + [(False, True)] * 86 + [(False, False)] * 570
    told = difference(pairs)
    assert told["p"] == pytest.approx(3.716e-05, rel=1e-3)
    assert [round(told[name], 3) for name in ("low", "difference", "high")] == [-0.059, -0.04, -0.021]
    nothing = difference([])
    assert (nothing["difference"], nothing["p"]) == (0, 1)
    assert nothing["low"] == -nothing["high"] < -0.8
    one = difference([(False, True)] * 6)
    assert one["p"] == 0.03125
    assert 0 < one["low"] < one["high"] <= 1


def run(name: str, path: Path, *numbers: int) -> dict[str, Any]:
    call_command("experiment", name, *(f"--version={number}" for number in numbers), "--json", str(path))
    answer: dict[str, Any] = json.loads(path.read_text())
    return answer


async def test_versions_are_scored_side_by_side_and_a_dataset_comes_back_from_json(
    user: User, api: Api, tmp_path: Path
) -> None:
    assistant = await talk(user, api)
    draft = await in_database(versions.make_draft)(assistant, CHEAPER, author=None)

    def compare() -> None:
        requests = [*ContextSnapshot.objects.order_by("id")]
        name = "Follow-ups"
        call_command("dataset", name, "--add", *(str(each.pk) for each in requests), str(uuid.uuid4()))
        cases = Case.objects.filter(dataset__name=name)
        assert {case.request_id for case in cases} == {each.pk for each in requests}
        first = Message.objects.get(position=1, thread=requests[0].thread_id)
        note = Memory.objects.get()
        cases.update(evidence=f"memory {note.pk}", contains="has a DOG", patterns="d.g\nharbou?r")
        cases.filter(request=requests[3]).update(evidence=f"turn {first.pk}")
        for shape in ("langfuse", "phoenix"):
            path = tmp_path / f"{shape}.jsonl"
            call_command("dataset", name, "--export", str(path), "--format", shape)
            assert "Lisbon" not in path.read_text()
            call_command("dataset", f"of {shape}", "--import", str(path))
            fields = ("request", "thread", *("evidence", "contains", "patterns"))
            copied = Case.objects.filter(dataset__name=f"of {shape}").order_by("request").values_list(*fields)
            assert [*copied] == [*cases.order_by("request").values_list(*fields)]
        answer = run(name, tmp_path / "answer.json", 1, draft.number)
        before, after = answer["totals"]
        assert before["passed"] == {"evidence": 5, "contains": 5, "patterns": 5}
        assert after["passed"] == {"evidence": 0, "contains": 0, "patterns": 0}, answer
        assert after["tokens"] < before["tokens"]
        assert {case["problem"] for case in answer["cases"]} == {""}
        told = answer["differences"][str(draft.number)]["evidence"]
        assert (told["lost"], told["gained"], told["difference"], told["p"]) == (5, 0, -1, 0.0625)
        assert told["high"] < 0
        call_command("experiment", name, "--version", "1")
        missing = run(name, tmp_path / "answer.json", 77)
        assert {case["problem"] for case in missing["cases"]} == {f"{assistant.name} has no version 77."}
        with pytest.raises(CommandError, match="There is no dataset"):
            run("none", tmp_path / "answer.json", 1)
        (tmp_path / "bad.jsonl").write_text('{"input": {"request": "x"}}\n')
        with pytest.raises(CommandError, match="Line 1 is no case"):
            call_command("dataset", name, "--import", str(tmp_path / "bad.jsonl"))
        forgetting.forget_turn(user, first.pk)
        assert not Case.objects.exclude(contains="", evidence="", patterns="").filter(thread=first.thread_id).exists()

    await in_database(compare)()


async def test_staff_run_an_experiment_that_workers_go_on_with(user: User, api: Api) -> None:
    assistant = await talk(user, api)
    draft = await in_database(versions.make_draft)(assistant, CHEAPER, author=None)

    def walk() -> None:
        note = Memory.objects.get()
        dataset = make_dataset(*ContextSnapshot.objects.order_by("id"), evidence=f"memory {note.pk}")
        lead, client = make_user("lead", is_staff=True), Client()
        rights = ["view_experiment", "add_experiment", "view_contextsnapshot"]
        lead.user_permissions.set(Permission.objects.filter(codename__in=rights))
        client.force_login(lead)
        add = reverse("admin:conversations_experiment_add")
        form = {"dataset": str(dataset.pk), "numbers": f"1 {draft.number}"}
        assert client.post(add, form).status_code == 403  # it would tell whether a context holds a text
        lead.user_permissions.add(Permission.objects.get(codename="read_content"))
        assert "each once" in client.post(add, form | {"numbers": "1 1"}).content.decode()
        page = client.post(add, form)["Location"]
        row = Experiment.objects.get()
        steps = 0
        while runs.due().exists() and steps < 20:
            runs.advance(lambda: True)  # a worker that ends after each case
            steps += 1
        row.refresh_from_db()
        assert (row.state, steps, row.results.count()) == ("done", 6, 5)
        answer = runs.answer_of(row)
        naive = [*experiments.run([*dataset.cases.order_by("id")], row.versions)]
        timeless = [[{**each, "milliseconds": 0} for each in case["results"]] for case in answer["cases"]]
        assert timeless == [[{**each, "milliseconds": 0} for each in case["results"]] for case in naive]
        shown = client.get(page)
        first, second = shown.context["experiment"].versions
        assert (first.scores[0].passed, second.scores[0].passed, second.scores[0].difference) == (5, 0, "−100.0")
        worst = shown.context["experiment"].worst
        assert {row.request for row in worst} == {*dataset.cases.values_list("request_id", flat=True)}
        assert client.get(worst[0].urls[0][1]).status_code == 200
        assert not [word for word in ("harbour", "Lisbon", "dog") if word in shown.content.decode()]
        again = runs.start(dataset, Plan(versions=[1]), author=lead)
        runs.advance(lambda: True)
        assert client.post(display.change_url(Experiment, again.pk), {"cancel": "1"}).status_code == 302
        runs.advance(lambda: False)
        again.refresh_from_db()
        assert (again.state, again.results.count()) == ("cancelled", 1)
        acts = AuditEvent.objects.filter(target_id=str(again.pk)).order_by("id")
        assert [act.details["act"] for act in acts] == ["added", "cancelled"]
        delete_thread(Thread.objects.earliest("id"))
        assert row.results.count() == 1

    await in_database(walk)()


def test_staff_collect_requests_and_say_what_they_must_hold(admin_client: Client, user: User) -> None:
    snapshot = make_snapshot(thread := make_thread(user, ["Where is my dog?", "I do not know."]))
    feedback = make_feedback(thread.messages.get(position=2), request=snapshot)
    for name, pk in (("feedback", feedback.pk), ("contextsnapshot", snapshot.pk)):
        page = reverse(f"admin:conversations_{name}_changelist")
        answer = admin_client.post(page, {"action": "collect", "_selected_action": str(pk)}, follow=True)
        assert "case" in answer.content.decode()
    dataset = Dataset.objects.get()
    case = dataset.cases.get()
    assert (case.request_id, case.thread_id) == (snapshot.pk, thread.pk)
    assert AuditEvent.objects.filter(target_id=str(dataset.pk), details__act="cases").exists()

    page = reverse("admin:conversations_dataset_change", args=[dataset.pk])
    management = {"cases-TOTAL_FORMS": "1", "cases-INITIAL_FORMS": "1", "cases-0-id": str(case.pk)}
    form = {"name": "Dogs", "note": "", "requests": "", **management, "cases-0-dataset": str(dataset.pk)}
    refused = admin_client.post(page, {**form, "cases-0-evidence": "turn nonsense"})
    assert "write turn ID, memory ID, or part FILE NUMBER" in refused.content.decode()
    saved = admin_client.post(
        page, {**form, "cases-0-evidence": f"memory {uuid.uuid4()}", "cases-0-patterns": "d[ou]g"}
    )
    assert saved.status_code == 302
    case.refresh_from_db()
    assert case.patterns == "d[ou]g"
    delete_thread(thread)
    assert not dataset.cases.exists()
