"""Accounts of programs: nobody signs in with one, staff who hold what it may make its tokens."""

import re
from io import StringIO

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group, Permission, User
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import Settings

from conversations.accounts import groups, letters, rights, service_accounts, tokens
from conversations.models import ApiToken, Scope
from conversations.web.account_adapter import AccountAdapter
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def service() -> User:
    groups.make_groups(using="default")
    user = service_accounts.make(
        username="directory", purpose="SCIM", groups=list(Group.objects.filter(name=groups.DIRECTORY))
    )
    return User.objects.get(pk=user.pk)


def test_no_door_lets_a_service_account_in(service: User, settings: Settings, mailoutbox: list[object]) -> None:
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    assert not service.has_usable_password()
    link = letters.password_link(service)
    # Even with all that a person signs in by: a password, an address, a link, a session.
    service.set_password(PASSWORD)
    service.email = "directory@book.example"
    service.save()
    EmailAddress.objects.create(user=service, email=service.email, verified=True, primary=True)
    client = Client()
    credentials = {"username": "directory", "password": PASSWORD}
    for address in ("/accounts/login/", "/admin/login/"):
        assert client.post(address, credentials).status_code == 200  # the form again
    api = client.post("/api/v1/auth/token/", credentials, content_type="application/json")
    client.post("/accounts/password/reset/", {"email": service.email})
    client.force_login(service)
    assert (api.status_code, mailoutbox, client.get("/").status_code) == (401, [], 302)
    assert Client().get(link, follow=True).status_code == 200
    refused = AccountAdapter().pre_login(
        RequestFactory().get("/"), service, email_verification="none", signal_kwargs=None, email=None, signup=False
    )
    assert refused is not None
    assert refused.headers["Location"] == reverse("account_inactive")


def test_staff_make_its_tokens_where_they_hold_what_it_may(service: User) -> None:
    page = reverse("admin:conversations_serviceaccount_token", args=[service.pk])
    form = {"name": "Entra", "scopes": ["scim"], "days": 300, "addresses": "192.0.2.0/24, 10.0.0.1"}
    less = make_user("less", is_staff=True)
    less.user_permissions.set(
        Permission.objects.filter(codename__in=("view_serviceaccount", "change_serviceaccount", "add_user"))
    )
    client = Client()
    client.force_login(less)
    assert (client.get(page).status_code, client.post(page, form).status_code) == (403, 403)
    less.groups.add(Group.objects.get(name=groups.DIRECTORY))
    answer = client.post(page, form)
    found = re.search(r"ob_[\w-]+", answer.text)
    assert found
    row = tokens.valid(found[0], address="192.0.2.9")
    assert row
    assert (row.user, row.scopes, row.addresses) == (service, ["scim"], ["192.0.2.0/24", "10.0.0.1/32"])
    assert found[0] not in client.get(page).text
    listed = client.get(reverse("admin:conversations_serviceaccount_changelist")).text
    assert "directory" in listed


def test_staff_add_one_with_groups_that_hold_no_more_than_they(service: User) -> None:
    staff = make_user("staff", is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__endswith="_serviceaccount"))
    staff.groups.add(Group.objects.get(name=groups.DIRECTORY))
    client, page = Client(), reverse("admin:conversations_serviceaccount_add")
    client.force_login(staff)
    lead = Group.objects.get(name="Support lead")
    assert client.post(page, {"username": "backup", "purpose": "x", "groups": [lead.pk]}).status_code == 200
    assert client.post(page, {"username": "Directory", "purpose": "x"}).status_code == 200  # taken, in other letters
    plain = Group.objects.create(name="Programs")
    assert client.post(page, {"username": "backup", "purpose": "x", "groups": [plain.pk]}).status_code == 302
    made = User.objects.get(username="backup")
    assert (made.has_usable_password(), service_accounts.is_service(made), list(made.groups.all())) == (
        False,
        True,
        [plain],
    )
    assert rights.may_manage(staff, made)


def test_nobody_gives_it_a_password_in_the_admin(service: User) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(reverse("admin:auth_user_password_change", args=[service.pk])).status_code == 403
    users = reverse("admin:auth_user_changelist")
    asked = {"action": "link_for_password", "_selected_action": [service.pk]}
    assert "nobody signs in with it" in client.post(users, asked, follow=True).text


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("make_token", *arguments, stdout=out)
    return out.getvalue().strip()


def test_the_command_prints_a_token(service: User) -> None:
    row = tokens.valid(printed("directory", "--scopes", "scim", "--from", "10.0.0.0/8"), address="10.1.1.1")
    assert row
    assert (row.scopes, row.addresses) == (["scim"], ["10.0.0.0/8"])
    made = tokens.valid(printed("okta", "--scopes", "scim", "--service", "SCIM from Okta"))
    assert made
    assert (service_accounts.is_service(made.user), made.user.service_account.purpose, made.scopes) == (
        True,
        "SCIM from Okta",
        ["scim"],
    )
    make_user("ada")
    for wrong in (["nobody"], ["ada", "--scopes", "scim"], ["ada", "--service", "x"], ["ada", "--from", "here"]):
        with pytest.raises(CommandError):
            printed(*wrong)
    assert ApiToken.objects.count() == 2


def test_a_scope_ends_with_the_right_of_it(service: User) -> None:
    token = tokens.issue(user=service, name="SCIM", scopes=[Scope.READ, Scope.SCIM])
    before = tokens.valid(token)
    service.groups.clear()
    after = tokens.valid(token)
    assert before
    assert after
    assert (before.scopes, after.scopes) == (["read", "scim"], ["read"])
