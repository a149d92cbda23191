"""Links of who has left go on under somebody else, and nothing that they did not show comes along."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.test import Client
from pytest_django import Settings

from artifacts.models import Artifact, ArtifactVersion
from conversations import tasks
from conversations.accounts import deactivation, lifecycle
from conversations.errors import CannotHandOver, PersonNotFound
from conversations.models import AuditEvent, AuditKind, File, FilePart, GroupManager, Message, Share, Thread
from conversations.runtime.db import in_database
from conversations.sharing import handover, shares
from conversations.sharing.shares import Shows, Terms
from conversations.threads import deletion
from memory.models import Memory
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread, make_user
from tests.conversations.sharing.test_shared_pages import (
    ALL,
    CANARIES,
    NOTHING,
    bytes_of,
    opened,
    share,
    thread_of_canaries,
    thread_with_files,
    told,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def sharing_is_on(settings: Settings) -> None:
    settings.OPENBOOK_SHARING = True


@pytest.fixture
def people(user: User) -> dict[str, User]:
    """``leaver`` and ``member`` are in a group of the manager's, ``outsider`` in none, ``lead`` has the right of staff."""
    User.objects.filter(pk=user.pk).update(username="NAMEWORD")
    user.refresh_from_db()
    found = {"leaver": user, **{name: make_user(name) for name in ("member", "manager", "outsider", "lead")}}
    group = Group.objects.create(name="Research")
    group.user_set.add(found["leaver"], found["member"])
    GroupManager.objects.create(group=group, user=found["manager"])
    found["lead"].user_permissions.add(Permission.objects.get(codename="hand_over_share"))
    return {name: User.objects.get(pk=each.pk) for name, each in found.items()}


def given(people: dict[str, User], *, by: str = "manager", to: str = "member", **values: Any) -> Any:
    return handover.hand_over(people[by], people["leaver"], to=to, read_later=tasks.enqueue_reading, **values)


def all_of(person: User) -> str:
    """Every word that they have now."""
    kinds: list[type[Model]] = [Thread, Message, Artifact, ArtifactVersion, File, FilePart, Memory]
    rows = [list(kind._default_manager.filter(user=person).values()) for kind in kinds]
    return json.dumps(rows, default=str)


def test_what_was_shared_goes_on_and_nothing_else_is_given_away(people: dict[str, User]) -> None:
    leaver, member = people["leaver"], people["member"]
    link = share(thread_of_canaries(leaver), 4)
    opened(link)
    before = dict(Share.objects.values().get())
    deactivation.deactivate(leaver)
    assert opened(link).status_code == 404
    assert given(people) == (member, [link.id])
    after = dict(Share.objects.values().get())
    page = opened(link)
    assert [word for word in CANARIES if word in told(page) + all_of(member)] == []
    text = told(page)
    assert text.index("Seen one") < text.index("Seen three") < text.index("Seen four")
    kept = ("id", "digest", "token", "views", "created_at", "expires_at", "revoked_at", "shows_title", "shows_files")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert Share.objects.get().views == 2, "and they are counted on"
    assert Thread.objects.get(user=member).remembers is False
    event = AuditEvent.objects.get(kind=AuditKind.HANDED_OVER)
    assert (event.actor_id, event.target_id, event.details) == (
        people["manager"].pk, str(link.id), {"from": leaver.pk, "to": member.pk},
    )  # fmt: skip
    assert given(people) == (member, []), "there is nothing left"

    deletion.delete_user(leaver)
    assert "Seen four" in told(opened(link))
    assert shares.revoke(shares.of(member)) == 1
    assert opened(link).status_code == 404


async def test_files_that_a_link_shows_come_along_with_bytes_of_their_own(people: dict[str, User]) -> None:
    thread, (_, text, _) = await in_database(thread_with_files)(people["leaver"])
    link = await in_database(share)(thread, 2, Shows(files=True))
    await in_database(deactivation.deactivate)(people["leaver"])
    await in_database(given)(people)
    await in_database(deletion.delete_user)(people["leaver"])
    copies = {file.name: file async for file in File.objects.filter(user=people["member"])}
    assert copies.keys() == {"photo.jpg", "page.html"}
    assert copies["page.html"].id != text.id
    address = f"{shares.address_of(link)}files/{copies['page.html'].id}/"
    assert await bytes_of(address) == (200, b"<script>", 'attachment; filename="page.html"')
    page = await in_database(opened)(link)
    assert "page.html" in told(page)


def test_an_artifact_goes_on_in_the_version_that_it_showed(people: dict[str, User]) -> None:
    leaver = people["leaver"]
    artifact = make_artifact(make_thread(leaver, ["SECRET"], title="SECRET"), "First", "SECRET", title="SECRET")
    link = shares.of_artifact(artifact, leaver, Terms(), version=1)
    other = share(make_thread(leaver, ["Not chosen"]))
    deactivation.deactivate(leaver)
    given(people, share_ids=[link.id])
    assert "First" in told(opened(link))
    assert "SECRET" not in told(opened(link)) + all_of(people["member"])
    assert Share.objects.get(id=other.id).user == leaver
    assert opened(other).status_code == 404


def test_names_and_figures_are_shown_no_more_and_the_title_is(people: dict[str, User]) -> None:
    link = share(thread_of_canaries(people["leaver"]), 4, ALL)
    deactivation.deactivate(people["leaver"])
    given(people)
    text = told(opened(link))
    assert {word for word in CANARIES if word in text} == {"FILEWORD", "TITLEWORD"}
    assert ("earlier turn" in text, "member" in text) == (False, False)


def test_who_may_give_what_to_whom(people: dict[str, User]) -> None:
    leaver, manager, lead = people["leaver"], people["manager"], people["lead"]
    link = share(make_thread(leaver, ["Seen"]))
    assert list(handover.leavers_seen_by(manager)) == [], "who is still there hands over nothing"
    lifecycle.leave(leaver, asked_at=link.created_at)
    assert list(handover.leavers_seen_by(manager)) == [], "who deletes their account takes it along"
    deactivation.deactivate(leaver)
    for each in ("manager", "lead"):
        assert list(handover.leavers_seen_by(people[each])) == [leaver]
    for each in ("member", "outsider", "leaver"):
        assert list(handover.leavers_seen_by(people[each])) == []
        with pytest.raises(PersonNotFound):
            handover.leaver_seen_by(people[each], leaver.pk)
    make_user("service", is_active=False).groups.set(Group.objects.all())
    names = {
        who: list(handover.new_owners(people[who], leaver).values_list("username", flat=True))
        for who in ("manager", "lead")
    }
    assert names == {"manager": ["manager", "member"], "lead": ["manager", "member", "outsider"]}
    for by, to in (("manager", "outsider"), ("manager", "NAMEWORD"), ("manager", ""), ("lead", "lead")):
        with pytest.raises(CannotHandOver):
            given(people, by=by, to=to)
    lead.is_active = False
    assert list(handover.leavers_seen_by(lead)) == []
    assert Share.objects.get().user == leaver


def test_the_page_hands_over_what_is_chosen_and_keeps_what_was_typed(people: dict[str, User]) -> None:
    links = [share(make_thread(people["leaver"], ["SECRETTURN"], title="SECRETTITLE"), shows=NOTHING) for _ in range(2)]
    deactivation.deactivate(people["leaver"])
    client = Client()
    client.force_login(people["manager"])
    leaver = people["leaver"].pk
    assert "NAMEWORD" in told(client.get("/account/leavers/"))
    assert "/account/leavers/" in told(client.get("/account/"))
    page = told(client.get(f"/account/leavers/{leaver}/"))
    assert ("SECRET" in page, page.count('name="share"'), page.count(" checked")) == (False, 2, 2)
    wrong = client.post(f"/account/leavers/{leaver}/", {"to": "nobody", "share": [str(links[0].id)]})
    assert (wrong.status_code, 'value="nobody"' in told(wrong), told(wrong).count(" checked")) == (400, True, 1)
    assert client.post(f"/account/leavers/{leaver}/", {"to": "member"}).status_code == 400
    done = client.post(f"/account/leavers/{leaver}/", {"to": "member", "share": [str(links[0].id)]}, follow=True)
    assert "Handed over to member: 1 link." in told(done)
    client.force_login(people["outsider"])
    assert client.get(f"/account/leavers/{leaver}/").status_code == 404
    assert "/account/leavers/" not in told(client.get("/account/"))


def test_the_api_hands_over(people: dict[str, User]) -> None:
    link = share(make_thread(people["leaver"], ["SECRETTURN"], title="SECRETTITLE"))
    deactivation.deactivate(people["leaver"])
    client = Client()
    client.force_login(people["manager"])
    leaver = people["leaver"].pk
    assert client.get("/api/v1/leavers/").json()["results"] == [{"id": leaver, "username": "NAMEWORD", "links": 1}]
    address = f"/api/v1/leavers/{leaver}/shares/"
    listed = client.get(address)
    assert "SECRET" not in told(listed)
    assert (shares.address_of(link) or "?") not in told(listed)
    assert [row["id"] for row in listed.json()["results"]] == [str(link.id)]
    refused = client.post(address, {"to": "outsider"}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "cannot_hand_over")
    done = client.post(address, {"to": "member"}, content_type="application/json")
    assert (done.status_code, done.json()) == (200, {"to": people["member"].pk, "shares": [str(link.id)]})
    assert client.get(address).status_code == 404
