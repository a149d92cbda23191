"""Who is shown what, on every page of the admin: nothing that people wrote without a reason and a record of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DatabaseError, connection, models, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone

from conversations.accounts.groups import DIRECTORY, GROUPS
from conversations.models import ContentAccess
from conversations.staff import access
from conversations.threads import deletion
from tests.belongings import NEEDLE, Row, belongings, looked
from tests.conversations.factories import make_thread, make_user
from tests.conversations.staff.conftest import REASON, StaffReader, list_url, page_url

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return make_user("grace", id=1_234_567)


@pytest.fixture
def rows(person: User) -> Row:
    return belongings(person)


@dataclass(frozen=True, kw_only=True)
class Role:
    permissions: frozenset[tuple[str, str]] = frozenset()
    is_staff: bool = True
    is_superuser: bool = False
    gave_a_reason: bool = False

    def browser(self) -> StaffReader:
        who = make_user(is_staff=self.is_staff, is_superuser=self.is_superuser)
        who.groups.set(Group.objects.filter(name__in=[name for name in GROUPS if GROUPS[name] == self.permissions]))
        client = StaffReader()
        client.force_login(who)
        return client.opened() if self.gave_a_reason else client

    def may(self, action: str, model: str) -> bool:
        app, _, name = model.rpartition("_")
        return self.is_superuser or (app, f"{action}_{name}") in self.permissions


SUPPORT, LEAD = (frozenset(GROUPS[name]) for name in ("Support", "Support lead"))
ROLES = {
    "user": Role(is_staff=False),
    "staff": Role(),
    "support": Role(permissions=SUPPORT),
    "lead": Role(permissions=LEAD),
    "lead with a reason": Role(permissions=LEAD, gave_a_reason=True),
    "auditor": Role(permissions=frozenset(GROUPS["Auditors"])),
    "directory": Role(permissions=frozenset(GROUPS[DIRECTORY])),
    "legal": Role(permissions=frozenset(GROUPS["Legal"])),
    "superuser": Role(is_superuser=True),
}
DJANGOS_OWN = {"login", "logout", "password_change", "password_change_done", "autocomplete", "jsi18n", "view_on_site"}
"""Pages that show no row."""
EDITED = {
    "auth_group",
    "auth_user",
    "conversations_assistant",
    "conversations_budget",
    "conversations_connection",
    "conversations_legalhold",
    "conversations_model",
    "conversations_replay",
    "conversations_retentionrule",
    "conversations_serviceaccount",
    "conversations_moderator",
    "conversations_notice",
    "conversations_banner",
    "conversations_dataset",
    "conversations_experiment",
    "conversations_sharedprompt",
    "artifacts_preset",
    "socialaccount_socialapp",
}
KEPT = {
    "conversations_assistant",
    "conversations_serviceaccount",
    "conversations_legalhold",
    "conversations_replay",
} | {"conversations_experiment"}
"""The default assistant stays, and that there was a hold, a replay or an experiment."""
DELETED = EDITED - KEPT | {"conversations_thread"}
ACTIONS = {"changelist": "view", "change": "view", "history": "view", "add": "add", "delete": "delete"}
INSPECTED = {
    "conversations_contextsnapshot": {"overview", "compare", "what_if", "prove"},
    "conversations_thread": {"live", "live_events", "map", "why"},
    "conversations_message": {"why", "uses"},
    "conversations_file": {"uses"},
    "memory_memory": {"uses"},
    "auth_user": {"added"},
    "conversations_feedback": {"csv", "jsonl"},
    "conversations_auditevent": {"download"},
    "conversations_assistant": {"versions"},
    "conversations_notice": {"preview"},
    "conversations_replay": {"report", "junit"},
    "conversations_experiment": {"case"},
}
"""Pages beside Django's own, of which every one takes the permission to view the rows."""
READ = {
    "conversations_thread": "thread",
    "conversations_message": "message",
    "conversations_reply": "reply",
    "conversations_contextsnapshot": "model request",
    "artifacts_artifact": "artifact",
    "memory_memory": "memory",
    "memory_threadsummary": "thread summary",
    "memory_dailysummary": "daily summary",
    "memory_topic": "topic",
    "conversations_file": "file",
    "conversations_feedback": "feedback",
    "conversations_project": "project",
    "conversations_mcpcall": "tool call",
}
WHY, STREAM = "conversations_message_why", "conversations_thread_live_events"
THREADS = "conversations_thread_changelist"
ADDED = "auth_user_added"
"""It tells of a person's model requests."""
IN_NO_THREAD = {"memory_memory", "memory_dailysummary", "conversations_file", "conversations_project"}
QUEUE = {"conversations_feedback_csv", "conversations_feedback_jsonl"}
DOWNLOAD = "conversations_contextsnapshot_request"
OK, SIGN_IN, TO_ITS_PAGE, REFUSED, NOT_FOUND, NOT_SO = 200, 302, 302, 403, 404, 405
ANSWERED = {"conversations_thread_why": TO_ITS_PAGE, "conversations_experiment_case": NOT_FOUND}
"""No case has the id that is asked for; test_answers.py reads one."""


def named_patterns(patterns: Iterable[URLPattern | URLResolver]) -> Iterator[tuple[str, int]]:
    """The names of all pages, each with the number of its arguments."""
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from named_patterns(each.url_patterns)
        elif each.name and each.name not in DJANGOS_OWN:
            yield each.name, each.pattern.regex.groups


def pages(rows: Row) -> dict[str, str]:
    """The address of every page of the admin, by its name."""
    found = {}
    for name, arguments in named_patterns(admin.site.get_urls()):
        model = next((model for model in rows if name.startswith(f"{model}_")), "")
        given = "conversations" if name == "app_list" else rows.get(model)
        found[name] = reverse(f"admin:{name}", args=[given] * arguments)
    return found


def expected(name: str, role: Role) -> int:
    """What a page answers. A page that isn't known here has no right to exist."""
    if not role.is_staff:
        return SIGN_IN
    match name:
        case "index":
            return OK
        case "app_list":
            return OK if role.is_superuser or "conversations" in {app for app, _ in role.permissions} else 404
        case (
            "conversations_contentaccess_open"
            | "conversations_contentaccess_mask"
            | "conversations_connection_test"
            | "conversations_connection_models"
            | "conversations_lintfinding_look"
        ):
            return NOT_SO
        case "conversations_serviceaccount_token" | "conversations_moderator_try" | "auth_user_password_change":
            return OK if role.may("change", "_".join(name.split("_")[:2])) else REFUSED
        case _ if name == DOWNLOAD:
            return OK if role.gave_a_reason and role.permissions == LEAD else REFUSED
    for model, own in INSPECTED.items():
        if name.removeprefix(f"{model}_") in own:
            allowed = ANSWERED.get(name, OK)
            seen = {model, "conversations_contextsnapshot"} if name == ADDED else {model}
            return allowed if all(role.may("view", each) for each in seen) else REFUSED
    model, _, page = name.rpartition("_")
    if page == "bytes":  # without a reason, or without the right; test_holds.py reads them
        return REFUSED
    deleted = (
        DELETED if role.is_superuser else DELETED - {"auth_group"}
    )  # of Support, who may more than others that delete
    offered = {"add": EDITED, "delete": deleted}.get(page)
    return OK if role.may(ACTIONS[page], model) and (offered is None or model in offered) else REFUSED


@pytest.mark.once("support")
@pytest.mark.parametrize("name", [name for name in ROLES if name != "lead"])
def test_every_page_shows_each_role_what_is_meant_for_it(name: str, rows: Row, person: User) -> None:
    role, urls = ROLES[name], pages(rows)
    if expected(STREAM, role) == OK:
        del urls[STREAM]  # it gives its connection back, and with it this test's transaction; test_live.py reads it
    browser, before = role.browser(), ContentAccess.objects.count()
    answers = {name: browser.get(url) for name, url in urls.items()}
    reads = role.gave_a_reason and role.permissions == LEAD
    assert {name: answer.status_code for name, answer in answers.items()} == {
        name: expected(name, role) for name in urls
    }
    shown = {name for name, answer in answers.items() if NEEDLE in answer.text}
    assert shown == ({DOWNLOAD, *QUEUE, WHY, THREADS, *(f"{model}_change" for model in READ)} if reads else set())
    records = ContentAccess.objects.order_by("id")[before:]
    told = {(each.action, each.what, each.object_id, each.thread_id is None) for each in records}
    exported = {("export", "exact request", str(rows["conversations_contextsnapshot"]), False)}
    exported.add(("export", "feedback", str(rows["conversations_feedback"]), False))
    read = {("read", what, str(rows[model]), model in IN_NO_THREAD) for model, what in READ.items()}
    read.add(("read", "titles of threads", str(person.pk), True))
    read.add(("read", "why of a turn", str(rows["conversations_message"]), False))
    read.add(("read", "proof", str(rows["conversations_contextsnapshot"]), False))
    assert told == (read | exported if reads else set())
    assert len(records) == len(told) + reads  # the queue is downloaded in two forms
    assert {(each.user_id, each.reason) for each in records} == ({(person.pk, REASON)} if reads else set())


@pytest.mark.wide
def test_nobody_comes_in_unsigned(rows: Row) -> None:
    urls = pages(rows)
    assert {name: Client().get(url).status_code for name, url in urls.items()} == dict.fromkeys(urls, SIGN_IN)


def columns(rows: Row) -> dict[tuple[str, str], bool]:
    """Every column of the masked rows that could hold a text, by model and name, and whether it holds the needle."""
    masked = [apps.get_model(name.replace("_", ".")) for name in READ if name != "conversations_contextsnapshot"]
    texts = (models.CharField, models.TextField, models.JSONField)
    return {
        (str(model._meta.model_name), each.name): model._default_manager.filter(
            pk=rows[model._meta.label_lower.replace(".", "_")], **{f"{each.name}__icontains": NEEDLE}
        ).exists()
        for model in masked
        for each in model._meta.concrete_fields
        if isinstance(each, texts) and not each.choices
    }


def test_no_column_of_content_is_forgotten_by_these_tests(rows: Row) -> None:
    assert {column for column, has_needle in columns(rows).items() if not has_needle} == {
        *(("thread", name) for name in ("opened_by", "model")),
        *(("reply", name) for name in ("owner", "preset", "client_id", "request_id", "stop_reason", "usage", "model")),
        ("artifact", "preset"),
        ("project", "model"),
        *(("mcpcall", name) for name in ("call_id", "tool_digest", "input_digest")),
        *(("feedback", name) for name in ("provider", "model", "notes")),
        ("threadsummary", "made_by"),
        *(("file", name) for name in ("kind", "media_type", "place", "thumbnail")),
    }


def test_masked_texts_can_not_be_guessed_by_filtering_searching_or_sorting(rows: Row, staff: StaffReader) -> None:
    written = [column for column, has_needle in columns(rows).items() if has_needle]
    asked = [(model, f"{name}__startswith") for model, name in written]
    asked += [("artifact", "newest__content__startswith"), ("reply", "thread__title__startswith"), ("thread", "title")]
    statuses = {each: staff.get(list_url(each[0], **{each[1]: NEEDLE})).status_code for each in asked}
    assert statuses == dict.fromkeys(asked, 400)
    for model in {model for model, _ in written}:
        shown = staff.get(list_url(model, q=NEEDLE)).context["cl"]
        columns_ = [shown.get_ordering_field(name) for name in shown.list_display]
        assert (shown.result_count, {name for of, name in written if of == model} & {*columns_}) == (0, set())


@pytest.fixture
def lead() -> StaffReader:
    return ROLES["lead"].browser()


def open_content(client: Client, user: User, **asked: str) -> Any:
    given = {"user": user.pk, "reason": REASON, "next": "/admin/"} | asked
    return client.post(reverse("admin:conversations_contentaccess_open"), given)


def test_a_reason_opens_one_person_for_half_an_hour(lead: StaffReader, person: User) -> None:
    mine, others = make_thread(person, [NEEDLE]), make_thread(turns=[NEEDLE])

    def shown() -> list[bool]:
        return [NEEDLE in lead.get(page_url("thread", thread.pk)).text for thread in (mine, others)]

    with time_machine.travel(timezone.now(), tick=False) as clock:
        assert open_content(lead, person, next=page_url("thread", mine.pk)).url == page_url("thread", mine.pk)
        assert shown() == [True, False]
        clock.shift(access.OPEN_FOR - timedelta(seconds=1))
        assert shown() == [True, False]
        clock.shift(timedelta(seconds=1))
        assert shown() == [False, False]
    assert ContentAccess.objects.count() == 2


@pytest.mark.parametrize("ended_by", ["masking it", "signing out", "losing the permission"])
def test_a_reason_ends_with_what_it_rests_on(ended_by: str, person: User) -> None:
    client, thread = ROLES["lead"].browser(), make_thread(person, [NEEDLE])
    staff = User.objects.get(pk=client.session["_auth_user_id"])
    open_content(client, person)
    before = NEEDLE in client.get(page_url("thread", thread.pk)).text
    match ended_by:
        case "masking it":
            client.post(reverse("admin:conversations_contentaccess_mask"), {"user": person.pk})
        case "signing out":
            client.logout()
            client.force_login(staff)
        case _:
            staff.groups.set(Group.objects.filter(name="Support"))
    after = client.get(page_url("thread", thread.pk))
    assert (before, after.status_code, NEEDLE in after.text) == (True, 200, False)
    assert ContentAccess.objects.count() == 1


@pytest.mark.parametrize("reason", ["", "  \n "])
def test_who_gives_no_reason_is_told_to_and_shown_nothing(reason: str, lead: StaffReader, person: User) -> None:
    thread = make_thread(person, [NEEDLE])
    open_content(lead, person, reason=reason)
    page = lead.get(page_url("thread", thread.pk)).text
    assert ("Say why you need to read it." in page, NEEDLE in page) == (True, False)


def test_the_way_back_leads_to_no_other_site(lead: StaffReader, person: User) -> None:
    ways = ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""]
    assert [open_content(lead, person, next=way).url for way in ways] == ["/admin/"] * 4


def test_a_form_of_another_site_and_who_may_not_read_open_nothing(person: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("kim"))
    refused = [open_content(client, person).status_code for client in (strict, ROLES["support"].browser(), Client())]
    assert refused == [403, 403, 302]
    assert access.SESSION_KEY not in strict.session


BROKEN = {
    "a trigger that raises": [
        "CREATE FUNCTION pg_temp.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$",
        "CREATE TRIGGER fail BEFORE INSERT ON conversations_contentaccess FOR EACH ROW EXECUTE FUNCTION pg_temp.fail()",
    ],
    "no table": ["ALTER TABLE conversations_contentaccess RENAME TO gone"],
}


@pytest.mark.wide
@pytest.mark.parametrize("statements", BROKEN.values(), ids=BROKEN)
def test_without_a_record_there_is_no_view(statements: list[str], rows: Row, staff: StaffReader) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    urls = {name: url for name, url in pages(rows).items() if name.removesuffix("_change") in READ or name == DOWNLOAD}
    answers = {name: staff.read(url) for name, url in urls.items()}
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(urls, OK) | {
        DOWNLOAD: REFUSED
    }
    assert [name for name, answer in answers.items() if NEEDLE in answer.text] == []
    assert [name for name, answer in answers.items() if access.UNRECORDED not in answer.text] == []


@pytest.mark.parametrize(
    "statement", ["UPDATE {} SET reason = 'none'", "DELETE FROM {}", "TRUNCATE {}", "UPDATE {} SET user_id = 0"]
)
def test_who_looked_stays_on_record_whatever_opens_the_other_guards(statement: str, person: User) -> None:
    looked(person)
    refused = pytest.raises(DatabaseError, match="stays on record")
    with deletion.allow_deletion(), connection.cursor() as cursor, refused, transaction.atomic():
        cursor.execute(statement.format("conversations_contentaccess"))
    assert ContentAccess.objects.get().reason == "Ticket 7"


def test_a_record_outlives_the_person_and_the_staff(person: User, staff: StaffReader) -> None:
    looked(person)
    gone = person.pk
    deletion.delete_user(person)
    page = staff.get(list_url("contentaccess")).text
    assert (f"user {gone}, deleted since" in page, "kim" in page, "Ticket 7" in page) == (True, True, True)


def test_a_refused_download_says_what_to_do_and_is_offered_to_nobody_who_may_not(rows: Row, person: User) -> None:
    lead, support = ROLES["lead"].browser(), ROLES["support"].browser()
    url, page = pages(rows)[DOWNLOAD], page_url("contextsnapshot", rows["conversations_contextsnapshot"])
    assert (
        support.get(url).text
        == "To download it takes the permissions to read and to export content: ask a support lead.\n"
    )
    first = "To download it, first state on the page of the model request why you need it: "
    assert lead.get(url).text == f"{first}http://testserver{page}\n"
    reader = User.objects.get(pk=support.session["_auth_user_id"])
    reader.user_permissions.add(Permission.objects.get(codename="read_content"))
    offered = [f'href="{url}"' in client.read(page).text for client in (lead, support)]
    assert (offered, support.read(url).status_code) == ([True, False], REFUSED)


def rights_of(group: str) -> set[tuple[str, str]]:
    return {*Group.objects.get(name=group).permissions.values_list("content_type__app_label", "codename")}


def test_migrate_makes_missing_groups_and_gives_those_that_there_are_what_is_new() -> None:
    Group.objects.get(name="Support lead").delete()
    support = Group.objects.get(name="Support")
    support.permissions.set(Permission.objects.filter(codename__in=["view_thread", "view_tokenfactor"]))
    Permission.objects.filter(codename__in=["view_connection", "read_content"]).delete()  # as before there were any
    ContentType.objects.clear_cache()
    call_command("migrate", verbosity=0)
    assert rights_of("Support lead") == LEAD
    changed = {("conversations", f"view_{name}") for name in ("thread", "tokenfactor", "connection")}
    assert rights_of("Support") == changed
    support.permissions.remove(Permission.objects.get(codename="view_connection"))
    call_command("migrate", verbosity=0)
    assert rights_of("Support") == changed - {("conversations", "view_connection")}


def test_no_title_gets_into_the_log_of_what_staff_did(rows: Row, staff: StaffReader) -> None:
    staff.post(page_url("thread", rows["conversations_thread"], "delete"), {"post": "yes"})
    staff.post(f"/admin/auth/user/{rows['auth_user']}/delete/", {"post": "yes"})
    assert LogEntry.objects.count() == 2
    assert NEEDLE not in staff.get("/admin/").text
