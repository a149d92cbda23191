"""What was recorded is only read, whatever the permissions. Who may open which page is in ``test_access``."""

import pytest

from artifacts.models import Artifact
from conversations.accounts.tokens import issue
from conversations.models import ApiToken, ContextSnapshot, Message, Reply, Thread
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_snapshot, make_thread, make_user
from tests.conversations.staff.conftest import SignIn, StaffReader, list_url, page_url

pytestmark = pytest.mark.django_db

INSPECTED = ["thread", "reply", "message", "contextsnapshot", "apitoken", "artifact"]
REFUSED = 403


@pytest.fixture
def rows() -> dict[str, object]:
    """One row of every model, by the name of the model."""
    user = make_user()
    snapshot = make_snapshot(make_thread(user, ["Hello?"]))
    issue(user=user, name="script")
    return {
        "thread": snapshot.thread_id,
        "reply": snapshot.reply_id,
        "message": snapshot.message_id,
        "contextsnapshot": snapshot.pk,
        "apitoken": user.api_tokens.get().pk,
        "artifact": make_artifact(snapshot.thread).pk,
    }


def test_nobody_changes_or_adds_what_was_recorded(rows: dict[str, object], staff: StaffReader) -> None:
    made = [model for model in INSPECTED if model != "apitoken"]
    urls = [page_url(model, rows[model]) for model in INSPECTED] + [list_url(model) + "add/" for model in made]
    assert {url: staff.post(url, {"title": "mine now"}).status_code for url in urls} == dict.fromkeys(urls, REFUSED)


def test_who_may_view_assistants_changes_none(signed_in: SignIn) -> None:
    client, thread = signed_in("view_assistant", "view_thread"), make_thread()
    assert client.post(page_url("assistant", thread.assistant_id), {"name": "mine"}).status_code == REFUSED


@pytest.mark.parametrize("model", ["reply", "message", "contextsnapshot", "apitoken", "artifact"])
def test_what_was_recorded_offers_no_delete(model: str, rows: dict[str, object], staff: StaffReader) -> None:
    action = {"action": "delete_selected", "_selected_action": [str(rows[model])], "post": "yes"}
    staff.post(list_url(model), action)
    kept = [Thread.objects, Reply.objects, Message.objects, ContextSnapshot.objects, ApiToken.objects]
    assert [table.count() for table in [*kept, Artifact.objects]] == [1, 1, 1, 1, 1, 1]


def test_an_unknown_request_is_not_found(staff: StaffReader) -> None:
    unknown = page_url("contextsnapshot", "01a1fba9-84d5-7173-bd0a-62640ae53da5", "request")
    assert staff.get(unknown).status_code == 404
    assert staff.get(list_url("contextsnapshot") + "not-an-id/change/", follow=True).status_code == 200
