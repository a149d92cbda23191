"""Sign-in by OpenLDAP's server: whose account it is, what they may, and what is said when it is away."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from config.secret_files import secret
from conversations.accounts import lifecycle, provider_settings
from conversations.runtime import rate_counters
from tests.certificates import self_signed
from tests.conversations.factories import make_user
from tests.directory_server import ADMIN, PASSWORD, SUFFIX, Directory, directory_server
from tests.services import free_port

pytestmark = [pytest.mark.django_db, pytest.mark.process]
BACKENDS = [
    "conversations.accounts.session_user.SessionUserBackend",
    "conversations.accounts.ldap_sign_in.DirectoryBackend",
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Directory]:
    with directory_server(tmp_path_factory.mktemp("slapd")) as server:
        yield server


def configure(settings: Settings, folder: Path, server: str, more: str) -> None:
    rate_counters.HERE.clear()
    file = folder / "providers.toml"
    file.write_text(f"""
        [ldap]
        server = "{server}"
        bind_dn = "{ADMIN}"
        bind_password_env = "DIRECTORY_PASSWORD"
        users = "ou=people,{SUFFIX}"
        group_base = "ou=groups,{SUFFIX}"
        groups = {{ writers = ["Writers"] }}
        staff = ["admins"]
        {more}
    """)
    _, settings.OPENBOOK_DIRECTORY = provider_settings.read(str(file), {"DIRECTORY_PASSWORD": PASSWORD}, secret)
    settings.AUTHENTICATION_BACKENDS = BACKENDS


def sign_in(name: str, password: str) -> tuple[User | None, str]:
    """Who is in now, and what the page says."""
    client = Client()
    page = client.post("/accounts/login/", {"username": name, "password": password})
    user = User.objects.filter(pk=client.session.get("_auth_user_id", 0)).first()
    return user, "" if user else page.text


def test_people_of_a_directory_sign_in_by_its_password(
    directory: Directory, settings: Settings, tmp_path: Path
) -> None:
    configure(settings, tmp_path, directory.url, 'sign_up = "anybody"')
    ann = directory.person("ann", "her directory password", givenName="Ann", sn="Lee")
    directory.group("writers", ann)
    directory.group("admins", ADMIN)
    local = make_user("admin", password="correct horse battery", is_superuser=True, is_staff=True)
    directory.person("admin", "of the directory's own admin")

    user, _ = sign_in("ann", "her directory password")
    assert user and (user.username, user.get_full_name(), user.has_usable_password()) == ("ann", "Ann Lee", False)
    assert ([*user.groups.values_list("name", flat=True)], user.is_staff) == (["Writers"], False)
    assert [sign_in("ann", wrong)[0] for wrong in ("wrong", "", "*")] == [None] * 3
    assert sign_in("a*", "her directory password")[0] is None
    # A change in the directory is a change here, at the next sign-in.
    directory.group("writers", ADMIN)
    directory.group("admins", ann)
    again, _ = sign_in("Ann", "her directory password")
    assert again == user and ([*again.groups.all()], again.is_staff) == ([], True)
    # An entry is nobody's account for its name.
    other, _ = sign_in("admin", "of the directory's own admin")
    assert other and (other.username, other.is_superuser, other != local) == ("admin2", False, True)
    assert sign_in("admin", "correct horse battery")[0] == local
    assert SocialAccount.objects.filter(provider="ldap").count() == 2
    # Who is put out here stays out, whatever the directory says.
    lifecycle.leave(user, asked_at=user.date_joined)
    session = Client()
    session.post("/accounts/login/", {"username": "ann", "password": "her directory password"})
    assert session.get("/account/").status_code == 302
    User.objects.filter(pk=other.pk).update(is_active=False)
    assert sign_in("admin", "of the directory's own admin")[0] is None
    # Passwords of this server off: those of the directory work.
    settings.OPENBOOK_PASSWORD_SIGN_IN = False
    directory.person("bob", "his directory password")
    assert sign_in("bob", "his directory password")[0]


def test_an_account_is_made_or_taken_over_only_as_the_operator_says(
    directory: Directory, settings: Settings, tmp_path: Path
) -> None:
    directory.person("carol", "her directory password")
    own = make_user("carol", password="correct horse battery")
    configure(settings, tmp_path, directory.url, "")
    user, words = sign_in("carol", "her directory password")
    assert (user, "Signing up is off." in words, "carol" in words) == (None, True, True)
    configure(settings, tmp_path, directory.url, "trusts_names = true")
    assert sign_in("carol", "her directory password")[0] == own
    SocialAccount.objects.all().delete()
    User.objects.filter(pk=own.pk).update(is_staff=True)
    assert sign_in("carol", "her directory password")[0] is None  # never one of staff


def test_a_directory_that_is_away_says_so_and_superusers_get_in(settings: Settings, tmp_path: Path) -> None:
    configure(settings, tmp_path, f"ldap://127.0.0.1:{free_port()}", 'sign_up = "anybody"')
    root = make_user("root", password="correct horse battery", is_superuser=True)
    user, words = sign_in("ann", "her directory password")
    assert (user, "The directory does not answer" in words, 'value="ann"' in words) == (None, True, True)
    assert sign_in("root", "correct horse battery")[0] == root


@pytest.mark.parametrize("is_start_tls", [True, False])
def test_a_directory_is_asked_by_tls_where_its_certificate_is_trusted(
    directory: Directory, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture, is_start_tls: bool
) -> None:
    directory.person("dan", "his directory password")
    server, start_tls = (directory.url, "start_tls = true\n") if is_start_tls else (directory.secure_url, "")
    own, other = directory.certificate, self_signed(tmp_path)

    def signed_in(authority: str) -> tuple[User | None, str]:
        configure(settings, tmp_path, server, f'sign_up = "anybody"\n{start_tls}{authority}')
        return sign_in("dan", "his directory password")

    user, _ = signed_in(f'certificate_authority_file = "{own}"')
    assert user and user.username == "dan"
    for authority, words in ((f'certificate_authority_file = "{other}"', str(other)), ("", "the system's authorities")):
        nobody, page = signed_in(authority)
        assert (nobody, "The directory does not answer" in page) == (None, True)
        [record] = [each for each in caplog.records if each.message == "the directory failed"][-1:]
        cause = str(vars(record)["cause"])
        assert f"its certificate is not of {words}, or not for this name" in cause
        assert "password" not in cause


def test_groups_within_groups_count_where_it_is_said(directory: Directory, settings: Settings, tmp_path: Path) -> None:
    """As Active Directory has them; the library asks for the groups of groups one after another, by no rule of a server."""
    eve = directory.person("eve", "her directory password")
    team = directory.group("team", eve)
    inner = directory.group("inner", team)
    directory.group("writers", inner)
    directory.group("team", eve, directory.group("admins", inner))  # in a circle

    def groups(kind: str) -> tuple[list[str], bool]:
        configure(settings, tmp_path, directory.url, f'sign_up = "anybody"\ngroup_type = "{kind}"')
        user, _ = sign_in("eve", "her directory password")
        assert user
        return [*user.groups.values_list("name", flat=True)], user.is_staff

    assert groups("active_directory") == ([], False)
    assert groups("nested_active_directory") == (["Writers"], True)
    directory.group("team", ADMIN)
    assert groups("nested_active_directory") == ([], False)
