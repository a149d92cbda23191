"""Sign-in by a certified OpenID provider: who gets an account, what they may, and how it ends."""

import io
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from config.secret_files import secret
from conversations.accounts import letters, lifecycle, provider_settings
from conversations.runtime import rate_counters
from tests.conversations.factories import make_user
from tests.identity_providers import SITE, IdentityProvider, Person, path_of, started
from tests.other_services import Elsewhere, elsewhere
from tests.services import free_port

pytestmark = [pytest.mark.django_db, pytest.mark.process]

BEGIN = "/accounts/oidc/company/login/?next=/memory/"
SECRET = "a secret of the client that is long enough"


@pytest.fixture(scope="module")
def logouts() -> Iterator[Elsewhere]:
    """Hears the provider's logout tokens, which the tests carry on."""
    with elsewhere({"*": (200, {}, "")}) as server:
        yield server


@pytest.fixture(scope="module")
def company(logouts: Elsewhere) -> Iterator[IdentityProvider]:
    callback = f"{SITE}/accounts/oidc/company/login/callback/"
    with started("openid.js", callback, logouts.url, f"{SITE}/accounts/login/") as provider:
        yield provider


def configure(settings: Settings, folder: Path, server: str, more: str = "") -> None:
    rate_counters.HERE.clear()
    (folder / "secret").write_text(SECRET)
    file = folder / "providers.toml"
    file.write_text(f"""
        [[openid]]
        id = "company"
        name = "Example Ltd"
        server = "{server}"
        client_id = "openbook"
        client_secret_file = "{folder / "secret"}"
        scopes = ["openid", "profile", "email", "groups"]
        {more}
    """)
    settings.SOCIALACCOUNT_PROVIDERS, _ = provider_settings.read(str(file), {}, secret)


TRUSTED = """
sign_up = "anybody"
trusts_mail = true
groups_claim = "groups"
groups = { writers = ["Writers", "Readers"], readers = ["Readers"] }
staff = ["admins"]
"""


def test_a_person_of_the_company_signs_in_and_may_what_the_company_says(
    company: IdentityProvider, settings: Settings, tmp_path: Path
) -> None:
    configure(settings, tmp_path, company.url, TRUSTED)
    company.know(
        "u-1",
        name="Ann Lee",
        preferred_username="ann",
        email="ann@example.com",
        email_verified=True,
        groups=["writers"],
    )
    Group.objects.create(name="Own")
    ann = Person()
    page = ann.sign_in("u-1", BEGIN)
    assert (page.status, path_of(page.url)) == (200, "/memory/")
    user = User.objects.get()
    user.groups.add(Group.objects.get(name="Own"))

    def rights() -> tuple[list[str], bool, bool]:
        user.refresh_from_db()
        return sorted(user.groups.values_list("name", flat=True)), user.is_staff, user.is_superuser

    assert (user.username, user.first_name, user.email, user.has_usable_password()) == (
        *("ann", "Ann", "ann@example.com"),
        False,
    )
    assert rights() == (["Own", "Readers", "Writers"], False, False)
    assert EmailAddress.objects.get().verified
    account = SocialAccount.objects.get()
    assert account.extra_data == {
        "username": "ann",
        "email": "ann@example.com",
        "name": "Ann Lee",
        "groups": ["writers"],
    }
    assert not SocialToken.objects.exists()
    asked = parse_qs(urlsplit(next(url for url in ann.trail if "/auth?" in url)).query)
    assert asked["code_challenge_method"] == ["S256"] and len(asked["nonce"][0]) == 32

    company.know("u-1", name="Ann Lee", groups=["readers", "admins", "unknown"])
    Person().sign_in("u-1", BEGIN)
    assert rights() == (["Own", "Readers"], True, False)
    company.know("u-1", name="Ann Lee")  # no groups are told at all
    Person().sign_in("u-1", BEGIN)
    assert rights() == (["Own"], False, False)
    assert (User.objects.count(), [each.provider for each in lifecycle.sign_ins_of(user)]) == (1, ["Example Ltd"] * 3)
    assert "by Example Ltd" in ann.get("/account/").text


def test_nobody_gets_in_twice_by_one_answer_or_by_changing_their_mind(
    company: IdentityProvider, settings: Settings, tmp_path: Path
) -> None:
    configure(settings, tmp_path, company.url, TRUSTED)
    company.know("u-2", name="Bob")
    bob = Person()
    bob.sign_in("u-2", BEGIN)
    answer = next(url for url in bob.trail if url.startswith(SITE) and "callback" in url)
    assert User.objects.count() == 1
    for again in (bob, Person()):  # the state was used up; another browser never had it
        page = again.get(answer)
        assert (page.status, page.heading) == (401, "Not signed in by Example Ltd")
    # A state of one's own with the code of another: the provider sees that it was used.
    eve = Person()
    eve.get(BEGIN)
    state = parse_qs(urlsplit(next(url for url in eve.trail if "/auth?" in url)).query)["state"][0]
    page = eve.get(re.sub(r"state=[^&]+", f"state={state}", answer))
    assert (page.status, "_auth_user_id" in eve.client.session) == (401, False)
    # Refused over there
    shy = Person()
    form = re.search(r'action="([^"]+)"', shy.get(BEGIN).text)
    assert form
    page = shy.post(f"{company.url}{form[1]}", cancel="yes")
    assert (page.status, page.heading, User.objects.count()) == (200, "You did not sign in", 1)


@pytest.mark.once("//*")
@pytest.mark.parametrize("next_page", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_nobody_is_led_elsewhere(company: IdentityProvider, settings: Settings, tmp_path: Path, next_page: str) -> None:
    configure(settings, tmp_path, company.url, TRUSTED)
    company.know("u-2", name="Bob")
    person = Person()
    page = person.sign_in("u-2", f"/accounts/oidc/company/login/?next={next_page}&scope=offline&auth_params=acr%3Dx")
    assert (page.url, page.status) == (f"{SITE}/", 200)
    asked = parse_qs(urlsplit(next(url for url in person.trail if "/auth?" in url)).query)
    assert ("offline" in asked["scope"][0], "acr" in asked) == (False, False)


@pytest.mark.wide
def test_an_account_is_made_or_taken_over_only_as_the_operator_says(
    company: IdentityProvider, settings: Settings, tmp_path: Path
) -> None:
    owner = make_user("carol", password="correct horse battery", email="carol@example.com")
    company.know("u-3", name="Carol", preferred_username="carol", email="carol@example.com", email_verified=True)
    company.know("u-4", name="Dan", email="carol@example.com", email_verified=False)

    def signed_in(sub: str, more: str) -> tuple[int, str, str | None]:
        configure(settings, tmp_path, company.url, more)
        person = Person()
        page = person.sign_in(sub, BEGIN)
        return page.status, page.problem, person.client.session.get("_auth_user_id")

    settings.OPENBOOK_SIGNUP = False
    status, problem, somebody = signed_in("u-3", "")
    assert (status, problem[:18], somebody) == (403, "Signing up is off.", None)
    assert signed_in("u-3", 'sign_up = "closed"')[0] == 403
    # Her address was never proved here, so it is neither taken over nor given twice.
    status, problem, somebody = signed_in("u-3", TRUSTED)
    assert (status, "belongs to an account here already" in problem, somebody) == (403, True, None)
    # Untrusted, an address counts for nothing: an account of its own, without it.
    assert signed_in("u-3", 'sign_up = "anybody"')[0] == 200
    made = User.objects.exclude(pk=owner.pk).get()
    assert (made.username != "carol", made.email, SocialAccount.objects.get().user) == (True, "", made)
    made.delete()
    EmailAddress.objects.create(user=owner, email="carol@example.com", verified=True, primary=True)
    assert signed_in("u-4", TRUSTED)[2] != str(owner.pk)  # which the provider did not prove
    assert signed_in("u-3", TRUSTED)[2] == str(owner.pk)
    owner.refresh_from_db()
    assert owner.has_usable_password()
    # By domains, as for others
    settings.OPENBOOK_SIGNUP, settings.OPENBOOK_SIGNUP_DOMAINS = True, ["example.org"]
    company.know("u-5", name="Eve", email="eve@example.com", email_verified=True)
    company.know("u-6", name="Flo", email="flo@example.org", email_verified=True)
    assert signed_in("u-5", "trusts_mail = true")[0] == 403
    assert signed_in("u-6", "trusts_mail = true")[0] == 200


def test_who_was_put_out_or_is_leaving_stays_out(company: IdentityProvider, settings: Settings, tmp_path: Path) -> None:
    configure(settings, tmp_path, company.url, TRUSTED)
    company.know("u-7", name="Gus")
    Person().sign_in("u-7", BEGIN)
    user = SocialAccount.objects.get().user
    lifecycle.ask_deletion(user)
    page = Person().sign_in("u-7", BEGIN)
    assert path_of(page.url) == "/accounts/leaving/"
    lifecycle.keep(user)
    User.objects.update(is_active=False)
    page = Person().sign_in("u-7", BEGIN)
    assert (path_of(page.url), page.heading) == ("/accounts/inactive/", "This account is switched off")


@pytest.mark.wide
def test_signing_out_is_for_everywhere(
    company: IdentityProvider, logouts: Elsewhere, settings: Settings, tmp_path: Path
) -> None:
    """Who signs out here does so at the provider; who signs out there, does so here, without a browser."""
    configure(settings, tmp_path, company.url, TRUSTED)
    company.know("u-8", name="Hal")
    hal, other = Person(), Person()
    hal.sign_in("u-8", BEGIN)
    other.sign_in("u-8", BEGIN)
    logouts.requests.clear()
    page = hal.post("/accounts/logout/")
    assert path_of(page.url) == "/session/end"  # of the provider, which asks
    assert "_auth_user_id" not in hal.client.session
    fields = dict(re.findall(r'name="(\w+)" value="([^"]+)"', page.text))
    page = hal.post(f"{company.url}/session/end/confirm", **fields, logout="yes")
    assert (page.url, page.heading) == (f"{SITE}/accounts/login/", "Sign in")
    assert len(lifecycle.sign_ins_of(User.objects.get())) == 1  # the other browser has a session of its own over there

    page = other.post(
        f"{company.url}/session/end/confirm",
        **dict(re.findall(r'name="(\w+)" value="([^"]+)"', other.get(f"{company.url}/session/end").text)),
        logout="yes",
    )
    [token] = [parse_qs(request.raw_body.decode())["logout_token"][0] for request in logouts.requests[-1:]]
    door, machine = "/accounts/oidc/company/logout/", Client(enforce_csrf_checks=True)

    def sent(token: str) -> tuple[int, str]:
        answer = machine.post(door, {"logout_token": token})
        return answer.status_code, "" if answer.status_code == 200 else answer.json()["error_description"]

    assert other.client.get("/account/").status_code == 200
    head, body, signature = token.split(".")
    assert sent(f"{head}.{body}.{signature[:-6]}AAAAAA")[0] == 400
    assert sent("")[0] == 400
    assert sent(token) == (200, "")
    assert sent(token) == (400, "the token was used before")
    assert (other.client.get("/account/").status_code, UserSession.objects.count()) == (302, 0)
    assert machine.post("/accounts/oidc/nobody/logout/").status_code == 404


@pytest.mark.wide
def test_an_account_is_linked_and_unlinked_but_never_the_last_way_in(
    company: IdentityProvider, settings: Settings, tmp_path: Path
) -> None:
    configure(settings, tmp_path, company.url, TRUSTED)
    company.know("u-9", name="Ida", preferred_username="ida.at.company")
    user, ida = make_user("ida", password="correct horse battery"), Person()
    ida.client.post("/accounts/login/", {"username": "ida", "password": "correct horse battery"})
    begin = "/accounts/oidc/company/login/?process=connect"
    assert ida.get(begin).heading == "Link Example Ltd?"  # a link alone does nothing
    page = ida.post(begin)
    form = re.search(r'action="([^"]+)"', page.text)
    assert form
    page = ida.post(f"{company.url}{form[1]}", login="u-9")
    if path_of(page.url) == "/accounts/reauthenticate/":
        page = ida.post(page.url, password="correct horse battery")
    account = SocialAccount.objects.get()
    assert (account.user, "ida.at.company" in page.text) == (user, True)
    assert Person().sign_in("u-9", BEGIN).status == 200

    settings.OPENBOOK_PASSWORD_SIGN_IN = False
    page = ida.post("/accounts/3rdparty/", account=str(account.pk))
    assert (page.problem[:35], SocialAccount.objects.count()) == ("This is your only way to sign in, s", 1)
    settings.OPENBOOK_PASSWORD_SIGN_IN = True
    ida.post("/accounts/3rdparty/", account=str(account.pk))
    assert SocialAccount.objects.count() == 0


def test_where_passwords_are_off_there_is_no_form_and_the_operator_has_a_link(settings: Settings) -> None:
    rate_counters.HERE.clear()
    root = make_user(
        "root", password="correct horse battery", is_superuser=True, is_staff=True, email="root@example.org"
    )
    form = {"username": "root", "password": "correct horse battery"}
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    settings.OPENBOOK_SIGNUP, settings.OPENBOOK_PASSWORD_SIGN_IN = True, False
    reset = letters.password_link(root).removeprefix("http://testserver")
    nobody, signed_in = Client(), Client()
    forms = [("/accounts/login/", form), ("/admin/login/", form), ("/accounts/signup/", {"email": "a@example.org"})]
    forms += [("/accounts/password/reset/", {"email": root.email}), (reset, {})]
    assert [nobody.post(path, values).status_code for path, values in forms] == [404] * len(forms)
    assert nobody.post("/api/v1/auth/token/", form, content_type="application/json").status_code == 403
    page = nobody.get("/accounts/login/").text
    assert ("password" in page.lower(), 'name="username"' in page) == (False, False)
    assert nobody.get("/accounts/signup/").status_code == nobody.get(reset).status_code == 404

    with pytest.raises(CommandError):
        call_command("sign_in_link", "nobody")
    out = io.StringIO()
    call_command("sign_in_link", "root", stdout=out)
    link = out.getvalue().strip().removeprefix("http://testserver")
    assert "signs you in as root" in signed_in.get(link).text
    assert signed_in.post(link).headers["Location"] == "/admin/"
    assert [Client().post(link).status_code, Client().get(f"{link[:-2]}x/").status_code] == [410, 410]
    paths = ("password/change", "password/set", "reauthenticate")
    assert [signed_in.get(f"/accounts/{path}/").status_code for path in paths] == [404] * 3
    assert signed_in.get(f"/admin/auth/user/{root.pk}/password/").status_code == 403
    assert "password/" not in signed_in.get("/account/").text
    assert signed_in.get("/account/export/").status_code == 200  # who has no other proof has just signed in
    with time_machine.travel(timezone.now() + timedelta(minutes=6)):
        assert signed_in.get("/account/export/").headers["Location"] == "/accounts/again/?next=%2Faccount%2Fexport%2F"


def test_a_provider_that_is_away_says_so(settings: Settings, tmp_path: Path) -> None:
    configure(settings, tmp_path, f"http://127.0.0.1:{free_port()}", TRUSTED)
    page = Person().get(BEGIN)
    assert (page.status, page.problem[:27]) == (503, "Example Ltd does not answer")
    with elsewhere({"*": (200, {}, "<p>A page of some proxy")}) as server:
        configure(settings, tmp_path, server.url, TRUSTED)
        assert Person().get(BEGIN).status == 503
    assert Person().get("/accounts/oidc/nobody/login/").status == 404
    assert Client().get("/accounts/login/").status_code == 200
