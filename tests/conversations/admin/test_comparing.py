"""Two model requests side by side, one beside what it might have been, and the proof of one."""

import pytest
from tests.conversations.admin.conftest import Reader, page_url
from tests.conversations.factories import make_snapshot, make_thread, make_reply

pytestmark = pytest.mark.django_db

def test_try(staff: Reader) -> None:
    thread = make_thread(turns=["Hello"]*20 + ["bye", "And now?", "who are they"])
    first = make_snapshot(thread)
    second = make_snapshot(thread)
    for page in ("compare", "what_if", "prove"):
        r = staff.get(page_url("contextsnapshot", second.pk, page))
        assert r.status_code == 200
        r = staff.read(page_url("contextsnapshot", second.pk, page) + "?history_turns_max=5&history_turns_min=2")
        assert r.status_code == 200
        print(r.text)
