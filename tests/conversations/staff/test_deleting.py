"""A delete in the admin goes through the one door and says beforehand what it takes along."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.accounts.tokens import issue
from conversations.models import ContextBlock, ContextSnapshot, Message, Reply, Thread
from conversations.staff.threads import ThreadAdmin
from conversations.threads import deletion
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_file, make_reply, make_snapshot, make_thread, make_user
from tests.conversations.staff.conftest import SignIn, StaffReader, list_url, page_url

pytestmark = pytest.mark.django_db

CONFIRMED = {"post": "yes"}


def rows() -> list[int]:
    tables = [Thread.objects, Message.objects, Reply.objects, ContextSnapshot.objects]
    return [table.count() for table in tables]


def summary(page: str) -> list[str]:
    return re.findall(r"<li>([A-Z][^<]*: \d+)</li>", page)


def user_url(user: User, page: str) -> str:
    return f"/admin/auth/user/{user.pk}/{page}/"


def test_deleting_a_thread_takes_all_of_it_and_nothing_else(staff: StaffReader) -> None:
    thread, other = make_thread(turns=["Hello?"]), make_thread(turns=["Mine"])
    make_snapshot(thread)
    make_snapshot(other)
    staff.post(page_url("thread", thread.pk, "delete"), CONFIRMED)
    assert rows() == [1, 1, 1, 1]
    assert Thread.objects.get() == other
    assert not ContextBlock.objects.filter(thread=thread.pk).exists()


def test_the_question_counts_what_goes_and_loads_none_of_it(staff: StaffReader) -> None:
    thread = make_thread(turns=["text"] * 301)
    make_snapshot(thread)
    make_artifact(thread)
    make_file(thread.user, thread=thread)
    with CaptureQueriesContext(connection) as queries:
        page = staff.read(page_url("thread", thread.pk, "delete")).text
    assert summary(page) == ["Threads: 1", "Turns: 301", "Replies: 1", "Artifacts: 1", "Files: 1", "Model requests: 1"]
    loaded = [q["sql"] for q in queries if "conversations_message" in q["sql"] and "COUNT(" not in q["sql"]]
    assert loaded == []


def test_several_threads_are_deleted_together(staff: StaffReader) -> None:
    threads = [make_thread(turns=["Hello?"]) for _ in range(3)]
    action = {"action": "delete_selected", "_selected_action": [str(thread.pk) for thread in threads[:2]]}
    assert summary(staff.post(list_url("thread"), action).text) == [
        "Threads: 2",
        "Turns: 2",
        "Replies: 0",
        "Artifacts: 0",
        "Files: 0",
        "Model requests: 0",
    ]
    assert staff.post(list_url("thread"), action | CONFIRMED, follow=True).status_code == 200
    assert list(Thread.objects.all()) == [threads[2]]


def test_staff_who_may_only_view_delete_nothing(signed_in: SignIn) -> None:
    thread = make_thread(turns=["Hello?"])
    client = signed_in("view_thread")
    action = {"action": "delete_selected", "_selected_action": [str(thread.pk)], **CONFIRMED}
    client.post(list_url("thread"), action)
    assert client.post(page_url("thread", thread.pk, "delete"), CONFIRMED).status_code == 403
    assert rows()[:2] == [1, 1]


def test_a_thread_whose_reply_is_running_can_not_be_deleted(staff: StaffReader) -> None:
    thread = make_thread(turns=["Hello?"])
    make_reply(thread, status="running")
    page = staff.read(page_url("thread", thread.pk, "delete")).text
    staff.post(page_url("thread", thread.pk, "delete"), CONFIRMED)
    assert "stop it first, then delete" in page
    assert rows()[:3] == [1, 1, 1]


def test_a_reply_that_starts_after_the_question_stops_the_delete(
    staff: StaffReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = make_thread(turns=["Hello?"])
    make_reply(thread, status="running")
    nothing_runs: tuple[list[str], dict[str, int], set[str], list[str]] = ([], {}, set(), [])
    monkeypatch.setattr(ThreadAdmin, "get_deleted_objects", lambda self, objs, request: nothing_runs)
    one = staff.post(page_url("thread", thread.pk, "delete"), CONFIRMED, follow=True)
    action = {"action": "delete_selected", "_selected_action": [str(thread.pk)], **CONFIRMED}
    several = staff.post(list_url("thread"), action, follow=True)
    words = "A reply is still running in this thread. Stop it first, then delete."
    assert [words in one.text, words in several.text] == [True, True]
    assert (rows()[:3], LogEntry.objects.count()) == ([1, 1, 1], 0)


def test_the_log_names_a_deleted_thread_by_its_id_and_not_by_its_title(staff: StaffReader, root: User) -> None:
    thread = make_thread(turns=["Hello?"], title="My illness")
    staff.post(page_url("thread", thread.pk, "delete"), CONFIRMED)
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_repr, entry.object_id) == (root, f"thread {thread.pk}", str(thread.pk))


def test_deleting_a_user_takes_their_threads_and_tokens(staff: StaffReader) -> None:
    user = make_user()
    issue(user=user, name="script")
    make_snapshot(make_thread(user, ["Hello?"]))
    make_snapshot(make_thread(turns=["Mine"]))
    page = staff.get(user_url(user, "delete")).text
    staff.post(user_url(user, "delete"), CONFIRMED)
    assert summary(page) == [
        "Users: 1",
        "Threads: 1",
        "Turns: 1",
        "Replies: 1",
        "Artifacts: 0",
        "Files: 0",
        "Model requests: 1",
        "API tokens: 1",
    ]
    assert not User.objects.filter(pk=user.pk).exists()
    assert rows() == [1, 1, 1, 1]


def test_several_users_are_deleted_together(staff: StaffReader, root: User) -> None:
    users = [make_thread(turns=["Hello?"]).user for _ in range(2)]
    action = {"action": "delete_selected", "_selected_action": [str(user.pk) for user in users], **CONFIRMED}
    staff.post("/admin/auth/user/", action)
    assert list(User.objects.all()) == [root]
    assert rows()[:2] == [0, 0]


def test_who_may_not_delete_threads_may_not_delete_a_user_who_has_some(signed_in: SignIn) -> None:
    client = signed_in("view_user", "change_user", "delete_user")
    writer, silent = make_thread(turns=["Hello?"]).user, make_user()
    refused = client.post(user_url(writer, "delete"), CONFIRMED)
    client.post(user_url(silent, "delete"), CONFIRMED)
    assert refused.status_code == 403
    assert User.objects.filter(pk__in=[writer.pk, silent.pk]).get() == writer


def test_the_door_is_shut_again_after_a_delete(staff: StaffReader) -> None:
    kept = make_thread(turns=["Hello?"])
    deletion.delete_thread(make_thread(turns=["Gone"]))
    with pytest.raises(Exception, match="stay as they are"):
        Message.objects.filter(thread=kept).delete()
