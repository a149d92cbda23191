"""Sign-in by SAML with an identity provider of another maker: who gets in, and what of an answer is not believed."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from lxml import etree
from pytest_django import Settings

from config.secret_files import secret
from conversations.accounts import lifecycle, provider_settings
from conversations.runtime import rate_counters
from tests.certificates import signing_pair
from tests.identity_providers import SITE, path_of
from tests.identity_providers.saml import NAMES, SamlPerson, SamlProvider, answer_in, part, saml_provider
from tests.identity_providers.saml_forgeries import (
    Change,
    around,
    behind,
    beside,
    entity,
    in_extensions,
    in_signature,
    moved_on,
    rewritten,
    unasked,
    with_forged,
    with_same_id,
    without,
)

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.process,
    pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning:onelogin"),
]

BEGIN = "/accounts/saml/campus/login/?next=/memory/"
TRUSTED = """
sign_up = "anybody"
trusts_mail = true
verified_mail = true
groups_claim = "memberOf"
groups = { writers = ["Writers", "Readers"], readers = ["Readers"] }
staff = ["admins"]
attributes = { email = "mail", first_name = "givenName", last_name = "sn", username = "uid" }
"""


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SamlProvider]:
    with saml_provider(tmp_path_factory.mktemp("keys")) as provider:
        yield provider


@pytest.fixture(autouse=True)
def agreed(campus: SamlProvider, settings: Settings, tmp_path: Path) -> None:
    """Both sides know each other, and the provider answers right."""
    configure(settings, tmp_path, campus)
    campus.differ()
    campus.serve(Client().get("/accounts/saml/campus/metadata/").text)


def configure(settings: Settings, folder: Path, campus: SamlProvider, more: str = TRUSTED) -> None:
    rate_counters.HERE.clear()
    file = folder / "providers.toml"
    file.write_text(f"""
        [[saml]]
        id = "campus"
        name = "Campus"
        entity_id = "{campus.url}/metadata"
        sso_url = "{campus.url}/sso"
        slo_url = "{campus.url}/slo"
        certificate_file = "{campus.keys / "campus.pem"}"
        {more}
    """)
    settings.SOCIALACCOUNT_PROVIDERS, _ = provider_settings.read(str(file), {}, secret)


def open_sign_ins() -> int:
    return sum(len(lifecycle.sign_ins_of(user)) for user in User.objects.all())


def cause(caplog: pytest.LogCaptureFixture) -> str:
    """Why the last one was refused, as the log has it."""
    [record] = [each for each in caplog.records if hasattr(each, "cause")][-1:]
    return str(record.cause)


@pytest.mark.once("both")
@pytest.mark.parametrize("signed", ["assertion", "answer", "both"])
def test_a_person_of_the_campus_signs_in_and_may_what_the_campus_says(campus: SamlProvider, signed: str) -> None:
    campus.serve(Client().get("/accounts/saml/campus/metadata/").text, signed)
    about = {"uid": "ann", "mail": "ann@example.com", "givenName": "Ann", "sn": "Lee"}
    campus.know("u-1", **about, memberOf=["writers", "unknown"])
    ann = SamlPerson()
    page = ann.bring(ann.answer("u-1", BEGIN))
    assert (page.status, path_of(page.url)) == (200, "/memory/")
    user = User.objects.get()
    user.groups.add(Group.objects.create(name="Own"))
    assert (user.username, user.get_full_name(), user.email, user.has_usable_password()) == (
        *("ann", "Ann Lee", "ann@example.com"),
        False,
    )
    account = SocialAccount.objects.get()
    assert (account.uid, account.extra_data["groups"]) == ("u-1", ["writers"])
    assert Session.objects.count() == 1  # what was put by is gone

    def rights() -> tuple[list[str], bool, bool]:
        user.refresh_from_db()
        return sorted(user.groups.values_list("name", flat=True)), user.is_staff, user.is_superuser

    assert rights() == (["Own", "Readers", "Writers"], False, False)
    campus.know("u-1", **about, memberOf=["readers", "admins"])
    SamlPerson().bring(SamlPerson().answer("u-1", BEGIN))  # of another browser: nothing
    assert rights() == (["Own", "Readers", "Writers"], False, False)
    again = SamlPerson()
    again.bring(again.answer("u-1", BEGIN))
    assert (rights(), User.objects.count()) == ((["Own", "Readers"], True, False), 1)
    campus.know("u-1")  # says nothing but the name
    again.bring(again.answer("u-1", BEGIN))
    assert rights() == (["Own"], False, False)
    assert [each.provider for each in lifecycle.sign_ins_of(user)] == ["Campus"] * 2


TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
AUDIENCE = "<saml:AudienceRestriction>", "</saml:AudienceRestriction>"
SAME: Change = lambda answer: answer  # noqa: E731
REFUSED: dict[str, tuple[dict[str, object], Change, str]] = {
    "unsigned": ({}, without("a:Assertion/d:Signature"), "No Signature found"),
    "signed by another key": ({"key": "other"}, SAME, "Signature validation failed"),
    "signed with SHA-1": ({"algorithm": "http://www.w3.org/2000/09/xmldsig#rsa-sha1"}, SAME, "Deprecated signature"),
    "another name": ({}, rewritten(">u-2<", ">root<"), "Signature validation failed"),
    "more groups": ({}, rewritten(">readers<", ">admins<"), "Signature validation failed"),
    "another provider": ({"values": {"Issuer": "https://other.example"}}, SAME, "Invalid issuer"),
    "another audience": ({"values": {"Audience": "https://other.example"}}, SAME, "not a valid audience"),
    "no audience": (
        {"replaced": [[AUDIENCE[0], "<!--"], [AUDIENCE[1], "-->"]]},
        SAME,
        "for another service, or names none",
    ),
    "an audience more": (
        {"replaced": [[AUDIENCE[1], f"{AUDIENCE[1]}{AUDIENCE[0]}<saml:Audience>x</saml:Audience>{AUDIENCE[1]}"]]},
        SAME,
        "for another service",
    ),
    "another recipient": (
        {"values": {"SubjectRecipient": "https://other.example/acs"}},
        SAME,
        "A valid SubjectConfirmation was not found",
    ),
    "a recipient that is longer": (
        {"values": {"SubjectRecipient": f"https://other.example/?{SITE}/accounts/saml/campus/acs/"}},
        SAME,
        "for another address",
    ),
    "no recipient": ({"replaced": [[" Recipient=", " Address="]]}, SAME, "for another address"),
    "another destination": ({"values": {"Destination": "https://other.example/acs"}}, SAME, "was received at"),
    "another sign-in": ({"values": {"InResponseTo": "_another"}}, SAME, "belongs to no sign-in that began in this"),
    "another sign-in within": ({}, moved_on, "A valid SubjectConfirmation was not found"),
    "made to look unasked": ({}, unasked, "for another sign-in"),
    "no end": ({"endless": True}, SAME, "no end"),
    "a clock that is fast": ({"skew": 330}, SAME, "not yet valid"),
    "a clock that is slow": ({"skew": -330}, SAME, "A valid SubjectConfirmation was not found"),
    "over long ago": ({"skew": -900}, SAME, "expired"),
    "good for too long": (
        {"values": {"SubjectConfirmationDataNotOnOrAfter": "2090-01-01T00:00:00Z"}},
        SAME,
        "good for more than a day",
    ),
    "a failure": ({"values": {"StatusCode": "urn:oasis:names:tc:SAML:2.0:status:Responder"}}, SAME, "was Responder"),
    "a name for once": ({"values": {"NameIDFormat": TRANSIENT}}, SAME, "names people anew"),
    "a forged one before": ({}, with_forged(beside), "must contain 1 assertion"),
    "a forged one behind": ({}, with_forged(behind), "must contain 1 assertion"),
    "the signed one among extensions": ({}, with_forged(in_extensions), "must contain 1 assertion"),
    "the signed one within a forged one": ({}, with_forged(around), "must contain 1 assertion"),
    "the signed one within the signature": ({}, with_forged(in_signature), "must contain 1 assertion"),
    "the same with its id": ({}, with_forged(with_same_id), "must contain 1 assertion"),
    "entities": ({}, entity, "DTDForbidden"),
    "no XML": ({}, lambda _: b"<Response", "can't be read: XMLSyntaxError"),
    "nothing": ({}, lambda _: b"", "can't be read"),
    "other XML": ({}, lambda _: b"<a/>", "Unsupported SAML version"),
}


@pytest.mark.wide
def test_what_is_not_to_be_believed_signs_nobody_in(campus: SamlProvider, caplog: pytest.LogCaptureFixture) -> None:
    campus.know("u-2", memberOf=["readers"])
    causes = {}
    for name, (differences, change, words) in REFUSED.items():
        campus.differ(**differences)
        eve = SamlPerson()
        page = eve.bring(change(eve.answer("u-2", BEGIN)))
        causes[name] = words if words in cause(caplog) else cause(caplog)
        assert (page.status, page.heading, eve.is_in) == (401, "Not signed in by Campus", False), name
        rate_counters.HERE.clear()
    assert causes == {name: words for name, (_, _, words) in REFUSED.items()}
    assert (User.objects.count(), SocialAccount.objects.count()) == (0, 0)


def test_clocks_may_differ_and_a_comment_cuts_no_name_short(campus: SamlProvider) -> None:
    """A comment may be put into what is signed without harm to the signature: ``root<!---->.evil`` is to be read whole."""
    campus.know("root.evil", uid="root.evil", mail="root@example.com.evil.example")
    for skew in (270, -270):
        campus.differ(skew=skew)
        ann = SamlPerson()
        text = etree.tostring(ann.answer("root.evil", BEGIN))
        assert text.count(b">root.evil<") == 2
        commented = text.replace(b">root.evil<", b">root<!---->.evil<").replace(
            b"@example.com.", b"@example.com<!---->."
        )
        assert (ann.bring(commented).status, ann.is_in) == (200, True)
    user, account = User.objects.get(), SocialAccount.objects.get()
    assert (account.uid, user.username, user.email) == ("root.evil", "root.evil", "root@example.com.evil.example")


def test_an_answer_works_once_for_the_browser_that_began(
    campus: SamlProvider, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    campus.know("u-3")
    ann, eve = SamlPerson(), SamlPerson()
    answer = ann.answer("u-3", BEGIN)
    eve.get(BEGIN)
    assert (eve.bring(answer).status, eve.is_in) == (401, False)
    assert (ann.bring(answer).status, ann.is_in, cause(caplog)) == (401, False, "the answer was used before")
    answer = ann.answer("u-3", BEGIN)
    assert (ann.bring(answer).status, ann.is_in) == (200, True)
    ann.client.logout()
    assert (ann.bring(answer).status, ann.is_in, cause(caplog)) == (401, False, "the answer was used before")
    page = ann.get("/accounts/saml/campus/acs/finish/")
    assert (page.status, page.heading, "another " in page.text) == (401, "Not signed in by Campus", False)
    too_long = Client().post("/accounts/saml/campus/acs/", {"SAMLResponse": "A" * 300_000})
    assert (too_long.status_code, Session.objects.filter(session_data="A").count()) == (400, 0)
    assert [SamlPerson().get(f"/accounts/saml/nobody/{name}/").status for name in ("login", "metadata", "sls")] == [
        404
    ] * 3


def test_a_sign_in_that_begins_at_the_provider_is_taken_only_where_it_is_allowed(
    campus: SamlProvider, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    campus.know("u-4")
    ann = SamlPerson()
    unasked = answer_in(ann.get(f"{campus.url}/tile?login=u-4"))
    assert (ann.bring(unasked).status, ann.is_in) == (401, False)
    assert cause(caplog) == "the answer came unasked (idp_initiated)"
    configure(settings, tmp_path, campus, f"{TRUSTED}idp_initiated = true")
    unasked = answer_in(ann.get(f"{campus.url}/tile?login=u-4"))
    page = ann.bring(unasked)
    assert (page.status, path_of(page.url), ann.is_in) == (200, "/", True)
    # Without a sign-in that is used up, it is remembered that the answer was; and one that was asked for doesn't become one.
    assert (SamlPerson().bring(unasked).status, cause(caplog)) == (401, "the answer was used before")
    asked = ann.answer("u-4", BEGIN)
    del asked.attrib["InResponseTo"]
    assert (SamlPerson().bring(asked).status, "for another sign-in" in cause(caplog)) == (401, True)


@pytest.mark.wide
def test_signing_out_is_for_both_sides(campus: SamlProvider) -> None:
    campus.know("u-5")
    campus.know("u-6")
    ann, same, other = SamlPerson(), SamlPerson(), SamlPerson()
    for person, name in ((ann, "u-5"), (same, "u-5"), (other, "u-6")):
        person.bring(person.answer(name, BEGIN))
    page = ann.post("/accounts/logout/")
    assert (page.url, page.heading, ann.is_in) == (f"{SITE}/accounts/login/", "Sign in", False)
    [order] = [url for url in ann.trail if url.startswith(f"{campus.url}/slo")]
    assert parse_qs(urlsplit(order).query).keys() == {"SAMLRequest", "RelayState"}
    assert (same.is_in, open_sign_ins()) == (True, 2)
    # What the provider says of that ends nothing: anybody could send a link to it.
    answered = next(url for url in ann.trail if "SAMLResponse" in url)
    assert (path_of(other.get(answered).url), other.client.get("/account/").status_code) == ("/", 200)

    def brought(person: SamlPerson, address: str) -> tuple[int, str]:
        page = person.get(address)
        return page.status, page.heading or page.text.strip()

    unsigned = parse_qs(urlsplit(order).query)["SAMLRequest"][0]
    refused = Client().get("/accounts/saml/campus/sls/", {"SAMLRequest": unsigned})
    assert (refused.status_code, refused.text.strip()) == (400, "The request to sign out is not signed.")
    forged = brought(SamlPerson(), f"{campus.url}/leave?login=u-5&key=other")
    assert (forged[0], "can't be believed" in forged[1], open_sign_ins()) == (400, True, 2)
    # A genuine one is for whom it names, whoever's browser brings it.
    stranger = SamlPerson()
    assert brought(stranger, f"{campus.url}/leave?login=u-5&session=of-another") == (200, "Signed out everywhere")
    assert open_sign_ins() == 2
    assert brought(other, f"{campus.url}/leave?login=u-5&session=of-u-5") == (200, "Signed out everywhere")
    assert [person.client.get("/account/").status_code for person in (same, other)] == [302, 200]
    used = next(url for url in other.trail if "SAMLRequest" in url and url.startswith(SITE))
    assert brought(other, used) == (400, "The request to sign out is old, or was used before.")
    assert brought(other, f"{campus.url}/leave?login=u-6") == (200, "Signed out everywhere")
    assert (other.client.get("/account/").status_code, open_sign_ins()) == (302, 0)


def test_a_key_of_its_own_signs_what_this_server_sends_and_opens_what_is_encrypted_for_it(
    campus: SamlProvider, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key, certificate = signing_pair(tmp_path, "own")
    own = f'own_key_file = "{key}"\nown_certificate_file = "{certificate}"\nencrypted = true\n'
    configure(settings, tmp_path, campus, f"{TRUSTED}{own}")
    metadata = Client().get("/accounts/saml/campus/metadata/").text
    assert (metadata.count("<ds:X509Certificate>"), 'AuthnRequestsSigned="true"' in metadata) == (2, True)
    campus.serve(metadata)
    campus.differ(wants_signed=True, encrypts=True)
    campus.know("u-7")
    ann = SamlPerson()
    answer = ann.answer("u-7", BEGIN)
    assert (answer.find("a:Assertion", NAMES), part(answer, "a:EncryptedAssertion") is None) == (None, False)
    assert (ann.bring(answer).status, ann.is_in, SocialAccount.objects.get().uid) == (200, True, "u-7")
    assert ann.post("/accounts/logout/").heading == "Sign in"
    signed_query = parse_qs(urlsplit(next(url for url in ann.trail if url.startswith(f"{campus.url}/slo"))).query)
    assert signed_query.keys() == {"SAMLRequest", "RelayState", "SigAlg", "Signature"}
    campus.differ(wants_signed=True)
    plain = ann.answer("u-7", BEGIN)
    assert (ann.bring(plain).status, "is not encrypted" in cause(caplog)) == (401, True)
    # Who has no such key reads nothing, and says so.
    configure(settings, tmp_path, campus)
    assert (ann.bring(answer).status, "No private key available" in cause(caplog)) == (401, True)


def test_settings_that_cannot_be_right_say_what_to_do(campus: SamlProvider, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a certificate")

    def problem(more: str) -> str:
        with pytest.raises(ImproperlyConfigured) as error:
            configure(settings, tmp_path, campus, more)
        return str(error.value).removeprefix(f"{tmp_path}/providers.toml: ")

    assert problem('own_key_file = "a"') == "saml campus: own_key_file and own_certificate_file belong together."
    assert problem('own_key_file = "a"\nown_certificate_file = "b"').startswith(
        "saml campus: own_key_file can't be read"
    )
    assert problem("idp_initiated = 1") == "saml campus: idp_initiated has to be true or false."
    assert problem("encrypted = true").startswith("saml campus: own_key_file is missing")
    configure(settings, tmp_path, campus)
    file = tmp_path / "providers.toml"
    told = file.read_text().replace(f"{campus.keys}/campus.pem", f"{tmp_path}/text")
    file.write_text(told)
    with pytest.raises(ImproperlyConfigured, match="certificate_file holds no certificate"):
        provider_settings.read(str(file), {}, secret)
