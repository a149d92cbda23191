"""Shared links in the admin: that there are some, and not what they show."""

import pytest

from conversations.models import Share
from conversations.sharing import shares
from tests.conversations.factories import make_share, make_thread
from tests.conversations.staff.conftest import StaffReader, list_url, page_url

pytestmark = pytest.mark.django_db


def test_staff_see_that_something_is_shared_not_what_and_take_it_back(staff: StaffReader) -> None:
    thread = make_thread(turns=["SECRET"], title="SECRET")
    share = make_share(thread, title=True)
    token = (shares.address_of(share) or "").split("/")[2]
    turn = str(share.message_id)
    for url in (list_url("share"), page_url("share", share.pk)):
        page = staff.read(url).content.decode()
        assert str(thread.user) in page
        assert [word for word in ("SECRET", token, turn) if word in page] == []
    staff.post(list_url("share"), {"action": "revoke", "_selected_action": [str(share.pk)]})
    assert Share.objects.get().revoked_at
