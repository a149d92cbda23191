"""What budgets cost a message: its turns, reply and request are stored and ended for people under none, one (a group's), two
(each member's part of it too) and three of them (and the whole server's), in turns of one run. Statements, and time and CPU of
this process by those of somebody without a budget. No model is called.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from conversations.models import Budget, BudgetPool
from tests.conversations.accounts.test_allowances import end, open_reply, stop_remembering
from tests.conversations.factories import make_user

LIMITS = {"tokens_day": 10**12, "tokens_month": 10**13, "money_day": 10**6, "money_month": 10**7}
MEMBER_LIMITS = {f"member_{name}": value for name, value in LIMITS.items()}
NONE, WHOLE = "none", "group, member, server"
ROUNDS, BLOCK = 40, 8


def main(rounds: int = ROUNDS) -> None:
    stop_remembering()
    people = {
        NONE: make_user("none"),
        "group": member_of("one", **LIMITS),
        "group, member": member_of("two", **LIMITS, **MEMBER_LIMITS),
        WHOLE: member_of("three", **LIMITS, **MEMBER_LIMITS),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in people}
    asked: dict[str, int] = {}
    with override_settings(OPENBOOK_PROVIDER="offline"):
        for _ in range(rounds):
            for name, person in people.items():
                with limits_of_server(name == WHOLE):
                    asked[name] = statements(person)
                    taken[name] += [spent(person) for _ in range(BLOCK)]
    print(f"\n== a message without its model, by the budgets that its sender is under; p50 of {rounds * BLOCK}")
    times, cpu = ({name: median(each[part] for each in values) for name, values in taken.items()} for part in (0, 1))
    for name in people:
        print(
            f"  {name:<24} {asked[name]:3} statements   {times[name]:7.2f} ms {times[name] / times[NONE]:6.2f}x"
            f"   CPU {cpu[name]:6.2f} ms {cpu[name] / cpu[NONE]:6.2f}x"
        )


def member_of(name: str, **limits: int) -> User:
    person, group = make_user(name), Group.objects.create(name=name)
    group.user_set.add(person)
    Budget.objects.create(group=group, **limits)
    return person


@contextmanager
def limits_of_server(has_some: bool) -> Iterator[None]:
    """Of everybody together, while one of them is measured."""
    budget = Budget.objects.create(**LIMITS, **MEMBER_LIMITS) if has_some else None
    yield
    if budget:
        budget.delete()


def statements(person: User) -> int:
    with CaptureQueriesContext(connection) as queries:
        message(person)
    pools = BudgetPool.objects.filter(user=person)
    assert all(pool.tokens_day for pool in pools)
    return len(queries)


def message(person: User) -> None:
    end(open_reply(person), input_tokens=1_000, output_tokens=100)


def spent(person: User) -> tuple[float, float]:
    """Milliseconds, and those of this process's CPU."""
    began, busy = time.perf_counter(), time.process_time()
    message(person)
    return (time.perf_counter() - began) * 1000, (time.process_time() - busy) * 1000
