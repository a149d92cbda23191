"""Support's queue of feedback: masked as everything is, unless the person shows the conversation; each look is on record."""

import json

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from conversations.accounts import groups, tokens
from conversations.models import ContentAccess, Feedback
from conversations.runtime import clock
from tests.conversations.factories import make_feedback, make_snapshot, make_thread, make_user

pytestmark = pytest.mark.django_db

SAID, TOLD = "zqsaidvix", "zqtoldvix"


@pytest.fixture
def support() -> User:
    groups.make_groups(using="default")
    user = make_user("kim", is_staff=True)
    user.groups.set(Group.objects.filter(name="Support"))
    return user


@pytest.fixture
def staff(support: User, client: Client) -> Client:
    client.force_login(support)
    return client


@pytest.fixture
def feedback(user: User) -> Feedback:
    thread = make_thread(user, [f"Is there a {TOLD}?", "Yes.", "When?", "At nine."])
    make_snapshot(thread)
    return make_feedback(thread.messages.get(position=4), reason="made_up", text=SAID, request=make_snapshot(thread))


def page_of(feedback: Feedback, name: str = "feedback") -> str:
    pk = feedback.pk if name == "feedback" else feedback.thread_id
    return reverse(f"admin:conversations_{name}_change", args=[pk])


def test_what_is_not_shown_is_masked_on_each_page_and_in_each_export(staff: Client, feedback: Feedback) -> None:
    listed = reverse("admin:conversations_feedback_changelist")
    exports = [reverse(f"admin:conversations_feedback_{kind}") for kind in ("csv", "jsonl")]
    pages = [listed, *exports, page_of(feedback), page_of(feedback, "thread"), "/api/v1/feedback/"]
    for page in pages:
        answer = staff.get(page)
        assert answer.status_code == 200, page
        assert SAID not in answer.content.decode(), page
        assert TOLD not in answer.content.decode(), page
    assert not ContentAccess.objects.exists()
    row = json.loads(staff.get(exports[1]).content)
    assert (row["reason"], row["text"], row["state"], row["request"]) == (
        *("made_up", None, "new"),
        str(feedback.request_id),
    )


def test_what_a_person_shows_is_read_without_another_reason_until_it_is_taken_back(
    staff: Client, support: User, feedback: Feedback
) -> None:
    Feedback.objects.update(shown_since=clock.now())
    other = make_thread(feedback.thread.user, [f"Another {TOLD}."])
    assert SAID in staff.get(page_of(feedback)).content.decode()
    assert TOLD in staff.get(page_of(feedback, "thread")).content.decode()
    assert TOLD not in staff.get(reverse("admin:conversations_thread_change", args=[other.pk])).content.decode()
    assert staff.get("/api/v1/feedback/?state=new").json()["results"][0]["text"] == SAID
    looks = ContentAccess.objects.order_by("id").values_list("staff_name", "what", "thread_id", "reason")
    why = "You show this conversation to support."
    assert list(looks) == [("kim", what, feedback.thread_id, why) for what in ("feedback", "thread", "feedback")]

    Feedback.objects.update(shown_since=None)
    assert SAID not in staff.get(page_of(feedback)).content.decode()
    assert TOLD not in staff.get(page_of(feedback, "thread")).content.decode()


def test_support_works_through_the_queue_and_changes_nothing_that_a_person_said(
    staff: Client, support: User, feedback: Feedback
) -> None:
    saved = {"state": "done", "assignee": support.pk, "notes": "Prompt mended.", "text": "Other words", "value": 1}
    assert staff.post(page_of(feedback), saved).status_code == 302
    row = Feedback.objects.get()
    assert (row.state, row.assignee_id, row.notes) == ("done", support.pk, "Prompt mended.")
    assert (row.text, row.value) == (SAID, -1)
    listed = reverse("admin:conversations_feedback_changelist")
    assert staff.post(listed, {"action": "take", "_selected_action": [row.pk]}).status_code == 302
    assert Feedback.objects.get().state == "in_work"
    assert str(row.pk) in staff.get(f"{listed}?assignee=me").content.decode()
    overview = staff.get(reverse("admin:conversations_contextsnapshot_overview")).content.decode()
    assert "What people said of replies" in overview


def test_staff_without_the_right_see_no_queue(user: User, feedback: Feedback, client: Client) -> None:
    groups.make_groups(using="default")
    client.force_login(make_user("lee", is_staff=True))
    assert client.get(reverse("admin:conversations_feedback_changelist")).status_code == 403
    assert client.get("/api/v1/feedback/").json()["error"]["code"] == "permission_denied"
    token = tokens.issue(user=user, name="x")
    assert client.get("/api/v1/feedback/", headers={"Authorization": f"Token {token}"}).status_code == 403
