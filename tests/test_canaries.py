"""Scopes never leak into pages: a word per project, temporary chat, branch that was left and person is looked for in every byte
that every page and call of every other one answers with. Requests are searched by ``conversations/threads/test_shaping.py``."""

import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from conversations.models import Message, Thread
from conversations.runtime.db import in_database
from memory.index.index_turns import catch_up
from tests.conversations.factories import make_file, make_project, make_thread, make_user
from tests.memory.factories import make_memory, make_thread_summary
from tests.test_authorisation import (
    Caller,
    Kind,
    answered,
    calling,
    kind_of,
    with_everything,
    with_mail,
    with_some_password,
)

__all__ = ["with_mail"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

PROJECT, TEMPORARY, BRANCH, PERSON = CANARIES = ("Quokka", "Axolotl", "Pangolin", "Capybara")
OWN_LISTS = {
    "api/v1/export/": {PROJECT, BRANCH},
    "api/v1/memories/": {PROJECT},
    "api/v1/memories/search/": {PROJECT},
    "api/v1/projects/": {PROJECT},
    "memory/": {PROJECT},
}
"""Where a person sees what is theirs in whatever scope it is, by the route: all they have, their memory, their projects."""


def scene(user: User, other: User) -> dict[str, Any]:
    """The ids of what a person has outside of all these scopes, and in another project."""
    ids = with_everything(user)
    project = make_project(user, "Zoo", instructions=f"Mention the {PROJECT}.")
    confined = make_thread(user, [f"Feed the {PROJECT}.", "Fed."], project=project, title="Zoo thread")
    make_file(
        user, f"A {PROJECT} eats leaves.".encode(), name="zoo.txt", parts=[f"A {PROJECT} eats leaves."], project=project
    )
    make_memory(user, f"Owns a {PROJECT}.", tags=[f"user:{user.pk}", f"project:{project.pk}"])
    make_thread_summary(confined, confined.created_at, text=f"Fed the {PROJECT}.", key_moments=[PROJECT])
    make_thread(user, [f"Hide the {TEMPORARY}.", "Hidden."], temporary=True)
    open_thread = Thread.objects.get(id=ids["thread_id"])
    first = open_thread.messages.get(position=1)
    Message.objects.create(
        thread=open_thread, user=user, role="user", text=f"Forget the {BRANCH}.", parent=first, is_active=False,
        position=90, depth=2, token_count=1, token_total=2, created_at=first.created_at,
    )  # fmt: skip
    make_thread(other, [f"Hello, {PERSON}.", "Hello."], title=PERSON)
    for person in (user, other):
        catch_up(person.pk)
    make_memory(other, f"Loves the {PERSON}.", tags=[f"user:{other.pk}"])
    return ids


async def routes_with_canaries(person: User, ids: dict[str, Any]) -> dict[str, set[str]]:
    client = AsyncClient()
    await in_database(with_some_password)(person)
    await client.aforce_login(person)
    session = await client.asession()
    await session.aset(
        "account_authentication_methods", [{"method": "password", "at": time.time(), "reauthenticated": True}]
    )
    await session.aset("account_authentication_methods_user", str(person.pk))
    await session.asave()
    caller, found = Caller(user=person, client=client), {}
    for route, method, path, body in calling(given=ids):
        if method == "GET" and kind_of(route) not in (Kind.SYSTEM, Kind.OPEN):
            queries = [f"?q={canary}" for canary in CANARIES] if "search" in route else [""]
            texts = [(await answered(caller, method, path + query, body))[2] for query in queries]
            if here := {canary for canary in CANARIES if any(canary in text for text in texts)}:
                found[route] = here
    return found


@pytest.mark.wide
async def test_no_page_shows_what_is_of_another_scope(user: User) -> None:
    other = await in_database(make_user)("eve")
    ids = await in_database(scene)(user, other)
    assert await routes_with_canaries(user, ids) == OWN_LISTS
    found = await routes_with_canaries(other, ids)
    assert {canary for here in found.values() for canary in here} == {PERSON}
    assert {"api/v1/threads/", "api/v1/memories/", "memory/"} <= {*found}
