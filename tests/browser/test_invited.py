"""How people come in where signing up is off: by a mailed link, by a company's account, by a campus; and out again.

A real mail server, a certified OpenID provider and a SAML provider of another maker stand beside the server.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2
import psycopg
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages import PASSWORD, Chat, chat_page
from tests.browser.test_account import faults
from tests.conversations.accounts.test_mailing import Inbox, smtp_server
from tests.identity_providers import IdentityProvider, started
from tests.identity_providers.saml import SamlProvider, saml_provider
from tests.processes import CHEAP
from tests.processes import started as command_started
from tests.services import free_port, fresh_database
from tests.waiting import until

PROVIDERS = """
[[openid]]
id = "company"
name = "Example Ltd"
server = "{company}"
client_id = "openbook"
client_secret = "a secret of the client that is long enough"
sign_up = "closed"

[[saml]]
id = "campus"
name = "Campus"
entity_id = "{campus}/metadata"
sso_url = "{campus}/sso"
slo_url = "{campus}/slo"
certificate_file = "{keys}/campus.pem"
sign_up = "anybody"
attributes = {{ username = "uid" }}
"""
ADD_MANAGER = """
WITH manager AS (
    INSERT INTO auth_user (username, password, is_superuser, is_staff, is_active, first_name, last_name, email, date_joined)
    SELECT %(name)s, password, false, false, true, '', '', '', now() FROM auth_user WHERE username = 'admin' RETURNING id
), team AS (INSERT INTO auth_group (name) VALUES (%(team)s) RETURNING id)
INSERT INTO conversations_groupmanager (group_id, user_id) SELECT team.id, manager.id FROM team, manager
"""
MEMBERS = """
SELECT username, email FROM auth_user JOIN auth_user_groups ON user_id = auth_user.id
JOIN auth_group ON auth_group.id = group_id WHERE name = %s ORDER BY username
"""


@dataclass(frozen=True, kw_only=True)
class House:
    url: str
    database: str
    inbox: Inbox
    company: IdentityProvider
    campus: SamlProvider

    def add_manager(self, name: str, team: str) -> None:
        with psycopg.connect(self.database) as connection:
            connection.execute(ADD_MANAGER, {"name": name, "team": team})

    def members(self, team: str) -> list[tuple[str, str]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(MEMBERS, [team]).fetchall()


@pytest.fixture(scope="module")
def house(
    migrated: str, server_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """With a database of its own: workers of others, who have no mail server, would take its letters to send."""
    inbox, folder = Inbox(), tmp_path_factory.mktemp("providers")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    callbacks = [f"{url}/accounts/oidc/company/{end}" for end in ("login/callback/", "logout/")]
    with (
        fresh_database(migrated) as database,
        smtp_server(inbox) as mail,
        started("openid.js", *callbacks, f"{url}/accounts/login/") as company,
        saml_provider(folder) as campus,
    ):
        file = folder / "providers.toml"
        file.write_text(PROVIDERS.format(company=company.url, campus=campus.url, keys=campus.keys))
        environment = server_environment | {
            "OPENBOOK_SIGNUP": "off",
            "OPENBOOK_MAIL_URL": f"smtp://127.0.0.1:{mail}?tls=off",
            "OPENBOOK_SIGN_IN_PROVIDERS": str(file),
            "OPENBOOK_PUBLIC_URL": url,
        }
        with serving(port, database, environment):
            campus.serve(httpx2.get(f"{url}/accounts/saml/campus/metadata/").text)
            yield House(url=url, database=database, inbox=inbox, company=company, campus=campus)


@contextmanager
def serving(port: int, database: str, environment: dict[str, str]) -> Iterator[None]:
    place = {"DATABASE_URL": database, **CHEAP, **environment}
    with (
        command_started("serve", "--port", str(port), "--skip-checks", **place) as running,
        command_started("work", "--skip-checks", **place),
    ):
        running.wait_until_ready()
        yield


def begin_invitation(chat: Chat, manager: str, team: str) -> None:
    """As its manager, who finds the page on the one of their account."""
    chat.sign_in(manager, PASSWORD)
    chat.open("/account/")
    chat.page.get_by_role("link", name="Invite…").click()
    assert faults(chat.page) == {}
    chat.page.get_by_role("group", name="Groups to join").get_by_label(team).check()


def make_invitation(chat: Chat) -> str:
    """Returns the link. Who signed in by a password a moment ago is not asked for it again."""
    chat.page.get_by_role("button", name="Make an invitation").press("Enter")
    link = chat.page.get_by_role("textbox", name="The invitation is made")
    expect(link).to_be_visible()
    assert faults(chat.page) == {}
    return link.input_value()


def link_in(letter: str) -> str:
    """Quoted-printable breaks lines."""
    text = letter.replace("=\n", "").replace("=\r\n", "").replace("=3D", "=")
    found = re.search(r"http://\S+/invitation/\S+", text)
    assert found, letter
    return found[0]


@pytest.mark.wide
def test_an_invitation_goes_from_a_managers_page_by_mail_to_a_member(browser: Browser, house: House) -> None:
    house.add_manager("mara", "Research")
    with chat_page(browser, house.url) as manager, chat_page(browser, house.url) as guest:
        begin_invitation(manager, "mara", "Research")
        manager.page.get_by_label("Only for this mail address").fill("ann@example.org")
        make_invitation(manager)
        expect(manager.page.get_by_role("main")).to_contain_text("It is also mailed to ann@example.org.")
        until(lambda: house.inbox.letters)
        (recipients, letter, *_), page = house.inbox.letters.pop(), guest.page
        assert recipients == ["ann@example.org"]

        page.goto(link_in(letter))
        expect(page.get_by_role("heading", level=1)).to_have_text("You are invited")
        expect(page.get_by_role("listitem")).to_have_text(["Research"])
        assert faults(page) == {}
        page.get_by_role("button", name="Make an account").press("Enter")
        expect(page.get_by_role("main")).to_contain_text("mara invited you. You join: Research.")
        assert faults(page) == {}
        page.get_by_label("Username").fill("ann")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Password (again)").fill(PASSWORD)
        page.keyboard.press("Enter")
        guest.wait_until_ready()
        assert house.members("Research") == [("ann", "ann@example.org")]

        page.goto(link_in(letter))
        expect(page.get_by_role("status")).to_have_text("You have used it already: there is nothing to do.")
        assert faults(page) == {}
        manager.open("/account/invitations/")
        expect(manager.page.get_by_role("listitem").filter(has_text="ann used it on")).to_contain_text("used up")
        assert (manager.problems, guest.problems) == ([], [])


@pytest.mark.wide
def test_an_invitation_lets_in_who_has_a_companys_account_alone(browser: Browser, house: House) -> None:
    """At a provider that lets in nobody new otherwise; and who used the link up is told of the way back in."""
    house.add_manager("mo", "Sales")
    house.company.know("u-7", name="Bob Ray", preferred_username="bob")
    with chat_page(browser, house.url) as manager, chat_page(browser, house.url) as guest:
        begin_invitation(manager, "mo", "Sales")
        link, page = make_invitation(manager), guest.page
        page.goto(link)
        page.get_by_role("button", name="Continue by Example Ltd").press("Enter")
        page.locator("[name=login]").fill("u-7")
        page.get_by_role("button", name="Sign in").press("Enter")
        guest.wait_until_ready()
        assert house.members("Sales") == [("bob", "")]
        guest.open("/account/")
        expect(page.get_by_role("main")).to_contain_text("by Example Ltd")
        assert guest.problems == []
    with chat_page(browser, house.url) as late:
        late.page.goto(link)
        expect(late.page.get_by_role("heading", level=1)).to_have_text("This invitation works no more")
        expect(late.page.get_by_role("main")).to_contain_text("Ask mo for a new one.")
        assert faults(late.page) == {}


def sign_in_by_campus(chat: Chat, who: str) -> None:
    chat.open("/accounts/login/")
    chat.page.get_by_role("link", name="Sign in by Campus").press("Enter")
    chat.page.locator("[name=login]").fill(who)
    chat.page.get_by_role("button", name="Sign in").press("Enter")
    expect(chat.page).to_have_url(f"{chat.url}/")
    chat.wait_until_ready()


@pytest.mark.wide
def test_a_person_of_the_campus_signs_in_and_out_here_and_there(browser: Browser, house: House) -> None:
    house.campus.know("s-1", uid="cleo")
    with chat_page(browser, house.url) as chat:
        page = chat.page
        sign_in_by_campus(chat, "s-1")
        chat.open("/accounts/logout/")
        page.get_by_role("button", name="Sign out").press("Enter")
        expect(page).to_have_url(re.compile("/accounts/login/"))
        chat.open("/")
        expect(page).to_have_url(re.compile("/accounts/login/"))

        sign_in_by_campus(chat, "s-1")
        page.goto(f"{house.campus.url}/leave?login=s-1&session=of-s-1")
        expect(page.get_by_role("heading", level=1)).to_have_text("Signed out everywhere")
        chat.open("/")
        expect(page).to_have_url(re.compile("/accounts/login/"))
        assert chat.problems == []
