"""While a hold covers it, what a person deletes is kept where only staff with a right of its own read it, and then it goes."""

import json
import re
import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection, connections, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.backups import erasure
from conversations.accounts.instructions import instruct
from conversations.files import storage
from conversations.holds import actions, coverage, custody, release
from conversations.holds.actions import HoldSubject
from conversations.models import ContentAccess, HeldRow, LegalHold, Project, Thread
from conversations.threads import deletion, feedback, projects, prompts, temporary
from conversations.upkeep import retention
from memory import forgetting
from memory.models import Memory
from tests.conversations.factories import make_file, make_schedule, make_thread, make_user
from tests.conversations.staff.conftest import StaffReader, page_url
from tests.waiting import until

CANARY = "quetzalcoatlus"


class Undone(Exception):
    """As a restore undoes it."""


def begin(user: User, project: Project | None = None, **more: Any) -> LegalHold:
    subject = HoldSubject(user=user, project_id=project.id if project else None)
    return actions.begin(subject, reason="A lawsuit", by="root", **more)


def end(hold: LegalHold) -> None:
    actions.end(hold, by="root")
    release.release_due()


def held(word: str = CANARY) -> set[str]:
    """The kinds of rows in which the word is kept."""
    return {*HeldRow.objects.filter(data__icontains=word).values_list("kind", flat=True)}


def tables_with(word: str) -> set[str]:
    """All tables of the database in which it stands."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT EXISTS (SELECT FROM "{table}" AS t WHERE t::text ILIKE %s)', [f"%{word}%"])  # noqa: S608
            if cursor.fetchone()[0]:
                found.add(table)
    return found


@pytest.mark.django_db
def test_a_hold_on_a_project_covers_what_was_in_it_and_nothing_else(user: User) -> None:
    project = projects.create(user, name=f"{CANARY} project")
    inside, moved, outside = (make_thread(user, [f"A {CANARY} {place}."]) for place in ("inside", "moved", "elsewhere"))
    for thread in (inside, moved):
        projects.move(thread, project)
    make_file(user, f"A {CANARY}.".encode(), project=project, parts=[f"A {CANARY}."])
    hold = begin(user, project)
    assert coverage.notice(user.pk, project=project.id) == coverage.notice(user.pk, threads=[inside.id]) != ""
    assert coverage.notice(user.pk) == coverage.notice(user.pk, threads=[outside.id]) == ""
    deletion.delete_thread(outside)
    assert held() == set()
    projects.move(Thread.objects.get(id=moved.id), None)
    deletion.delete_thread(Thread.objects.get(id=moved.id))
    assert held("moved") == {"conversations.Message"}, "who moves it out first loses nothing either"
    deletion.delete_project(project, threads_go="delete")
    assert held() >= {"conversations.Project", "conversations.Message", "conversations.FilePart"}
    assert held("inside") == {"conversations.Message"}
    assert held("elsewhere") == set()
    assert tables_with(CANARY) == {"conversations_heldrow"}
    end(hold)
    assert tables_with(CANARY) == set()


@pytest.mark.django_db
def test_retention_temporary_chats_and_the_end_of_an_account_lose_nothing(user: User) -> None:
    old = make_thread(user, [f"An old {CANARY}."])
    Thread.objects.filter(id=old.id).update(updated_at=timezone.now() - timedelta(days=900))
    chat = make_thread(user, [f"A brief {CANARY}."], temporary=True)
    turn = make_thread(user, [f"A turn with a {CANARY}."]).messages.get()
    hold, second = begin(user), begin(user, tells_reason=True)
    assert "A lawsuit" in coverage.notice(user.pk)
    for kind in retention.kinds({"threads": 30, "files": 30, "feedback": 30, "snapshots": 30}):
        if kind.kept is not None:
            kind.delete(timezone.now() - kind.kept)
    assert Thread.objects.filter(id=old.id).exists()
    temporary.close_due(timezone.now() + timedelta(hours=2))
    assert not Thread.objects.filter(id=chat.id).exists()
    done = forgetting.forget_turn(user, turn.id)
    assert "is kept until a legal hold ends" in done.held
    deletion.delete_user(user)
    assert {"auth.User", "conversations.Message", "conversations.Thread"} <= {
        *HeldRow.objects.values_list("kind", flat=True)
    }
    kept = HeldRow.objects.filter(kind="conversations.Message", data__icontains=CANARY)
    assert {row.data["text"].split()[1] for row in kept} == {"old", "brief", "turn"}
    assert "password" not in HeldRow.objects.get(kind="auth.User").data
    end(hold)
    assert held() != set(), "another hold lasts"
    end(second)
    assert (HeldRow.objects.count(), tables_with(CANARY)) == (0, set())


@pytest.mark.django_db(transaction=True)
def test_what_is_overwritten_is_kept_as_it_was(user: User, client: Client) -> None:
    """Edited over the API, as people do it; and what they take back."""
    thread = make_thread(user, ["Hello.", "Hello."])
    answer = thread.messages.get(role="assistant")
    project = projects.create(user, name=f"{CANARY} 0", instructions=f"{CANARY} 1")
    prompt = prompts.create(user, name="a", text=f"{CANARY} 2")
    going = prompts.create(user, name="b", text=f"{CANARY} 3")
    scheduled = make_schedule(user, f"{CANARY} a")
    dropped = make_schedule(user, f"{CANARY} b")
    instruct(user, about=f"{CANARY} 4")
    Thread.objects.filter(id=thread.id).update(title=f"{CANARY} 5", instructions=f"{CANARY} 6")
    note = Memory.objects.create(user=user, content=f"{CANARY} 7", created_at=timezone.now())
    feedback.give(user, str(answer.id), feedback.Verdict(value=1, text=f"{CANARY} 8"))
    client.force_login(user)
    edits: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", f"projects/{project.id}/", {"name": "x", "instructions": ""}),
        ("PATCH", f"prompts/{prompt.id}/", {"text": "x"}),
        ("DELETE", f"prompts/{going.id}/", {}),
        ("PATCH", f"schedules/{scheduled.id}/", {"content": "x"}),
        ("DELETE", f"schedules/{dropped.id}/", {}),
        ("PATCH", "account/instructions/", {"about": "x"}),
        ("PATCH", f"threads/{thread.id}/", {"title": "x", "instructions": ""}),
        ("PATCH", f"memories/{note.id}/", {"content": "x"}),
        ("POST", f"memories/{note.id}/forget/", {}),  # with its earlier words
        ("POST", f"messages/{answer.id}/feedback/", {"value": -1, "text": f"{CANARY} 9"}),
        ("DELETE", f"messages/{answer.id}/feedback/", {}),
    ]
    hold = begin(user)
    for method, path, body in edits:
        response = client.generic(method, f"/api/v1/{path}", json.dumps(body), "application/json")
        assert response.status_code < 300, (path, response.content)
    rows = HeldRow.objects.filter(data__icontains=CANARY)
    kept = {
        (row.kind.partition(".")[2], text) for row in rows for text in re.findall(f"{CANARY} .", json.dumps(row.data))
    }
    assert kept == {
        *(("Project", f"{CANARY} {number}") for number in (0, 1)),
        *(("Prompt", f"{CANARY} {number}") for number in (2, 3)),
        *(("Schedule", f"{CANARY} {number}") for number in "ab"),
        ("Instructions", f"{CANARY} 4"),
        *(("Thread", f"{CANARY} {number}") for number in (5, 6)),
        ("Memory", f"{CANARY} 7"),
        *(("Feedback", f"{CANARY} {number}") for number in (8, 9)),
    }
    assert tables_with(CANARY) == {"conversations_heldrow"}
    end(hold)
    assert tables_with(CANARY) == set()


OPERATIONS = ["hold person", "hold project", "end first", "delete inside", "delete outside", "forget outside"]


@pytest.mark.django_db
def test_whatever_happens_in_whichever_order_exactly_what_is_covered_is_kept() -> None:
    @settings(max_examples=12, deadline=None, suppress_health_check=[*HealthCheck])
    @given(st.lists(st.sampled_from(OPERATIONS), min_size=2, max_size=7))
    def run(operations: list[str]) -> None:
        user, mark = make_user(), uuid.uuid4().hex
        project = projects.create(user, name="p")
        threads = {"inside": make_thread(user, [f"{mark} inside"]), "outside": make_thread(user, [f"{mark} outside"])}
        projects.move(threads["inside"], project)
        lasting: list[tuple[LegalHold, bool]] = []
        kept: set[str] = set()
        for operation in operations:
            verb, _, what = operation.partition(" ")
            if verb == "hold":
                lasting.append((begin(user, project if what == "project" else None), what == "person"))
            elif verb == "end" and lasting:
                end(lasting.pop(0)[0])
            elif verb in ("delete", "forget") and what in threads:
                if verb == "delete":
                    deletion.delete_thread(Thread.objects.get(id=threads.pop(what).id))
                else:
                    forgetting.forget_turn(user, threads.pop(what).messages.get().id)
                if any(is_person or what == "inside" for _, is_person in lasting):
                    kept.add(what)
            everything = any(is_person for _, is_person in lasting)
            kept = {each for each in kept if everything or (lasting and each == "inside")}
            assert {each for each in ("inside", "outside") if held(f"{mark} {each}")} == kept, operations

    run()


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_leaves_the_rest_to_the_next(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "AT_ONCE", 3)
    hold = begin(user)
    deletion.delete_thread(make_thread(user, [f"{CANARY} {number}" for number in range(8)]))
    actions.end(hold, by="root")
    rows = [*HeldRow.objects.order_by("id").values_list("id", flat=True)]
    pids: list[int] = []
    failures: list[Exception] = []

    def work() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                pids.append(cursor.fetchone()[0])
            release.release_due()
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    blocker = connection.copy()
    try:
        with blocker.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT FROM conversations_heldrow WHERE id = %s FOR UPDATE", [rows[4]])
            worker = threading.Thread(target=work)
            worker.start()
            until(lambda: HeldRow.objects.filter(id__in=rows[:3]).count() == 0)
            with connection.cursor() as own:
                own.execute("SELECT pg_terminate_backend(%s)", pids)
            worker.join()
            cursor.execute("ROLLBACK")
    finally:
        blocker.close()
    assert failures
    assert [*HeldRow.objects.order_by("id").values_list("id", flat=True)] == rows[3:]
    assert release.due().get() == hold
    assert release.release_due() == len(rows) - 3
    assert (HeldRow.objects.count(), release.due().count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_a_hold_waits_for_a_deletion_that_runs(user: User) -> None:
    """Or else it would begin before the row goes, and the row would be in no copy."""
    begun: list[LegalHold] = []

    def work() -> None:
        try:
            begun.append(begin(user))
        finally:
            connections.close_all()

    worker = threading.Thread(target=work)
    with transaction.atomic():
        assert custody.of(user.pk) is None
        worker.start()
        until(lambda: _waits_for_lock())
        assert begun == []
    worker.join()
    assert len(begun) == 1


def _waits_for_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)")
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("story", "expected"),
    [
        (["delete"], "gone"),
        (["hold", "delete"], "held"),
        (["delete", "hold"], "gone"),
        (["hold", "delete", "end"], "gone"),
        (["hold", "end", "hold", "delete"], "held"),
        (["hold"], "there"),
    ],
    ids=" ".join,
)
def test_a_restored_backup_keeps_what_was_held_and_forgets_the_rest(
    user: User, story: list[str], expected: str
) -> None:
    """What happened since the backup, undone in the database as a restore undoes it, and read from the ledger again."""
    thread, since = make_thread(user, [f"A {CANARY}."]), timezone.now()
    with pytest.raises(Undone), transaction.atomic():
        hold = None
        for event in story:
            if event == "hold":
                hold = begin(user)
            elif event == "end" and hold:
                end(hold)
            elif event == "delete":
                deletion.delete_thread(Thread.objects.get(id=thread.id))
        raise Undone
    assert not LegalHold.objects.exists()
    erasure.apply(since=since)
    tables = {"gone": set(), "held": {"conversations_heldrow"}, "there": {"conversations_message"}}[expected]
    assert tables_with(CANARY) == tables
    lasts = "hold" in story and story[-1] != "end"
    assert coverage.current(user.pk).count() == lasts
    erasure.apply(since=since)
    assert (tables_with(CANARY), coverage.current(user.pk).count()) == (tables, lasts), "again, and nothing changes"


@pytest.mark.django_db
def test_a_restore_ends_a_hold_that_the_backup_knows(user: User) -> None:
    hold = begin(user)
    deletion.delete_thread(make_thread(user, [f"A {CANARY}."]))
    since = timezone.now()
    with pytest.raises(Undone), transaction.atomic():
        end(hold)
        raise Undone
    assert held()
    erasure.apply(since=since)
    assert (held(), coverage.current(user.pk).count()) == (set(), 0)


@pytest.fixture
def counsel(db: None) -> StaffReader:
    """A browser of somebody in the group Legal."""
    staff, client = make_user("counsel", is_staff=True), StaffReader()
    staff.groups.add(Group.objects.get(name="Legal"))
    client.force_login(staff)
    return client


@pytest.mark.django_db
def test_staff_begin_a_hold_read_what_it_keeps_for_a_reason_and_end_it(user: User, counsel: StaffReader) -> None:
    add = reverse("admin:conversations_legalhold_add")
    wrong = counsel.post(add, {"person": "nobody", "reason": "x"})
    assert (wrong.status_code, "Nobody is called so." in wrong.text, "x" in wrong.text) == (200, True, True)
    strange = counsel.post(add, {"person": user.username, "project_id": str(uuid.uuid4()), "reason": "x"})
    assert "This person has no project with this id." in strange.text
    counsel.post(add, {"person": user.username, "reason": "A lawsuit", "tells_reason": "on"})
    hold = LegalHold.objects.get()
    assert (hold.user, hold.began_by, hold.reason, hold.tells_reason) == (user, "counsel", "A lawsuit", True)
    thread = make_thread(user, [f"A {CANARY}."])
    file = make_file(user, f"bytes of a {CANARY}".encode(), thread=thread, name=f"{CANARY}.md")
    deletion.delete_thread(thread)
    storage.remove_due(timezone.now())
    row = HeldRow.objects.get(kind="conversations.Message")
    page, listed = page_url("heldrow", row.pk), reverse("admin:conversations_heldrow_changelist")
    masked = [counsel.get(url) for url in (page, listed, page_url("legalhold", hold.pk))]
    assert [(each.status_code, CANARY in each.text) for each in masked] == [(200, False)] * 3
    bytes_url = page_url("heldrow", HeldRow.objects.get(kind="conversations.File").pk, "bytes")
    assert (counsel.get(bytes_url).status_code, ContentAccess.objects.count()) == (403, 0)
    assert CANARY in counsel.read(page).text
    assert counsel.get(bytes_url).getvalue() == f"bytes of a {CANARY}".encode()
    told = [(each.action, each.what, each.user_id) for each in ContentAccess.objects.order_by("id")]
    assert told == [("read", "held row", user.pk), ("export", "held row", user.pk)]
    action = {"action": "end_holds", "_selected_action": [str(hold.pk)]}
    counsel.post(reverse("admin:conversations_legalhold_changelist"), action)
    hold.refresh_from_db()
    assert hold.ended_by == "counsel"
    release.release_due()
    storage.remove_due(timezone.now())
    assert not storage.storage().exists(file.place)
    assert counsel.post(page_url("legalhold", hold.pk, "delete"), {"post": "yes"}).status_code == 403
