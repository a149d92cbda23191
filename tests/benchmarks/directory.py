"""SCIM with 10,000 people and 500 groups, one of which has them all, beside the plain queries for the same rows."""

import json
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from conversations.accounts import groups, service_accounts, tokens

PEOPLE, GROUPS, TIMES = 10_000, 500, 5
PATCH = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"]


def main() -> None:
    print(f"\n== SCIM: {PEOPLE:,} people, {GROUPS} groups of 20 but one of all; ms (median of {TIMES}), statements")
    token, everybody = _scene()
    client, headers = Client(), {"Authorization": f"Bearer {token}"}
    ids = list(User.objects.filter(username__startswith="scale-").values_list("pk", flat=True))

    def call(method: str, path: str, body: Any = None, **query: str) -> Callable[[], Any]:
        data = json.dumps(body) if body else ""
        kind, address = "application/scim+json", f"/scim/v2/{path}"
        return lambda: client.generic(method, address, data, kind, headers=headers, query_params=query or None)

    def change(op: str, members: list[int] | None, **query: str) -> Callable[[], Any]:
        value = {} if members is None else {"value": [{"value": str(id)} for id in members]}
        operation = {"op": op, "path": "members", **value}
        return call("PATCH", f"Groups/{everybody.pk}", {"schemas": PATCH, "Operations": [operation]}, **query)

    with override_settings(ALLOWED_HOSTS=["*"], OPENBOOK_LIMIT_REQUESTS_MINUTE=0):
        _row("list 100 people", call("GET", "Users", count="100"), lambda: list(User.objects.order_by("pk")[:100]))
        one = {"filter": 'userName eq "scale-7777"'}
        _row("one by its name", call("GET", "Users", **one), lambda: User.objects.get(username__iexact="scale-7777"))
        few = {"excludedAttributes": "members"}
        _row("groups without members", call("GET", "Groups", **few), lambda: list(Group.objects.all()[:200]))
        named = {"filter": 'displayName eq "everybody"', **few}
        _row("one group by its name", call("GET", "Groups", **named), lambda: Group.objects.get(name="everybody"))
        members = everybody.user_set.order_by("pk").values_list("pk", flat=True)
        _row("group of all", call("GET", f"Groups/{everybody.pk}"), lambda: list(members))
        _row("remove one of all", change("remove", ids[:1]), lambda: everybody.user_set.remove(ids[0]))
        _row("add one to all", change("add", ids[:1]), lambda: everybody.user_set.add(ids[0]))
        _row("the same, told no members", change("add", ids[:1], **few), lambda: everybody.user_set.add(ids[0]))
        is_in = {"filter": f'id eq "{everybody.pk}" and members eq "{ids[0]}"', **few}
        _row("whether one is in it", call("GET", "Groups", **is_in), lambda: members.filter(pk=ids[0]).exists())
        for count in (500, 5_000):  # a body may hold 20,000 values
            some = ids[:count]
            _row(f"remove {count:,} of all", change("remove", some), partial(everybody.user_set.remove, *some), times=1)
            _row(f"add {count:,}", change("add", some), partial(everybody.user_set.add, *some), times=1)
        _row("remove everybody", change("remove", None), everybody.user_set.clear, times=1)


def _scene() -> tuple[str, Group]:
    groups.make_groups(using="default")
    held = list(Group.objects.filter(name=groups.DIRECTORY))
    directory = service_accounts.make(username="directory-scale", purpose="SCIM", groups=held)
    people = User.objects.bulk_create(
        (User(username=f"scale-{number}", email=f"scale-{number}@example.org") for number in range(PEOPLE)),
        batch_size=1_000,
    )
    rows = Group.objects.bulk_create(Group(name=f"scale-{number}") for number in range(GROUPS - 1))
    everybody = Group.objects.create(name="everybody")
    memberships = [(group, people[number * 20 + place]) for number, group in enumerate(rows) for place in range(20)]
    memberships += [(everybody, person) for person in people]
    User.groups.through.objects.bulk_create(
        (User.groups.through(group=group, user=person) for group, person in memberships), batch_size=2_000
    )
    return tokens.issue(user=directory, name="SCIM", scopes=["scim"]), everybody


def _row(name: str, ours: Callable[[], Any], plain: Callable[[], Any], *, times: int = TIMES) -> None:
    took, cpu, counted = [], [], 0
    for _ in range(times):
        with CaptureQueriesContext(connection) as queries:
            start, busy = time.perf_counter(), time.process_time()
            answer = ours()
            took.append(time.perf_counter() - start)
            cpu.append(time.process_time() - busy)
        assert answer.status_code == 200, answer.content[:300]
        counted = len(queries)
    start = time.perf_counter()
    plain()
    least = time.perf_counter() - start
    print(
        f"  {name:28} {median(took) * 1000:8.1f}  of it CPU {median(cpu) * 1000:8.1f}  {counted:3} statements"
        f"   plain query {least * 1000:8.1f} ms"
    )
