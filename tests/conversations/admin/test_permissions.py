"""Who may open which page of the admin."""

import pytest
from django.test import Client

from artifacts.models import Artifact, Preset
from conversations.models import ApiToken, Assistant, ContextSnapshot, Message, Reply, Thread
from conversations.tokens import issue
from tests.artifacts.factories import make_artifact
from tests.conversations.admin.conftest import Reader, SignIn, list_url, page_url
from tests.conversations.factories import make_snapshot, make_thread, make_user

pytestmark = pytest.mark.django_db

INSPECTED = ["thread", "reply", "message", "contextsnapshot", "apitoken", "artifact"]
EDITED = ["assistant", "preset"]
READ_ONLY_PAGES = ["list", "change", "history"]
SIGN_IN, REFUSED, SHOWN = 302, 403, 200


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
        "preset": Preset.objects.get(slug="brd").pk,
        "assistant": Assistant.objects.get(slug="companion").pk,
    }


def statuses(client: Client, model: str, pk: object) -> dict[str, int]:
    urls = {page: page_url(model, pk, page) for page in ("change", "history", "delete")}
    urls |= {"list": list_url(model), "add": list_url(model) + "add/"}
    if model == "contextsnapshot":
        urls["request"] = page_url(model, pk, "request")
    return {page: client.get(url).status_code for page, url in urls.items()}


def expected(model: str, **pages: int) -> dict[str, int]:
    """All pages refused but these."""
    all_refused = dict.fromkeys(["change", "history", "delete", "list", "add"], REFUSED)
    if model == "contextsnapshot":
        pages["request"] = REFUSED  # nobody has stated a reason
    return all_refused | pages


@pytest.mark.parametrize("model", [*INSPECTED, *EDITED])
def test_only_staff_come_in(model: str, rows: dict[str, object], signed_in: SignIn) -> None:
    everything = dict.fromkeys(statuses(Client(), model, rows[model]), SIGN_IN)
    assert statuses(Client(), model, rows[model]) == everything
    assert statuses(signed_in(is_staff=False), model, rows[model]) == everything


@pytest.mark.parametrize("model", [*INSPECTED, *EDITED])
def test_staff_without_a_permission_see_nothing(model: str, rows: dict[str, object], signed_in: SignIn) -> None:
    assert statuses(signed_in(), model, rows[model]) == expected(model)


@pytest.mark.parametrize("model", [*INSPECTED, *EDITED])
def test_staff_who_may_view_can_only_view(model: str, rows: dict[str, object], signed_in: SignIn) -> None:
    client = signed_in(f"view_{model}")
    assert statuses(client, model, rows[model]) == expected(model, list=SHOWN, change=SHOWN, history=SHOWN)
    assert client.post(page_url(model, rows[model]), {"title": "mine now"}).status_code == REFUSED


@pytest.mark.parametrize("model", INSPECTED)
def test_even_a_superuser_only_reads_what_was_recorded(model: str, rows: dict[str, object], staff: Reader) -> None:
    deletable = {"delete": SHOWN} if model == "thread" else {}
    shown = expected(model, list=SHOWN, change=SHOWN, history=SHOWN, **deletable)
    assert statuses(staff, model, rows[model]) == shown
    assert staff.post(page_url(model, rows[model]), {"title": "mine now"}).status_code == REFUSED
    assert staff.post(list_url(model) + "add/", {}).status_code == REFUSED


@pytest.mark.parametrize("model", ["reply", "message", "contextsnapshot", "apitoken", "artifact"])
def test_what_was_recorded_offers_no_delete(model: str, rows: dict[str, object], staff: Reader) -> None:
    action = {"action": "delete_selected", "_selected_action": [str(rows[model])], "post": "yes"}
    staff.post(list_url(model), action)
    kept = [Thread.objects, Reply.objects, Message.objects, ContextSnapshot.objects, ApiToken.objects]
    assert [table.count() for table in [*kept, Artifact.objects]] == [1, 1, 1, 1, 1, 1]


def test_an_unknown_request_is_not_found(staff: Reader) -> None:
    unknown = page_url("contextsnapshot", "01a1fba9-84d5-7173-bd0a-62640ae53da5", "request")
    assert staff.get(unknown).status_code == 404
    assert staff.get(list_url("contextsnapshot") + "not-an-id/change/", follow=True).status_code == 200
