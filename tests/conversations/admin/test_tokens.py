"""API tokens in the admin: seen and revoked, never shown and never made."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from conversations.models import ApiToken
from conversations.tokens import issue, user_of
from tests.conversations.admin.conftest import Reader, SignIn, list_url, page_url
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db


def revoke(client: Client, *tokens: ApiToken, url: str = "") -> None:
    # On a token's own page, Django prefixes the field.
    field = "CHANGE_FORM-action" if url else "action"
    client.post(url or list_url("apitoken"), {field: "revoke", "_selected_action": [token.pk for token in tokens]})


def test_a_revoked_token_stops_working_at_once(staff: Reader) -> None:
    user = make_user()
    token, other = issue(user=user, name="lost"), issue(user=user, name="kept")
    revoke(staff, ApiToken.objects.get(name="lost"))
    assert [user_of(token), user_of(other)] == [None, user]


def test_a_token_can_be_revoked_on_its_own_page(staff: Reader) -> None:
    token = issue(user=make_user(), name="lost")
    stored = ApiToken.objects.get()
    revoke(staff, stored, url=page_url("apitoken", stored.pk))
    assert user_of(token) is None


def test_revoking_twice_keeps_the_first_time_and_is_logged_once(staff: Reader) -> None:
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


def test_neither_token_nor_digest_is_shown(staff: Reader) -> None:
    token = issue(user=make_user(), name="script")
    stored = ApiToken.objects.get()
    text = staff.get(list_url("apitoken")).text + staff.get(page_url("apitoken", stored.pk)).text
    secrets = [token, bytes(stored.digest).hex(), str(bytes(stored.digest))]
    assert [secret in text for secret in secrets] == [False, False, False]
