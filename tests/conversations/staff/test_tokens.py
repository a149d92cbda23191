"""API tokens and limits in the admin: seen, revoked, set."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.accounts.limits import Limits, limits_of
from conversations.accounts.tokens import issue, valid
from conversations.models import Allowance, ApiToken
from tests.conversations.factories import make_user
from tests.conversations.staff.conftest import SignIn, StaffReader, list_url, page_url

pytestmark = pytest.mark.django_db


def user_of(token: str) -> User | None:
    row = valid(token)
    return row.user if row else None


def revoke(client: Client, *tokens: ApiToken, url: str = "") -> None:
    # On a token's own page, Django prefixes the field.
    field = "CHANGE_FORM-action" if url else "action"
    client.post(url or list_url("apitoken"), {field: "revoke", "_selected_action": [token.pk for token in tokens]})


def test_a_revoked_token_stops_working_at_once(staff: StaffReader) -> None:
    user = make_user()
    token, other = issue(user=user, name="lost"), issue(user=user, name="kept")
    revoke(staff, ApiToken.objects.get(name="lost"))
    assert [user_of(token), user_of(other)] == [None, user]


def test_a_token_can_be_revoked_on_its_own_page(staff: StaffReader) -> None:
    token = issue(user=make_user(), name="lost")
    stored = ApiToken.objects.get()
    revoke(staff, stored, url=page_url("apitoken", stored.pk))
    assert user_of(token) is None


def test_revoking_twice_keeps_the_first_time_and_is_logged_once(staff: StaffReader) -> None:
    issue(user=make_user(), name="lost")
    revoke(staff, ApiToken.objects.get())
    first = ApiToken.objects.get().revoked_at
    revoke(staff, ApiToken.objects.get())
    assert ApiToken.objects.get().revoked_at == first
    assert [entry.change_message for entry in LogEntry.objects.all()] == ["Revoked."]


def test_who_may_only_view_tokens_revokes_none(signed_in: SignIn) -> None:
    token = issue(user=make_user(), name="kept")
    client = signed_in("view_apitoken")
    revoke(client, ApiToken.objects.get())
    revoke(client, ApiToken.objects.get(), url=page_url("apitoken", ApiToken.objects.get().pk))
    assert user_of(token) is not None


def test_neither_token_nor_digest_is_shown(staff: StaffReader) -> None:
    token = issue(user=make_user(), name="script")
    stored = ApiToken.objects.get()
    text = staff.get(list_url("apitoken")).text + staff.get(page_url("apitoken", stored.pk)).text
    secrets = [token, bytes(stored.digest).hex(), str(bytes(stored.digest))]
    assert [secret in text for secret in secrets] == [False, False, False]


def test_nobody_makes_a_token_in_anothers_name(staff: StaffReader) -> None:
    form = {"user": make_user().pk, "name": "Mine", "scopes": ["read"], "days": 3}
    assert staff.post(list_url("apitoken") + "add/", form).status_code == 403
    assert ApiToken.objects.count() == 0


def test_staff_see_what_a_user_uses_and_set_other_limits(staff: StaffReader) -> None:
    user = make_user(password="correct horse battery")
    Allowance.objects.create(user=user, day=timezone.now().date(), running=1, spent=1_200, reserved=3_000)
    url = reverse("admin:auth_user_change", args=[user.pk])
    assert "1 reply running; today 1,200 tokens used (0 for notes), 3,000 set aside" in staff.get(url).text
    joined = timezone.localtime(user.date_joined)
    form = {
        "username": user.username,
        "is_active": "on",
        "date_joined_0": f"{joined:%Y-%m-%d}",
        "date_joined_1": f"{joined:%H:%M:%S}",
        "limits-TOTAL_FORMS": 1,
        "limits-INITIAL_FORMS": 0,
        "limits-0-requests_minute": "",
        "limits-0-running_replies": 2,
        "limits-0-tokens_day": 50_000,
    }
    assert staff.post(url, form).status_code == 302
    assert limits_of(User.objects.get(pk=user.pk)) == Limits(requests_minute=600, running_replies=2, tokens_day=50_000)
    assert "1 reply running; today 1,200 tokens used (0 for notes), 3,000 set aside" in staff.get(url).text
