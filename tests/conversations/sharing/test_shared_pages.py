"""What a link shows to whoever has it: the path to the shared turn and what was chosen, as they are now, and nothing else."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import AsyncClient, Client
from django.utils import timezone
from pytest_django import Settings

from artifacts.models import Artifact
from conversations.accounts import lifecycle
from conversations.files.store import file_block
from conversations.models import File, Message, Share, Thread
from conversations.runtime.db import in_database
from conversations.runtime.ids import uuid7
from conversations.sharing import shares
from conversations.sharing.shares import Shows, Terms
from conversations.threads import deletion
from conversations.upkeep import key_renewal
from conversations.web import shared
from memory import forgetting
from memory.models import Memory
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import chain, make_file, make_snapshot, make_thread, make_user
from tests.memory.factories import make_memory, make_topic

pytestmark = pytest.mark.django_db(transaction=True)

PERSON = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "Sec-Fetch-Dest": "document"}
NOTHING = Shows()
ALL = Shows(book=True, files=True, names=True, title=True)


@pytest.fixture(autouse=True)
def sharing_is_on(settings: Settings) -> None:
    settings.OPENBOOK_SHARING = True


def share(thread: Thread, position: int | None = None, shows: Shows = NOTHING) -> Share:
    turn = thread.messages.get(position=position) if position else None
    return shares.of_thread(thread, Terms(shows=shows), message_id=turn.id if turn else None)


def opened(link: Share, path: str = "", client: Client | None = None) -> Any:
    return (client or Client()).get(f"{shares.address_of(link)}{path}", headers=PERSON)


def add_branch(thread: Thread, after: int, texts: list[str]) -> list[Message]:
    """Turns that follow this one on a path of their own, which is the active one from now on."""
    fork = thread.messages.get(position=after)
    Message.objects.filter(thread=thread, depth__gt=fork.depth).update(is_active=False)
    last = thread.messages.latest("position").position
    branch = chain(thread, texts)
    parent = fork.id
    for number, turn in enumerate(branch, 1):
        turn.parent_id, turn.position, turn.depth = parent, last + number, fork.depth + number
        turn.role = [Message.Role.ASSISTANT, Message.Role.USER][(fork.depth + number) % 2]
        parent = turn.id
    Message.objects.bulk_create(branch)
    Thread.objects.filter(id=thread.id).update(last_position=F("last_position") + len(texts))
    return branch


CANARIES = [
    "LATER",
    "OTHERPATH",
    "FORGOTTENWORD",
    "MEMORYWORD",
    "TOPICWORD",
    "NAMEWORD",
    "FILEWORD",
    "TITLEWORD",
    "TOOLWORD",
]


def thread_of_canaries(user: User) -> Thread:
    """Six turns of which the fourth is shared, with a word that tells where it is from in everything around them."""
    thread = make_thread(
        user, ["Seen one", "FORGOTTENWORD", "Seen three", "Seen four", "LATER five", "LATER six"], title="TITLEWORD"
    )
    add_branch(thread, 1, ["OTHERPATH two", "OTHERPATH three"])
    file = make_file(user, b"FILEWORD", name="FILEWORD.txt", parts=["FILEWORD"], thread=thread)
    first, fourth = thread.messages.get(position=1), thread.messages.get(position=4)
    with deletion.allow_deletion():
        Message.objects.filter(id=first.id).update(content=[file_block(file), *first.blocks])
        cited = {"text": "[FILEWORD.txt, p. 1]", "file": str(file.id), "name": file.name, "part": 1, "given": True}
        Message.objects.filter(id=fourth.id).update(
            text="Seen four [FILEWORD.txt, p. 1]",
            citations=[cited],
            content=[
                {"type": "thinking", "thinking": "TOOLWORD"},
                {"type": "tool_use", "id": "1", "name": "x", "input": {"q": "TOOLWORD"}},
                {"type": "text", "text": "Seen four [FILEWORD.txt, p. 1]"},
            ],
        )
    make_memory(user, "MEMORYWORD", sources=[first.id])
    make_topic(user, "TOPICWORD", thread=thread)
    make_artifact(thread, "LATER", title="LATER")
    snapshot = make_snapshot(thread)
    with deletion.allow_deletion():
        Message.objects.filter(id=fourth.id).update(reply=snapshot.reply_id)
    forgetting.forget_turn(user, thread.messages.get(position=2).id)
    return thread


def told(response: Any) -> str:
    """Every byte of an answer: its headers, too."""
    return f"{dict(response.headers)} {response.cookies} {response.content.decode()}"


def test_nothing_beyond_the_path_to_the_shared_turn_is_in_any_byte(user: User) -> None:
    User.objects.filter(pk=user.pk).update(username="NAMEWORD")
    user.refresh_from_db()
    link = share(thread_of_canaries(user), 4)
    page = opened(link)
    text = told(page)
    assert page.status_code == 200
    assert [word for word in CANARIES if word in text] == []
    assert text.index("Seen one") < text.index("Seen three") < text.index("Seen four")


def test_what_was_chosen_is_shown_and_no_more(user: User) -> None:
    User.objects.filter(pk=user.pk).update(username="NAMEWORD")
    user.refresh_from_db()
    text = told(opened(share(thread_of_canaries(user), 4, ALL)))
    assert {word for word in CANARIES if word in text} == {"NAMEWORD", "FILEWORD", "TITLEWORD"}
    assert "earlier turn" in text


def test_another_path_shows_its_own_turns(user: User) -> None:
    thread = make_thread(user, ["One", "Two", "Three"])
    [branch] = add_branch(thread, 1, ["Two again"])
    link = shares.of_thread(thread, Terms(), message_id=thread.messages.get(position=3).id)
    assert "Two again" not in told(opened(link))
    text = told(opened(shares.of_thread(thread, Terms(), message_id=branch.id)))
    assert ("Two again" in text, "Three" in text) == (True, False)


def test_what_is_forgotten_or_deleted_is_gone_at_once(user: User) -> None:
    thread = make_thread(user, ["One", "Two", "Secret", "Four"], title="Quixlon")
    link = share(thread, 4, Shows(title=True))
    assert "Secret" in told(opened(link))
    assert "Quixlon" in told(opened(link))
    forgetting.forget_memory(user, make_memory(user, "Quixlon").id)
    assert "Quixlon" not in told(opened(link))
    forgetting.forget_turn(user, thread.messages.get(position=3).id)
    assert "Secret" not in told(opened(link))
    forgetting.forget_turn(user, thread.messages.get(position=4).id)
    assert "Four" not in told(opened(link))
    deletion.clear_thread(thread)
    assert opened(link).status_code == 404
    assert list(shares.of(user)) == []
    deletion.delete_thread(thread)
    assert not Share.objects.exists()


def gone(user: User) -> dict[str, Share]:
    """Links that open nothing, by why."""
    links = {why: share(make_thread(user, ["One"])) for why in ("expired", "revoked")}
    Share.objects.filter(id=links["expired"].id).update(expires_at=timezone.now())
    shares.revoke(Share.objects.filter(id=links["revoked"].id))
    artifact = make_artifact(make_thread(user))
    links["deleted artifact"] = shares.of_artifact(artifact, user, Terms())
    artifact.deleted_at = timezone.now()
    artifact.save()
    inactive, leaving = make_user(is_active=False), make_user()
    links["inactive"], links["leaving"] = share(make_thread(inactive, ["One"])), share(make_thread(leaving, ["One"]))
    lifecycle.leave(leaving, asked_at=timezone.now())
    return links


def body_of(response: Any) -> tuple[int, str, dict[str, str]]:
    varying = ("X-Request-ID", "Content-Security-Policy", "Expires")
    headers = {name: value for name, value in response.headers.items() if name not in varying}
    return response.status_code, response.content.decode(), headers


def test_whatever_the_reason_a_link_that_shows_nothing_looks_the_same(user: User, settings: Settings) -> None:
    unknown = body_of(Client().get("/s/no-such-token/", headers=PERSON))
    assert (unknown[0], "copy the whole of it" in unknown[1]) == (404, True)
    for why, link in gone(user).items():
        assert body_of(opened(link)) == unknown, why
    working = share(make_thread(user, ["One"]))
    assert body_of(opened(working, "?page=2")) == body_of(opened(working, "?page=x")) == unknown
    settings.OPENBOOK_SHARING = False
    assert body_of(opened(working)) == unknown


def test_no_page_is_indexed_kept_or_told_to_the_next_site(user: User) -> None:
    link = share(make_thread(user, ["One"]))
    for page in (opened(link), Client().get("/s/x/")):
        assert "noindex" in page.headers["X-Robots-Tag"]
        assert '<meta name="robots" content="noindex' in page.content.decode()
        assert page.headers["Referrer-Policy"] == "same-origin"
        assert "no-store" in page.headers["Cache-Control"]
        assert not page.cookies
    policy = opened(link).headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    rules = Client().get("/robots.txt").content.decode()
    assert rules.endswith("User-agent: *\nDisallow: /\n")


def test_views_are_counted_of_readers_alone(user: User, other_user: User) -> None:
    link = share(make_thread(user, ["One"]))
    address = shares.address_of(link) or ""
    owner = Client()
    owner.force_login(user)
    opened(link, client=owner)
    for agent in ("Slackbot-LinkExpanding 1.0", "Mozilla/5.0 (compatible; Googlebot/2.1)", "curl/8", "WhatsApp/2.2"):
        Client().get(address, headers=PERSON | {"User-Agent": agent})
    Client().get(address, headers=PERSON | {"Sec-Purpose": "prefetch"})
    Client().get(address, headers=PERSON | {"Sec-Fetch-Dest": "empty"})
    Client().head(address, headers=PERSON)
    link.refresh_from_db()
    assert link.views == 0
    reader = Client()
    reader.force_login(other_user)
    opened(link), opened(link, client=reader)
    link.refresh_from_db()
    assert link.views == 2


def test_guesses_are_limited_and_who_has_a_link_is_not(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "GUESSES", 4)
    link = share(make_thread(user, ["One"]))
    for number in range(4):
        assert opened(link).status_code == 200
        assert Client().get(f"/s/guess-{number}/").status_code == 404
    assert Client().get("/s/guess-4/").status_code == 429
    assert opened(link).status_code == 429, "or else a right guess would still tell itself"


def test_a_long_thread_comes_in_pages(user: User) -> None:
    link = share(make_thread(user, [f"turn-{number}." for number in range(1, 451)]))
    pages = [told(opened(link, f"?page={number}")) for number in (1, 2, 3)]
    shown = [[number for number in range(1, 451) if f"turn-{number}." in page] for page in pages]
    assert [(numbers[0], numbers[-1], len(numbers)) for numbers in shown] == [
        (1, 200, 200),
        (201, 400, 200),
        (401, 450, 50),
    ]


def test_an_artifact_is_shown_in_the_version_that_was_chosen_or_the_newest(user: User) -> None:
    artifact = make_artifact(make_thread(user, ["SECRET"], title="SECRET"), "First", "Second", title="SECRET")
    fixed, newest = shares.of_artifact(artifact, user, Terms(), version=1), shares.of_artifact(artifact, user, Terms())
    assert ("First" in told(opened(fixed)), "First" in told(opened(newest))) == (True, False)
    assert ("Second" in told(opened(fixed)), "Second" in told(opened(newest))) == (False, True)
    assert "SECRET" not in told(opened(newest))


def test_a_generated_page_is_shown_in_the_frame_of_the_chat(user: User) -> None:
    artifact = make_artifact(make_thread(user), "<p>Seen<script>alert(1)</script>", kind="html")
    link = shares.of_artifact(artifact, user, Terms())
    page = told(opened(link))
    inside = f'sandbox="" referrerpolicy="no-referrer"\n    src="{shares.address_of(link)}frame/"'
    assert ("Seen" in page, inside in page) == (False, True)
    frame = Client().get(f"{shares.address_of(link)}frame/", headers={"Sec-Fetch-Dest": "iframe"})
    assert ("Seen" in frame.content.decode(), "alert" in frame.content.decode()) == (True, False)
    assert "sandbox;" in frame.headers["Content-Security-Policy"]
    assert opened(link, "frame/").status_code == 403, "not by itself"


async def bytes_of(address: str) -> tuple[int, bytes, str]:
    response: Any = await AsyncClient().get(address, headers=PERSON)
    content = b"".join([part async for part in response]) if response.streaming else response.content
    return response.status_code, content, response.headers.get("Content-Disposition", "")


def thread_with_files(user: User) -> tuple[Thread, list[File]]:
    """A picture and a text in its first turn, and one of each that no turn has."""
    thread = make_thread(user, ["Look", "I see"])
    picture = make_file(
        user,
        b"original with its place",
        name="photo.jpg",
        kind="image",
        parts=["A photo"],
        picture=b"\x89PNG",
        thread=thread,
    )
    text = make_file(user, b"<script>", name="page.html", kind="page", media_type="text/html", thread=thread)
    other = make_file(user, b"other", thread=thread)
    first = thread.messages.get(position=1)
    with deletion.allow_deletion():
        content = [file_block(picture), file_block(text), *first.blocks]
        Message.objects.filter(id=first.id).update(content=content)
    return thread, [picture, text, other]


async def test_files_of_shown_turns_are_given_where_they_were_chosen(user: User) -> None:
    thread, (picture, text, other) = await in_database(thread_with_files)(user)
    shown, hidden = [
        shares.address_of(await in_database(share)(thread, 2, Shows(files=files))) for files in (True, False)
    ]
    assert await bytes_of(f"{shown}files/{picture.id}/") == (200, b"\x89PNG", 'inline; filename="photo.jpg"')
    assert await bytes_of(f"{shown}files/{text.id}/") == (200, b"<script>", 'attachment; filename="page.html"')
    for address in (f"{shown}files/{other.id}/", f"{hidden}files/{text.id}/", f"{shown}files/{uuid7()}/"):
        assert (await bytes_of(address))[0] == 404
    await in_database(forgetting.forget_turn)(user, (await thread.messages.aget(position=1)).id)
    assert (await bytes_of(f"{shown}files/{text.id}/"))[0] == 404


def test_who_is_signed_in_continues_from_it_in_a_thread_of_their_own(user: User, other_user: User) -> None:
    thread = thread_of_canaries(user)
    link = share(thread, 4)
    address = f"{shares.address_of(link)}continue/"
    assert Client().post(address).headers["Location"].startswith("/accounts/login/")
    reader = Client()
    reader.force_login(other_user)
    assert reader.get(address).headers["Location"] == shares.address_of(link)
    assert not Thread.objects.filter(user=other_user).exists()
    answer = reader.post(address)
    copy = Thread.objects.get(user=other_user)
    assert answer.headers["Location"] == f"/threads/{copy.id}/"
    texts = list(copy.messages.order_by("position").values_list("role", "text"))
    assert texts == [("user", "Seen one"), ("user", "Seen three"), ("assistant", "Seen four [a file]")]
    assert (copy.remembers, copy.title, copy.message_count) == (False, "Seen one", 3)
    assert not Memory.objects.filter(user=other_user).exists()
    link.refresh_from_db()
    assert (link.views, thread.messages.count()) == (0, 8)


def test_an_artifact_is_copied_as_it_is_shown(user: User, other_user: User) -> None:
    artifact = make_artifact(
        make_thread(user, ["SECRET"]), "First", "Second", title="Plan", kind="code", language="sql"
    )
    link = shares.of_artifact(artifact, user, Terms(), version=1)
    reader = Client()
    reader.force_login(other_user)
    reader.post(f"{shares.address_of(link)}continue/")
    copy = Artifact.objects.get(user=other_user)
    assert (copy.title, copy.kind, copy.language, copy.versions.get().content) == ("First", "code", "sql", "First"), (
        "its title was not shared"
    )
    assert not Message.objects.filter(user=other_user).exists()


def test_a_person_sees_all_their_links_and_revokes_them(user: User, other_user: User) -> None:
    link = share(make_thread(user, ["One"], title="My plan"))
    theirs = share(make_thread(other_user, ["One"], title="Theirs"))
    mine = Client()
    mine.force_login(user)
    page = mine.get("/account/shares/").content.decode()
    assert ("My plan" in page, f"http://testserver{shares.address_of(link)}" in page, "Theirs" in page) == (
        True,
        True,
        False,
    )
    assert mine.post(f"/account/shares/{theirs.id}/revoke/").status_code == 404
    assert mine.post(f"/account/shares/{link.id}/revoke/").headers["Location"] == "/account/shares/"
    assert "My plan" not in mine.get("/account/shares/").content.decode()
    assert [opened(each).status_code for each in (link, theirs)] == [404, 200]


def test_a_link_still_opens_after_the_secret_key_was_replaced(user: User, settings: Settings) -> None:
    link = share(make_thread(user, ["One"]))
    address, before = shares.address_of(link), settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    assert (Client().get(address or "").status_code, shares.address_of(link)) == (200, None)
    settings.SECRET_KEY_FALLBACKS = [before]
    assert key_renewal.renew() == 1
    settings.SECRET_KEY_FALLBACKS = []
    link.refresh_from_db()
    assert shares.address_of(link) == address
