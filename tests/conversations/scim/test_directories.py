"""What Entra and Okta send, by the shapes that they document, and what a directory may not do."""

import json
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group, User
from django.test import Client

from conversations.accounts import service_accounts, tokens
from conversations.models import AccountDeletion, ApiToken, AuditEvent, DirectoryUser
from tests.conversations.factories import make_user
from tests.statements import statements

PATCH = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"]}
ENTRA: dict[str, Any] = {
    "schemas": [
        "urn:ietf:params:scim:schemas:core:2.0:User",
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
    ],
    "externalId": "58342554-38d6-4ec8-948c-50044d0a33fd",
    "active": True,
    "emails": [{"primary": True, "type": "work", "value": "ada@contoso.example"}],
    "meta": {"resourceType": "User"},
    "name": {"formatted": "Ada Byron", "familyName": "Byron", "givenName": "Ada"},
    "displayName": "Ada Byron",
    "userName": "ada@contoso.example",
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": "Engines"},
}
OKTA: dict[str, Any] = {
    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
    "userName": "grace@okta.example",
    "name": {"givenName": "Grace", "middleName": "", "familyName": "Hopper"},
    "emails": [{"primary": True, "value": "grace@okta.example", "type": "work", "display": "grace@okta.example"}],
    "displayName": "Grace Hopper",
    "locale": "en-US",
    "externalId": "00ujl29u0le5T6Aj10h7",
    "groups": [],
    "password": "1mz050nq",
    "active": True,
}


class Directory:
    def __init__(self, token: str, scheme: str = "Bearer") -> None:
        self.client, self.headers = Client(), {"Authorization": f"{scheme} {token}"}

    def call(self, method: str, path: str, body: Any = None, **query: str) -> tuple[int, Any]:
        data = json.dumps(body) if body is not None else ""
        answer: Any = self.client.generic(
            method, f"/scim/v2/{path}", data, "application/scim+json", headers=self.headers, query_params=query or None
        )
        assert not answer.content or answer.headers["Content-Type"] == "application/scim+json"
        return answer.status_code, json.loads(answer.content) if answer.content else None

    def make(self, body: Any) -> str:
        status, made = self.call("POST", "Users", body)
        assert status == 201, made
        return str(made["id"])

    def patch(self, path: str, *operations: dict[str, Any]) -> Any:
        status, body = self.call("PATCH", path, PATCH | {"Operations": operations})
        assert status == 200, body
        return body

    def find(self, path: str, filter: str) -> list[str]:
        status, found = self.call("GET", path, filter=filter)
        assert status == 200, found
        return [each["id"] for each in found.get("Resources", [])]


@pytest.fixture
def directory(token: str) -> Directory:
    return Directory(token)


def test_entra_makes_finds_changes_and_shuts_an_account(directory: Directory) -> None:
    assert directory.find("Users", 'userName eq "ada@contoso.example"') == []
    id = directory.make(ENTRA)
    ada = User.objects.get(pk=id)
    assert (ada.first_name, ada.last_name, ada.email, ada.has_usable_password()) == (
        "Ada",
        "Byron",
        "ada@contoso.example",
        False,
    )
    assert EmailAddress.objects.filter(user=ada, email=ada.email, verified=True, primary=True).exists()
    for filter in (
        'userName eq "ADA@contoso.example"',
        f'externalId eq "{ENTRA["externalId"]}"',
        'emails[type eq "work"].value eq "ada@contoso.example"',
        'userName sw "ada" and active eq true',
        f'id eq "{id}"',
    ):
        assert directory.find("Users", filter) == [id], filter
    directory.patch(
        f"Users/{id}",
        {"op": "Add", "path": "name.givenName", "value": "Augusta Ada"},
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "ada.king@contoso.example"},
        {"op": "Add", "path": 'emails[type eq "home"].value', "value": "ada@home.example"},
        {"op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "x"},
    )
    ada.refresh_from_db()
    assert (ada.first_name, ada.email) == ("Augusta Ada", "ada.king@contoso.example")
    assert not EmailAddress.objects.filter(email="ada@contoso.example").exists()
    tokens.issue(user=ada, name="hers")
    told = directory.patch(f"Users/{id}", {"op": "Replace", "path": "active", "value": "False"})
    ada.refresh_from_db()
    assert (told["active"], ada.is_active, tokens.of(ada).exists()) == (False, False, False)
    assert directory.patch(f"Users/{id}", {"op": "Replace", "value": {"active": True}})["active"] is True
    events = AuditEvent.objects.filter(kind__startswith="account", target_id=id).order_by("id")
    kinds = events.values_list("kind", flat=True)
    assert list(kinds) == ["account_made", "account_changed", "account_deactivated", "account_reactivated"]


def test_okta_makes_replaces_and_shuts_an_account(directory: Directory) -> None:
    id = directory.make(OKTA)
    status, told = directory.call("PUT", f"Users/{id}", OKTA | {"id": id, "name": {"familyName": "Murray"}})
    assert (status, told["name"], told["active"]) == (200, {"familyName": "Murray"}, True)
    told = directory.patch(f"Users/{id}", {"op": "replace", "value": {"active": False}})
    assert (told["active"], User.objects.get(pk=id).has_usable_password()) == (False, False)
    status, page = directory.call("GET", "Users", startIndex="1", count="1")
    assert (status, page["totalResults"], page["itemsPerPage"], page["Resources"][0]["id"]) == (200, 1, 1, id)


def test_groups_are_filled_in_the_shapes_of_both(directory: Directory) -> None:
    ada, grace = directory.make(ENTRA), directory.make(OKTA)
    status, group = directory.call("POST", "Groups", {"displayName": "Engines", "externalId": "8aa1a0c0"})
    assert status == 201
    path = f"Groups/{group['id']}"

    def members() -> set[int]:
        return set(User.objects.filter(groups__name="Engines").values_list("pk", flat=True))

    directory.patch(path, {"op": "Add", "path": "members", "value": [{"value": ada}, {"value": grace}]})
    assert members() == {int(ada), int(grace)}
    directory.patch(path, {"op": "Remove", "path": "members", "value": [{"value": ada}]})  # Entra
    assert members() == {int(grace)}
    directory.patch(path, {"op": "remove", "path": f'members[value eq "{grace}"]'})  # Okta
    assert members() == set()
    directory.patch(path, {"op": "replace", "path": "members", "value": [{"value": ada, "display": "Ada"}]})
    assert members() == {int(ada)}
    status, told = directory.call("GET", path, excludedAttributes="members")
    assert (status, "members" in told, told["displayName"]) == (200, False, "Engines")
    assert directory.call("GET", f"Users/{ada}")[1]["groups"][0]["display"] == "Engines"
    directory.patch(path, {"op": "replace", "value": {"id": group["id"], "displayName": "Motors"}})
    assert directory.find("Groups", 'displayName eq "Motors"') == [group["id"]]
    assert directory.call("DELETE", path) == (204, None)
    assert directory.call("GET", path)[0] == 404


def test_members_are_changed_one_operation_after_the_other(directory: Directory) -> None:
    ids = [str(User.objects.create(username=f"m{number}").pk) for number in range(4)]
    program = service_accounts.make(username="program", purpose="stays", groups=[])
    status, group = directory.call(
        "POST", "Groups", {"displayName": "Engines", "members": [{"value": id} for id in ids[:2]]}
    )
    assert (status, [each["value"] for each in group["members"]]) == (201, ids[:2])
    path, urn = f"Groups/{group['id']}", "urn:ietf:params:scim:schemas:core:2.0:Group:members"
    Group.objects.get(name="Engines").user_set.add(program)
    cases: list[tuple[list[dict[str, Any]], list[int]]] = [
        ([{"op": "remove", "path": "members"}, {"op": "add", "path": urn, "value": {"value": ids[2]}}], [2]),
        ([{"op": "Add", "value": {"Members": [{"Value": ids[0]}], "displayName": "Motors"}}], [0, 2]),
        ([{"op": "remove", "path": f'members[value eq "{ids[0]}" or value eq "{ids[3]}"]'}], [2]),
        ([{"op": "remove", "path": "members", "value": [{"value": ids[2]}, {"value": "none"}]}], []),
        ([{"op": "add", "path": "members", "value": [{"value": id} for id in ids]}], [0, 1, 2, 3]),
        ([{"op": "remove", "path": "members", "value": []}], [0, 1, 2, 3]),
        (
            [
                {"op": "replace", "path": "members", "value": [{"value": ids[3]}]},
                {"op": "remove", "path": "externalId"},
            ],
            [3],
        ),
    ]
    for operations, expected in cases:
        told = directory.patch(path, *operations)
        assert {each["value"] for each in told.get("members", ())} == {ids[number] for number in expected}, operations
    assert told["displayName"] == "Motors"
    events = AuditEvent.objects.filter(kind="membership_changed").order_by("id").values_list("details", flat=True)
    moves = [
        ([ids.index(str(pk)) for pk in each["added"]], [ids.index(str(pk)) for pk in each["removed"]])
        for each in events
    ]
    assert moves == [([0, 1], []), ([2], [0, 1]), ([0], []), ([], [0]), ([], [2]), ([0, 1, 2, 3], []), ([], [0, 1, 2])]
    for operation, scim_type in (
        ({"op": "remove", "path": 'members[type eq "User"]'}, "invalidFilter"),
        ({"op": "add", "path": "members.value", "value": ids[0]}, "invalidPath"),
        ({"op": "add", "path": "members", "value": [{"value": "x"}]}, "invalidValue"),
        ({"op": "add", "path": "members", "value": [ids[0]]}, "invalidValue"),
        ({"op": "shuffle", "path": "members", "value": []}, "invalidValue"),
    ):
        answered, error = directory.call("PATCH", path, PATCH | {"Operations": [operation]})
        assert (answered, error.get("scimType")) == (400, scim_type), operation
    few = {"attributes": "members.value"}
    assert directory.call("GET", path, **few)[1]["members"] == [{"value": ids[3]}]
    for parameters in ({"attributes": "displayName"}, {"excludedAttributes": "members"}):
        renamed = {"op": "replace", "path": "displayName", "value": "Engines"}
        status, told = directory.call("PATCH", path, PATCH | {"Operations": [renamed]}, **parameters)
        assert (status, told["displayName"], "members" in told) == (200, "Engines", False)
    is_in = f'id eq "{group["id"]}" and members eq "{{}}"'  # Entra asks before it adds
    assert [directory.find("Groups", is_in.format(id)) for id in ids] == [[], [], [], [group["id"]]]
    assert directory.find("Groups", "members pr") == [group["id"]]
    assert directory.call("PUT", path, {"displayName": "Engines"})[1].get("members") is None
    assert list(User.objects.filter(groups__name="Engines")) == [program]


def test_who_is_removed_is_shut_now_and_deleted_in_a_day(directory: Directory) -> None:
    id = directory.make(ENTRA)
    assert directory.call("DELETE", f"Users/{id}") == (204, None)
    assert (User.objects.get(pk=id).is_active, AccountDeletion.objects.filter(user_id=int(id)).exists()) == (
        False,
        True,
    )
    assert (directory.call("GET", f"Users/{id}")[0], directory.find("Users", "active eq false")) == (404, [])
    assert directory.make(ENTRA | {"emails": []}) != id  # the name is free again


def test_nobody_above_the_directory_is_within_its_reach(directory: Directory) -> None:
    root = User.objects.create_superuser("root", "root@here.example")
    support = make_user("support", is_staff=True, email="support@here.example")
    support.groups.add(Group.objects.get(name="Support"))
    plain = directory.call("POST", "Groups", {"displayName": "Plain"})[1]
    before = list(User.objects.order_by("pk").values())
    shut, name = {"op": "replace", "path": "active", "value": False}, {"op": "add", "path": "displayName", "value": "x"}
    for user in (root, support):
        for method, body in (
            ("PATCH", PATCH | {"Operations": [shut]}),
            ("PATCH", PATCH | {"Operations": [name]}),
            ("PUT", OKTA),
            ("DELETE", None),
        ):
            assert directory.call(method, f"Users/{user.pk}", body)[0] == 403
        added = {"op": "add", "path": "members", "value": [{"value": str(user.pk)}]}
        assert directory.call("PATCH", f"Groups/{plain['id']}", PATCH | {"Operations": [added]})[0] == 403
    lead, ada = Group.objects.get(name="Support lead"), directory.make(ENTRA)
    rises = {"op": "add", "path": "members", "value": [{"value": ada}]}
    assert directory.call("PATCH", f"Groups/{lead.pk}", PATCH | {"Operations": [rises]})[0] == 403
    assert directory.call("DELETE", f"Groups/{lead.pk}")[0] == 403
    assert directory.call("POST", "Groups", {"displayName": "Auditors"})[0] in (403, 409)
    assert list(User.objects.exclude(pk=ada).order_by("pk").values()) == before
    program = User.objects.get(username="directory")
    assert directory.call("GET", f"Users/{program.pk}")[0] == 404
    assert not lead.user_set.exists()
    assert not DirectoryUser.objects.filter(user__in=[root, support]).exists()


def test_refusals_have_the_form_of_scim(directory: Directory, token: str) -> None:
    directory.make(ENTRA)
    user = "Users"
    cases: list[tuple[str, str, Any, int, str | None]] = [
        ("POST", user, ENTRA, 409, "uniqueness"),
        ("POST", user, ENTRA | {"userName": "other"}, 409, "uniqueness"),  # the address
        ("POST", user, {"schemas": ENTRA["schemas"][:1]}, 400, "invalidValue"),
        ("POST", user, ENTRA | {"userName": "with space"}, 400, "invalidValue"),
        ("POST", user, [], 400, "invalidSyntax"),
        ("GET", "Users?filter=userName%20is%20x", None, 400, "invalidFilter"),
        ("GET", "Users/999999", None, 404, None),
        ("GET", "Users/x", None, 404, None),
        ("GET", "Things", None, 404, None),
        ("PUT", "Users", ENTRA, 405, None),
        ("POST", "Groups", {"displayName": "G", "members": [{"value": "999999"}]}, 400, "invalidValue"),
    ]
    for method, path, body, status, scim_type in cases:
        answered, error = directory.call(method, path, body)
        assert (answered, error["schemas"], error["status"], error.get("scimType")) == (
            status,
            ["urn:ietf:params:scim:api:messages:2.0:Error"],
            str(status),
            scim_type,
        ), (method, path, error)
    assert Directory("ob_wrong").call("GET", "Users")[0] == 401
    assert Directory(token, "Token").call("GET", "Users")[0] == 200
    person = User.objects.get(username="ada@contoso.example")
    assert Directory(tokens.issue(user=person, name="own")).call("GET", "Users")[0] == 403
    browser = Directory("")
    browser.headers = {}
    browser.client.force_login(User.objects.create_superuser("root"))
    assert browser.call("GET", "Users")[0] == 401  # no session is taken
    assert ApiToken.objects.get(name="SCIM").last_used_from == "127.0.0.1"


def test_statements_do_not_grow_with_people_and_groups(directory: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many for a group of sixty as for one of six, and for twenty groups as for two."""
    counts: list[dict[str, int]] = []
    made: list[str] = []
    for people, more in ((6, 2), (60, 18)):
        rows = User.objects.bulk_create(User(username=f"{people}-{number}") for number in range(people))
        members = [{"value": str(row.pk)} for row in rows]
        made += [directory.call("POST", "Groups", group(f"{people}-{number}"))[1]["id"] for number in range(more)]
        add, remove = ({"op": op, "path": "members", "value": members} for op in ("add", "remove"))
        calls: dict[str, tuple[str, str, Any, dict[str, str]]] = {
            "add": ("PATCH", f"Groups/{made[-1]}", PATCH | {"Operations": [add]}, {}),
            "read": ("GET", f"Groups/{made[-1]}", None, {}),
            "list": ("GET", "Groups", None, {}),
            "named": (
                "GET",
                "Groups",
                None,
                {"filter": f'displayName eq "{people}-0"', "excludedAttributes": "members"},
            ),
            "people": ("GET", "Users", None, {}),
            "remove": ("PATCH", f"Groups/{made[-1]}", PATCH | {"Operations": [remove]}, {}),
        }
        asked = {}
        for name, (method, path, body, query) in calls.items():
            with statements(monkeypatch) as executed:
                status, answer = directory.call(method, path, body, **query)
            assert status == 200, answer
            asked[name] = len(executed)
            if name == "list":
                listed = {each["id"]: len(each.get("members", ())) for each in answer["Resources"]}
                assert listed[made[-1]] == people
        counts.append(asked)
    assert counts[0] == counts[1]


def group(name: str) -> dict[str, Any]:
    return {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": name}
