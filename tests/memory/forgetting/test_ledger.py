"""What can't be noted for later restores is not done, and the person is told so."""

import json
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from conversations.accounts import lifecycle
from conversations.models import AccountDeletion, Share, Thread
from conversations.runtime.db import in_database
from memory.forgetting import ledger
from memory.models import Topic
from tests.conversations.factories import make_share, make_thread, make_user
from tests.conversations.rest.client import Api
from tests.memory.factories import make_topic


@pytest.fixture
def away(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "disk").write_text("is no folder")
    settings.OPENBOOK_ERASURE_LEDGER = tmp_path / "disk" / "ledger"


@pytest.mark.django_db(transaction=True)
async def test_nothing_is_deleted_that_can_not_be_noted(away: None, user: User) -> None:
    api = await in_database(Api)(user)
    thread = await in_database(make_thread)(user, ["Hello."])
    topic = await in_database(make_topic)(user)
    share = await in_database(make_share)(thread)
    for path in (f"threads/{thread.id}/", f"topics/{topic.id}/", f"shares/{share.id}/"):
        answer = await api.call("DELETE", path)
        assert answer.code == (503, "unavailable", "erasure_ledger_away")
        assert answer.headers["retry-after"] == "30"
    assert await Thread.objects.filter(id=thread.id).aexists()
    assert await Topic.objects.filter(id=topic.id).aexists()
    assert await Share.objects.filter(revoked_at=None).aexists()


@pytest.mark.django_db
def test_pages_of_an_account_say_so(settings: Settings, tmp_path: Path) -> None:
    person, client = make_user("quirinia", password="correct horse"), Client()
    share = make_share(make_thread(turns=["Hello."]))
    client.login(username="quirinia", password="correct horse")
    links = Client()
    links.force_login(share.user)
    lifecycle.ask_deletion(person, client.session.session_key)
    (tmp_path / "disk").write_text("is no folder")
    settings.OPENBOOK_ERASURE_LEDGER = tmp_path / "disk" / "ledger"
    refused = client.post("/accounts/leaving/")
    assert (refused.status_code, ledger.LedgerAway.message in unescape(refused.text)) == (503, True)
    assert AccountDeletion.objects.filter(user=person).exists()
    told = links.post(f"/account/shares/{share.id}/revoke/", follow=True)
    assert (told.status_code, ledger.LedgerAway.message in unescape(told.text)) == (200, True)
    assert Share.objects.get(id=share.id).revoked_at is None


@pytest.mark.django_db
def test_a_line_names_nobody(settings: Settings, tmp_path: Path) -> None:
    settings.OPENBOOK_ERASURE_LEDGER = tmp_path / "ledger"
    ledger.note(ledger.Kind.CLEARED, "019f", through=4)
    (line,) = filter(None, next((tmp_path / "ledger").glob("*.jsonl")).read_text().splitlines())
    assert json.loads(line).keys() == {"at", "kind", "digest", "through"}
    (entry,) = ledger.entries()
    assert (entry.kind, entry.through) == (ledger.Kind.CLEARED, 4)
    assert (
        entry.digest
        == ledger.digests().of(ledger.Kind.CLEARED, "019f")
        != ledger.digests().of(ledger.Kind.THREAD, "019f")
    )
