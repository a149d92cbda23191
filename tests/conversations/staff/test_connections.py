"""Connections in the admin: made, tested, their models ticked; a key is written and never shown."""

import io
import logging
import subprocess
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.test import Client, override_settings
from django.urls import reverse
from pytest_django import Settings

from conversations.models import Assistant, Connection, Fallback, Model
from conversations.providers import get_provider, model_catalog
from conversations.providers.connections import endpoint_of
from tests.conversations.connections import CANARY, HEADER, make_connection
from tests.conversations.factories import make_reply, make_snapshot, make_thread, make_user
from tests.conversations.staff.conftest import SignIn, StaffReader, list_url, page_url
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_sdk")]

NEW = {"label": "Team", "slug": "team", "kind": "anthropic", "connect_seconds": "5", "order": "0", "is_active": "on"}


def submit(client: Client, row: Connection | None = None, **changes: str) -> dict[str, list[str]]:
    """Save the form with these changes. Returns its errors, none where it was saved."""
    if row:
        data = {"label": row.label, "base_url": row.base_url, "proxy": row.proxy, "connect_seconds": "5", "order": "0"}
        response = client.post(page_url("connection", row.pk), data | {"is_active": "on"} | changes)
    else:
        response = client.post(list_url("connection") + "add/", NEW | changes)
    return {} if response.status_code == 302 else dict(response.context["adminform"].form.errors)


def stored() -> Connection:
    return Connection.objects.get(slug="team")


def press(client: Client, button: str, **data: Any) -> Any:
    return client.post(page_url("connection", stored().pk, button), data, follow=True)


def told(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def test_staff_add_a_connection_and_its_key_is_kept(staff: StaffReader) -> None:
    assert submit(staff, base_url="https://models.example/", key=CANARY, headers=f"X-Project: {HEADER}") == {}
    endpoint = endpoint_of(stored())
    assert (endpoint.base_url, endpoint.key, endpoint.headers) == (
        "https://models.example",
        CANARY,
        {"X-Project": HEADER},
    )


def test_a_cloud_is_asked_in_a_region(staff: StaffReader) -> None:
    errors = submit(staff, kind="bedrock", key=CANARY)
    assert errors == {
        "region": ["Amazon Bedrock is asked in a region: write it, such as eu-central-1."],
        "key": ["Enter it once more: what was typed is not sent back with this page."],
    }
    assert set(submit(staff, kind="bedrock", region="eu.elsewhere.example/", key=CANARY)) == {"region", "key"}
    assert submit(staff, kind="bedrock", region="eu-central-1", key=CANARY) == {}
    assert endpoint_of(stored()).base_url == "https://bedrock-runtime.eu-central-1.amazonaws.com"
    page = staff.get(page_url("connection", stored().pk)).text
    assert ("See its models" in page, "add one" in page, CANARY in page) == (False, True, False)
    assert submit(staff, stored(), region="us-east-1") == {}, "the key is Amazon's in each of its regions"


def test_a_key_is_kept_replaced_and_forgotten(staff: StaffReader) -> None:
    row = make_connection("https://models.example")
    assert submit(staff, row, label="Other") == {}
    assert (stored().label, endpoint_of(stored()).key, endpoint_of(stored()).headers) == (
        "Other",
        CANARY,
        {"X-Project": HEADER},
    )
    assert submit(staff, stored(), key="another-key") == {}
    assert (endpoint_of(stored()).key, endpoint_of(stored()).headers) == ("another-key", {"X-Project": HEADER})
    assert submit(staff, stored(), forget_key="on", headers="X-Other: 1") == {}
    assert (endpoint_of(stored()).key, endpoint_of(stored()).headers) == ("", {"X-Other": "1"})
    assert submit(staff, stored(), forget_headers="on") == {}
    assert bytes(stored().secrets) == b""


@pytest.mark.parametrize("change", [{"base_url": "https://thief.example"}, {"proxy": "http://thief.example:3128"}])
def test_a_kept_key_does_not_move_to_another_place(staff: StaffReader, change: dict[str, str]) -> None:
    row = make_connection("https://models.example")
    errors = submit(staff, row, **change)
    assert set(errors) == {"key", "headers"}
    assert errors["key"][0].endswith("is sent nowhere else: enter it again, or tick “Forget the key”.")
    assert stored().base_url == "https://models.example"
    assert submit(staff, row, key="new-key", forget_headers="on", **change) == {}
    assert (endpoint_of(stored()).key, endpoint_of(stored()).headers) == ("new-key", {})


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("base_url", "models.example", "Write an address such as https://models.example."),
        ("base_url", "file:///etc/passwd", "Write an address such as https://models.example."),
        ("base_url", "https://[::1", "This is no address: Invalid IPv6 URL."),
        ("base_url", "https://me:secret@models.example", "Leave out name and password"),
        ("base_url", "https://models.example/?key=x", "Leave out what follows a ?"),
        ("base_url", "https://models.example/v1/", "Leave out /v1 at the end"),
        ("base_url", "http://169.254.169.254", "OPENBOOK_INNER_NETWORKS=169.254.169.254."),
        ("base_url", "http://localhost:11434", "OPENBOOK_INNER_NETWORKS=127.0.0.1."),
        ("proxy", "http://10.0.0.1:3128", "OPENBOOK_INNER_NETWORKS=10.0.0.1."),
        ("proxy", "socks5://proxy.example", "Write an address such as"),
        ("proxy", "http://me:secret@proxy.example", "Leave out name and password"),
        ("key", "two words", "This can't be a key"),
        ("headers", "no colon", "Line 1 is no header"),
        ("headers", "X-A: 1\nHost: other", "Line 2: Host is set by the transport"),
        ("headers", "X-A: ü", "Line 1 has characters that no header can have."),
        ("slug", "anthropic", "configured by the environment"),
        ("connect_seconds", "0", "greater than or equal to 0.1"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_write(staff: StaffReader, field: str, value: str, words: str) -> None:
    errors = submit(staff, None, **{field: value})
    assert words in str(errors)
    assert not Connection.objects.exists()


def test_the_button_tests_it_and_tells_in_words(staff: StaffReader, model_server: ModelServer, opened: None) -> None:
    make_connection(model_server.url)
    [words] = told(page := press(staff, "test"))
    assert words.startswith("Answered in ") and "It answers ✓" in page.text and words in page.text
    assert stored().is_working is True
    assert words in staff.get(list_url("connection")).text
    model_server.api_key = "another"
    [words] = told(page := press(staff, "test"))
    assert words == "The service refused the key." and "It does not answer ✗" in page.text
    newest = LogEntry.objects.first()
    assert newest and newest.get_change_message() == f"Tested: {words}"
    assert submit(staff, stored(), key="another") == {}
    assert "Not tested as it is now" in staff.get(page_url("connection", stored().pk)).text


def test_a_key_that_cannot_be_read_is_told_and_breaks_no_page(staff: StaffReader, settings: Settings) -> None:
    row = make_connection("https://models.example")
    Model.objects.create(provider="team", name="m", label="M", context_window=9_000, max_output=900)
    Assistant.objects.filter(slug="companion").update(provider="team")
    settings.SECRET_KEY = "another"
    staff.force_login(make_user(is_staff=True, is_superuser=True))  # a session does not outlive it either
    assert "key can&#x27;t be read" in staff.get(list_url("connection")).text
    page = staff.get(page_url("connection", row.pk)).text
    assert "The key can’t be read ✗" in page and "It can&#x27;t be read any more: enter it again." in page
    assert staff.get(page_url("assistant", Assistant.objects.get(slug="companion").pk)).status_code == 200
    assert submit(staff, row, key="new-key", base_url="https://models.example") == {}
    assert endpoint_of(stored()).key == "new-key"


def test_ticked_models_become_rows_that_assistants_can_use(
    staff: StaffReader, model_server: ModelServer, opened: None, django_capture_on_commit_callbacks: Any
) -> None:
    make_connection(model_server.url)
    page = press(staff, "models").text
    assert [name in page for name in model_server.claude.offered] == [True, True, True]
    with django_capture_on_commit_callbacks(execute=True):
        [words] = told(press(staff, "models", add="1", model=["claude-haiku-5-5", "claude-of-next-year", "made-up"]))
    assert words.startswith("Added claude-haiku-5-5, claude-of-next-year.")
    rows = {row.name: row for row in Model.objects.filter(provider="team")}
    assert set(rows) == {"claude-haiku-5-5", "claude-of-next-year"}
    known, unheard_of = rows["claude-haiku-5-5"], rows["claude-of-next-year"]
    assert (known.thinking, known.thinking_off, known.default_effort, known.cacheable_from) == (
        *("adaptive", "disabled", "medium"),
        512,
    )
    assert (unheard_of.thinking, unheard_of.context_window, unheard_of.max_output) == ("none", 1_000_000, 128_000)
    assert not known.prices.exists()
    assert [row.name for row in model_catalog.offered("team")] == ["claude-haiku-5-5", "claude-of-next-year"]
    again = press(staff, "models").text
    assert again.count("<td>there") == 2 and again.count('type="checkbox"') == 1
    assert told(press(staff, "models", add="1", model="claude-haiku-5-5")) == [
        "Nothing was ticked that is not there yet."
    ]
    form = staff.get(page_url("assistant", Assistant.objects.get(slug="companion").pk)).text
    assert '<option value="team">Team (team)</option>' in form and "claude-of-next-year" in form
    model_form = staff.get(page_url("model", known.pk)).text
    assert '<option value="team" selected>team</option>' in model_form


def test_a_service_that_does_not_answer_leaves_the_page_as_it_is(staff: StaffReader) -> None:
    make_connection("https://models.invalid")
    assert told(press(staff, "models")) == ["The name models.invalid was not found."]


def test_a_connection_stays_while_something_needs_it(staff: StaffReader) -> None:
    def delete(slug: str) -> int:
        pk = make_connection("https://models.example", slug=slug).pk
        return staff.post(page_url("connection", pk, "delete"), {"post": "yes"}).status_code

    Assistant.objects.filter(slug="companion").update(provider="chosen")
    recorded = make_connection("https://models.example", slug="recorded")
    Model.objects.create(provider="recorded", name="m", label="M", context_window=90_000, max_output=9_000)
    model_catalog.reread()
    reply = make_reply(make_thread(make_user(), ["Hello?"], assistant=Assistant.objects.get(slug="analyst")))
    make_snapshot(reply=reply, provider=get_provider("recorded"))
    Model.objects.create(provider="mistaken", name="m", label="M", context_window=9_000, max_output=900)
    Fallback.objects.create(assistant=Assistant.objects.get(slug="analyst"), provider="instead")
    assert [delete("chosen"), delete("instead"), delete("mistaken")] == [403, 403, 302]
    with override_settings(OPENBOOK_PROVIDER="usual"):
        assert delete("usual") == 403
    assert staff.post(page_url("connection", recorded.pk, "delete"), {"post": "yes"}).status_code == 403
    assert set(Connection.objects.values_list("slug", flat=True)) == {"chosen", "instead", "recorded", "usual"}
    assert not Model.objects.filter(provider="mistaken").exists()


def test_name_and_kind_stay_once_it_is_made(staff: StaffReader) -> None:
    row = make_connection("https://models.example")
    assert submit(staff, row, slug="other", kind="openai") == {}
    assert (stored().slug, stored().kind) == ("team", "anthropic")


# Who may


BUTTONS = ("test", "models")


def test_who_may_only_look_sees_no_button_and_presses_none(
    signed_in: SignIn, model_server: ModelServer, opened: None
) -> None:
    row = make_connection(model_server.url)
    client = signed_in("view_connection")
    page = client.get(page_url("connection", row.pk)).text
    assert "Team" in page and "Test it" not in page and 'name="key"' not in page and "X-Project" not in page
    assert [press(client, button).status_code for button in BUTTONS] == [403, 403]
    assert client.post(page_url("connection", row.pk), {"label": "Mine"}).status_code == 403
    assert signed_in().get(list_url("connection")).status_code == 403
    assert model_server.requests == []


def test_who_may_not_add_models_sees_them_only(signed_in: SignIn, model_server: ModelServer, opened: None) -> None:
    make_connection(model_server.url)
    client = signed_in("view_connection", "change_connection")
    assert "Add those ticked" not in press(client, "models").text
    assert press(client, "models", add="1", model="claude-haiku-5-5").status_code == 403
    assert not Model.objects.filter(provider="team").exists()


def test_the_buttons_take_a_token_against_forged_requests(
    staff: StaffReader, model_server: ModelServer, opened: None
) -> None:
    row = make_connection(model_server.url)
    forged = Client(enforce_csrf_checks=True)
    forged.cookies = staff.cookies
    assert [forged.post(page_url("connection", row.pk, button)).status_code for button in BUTTONS] == [403, 403]
    assert [staff.get(page_url("connection", row.pk, button)).status_code for button in BUTTONS] == [405, 405]
    assert model_server.requests == []


# The canary


def test_the_key_is_seen_nowhere(
    staff: StaffReader, model_server: ModelServer, opened: None, caplog: pytest.LogCaptureFixture
) -> None:
    """Not on a page, in a message, in the admin's history, in a log, in a dump of the table, nor in the list of processes."""
    model_server.api_key = CANARY
    with caplog.at_level(logging.DEBUG):
        assert submit(staff, base_url=model_server.url, key=CANARY, headers=f"X-Project: {HEADER}") == {}
        row = stored()
        refused = staff.post(page_url("connection", row.pk), NEW | {"key": CANARY, "connect_seconds": "0"})
        pages = [refused, press(staff, "test"), press(staff, "models")]
        urls = [
            page_url("connection", row.pk),
            page_url("connection", row.pk, "history"),
            page_url("connection", row.pk, "delete"),
            list_url("connection"),
            list_url("model"),
            reverse("admin:index"),
        ]
        pages += [staff.get(url) for url in urls]
    dumped = io.StringIO()
    call_command("dumpdata", "conversations.connection", "admin.logentry", stdout=dumped)
    processes = subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout
    texts = {str(number): page.text for number, page in enumerate(pages)}
    texts |= {"log": caplog.text, "dump": dumped.getvalue(), "processes": processes}
    assert [name for name, text in texts.items() if CANARY in text or HEADER in text] == []
    assert model_server.requests[0].headers["authorization"] == f"Bearer {CANARY}"
    assert "Enter it once more: what was typed is not sent back" in refused.text
    assert "•••• set; leave empty to keep it" in texts["3"] and "•••• set: X-Project" in texts["3"]


def test_the_list_takes_as_many_queries_for_three_as_for_one(
    staff: StaffReader, django_assert_num_queries: Any
) -> None:
    make_connection("https://models.example", slug="one")
    staff.get(list_url("connection"))
    with django_assert_num_queries(5):
        staff.get(list_url("connection"))
    for slug in ("two", "three"):
        make_connection("https://models.example", slug=slug)
    with django_assert_num_queries(5):
        staff.get(list_url("connection"))
