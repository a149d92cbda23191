"""Staff work from their networks alone, whichever door they come by."""

import json
from io import StringIO
from ipaddress import ip_network

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from conversations import checks
from conversations.accounts import staff_networks, tokens
from conversations.errors import AddressNotAllowed
from conversations.models import AuditEvent, Scope, SharedPrompt
from tests.conversations.factories import make_user

HERE, HERE6, ELSEWHERE = "10.1.2.3", "2001:db8::7", "192.0.2.7"


@pytest.fixture(autouse=True)
def networks(settings: Settings) -> None:
    settings.OPENBOOK_STAFF_NETWORKS = (ip_network("10.1.0.0/16"), ip_network("2001:db8::/32"))


@pytest.mark.django_db
def test_staff_are_refused_from_elsewhere_and_it_is_recorded() -> None:
    root, client = make_user("root", is_staff=True, is_superuser=True), Client()
    client.force_login(root)

    def status(path: str, address: str) -> int:
        return client.get(path, REMOTE_ADDR=address).status_code

    paths = ("/admin/", "/api/v1/audit/", "/api/v1/feedback/", "/api/v1/tags/", "/account/")
    for address in (HERE, HERE6, f"::ffff:{HERE}"):
        assert [status(path, address) for path in paths] == [200] * 5
    assert [status(path, ELSEWHERE) for path in paths] == [403, 403, 403, 200, 200]
    page = client.get("/admin/auth/user/", REMOTE_ADDR=ELSEWHERE)
    assert ELSEWHERE in page.text and "certain networks" in page.text
    error = client.get("/api/v1/audit/", REMOTE_ADDR=ELSEWHERE).json()["error"]
    assert (error["code"], error["details"]) == ("address_not_allowed", {"address": ELSEWHERE})
    events = AuditEvent.objects.filter(kind="staff_address_refused")
    assert {(event.actor_id, event.outcome) for event in events} == {(root.pk, "denied")}
    assert events.count() == 5

    nobody = Client()
    assert nobody.get("/admin/login/", REMOTE_ADDR=ELSEWHERE).status_code == 403
    assert nobody.get("/accounts/login/", REMOTE_ADDR=ELSEWHERE).status_code == 200
    assert events.count() == 5, "strangers fill no record"

    staff = tokens.issue(user=root, name="watch", scopes=[Scope.READ, Scope.STAFF])
    own = tokens.issue(user=root, name="own", scopes=[Scope.READ])
    assert tokens.valid(staff, address=HERE) and tokens.valid(own, address=ELSEWHERE)
    with pytest.raises(AddressNotAllowed):
        tokens.valid(staff, address=ELSEWHERE)
    assert events.filter(actor_kind="token").count() == 1


@pytest.mark.django_db
def test_acts_of_staff_that_have_no_page_under_admin_are_held_too() -> None:
    root, person, client = make_user("root", is_staff=True, is_superuser=True), make_user("ann"), Client()
    client.force_login(root)
    secret = tokens.issue(user=root, name="own", scopes=[Scope.READ, Scope.WRITE])
    new = {"name": "Minutes", "text": "Write minutes.", "shared": True}
    made = client.post("/api/v1/prompts/", new, "application/json", REMOTE_ADDR=HERE).json()["id"]
    refused = (403, "address_not_allowed")

    def status(method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> tuple[int, str]:
        data = json.dumps(body)
        answer = client.generic(
            method, f"/api/v1/{path}", data, "application/json", headers=headers, REMOTE_ADDR=ELSEWHERE
        )
        return answer.status_code, answer.json()["error"]["code"] if answer.status_code >= 400 else ""

    for headers in ({"Authorization": f"Token {secret}"}, {}):
        assert status("PATCH", f"prompts/{made}/", {"name": "Mine"}, headers) == refused
        assert status("DELETE", f"prompts/{made}/", headers=headers) == refused
        assert status("POST", "prompts/", new, headers) == refused
        assert status("POST", "prompts/", new | {"shared": False}, headers) == (201, "")
    assert status("GET", "invitations/") == refused
    assert client.get("/account/invitations/", REMOTE_ADDR=ELSEWHERE).status_code == 403
    assert SharedPrompt.objects.get(pk=made).name == "Minutes"
    assert AuditEvent.objects.filter(kind="staff_address_refused", actor_kind="token").count() == 3
    client.force_login(person)
    assert status("POST", "prompts/", new) == (403, "prompt_not_yours")


def test_the_operator_can_look_first(settings: Settings) -> None:
    said = StringIO()
    call_command("staff_networks", HERE, HERE6, stdout=said)
    assert said.getvalue() == f"Staff work from 10.1.0.0/16, 2001:db8::/32.\n{HERE}: yes\n{HERE6}: yes\n"
    for addresses, words in ((["nowhere"], "no address"), ([ELSEWHERE], "can't work from")):
        with pytest.raises(CommandError, match=words):
            call_command("staff_networks", *addresses, stdout=said)
    settings.SERVED_OVER_HTTPS, settings.OPENBOOK_TRUSTED_PROXIES = True, ()
    assert [each.id for each in checks.staff_have_addresses_of_their_own()] == ["openbook.W009"]
    settings.OPENBOOK_STAFF_NETWORKS = ()
    assert (checks.staff_have_addresses_of_their_own(), staff_networks.hold("unknown")) == ([], True)
