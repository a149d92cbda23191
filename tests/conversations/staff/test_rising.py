"""What each permission leads to by itself: nobody of the staff becomes more than they are, takes over who may more, or is
shown what people wrote without a record of it."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.cache import SessionStore
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.http import Http404, QueryDict
from django.test import Client, RequestFactory
from django.urls import resolve, reverse
from django.utils import timezone

from conversations.accounts import tokens
from conversations.errors import OpenbookError
from conversations.models import ApiToken, Connection, ContentAccess
from conversations.staff import access
from tests.belongings import NEEDLE, belongings
from tests.conversations.factories import make_user
from tests.conversations.staff.conftest import REASON
from tests.conversations.staff.test_access import STREAM, pages

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"


@dataclass(frozen=True, kw_only=True)
class Account:
    """What of an account decides who may be it, and what it may."""

    name: str
    password: str
    mail: str
    flags: tuple[bool, bool, bool]
    rights: frozenset[int]
    tokens: frozenset[tuple[int, bool]]


def accounts() -> dict[int, Account]:
    return {
        user.pk: Account(
            name=user.username,
            password=user.password,
            mail=user.email,
            flags=(user.is_active, user.is_staff, user.is_superuser),
            rights=frozenset(
                [
                    *user.user_permissions.values_list("pk", flat=True),
                    *user.groups.filter(permissions__isnull=False).values_list("permissions", flat=True),
                ]
            ),
            tokens=frozenset((token.pk, token.revoked_at is None) for token in user.api_tokens.all()),
        )
        for user in User.objects.prefetch_related("api_tokens")
    }


@dataclass(frozen=True, kw_only=True)
class People:
    root: User
    lead: User
    asleep: User
    person: User

    @property
    def above(self) -> list[User]:
        """Who may more than somebody with any one permission, now or when they are made active and staff."""
        return [self.root, self.lead, self.asleep]


@pytest.fixture
def people() -> People:
    every = Permission.objects.all()
    root, lead = make_user("root", is_superuser=True, is_staff=True, email="root@x.example"), make_user("lead")
    lead.user_permissions.set(every)
    asleep = make_user("asleep", is_active=False)
    asleep.groups.set([group := Group.objects.create(name="Everything")])
    group.permissions.set(every)
    for user in (root, lead, asleep):
        tokens.issue(user=user, name="program")
    return People(root=root, lead=lead, asleep=asleep, person=make_user("grace"))


def tampered(staff: User) -> dict[str, Any]:
    """All fields at once with which a form could be told to give more than its page offers."""
    everything = [*Permission.objects.values_list("pk", flat=True)]
    return {
        "username": "mallory",
        "name": "Support lead",
        "email": "mallory@x.example",
        "post": "yes",
        **dict.fromkeys(("is_active", "is_staff", "is_superuser"), "on"),
        "groups": [*Group.objects.values_list("pk", flat=True)],
        "user_permissions": everything,
        "permissions": everything,
        "password": PASSWORD,
        "usable_password": "true",
        "password1": PASSWORD,
        "password2": PASSWORD,
        "scopes": ["read", "write"],
        "days": 3,
        "date_joined_0": "2026-11-01",
        "date_joined_1": "10:00:00",
        "reason": REASON,
        "limits-TOTAL_FORMS": 1,
        "limits-INITIAL_FORMS": 0,
        "limits-0-tokens_day": 7,
        "user": staff.pk,
    }


@cache
def view_of(path: str) -> Any:
    return resolve(path)


def visit(staff: User, method: str, path: str, form: QueryDict, session: SessionBase) -> str | None:
    """The answer's text; ``None`` where it is refused. Without middleware, which has no say in who may what."""
    request: Any = RequestFactory().generic(method, path)
    request.user, request.session = staff, session
    request.POST = form if method == "POST" else QueryDict()
    request._messages = CookieStorage(request)
    request._dont_enforce_csrf_checks, request._csp_nonce = True, ""
    request.resolver_match = match = view_of(path)
    try:
        with transaction.atomic() if method == "POST" else nullcontext():
            response = match.func(request, *match.args, **match.kwargs)
            if hasattr(response, "render"):
                response.render()
    except (PermissionDenied, Http404, BadRequest, OpenbookError):
        return None
    if response.status_code in (403, 404, 405):
        return None
    return "" if response.streaming else str(response.content.decode())


def with_reasons() -> SessionBase:
    """That of somebody who has stated a reason to read what anybody wrote."""
    session, until = SessionStore(), timezone.now() + access.OPEN_FOR
    session[access.SESSION_KEY] = {str(user.pk): [REASON, until.timestamp()] for user in User.objects.all()}
    return session


def form_of(values: dict[str, Any]) -> QueryDict:
    form = QueryDict(mutable=True)
    for name, value in values.items():
        form.setlist(name, [str(each) for each in (value if isinstance(value, list) else [value])])
    return form


def account_pages(people: People) -> list[str]:
    """What could change an account, a group or a token: of everybody there is, and of oneself."""
    found = [reverse(f"admin:{label}_add") for label in ("auth_user", "auth_group", "conversations_apitoken")]
    for user in User.objects.all():
        found += [
            reverse(f"admin:auth_user_{page}", args=[user.pk]) for page in ("change", "delete", "password_change")
        ]
    for group in Group.objects.all():
        found += [reverse(f"admin:auth_group_{page}", args=[group.pk]) for page in ("change", "delete")]
    for token in people.root.api_tokens.all():
        found += [reverse(f"admin:conversations_apitoken_{page}", args=[token.pk]) for page in ("change", "delete")]
    return found


def account_actions() -> Iterator[tuple[str, QueryDict]]:
    """Every action of their lists, on each row."""
    for model in (User, Group, ApiToken):
        its = admin.site._registry[model]
        label = model._meta.label_lower.replace(".", "_")
        for name in {"delete_selected", *(getattr(each, "__name__", each) for each in its.actions or ())}:
            for pk in model._default_manager.values_list("pk", flat=True):
                body = {"action": name, "_selected_action": [pk], "index": 0, "post": "yes"}
                yield reverse(f"admin:{label}_changelist"), form_of(body)


def alone(permissions: list[Permission]) -> User:
    user = make_user("mallory_" + "".join(str(each.pk) for each in permissions)[:100], is_staff=True)
    user.user_permissions.set(permissions)
    return User.objects.get(pk=user.pk)


def risen(before: dict[int, Account], after: dict[int, Account], staff: User, above: set[int]) -> list[str]:
    own = before[staff.pk]
    wrong = [f"{before[pk].name} changed" for pk in above if after.get(pk) != before[pk]]
    for pk, account in after.items():
        was = before.get(pk)
        if account.flags[2] and not (was and was.flags[2]):
            wrong.append(f"{account.name} is a superuser")
        if account.rights - own.rights - (was.rights if was else frozenset()):
            wrong.append(f"{account.name} got rights that {own.name} doesn't have")
        if account.tokens - (was.tokens if was else frozenset()):
            wrong.append(f"{account.name} got a token")
    return wrong


def contents() -> dict[int, set[int]]:
    return {group.pk: {*group.permissions.values_list("pk", flat=True)} for group in Group.objects.all()}


OF_ACCOUNTS = Q(content_type__app_label="auth") | Q(content_type__model__in=["apitoken", "userlimits", "contentaccess"])


@pytest.mark.wide
def test_no_permission_leads_to_more_than_it_says(people: People) -> None:
    """Each that has to do with accounts alone, on each of their pages and actions."""
    wrong, opened = [], 0
    for permission in Permission.objects.filter(OF_ACCOUNTS):
        with transaction.atomic():
            staff, session = alone([permission]), with_reasons()
            before, groups, body = accounts(), contents(), form_of(tampered(staff))
            calls = [("POST", path, body) for path in account_pages(people)]
            calls += [("POST", *each) for each in account_actions()]
            opened += sum(visit(staff, *call, session) is not None for call in calls)
            found = risen(before, accounts(), staff, {user.pk for user in people.above})
            found += [
                f"group {pk}" for pk, held in contents().items() if held - groups.get(pk, set()) - {permission.pk}
            ]
            wrong += [(permission.codename, each) for each in found]
            transaction.set_rollback(True)
    assert wrong == []
    assert opened > 20  # else it would prove nothing


def test_all_other_permissions_together_open_no_page_of_an_account(people: People) -> None:
    """So none of them does alone."""
    staff, session = alone([*Permission.objects.exclude(OF_ACCOUNTS)]), with_reasons()
    body = form_of(tampered(staff))
    pages_ = [(method, path, body) for method in ("GET", "POST") for path in account_pages(people)]
    calls = [*pages_, *(("POST", *each) for each in account_actions())]
    answered = [call[:2] for call in calls if visit(staff, *call, session) is not None]
    assert answered == []


@pytest.mark.wide
def test_all_permissions_but_that_to_read_show_no_content(people: People) -> None:
    rows = belongings(people.person)
    Connection.objects.update(base_url="http://127.0.0.1:1")  # which is refused before anything is asked for
    staff, session = alone([*Permission.objects.exclude(codename="read_content")]), with_reasons()
    found = pages(rows)
    del found[STREAM]  # closes its connection
    paths = [*found.values(), reverse("admin:autocomplete")]
    texts = {path: visit(staff, "GET", path, QueryDict(), session) for path in paths}
    assert {path for path, text in texts.items() if text and NEEDLE in text} == set()
    assert sum(text is not None for text in texts.values()) > 50


def test_a_help_desk_still_helps_people_and_they_are_told(people: People) -> None:
    desk = alone([*Permission.objects.filter(codename__in=["change_user", "view_user"])])
    client, person = Client(), people.person
    client.force_login(desk)
    page = reverse("admin:auth_user_password_change", args=[person.pk])
    set_ = client.post(page, {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"})
    form = {
        "username": "grace",
        "email": "grace@x.example",
        "is_active": "on",
        "is_superuser": "on",
        "date_joined_0": "2026-11-01",
        "date_joined_1": "10:00:00",
        "user_permissions": [*Permission.objects.filter(codename="change_user").values_list("pk", flat=True)],
    }
    saved = client.post(reverse("admin:auth_user_change", args=[person.pk]), form)
    person.refresh_from_db()
    assert (set_.status_code, saved.status_code) == (302, 302)
    assert (person.check_password(PASSWORD), person.email, person.is_superuser) == (True, "grace@x.example", False)
    assert [each.codename for each in person.user_permissions.all()] == ["change_user"]
    told = ContentAccess.objects.filter(user_id=person.pk).order_by("id").values_list("action", "reason")
    assert list(told) == [
        ("signin", "Set a new password."),
        ("signin", "Changed the mail address, to which links for a new password go."),
    ]
    reader = Client()
    reader.force_login(person)
    assert "could sign in to your account" in " ".join(reader.get("/memory/").text.split())


def test_ones_own_password_is_changed_where_the_old_one_is_asked_for(people: People) -> None:
    client = Client()
    client.force_login(people.root)
    own = reverse("admin:auth_user_password_change", args=[people.root.pk])
    answer = client.post(own, {"password1": PASSWORD, "password2": PASSWORD})
    assert answer.headers["Location"] == "/accounts/password/change/"
