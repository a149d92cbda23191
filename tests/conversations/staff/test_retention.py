"""A rule is stored once staff have seen what it deletes; the person is told for how long what is kept."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.holds import actions
from conversations.holds.actions import HoldSubject
from conversations.models import RetentionRule, Thread
from conversations.runtime.db import in_database
from conversations.threads import projects
from tests.conversations.factories import make_thread, make_user
from tests.conversations.rest.client import Api
from tests.conversations.staff.conftest import StaffReader, page_url

ADD = "admin:conversations_retentionrule_add"


@pytest.mark.django_db
def test_a_rule_is_stored_once_what_it_deletes_was_seen(user: User, staff: StaffReader) -> None:
    interns = Group.objects.create(name="Interns")
    held = make_user("held")
    for each in (user, held):
        each.groups.add(interns)
    threads = [make_thread(of, ["Hello?"]) for of in (user, user, user, held, make_user())]
    Thread.objects.update(updated_at=timezone.now() - timedelta(days=60))
    Thread.objects.filter(id=threads[0].id).update(pinned=True)
    actions.begin(HoldSubject(user=held), reason="A lawsuit", by="root")
    values = {"kind": "threads", "group": interns.pk, "project": "", "days": 30, "note": "By the works council"}
    seen = staff.post(reverse(ADD), values)
    preview = seen.context["preview"]
    assert (preview.goes.count, preview.along["turns"], preview.pinned, preview.held) == (2, 2, 1, 1)
    assert preview.goes.oldest <= preview.newest
    assert ("days", "30") in seen.context["sent"]
    assert not RetentionRule.objects.exists()
    assert staff.post(reverse(ADD), values | {"_seen": "1"}).status_code == 302
    rule = RetentionRule.objects.get()
    assert (rule.group, rule.days) == (interns, 30)
    again = staff.post(page_url("retentionrule", rule.pk), values | {"days": 90})
    assert (again.context["preview"].goes.count, RetentionRule.objects.get().days) == (0, 30)
    for_good = RetentionRule.objects.create(kind="threads", days=10)
    assert "3 more rows go" not in staff.get(page_url("retentionrule", rule.pk, "delete")).text
    RetentionRule.objects.filter(pk=rule.pk).update(days=0)
    assert "2 more rows go at once" in staff.get(page_url("retentionrule", rule.pk, "delete")).text
    assert for_good.days == 10


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"kind": "accesses", "days": 3, "group": "Interns"}, "These go in whole days or months"),
        (
            {"kind": "threads", "days": 3, "group": "Interns", "project": "theirs"},
            "A rule is for a group or for a project",
        ),
        ({"kind": "threads", "days": 100_000}, "“retention_rule_days” is violated"),
    ],
)
def test_a_rule_that_can_not_be_says_why(
    values: dict[str, object], problem: str, user: User, staff: StaffReader
) -> None:
    group, project = Group.objects.create(name="Interns"), projects.create(user, name="p")
    ids = {"Interns": group.pk, "theirs": project.pk}
    answer = staff.post(reverse(ADD), {name: ids.get(str(value), value) for name, value in values.items()})
    assert problem in answer.text
    assert not RetentionRule.objects.exists()


@pytest.mark.django_db
def test_the_account_page_tells_where_a_limit_applies(user: User, client: Client) -> None:
    client.force_login(user)
    page = reverse("account")
    assert "How long it is kept" not in client.get(page).text
    group = Group.objects.create(name="Interns")
    user.groups.add(group)
    RetentionRule.objects.create(kind="threads", group=group, days=90)
    RetentionRule.objects.create(kind="threads", project=projects.create(user, name="Taxes"), days=0)
    text = client.get(page).text
    assert "Conversations are kept for 90 days after their last message" in text
    assert "Those of the project “Taxes” are kept for good." in text
    assert "A legal hold lasts" not in text
    actions.begin(HoldSubject(user=user), reason="A lawsuit", by="root")
    text = client.get(page).text
    assert "A legal hold lasts" in text
    assert "A lawsuit" not in text


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("tells_reason", [False, True])
async def test_every_way_to_delete_says_that_a_copy_is_kept(user: User, tells_reason: bool) -> None:
    api = await in_database(Api)(user)

    def made() -> tuple[uuid.UUID, uuid.UUID, uuid.UUID]:
        thread = make_thread(user, ["One.", "Two."])
        return thread.id, thread.messages.get(position=1).id, projects.create(user, name="p").id

    thread, turn, project = await in_database(made)()
    await in_database(actions.begin)(HoldSubject(user=user), reason="A lawsuit", by="root", tells_reason=tells_reason)
    told = [
        await api.get(f"messages/{turn}/forgetting/"),
        await api.get(f"threads/{thread}/clearing/"),
        await api.call("DELETE", f"messages/{turn}/"),
        await api.call("DELETE", f"threads/{thread}/"),
        await api.call("DELETE", f"projects/{project}/"),
    ]
    assert [each.status for each in told] == [200] * 5
    for each in told:
        assert "is kept until a legal hold ends" in each.body["held"]
        assert ("A lawsuit" in each.body["held"]) == tells_reason
