"""Invitations and sign-up: who may invite to what, who gets in by it, and what is proven before an account is there."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group, Permission, User
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from conversations.accounts import invitations, mailing, tokens
from conversations.accounts.invitations import Plan
from conversations.errors import InvitationEnded
from conversations.models import AuditEvent, GroupManager, Invitation, OutgoingMail, Scope
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough one"


@pytest.fixture
def with_mail(settings: Settings) -> None:
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}


@pytest.fixture
def manager() -> User:
    manager = make_user("mara", password=PASSWORD)
    GroupManager.objects.create(group=Group.objects.create(name="Research"), user=manager)
    return manager


def research() -> Group:
    return Group.objects.get(name="Research")


def browser(user: User) -> Client:
    client = Client()
    client.post("/accounts/login/", {"username": user.username, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def link_in(letter: Any) -> str:
    parts = urlsplit(re.search(r"http://testserver/\S+", str(letter.body))[0])  # type: ignore[index]
    return f"{parts.path}?{parts.query}"


def sign_up(client: Client, name: str) -> Any:
    form = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    return client.post("/accounts/signup/", form, follow=True)


def kinds() -> list[str]:
    return list(AuditEvent.objects.filter(kind__startswith="invitation").order_by("id").values_list("kind", flat=True))


def test_a_manager_invites_into_their_group_and_nothing_else(manager: User, settings: Settings) -> None:
    """From the making of the link to the account that uses it, where no mail is set up and signing up is off."""
    settings.OPENBOOK_SIGNUP = False
    other = Group.objects.create(name="Board")
    client = browser(manager)
    form = {"groups": [research().pk], "uses": 1, "days": 3}
    wrong: list[dict[str, Any]] = [
        {"groups": [other.pk]}, {"groups": []}, {"uses": 0}, {"days": 91}, {"email": "ann@example.org"},
    ]  # fmt: skip
    refused = [client.post("/account/invitations/", {**form, **each}) for each in wrong]
    assert [("field-error" in answer.text, Invitation.objects.count()) for answer in refused] == [(True, 0)] * 5
    page = client.post("/account/invitations/", form)
    link = urlsplit(re.search(r'value="(http://\S+/invitation/\S+)"', page.text)[1]).path  # type: ignore[index]
    assert link not in client.get("/account/invitations/").text
    assert link.split("/")[2].encode() not in bytes(Invitation.objects.get().digest)

    visitor = Client()
    shown = visitor.get(link, follow=True)
    assert ("mara invites you" in shown.text, "Research" in shown.text, Invitation.objects.get().uses) == (
        True,
        True,
        0,
    )
    assert visitor.get("/accounts/signup/").status_code == 404  # it was opened, and not accepted
    chosen = visitor.post("/invitation/", {"password": "1"}, follow=True)
    assert "mara invited you. You join: Research." in chosen.text
    assert sign_up(visitor, "ann").redirect_chain[-1] == ("/", 302)
    ann = User.objects.get(username="ann")
    assert (list(ann.groups.all()), ann.is_staff) == ([research()], False)
    assert "ann used it on" in client.get("/account/invitations/").text
    assert "used up" in client.get("/account/invitations/").text
    assert kinds() == ["invitation_made", "invitation_used"]
    late = Client().get(link, follow=True)
    assert (late.status_code, "works no more" in late.text) == (410, True)
    assert Client().get("/invitation/no-such-secret/").status_code == 404


def test_who_has_an_account_joins_after_a_yes(manager: User) -> None:
    invitation = invitations.make(manager, Plan(groups=[research()], uses=2))
    ann = make_user("ann", password=PASSWORD)
    visitor = Client()
    page = visitor.get(f"/invitation/{invitation.secret}/", follow=True)
    assert 'href="/accounts/login/?next=%2Finvitation%2F"' in page.text
    back = visitor.post(
        "/accounts/login/?next=/invitation/",
        {"username": "ann", "password": PASSWORD, "next": "/invitation/"},
        follow=True,
    )
    assert ("You are signed in as ann." in back.text, ann.groups.exists()) == (True, False)
    assert "You are in: Research." in visitor.post("/invitation/", follow=True).text
    assert list(ann.groups.all()) == [research()]
    visitor.get(f"/invitation/{invitation.secret}/")
    assert "You have used it already" in visitor.get("/invitation/").text
    visitor.post("/invitation/")
    assert Invitation.objects.get().uses == 1


@pytest.mark.parametrize(
    "end", ["expired", "revoked", "used up", "maker left", "maker manages no more", "group gained a right"]
)
def test_an_invitation_ends(manager: User, end: str) -> None:
    """Also between the page that shows it and the account that would use it."""
    invitation, now = invitations.make(manager, Plan(groups=[research()], days=2)), timezone.now()
    visitor = Client()
    visitor.get(f"/invitation/{invitation.secret}/")
    visitor.post("/invitation/", {"password": "1"})
    match end:
        case "expired":
            now += timedelta(days=2, seconds=1)
        case "revoked":
            assert browser(manager).post(f"/account/invitations/{invitation.pk}/revoke/").status_code == 302
        case "used up":
            invitations.use(invitation.pk, make_user("kim"))
        case "maker left":
            User.objects.filter(pk=manager.pk).update(is_active=False)
        case "maker manages no more":
            GroupManager.objects.all().delete()
        case "group gained a right":
            research().permissions.add(Permission.objects.get(codename="read_content"))
    with time_machine.travel(now):
        assert [visitor.get("/invitation/").status_code, sign_up(visitor, "ann").status_code] == [410, 404]
        with pytest.raises(InvitationEnded):
            invitations.use(invitation.pk, make_user("late"))
    assert not User.objects.filter(username="ann").exists()


def test_sign_up_by_domain_proves_the_address_before_there_is_an_account(settings: Settings, with_mail: None) -> None:
    settings.OPENBOOK_SIGNUP, settings.OPENBOOK_SIGNUP_DOMAINS = True, ["example.org"]
    known = make_user("kim", email="kim@example.org")
    visitor = Client()
    assert "Accounts are for people" in visitor.post("/accounts/signup/", {"email": "ann@evil.example"}).text
    answers = [visitor.post("/accounts/signup/", {"email": each}) for each in ("Ann@example.org", known.email)]
    texts = [re.sub(r"(ann|kim)@|value=\"\w{64}\"", "", answer.text) for answer in answers]
    assert (texts[0] == texts[1], "A link is on its way" in texts[0], mail.outbox) == (True, True, [])
    assert sign_up(visitor, "mallory").status_code == 200  # the page for an address: nothing was proven
    assert (mailing.send_due(), User.objects.count()) == (2, 1)
    letters = {letter.to[0]: letter for letter in mail.outbox}
    assert "There is one already." in letters["kim@example.org"].body
    link = link_in(letters["ann@example.org"])
    elsewhere = Client()
    with time_machine.travel(timezone.now() + timedelta(days=1, seconds=5)):
        assert elsewhere.get(link).status_code == 410
    assert "<bdi>ann@example.org</bdi> is yours" in elsewhere.get(link, follow=True).text
    sign_up(elsewhere, "ann")
    ann = User.objects.get(username="ann")
    assert (ann.email, EmailAddress.objects.get(user=ann).verified) == ("ann@example.org", True)
    assert Client().get(link).status_code == 410
    assert OutgoingMail.objects.count() == 0


def test_links_to_prove_an_address_are_few(settings: Settings, with_mail: None) -> None:
    settings.OPENBOOK_SIGNUP = True
    with time_machine.travel(1_795_262_415.0, tick=False):
        statuses = [Client().post("/accounts/signup/", {"email": "ann@example.org"}).status_code for _ in range(4)]
    assert (statuses, OutgoingMail.objects.count()) == ([200, 200, 200, 429], 3)


def test_an_invitation_for_an_address_takes_its_proof(manager: User, with_mail: None, settings: Settings) -> None:
    """Whoever has the link that was shown proves the address; who has the one that was mailed has done so."""
    settings.OPENBOOK_SIGNUP = False
    invitation = invitations.make(manager, Plan(groups=[research()], email="ann@example.org"))
    assert mailing.send_due() == 1
    thief = Client()
    thief.get(f"/invitation/{invitation.secret}/?mailed=guessed")
    page = thief.post("/invitation/", {"password": "1"}, follow=True)
    assert "Your mail address comes first" in page.text
    assert "This invitation is for another" in thief.post("/accounts/signup/", {"email": "thief@example.org"}).text
    thief.force_login(make_user("thief", email="thief@example.org"))
    assert thief.post("/invitation/").status_code == 403
    ann = Client()
    ann.get(link_in(mail.outbox[0]))
    ann.post("/invitation/", {"password": "1"})
    sign_up(ann, "ann")
    assert User.objects.get(username="ann").email == "ann@example.org"
    assert list(research().user_set.values_list("username", flat=True)) == ["ann"]


def test_an_invitation_survives_the_proof_of_the_address_in_another_browser(
    manager: User, with_mail: None, settings: Settings
) -> None:
    settings.OPENBOOK_SIGNUP = False
    invitation = invitations.make(manager, Plan(groups=[research()]))
    first, second = Client(), Client()
    first.get(f"/invitation/{invitation.secret}/")
    first.post("/invitation/", {"password": "1"})
    first.post("/accounts/signup/", {"email": "ann@elsewhere.example"})
    mailing.send_due()
    assert "You join: Research." in second.get(link_in(mail.outbox[-1]), follow=True).text
    sign_up(second, "ann")
    assert list(User.objects.get(username="ann").groups.all()) == [research()]


def test_programs_invite_with_the_scope_for_it(manager: User) -> None:
    nobody = make_user("nobody")
    keys = [tokens.issue(user=manager, name="a", scopes=[scope]) for scope in (Scope.STAFF_INVITATIONS, Scope.WRITE)]
    keys.append(tokens.issue(user=nobody, name="a", scopes=[Scope.STAFF_INVITATIONS]))
    body = {"groups": [research().pk], "days": 1}
    answers = [
        Client().post("/api/v1/invitations/", body, "application/json", headers={"Authorization": f"Token {key}"})
        for key in keys
    ]
    assert [answer.status_code for answer in answers] == [201, 403, 403]
    made, headers = answers[0].json(), {"Authorization": f"Token {keys[0]}"}
    assert Client().get(urlsplit(made["url"]).path).status_code == 302
    wrong = Client().post("/api/v1/invitations/", {"groups": [0]}, "application/json", headers=headers)
    assert (wrong.status_code, "groups" in str(wrong.json())) == (400, True)
    (listed,) = Client().get("/api/v1/invitations/", headers=headers).json()["results"]
    assert (listed["groups"], listed["works"], "url" in listed) == (["Research"], True, False)
    path = f"/api/v1/invitations/{made['id']}/"
    assert [Client().delete(path, headers=headers).status_code for _ in range(2)] == [204, 404]
    session = Client()
    session.force_login(manager)
    assert session.get("/api/v1/invitations/").json()["results"][0]["works"] is False
    stale = session.post("/api/v1/invitations/", body, "application/json")
    assert (stale.status_code, stale.json()["error"]["code"]) == (403, "fresh_sign_in_needed")


def test_staff_see_all_and_revoke_where_they_may(manager: User, client: Client) -> None:
    invitation = invitations.make(manager, Plan(groups=[research()]))
    client.force_login(User.objects.create_superuser("root"))
    page = client.get("/admin/conversations/invitation/").text
    assert ("mara" in page, "Research" in page, invitation.secret in page) == (True, True, False)
    form = {"action": "revoke", "_selected_action": [str(invitation.pk)]}
    client.post("/admin/conversations/invitation/", form)
    assert kinds() == ["invitation_made", "invitation_revoked"]
    manager.delete()
    assert not Invitation.objects.exists()


def test_a_list_asks_no_more_for_more_rows(manager: User) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert {str(invitations.state(each, timezone.now())) for each in invitations.made_by(manager)} == {"works"}
        return len(captured)

    invitations.make(manager, Plan(groups=[research()]))
    few = statements()
    for _ in range(3):
        invitations.make(manager, Plan(groups=[research()]))
    assert statements() == few


@pytest.mark.django_db(transaction=True)
def test_of_two_who_use_the_last_place_at_once_one_is_in(manager: User) -> None:
    barrier, people = threading.Barrier(2, timeout=30), [make_user("ann"), make_user("ben")]

    def join(invitation: Invitation, user: User) -> bool:
        try:
            barrier.wait()
            invitations.use(invitation.pk, user)
        except InvitationEnded:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as threads:
        for _ in range(5):
            invitation = invitations.make(manager, Plan(groups=[research()]))
            joined = list(threads.map(join, [invitation] * 2, people))
            assert sorted(joined) == [False, True]
            invitation.refresh_from_db()
            assert (invitation.uses, [use.user for use in invitation.used_by.all()]) == (
                1,
                [people[joined.index(True)]],
            )
            assert list(research().user_set.all()) == [people[joined.index(True)]]
            research().user_set.clear()
