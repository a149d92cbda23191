"""Staff see who has asked to be deleted, and until when the account can be kept."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User

from conversations.models import AccountDeletion
from tests.conversations.factories import make_user
from tests.conversations.staff.conftest import StaffReader

pytestmark = pytest.mark.django_db

ASKED = datetime(2026, 11, 20, 9, tzinfo=UTC)


@pytest.fixture
def leaving() -> User:
    user = make_user("leaving")
    AccountDeletion.objects.create(user=user, asked_at=ASKED, due_at=ASKED + timedelta(days=1))
    return user


@pytest.mark.parametrize(("chosen", "listed"), [("", 3), ("?leaving=yes", 1), ("?leaving=no", 2), ("?leaving=x", 3)])
def test_the_list_says_when_they_go_and_can_be_narrowed_to_them(
    staff: StaffReader, leaving: User, chosen: str, listed: int
) -> None:
    make_user("staying")
    answer = staff.get(f"/admin/auth/user/{chosen}", follow=True)
    assert answer.context["cl"].result_count == listed
    assert ('datetime="2026-11-21T09:00:00+00:00"' in answer.text) == (chosen != "?leaving=no")


def test_the_page_says_when_it_was_asked_and_when_it_goes(staff: StaffReader, leaving: User) -> None:
    page = staff.get(f"/admin/auth/user/{leaving.pk}/change/").text
    assert "Asked to be deleted on 2026-11-20 09:00:00 UTC, goes on 2026-11-21 09:00:00 UTC." in page
    assert "Not asked for." in staff.get(f"/admin/auth/user/{make_user('staying').pk}/change/").text
