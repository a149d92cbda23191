"""Models that answer cases side by side, scorers of answers and a judge, and what becomes of them."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from conversations import versions
from conversations.context.record import snapshots
from conversations.datasets import answer_scorers, judging, runs
from conversations.datasets.arms import InvalidModels
from conversations.datasets.estimates import Plan
from conversations.datasets.expectations import InvalidExpectation
from conversations.datasets.paired import median_difference
from conversations.datasets.runs import TooCostly
from conversations.models import (
    Assistant,
    CaseAnswer,
    ContextBlock,
    ContextSnapshot,
    Dataset,
    Experiment,
    GroupAccess,
    TokenReservation,
)
from conversations.runtime import clock
from memory import forgetting
from tests import model_scripts as scripts
from tests.conversations.factories import make_dataset, make_snapshot, make_thread, make_user
from tests.memory.consolidation.test_note_request import in_thread
from tests.model_server import ModelServer
from tests.waiting import until

GOOD, POOR, JUDGE = "anthropic/claude-opus-5-5", "anthropic/claude-haiku-5-5", "anthropic/claude-sonnet-5-5"
ANSWERS = {"claude-opus-5-5": '```json\n{"dog": "Rex"}\n```', "claude-haiku-5-5": "I do not know."}
EXPECTED = {
    "answer_contains": "rex",
    "answer_patterns": "R.x",
    "answer_schema": '{"type": "object", "properties": {"dog": {"pattern": "^R"}}, "required": ["dog"]}',
    "answer": "It is called Rex.",
}
PASSING = {"answer_contains": True, "answer_patterns": True, "answer_schema": True, "judge": True}


def respond(body: dict[str, Any]) -> scripts.Script:
    material = body["messages"][-1]["content"][0]["text"]
    if not body["system"][0]["text"].startswith("You judge answers."):
        return scripts.text(ANSWERS[body["model"]])
    answer = json.loads(material)["answer"]
    return scripts.text(json.dumps({"reason": f"It says {answer!r}.", "passes": "Rex" in answer}))


@pytest.fixture
def lead(user: User) -> User:
    lead = make_user("lead", is_staff=True)
    rights = ["view_experiment", "add_experiment", "view_contextsnapshot", "read_content"]
    lead.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return lead


@pytest.fixture
def dataset(user: User) -> Dataset:
    threads = [make_thread(user, ["My dog is Rex.", "A fine name.", "What is my dog called?"]) for _ in range(2)]
    return make_dataset(*map(make_snapshot, threads), **EXPECTED)


def run_to_end(row: Experiment) -> Experiment:
    for _ in range(20):
        runs.advance(lambda: False)
    row.refresh_from_db()
    return row


@pytest.mark.django_db(transaction=True)
def test_models_answer_side_by_side_and_a_judge_says_why(
    model: ModelServer, user: User, lead: User, dataset: Dataset, tmp_path: Path
) -> None:
    model.script(respond)
    path, lines = tmp_path / "answer.json", tmp_path / "answers.jsonl"
    command = ["experiment", dataset.name, "--version", "1", "--model", GOOD, "--model", POOR, "--judge", JUDGE]
    with pytest.raises(CommandError, match=r"4 answers and 4 verdicts would cost about \$0\.\d\d"):
        call_command(*command, "--user", "lead")
    assert not model.requests
    call_command(
        *command,
        "--user",
        "lead",
        "--most-cost",
        "1",
        "--json",
        str(path),
        "--answers",
        str(lines),
        "--format",
        "phoenix",
    )
    first, second = json.loads(path.read_text())["answers"]
    assert (first["passed"], first["answered"], first["unanswered"]) == (dict.fromkeys(PASSING, 2), 2, 0)
    assert (second["passed"], second["scored"]) == (dict.fromkeys(PASSING, 0), dict.fromkeys(PASSING, 2))
    assert second["differences"]["judge"]["lost"] == 2
    assert second["time_difference"]["low"] is None  # of two cases nothing can be said
    assert second["cost"] < first["cost"]
    written = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [line["output"] for line in written] == [*ANSWERS.values()] * 2
    assert written[0]["annotations"][-1]["explanation"].startswith("It says")
    assert all(line["start_time"] < line["end_time"] for line in written)

    requests = ContextSnapshot.objects.filter(purpose__in=["experiment", "judge"])
    assert {(each.purpose, each.status, snapshots.proof(each)) for each in requests} == {
        ("experiment", "completed", True),
        ("judge", "completed", True),
    }
    sent = {json.dumps(body, sort_keys=True) for body in model.bodies}
    assert {json.dumps(snapshots.rebuild(each), sort_keys=True) for each in requests} == sent
    judged = [body for body in model.bodies if body["model"] == "claude-sonnet-5-5"]
    assert {json.dumps(body["output_config"]["format"]["schema"]) for body in judged} == {json.dumps(judging.FORMAT)}
    paid = TokenReservation.objects.filter(purpose="experiment")
    assert {(each.user_id, each.spent is None) for each in paid} == {(lead.pk, False)}

    client, row = Client(), Experiment.objects.get()
    client.force_login(lead)
    page = client.get(reverse("admin:conversations_experiment_change", args=[row.pk]))
    shown = page.content.decode()
    assert "Few cases: with 2 of each, only large differences show." in shown
    assert "too few cases to tell" in shown
    case = page.context["answers"].lines[0].url
    for each in (page, client.get(case)):
        assert not [
            word for word in ("Rex", "I do not know", "It says") if word in strip_expected(each.content.decode())
        ]
    client.post(
        reverse("admin:conversations_contentaccess_open"), {"user": user.pk, "reason": "Ticket 7", "next": case}
    )
    read = client.get(case).content.decode()
    assert "I do not know." in read
    assert "It says" in read
    for made in requests:
        assert client.get(reverse("admin:conversations_contextsnapshot_change", args=[made.pk])).status_code == 200

    turn = dataset.cases.order_by("id")[0].thread.messages.get(position=1)
    forgetting.forget_turn(user, turn.pk)
    touched = CaseAnswer.objects.filter(case__thread=turn.thread_id)
    assert {(each.text, each.reason) for each in touched} == {("", "")}
    blocks = ContextBlock.objects.filter(thread=turn.thread_id).values_list("text", flat=True)
    assert not [text for text in blocks if "Rex" in text]


def strip_expected(page: str) -> str:
    """Without what staff wrote of a good answer themselves."""
    return page.partition('id="expected"')[0]


@pytest.mark.django_db(transaction=True)
def test_programs_have_models_answer(model: ModelServer, lead: User, dataset: Dataset) -> None:
    """Each version with each model: estimated, begun, run by a worker, read and cancelled over REST."""
    model.script(respond)
    versions.make_draft(Assistant.objects.get(is_default=True), {"recall_tokens": 0}, author=lead)
    path, client = "/api/v1/staff/experiments/", Client()
    client.force_login(lead)
    body: dict[str, Any] = {"dataset": dataset.name, "versions": [1, 2], "models": [GOOD, POOR], "judge": JUDGE}
    estimated = client.post(path, body, "application/json")
    [words] = estimated.json()["error"]["details"]["fields"]["most_cost"]
    assert (estimated.status_code, words.startswith("8 answers and 8 verdicts would cost about $")) == (400, True), (
        words
    )
    assert not Experiment.objects.exists() and not model.requests
    form = {"dataset": dataset.pk, "numbers": "1 2", "asked": f"{GOOD}\n{POOR}", "judge": JUDGE}
    page = client.post(reverse("admin:conversations_experiment_add"), form, headers={"accept-language": "de"})
    assert "8 Antworten und 8 Urteile würden etwa $" in page.content.decode()

    begun = client.post(path, body | {"most_cost": 1}, "application/json").json()
    assert (begun["state"], begun["models"], begun["cases"]) == ("running", [GOOD, POOR], 2)
    run_to_end(Experiment.objects.get())
    done = client.get(f"{path}{begun['id']}/").json()
    assert (done["state"], done["done"]) == ("done", 2)
    arms = {(each["version"], each["model"]): each for each in done["result"]["answers"]}
    assert {arm: (each["answered"], each["passed"]["judge"]) for arm, each in arms.items()} == {
        (1, GOOD): (2, 2), (1, POOR): (2, 0), (2, GOOD): (2, 2), (2, POOR): (2, 0),
    }  # fmt: skip
    assert not [text for text in ("Rex", *ANSWERS.values()) if text in json.dumps(done)]
    again = client.post(path, body | {"most_cost": 1}, "application/json").json()["id"]
    assert client.post(f"{path}{again}/cancel/").json()["state"] == "cancelled"
    asked = len(model.requests)
    runs.advance(lambda: False)
    assert len(model.requests) == asked == 16


@pytest.mark.django_db(transaction=True)
def test_what_a_killed_worker_asked_is_asked_again_and_what_came_is_not(
    model: ModelServer, lead: User, dataset: Dataset
) -> None:
    gate = scripts.Gate()
    first = iter([True])

    def hang(body: dict[str, Any]) -> scripts.Script:
        hangs = body["model"] == "claude-haiku-5-5" and next(first, False)
        return scripts.text("Too late", gate) if hangs else respond(body)

    model.script(hang)
    row = runs.start(dataset, Plan(versions=[1], models=[GOOD, POOR], limit=1), author=lead, most_cost=Decimal(1))
    worker = in_thread(lambda: runs.advance(lambda: False))
    gate.wait_until_reached()
    answered = CaseAnswer.objects.filter(answered_at__isnull=False)
    until(answered.exists)
    runs.advance(lambda: False)  # another worker leaves alone what the first is at
    assert len(model.requests) == 2
    CaseAnswer.objects.filter(answered_at=None).update(claimed_until=clock.now())  # its time is over
    run_to_end(row)
    assert [body["model"] for body in model.bodies].count("claude-opus-5-5") == 1
    assert [body["model"] for body in model.bodies].count("claude-haiku-5-5") == 2
    gate.open()
    worker.join()
    row.refresh_from_db()
    assert row.state == "done"
    assert {each.text for each in answered} == {*ANSWERS.values()}
    statuses = ContextSnapshot.objects.filter(purpose="experiment").values_list("status", flat=True)
    assert sorted(statuses) == ["completed", "completed", "interrupted"]


@pytest.mark.django_db(transaction=True)
def test_an_experiment_is_bounded_and_says_why_nobody_answers(
    model: ModelServer, user: User, lead: User, dataset: Dataset
) -> None:
    for models, words in (
        (["offline/offline"], "No model stands behind"),
        (["nowhere/model"], "is not known"),
        (["claude-opus-5-5"], "write PROVIDER/MODEL"),
        ([GOOD, GOOD], "each model once"),
    ):
        with pytest.raises(InvalidModels, match=words):
            runs.start(dataset, Plan(versions=[1], models=models), author=lead, most_cost=Decimal(1))
    with pytest.raises(TooCostly):
        runs.start(dataset, Plan(versions=[1], models=["own"]), author=lead, most_cost=Decimal(0))
    model.script(*[scripts.error(529)] * 3, scripts.text("It is Rex."), scripts.error(400))
    row = runs.start(dataset, Plan(versions=[1], models=[GOOD]), author=lead, most_cost=Decimal("0.05"))
    runs.advance(lambda: False)
    [overloaded] = CaseAnswer.objects.filter(experiment=row)
    assert (overloaded.answered_at, overloaded.ended_at, overloaded.attempts) == (None, None, 1)
    assert overloaded.claimed_until > clock.now()  # it is left alone for a while
    CaseAnswer.objects.update(claimed_until=clock.now())
    assert run_to_end(row).state == "done"
    answered, refused = runs.answers_of(row)
    assert (answered.scores["answer_contains"], refused.answered_at, bool(refused.problem)) == (True, None, True)

    row = runs.start(dataset, Plan(versions=[1], models=[GOOD]), author=lead, most_cost=Decimal("0.05"))
    Experiment.objects.filter(pk=row.pk).update(most_cost=Decimal(0))
    model.script(scripts.text("It is Rex."), scripts.text("Rex again."))
    assert run_to_end(row).state == "failed"
    assert row.problem.startswith("It has cost $0.0")
    assert (CaseAnswer.objects.filter(experiment=row).count(), row.results.count()) == (1, 1)
    assert runs.resume(row.pk, Decimal(1))
    assert run_to_end(row).state == "done"
    assert CaseAnswer.objects.filter(experiment=row, answered_at__isnull=False).count() == 2

    group = Group.objects.create(name="Only here")
    GroupAccess.objects.create(group=group, connections=["local"])
    user.groups.add(group)
    row = run_to_end(runs.start(dataset, Plan(versions=[1], models=[GOOD]), author=lead, most_cost=Decimal(1)))
    assert {each.problem for each in runs.answers_of(row)} == {
        "This server, or a group, does not allow claude-opus-5-5 through anthropic."
    }


def test_scorers_take_no_schema_that_could_keep_the_server_busy() -> None:
    expected = dict.fromkeys(answer_scorers.COLUMNS, "")
    for schema in (
        "{",
        '{"$ref": "#"}',
        '{"patternProperties": {"(a+)+$": {}}}',
        '{"pattern": "(?=a)"}',
        '{"type": 3}',
    ):
        with pytest.raises(InvalidExpectation):
            answer_scorers.check("", schema)
    slow = {**expected, "answer_schema": '{"type": "string", "pattern": "^(a+)+$"}'}
    assert answer_scorers.scores(slow, json.dumps("a" * 10_000 + "b")) == {"answer_schema": False}
    assert answer_scorers.scores(slow, "no JSON") == {"answer_schema": False}


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ('{"reason": "So.", "passes": true}', True),
        ('```json\n{"passes": false, "reason": ""}\n```', False),
        ("true", None),
        ('{"passes": "yes", "reason": ""}', None),
        ('{"passes": true}', None),
        ('{"passes": true, "reason": "", "x": 1}', None),
        ('It passes: {"passes": true, "reason": ""}', None),
    ],
)
def test_a_verdict_is_taken_in_one_shape_alone(text: str, passes: bool | None) -> None:
    verdict = judging.verdict_in(text)
    assert (verdict and verdict.passes) is passes


def test_the_interval_of_a_median_is_that_of_the_tables() -> None:
    """The places of the order statistics are those of Conover's table: 1 and 6 of 6, 2 and 9 of 10, 6 and 15 of 20."""
    for cases, low, high in ((6, 1, 6), (10, 2, 9), (20, 6, 15)):
        told = median_difference([(0, number) for number in range(1, cases + 1)])
        assert (told["low"], told["high"]) == (low, high)
    assert median_difference([(1, 2)] * 5)["low"] is None
