"""What groups and the whole server may use: decided by rows in one order, right in whatever order things happen."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.db import connection
from django.utils import timezone

from conversations import replies
from conversations.accounts import allowances, budgets
from conversations.accounts.budgets import KINDS, Charge, Use
from conversations.errors import BudgetExceeded, PriceUnknown, RateLimited
from conversations.models import Budget, BudgetCharge, BudgetPool, Reply, Thread, TokenReservation
from conversations.providers import model_catalog
from conversations.providers.base import Finished, ModelCall, Usage
from conversations.providers.price_list import rates_of
from conversations.replies import closing
from conversations.runtime import clock
from conversations.runtime.db import in_database
from conversations.threads import deletion
from tests import model_scripts as scripts
from tests.conversations.accounts.test_allowances import end, open_reply, stop_remembering
from tests.conversations.factories import make_user
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

TRIAL = TokenReservation.Purpose.TRIAL
PRICES = '{"offline": {"input": 1, "output": 5, "cache_write": 2, "cache_read": 0.1}}'


def grouped(name: str, *members: User, **limits: Any) -> Budget:
    group, _ = Group.objects.get_or_create(name=name)
    group.user_set.add(*members)
    return Budget.objects.create(group=group, **limits)


def figures(pool: BudgetPool) -> list[int]:
    return [pool.reserved_tokens, pool.reserved_money, *(getattr(pool, kind) for kind in KINDS)]


def pools() -> dict[tuple[str, str], list[int]]:
    """By the names of the group and of the person."""
    rows = BudgetPool.objects.select_related("budget__group", "user")
    return {
        (row.budget.group.name if row.budget.group else "", row.user.username if row.user else ""): figures(row)
        for row in rows
    }


def priced(tokens: int, money: int | None = 0) -> Charge:
    return Charge(provider="some", model="model", input_tokens=tokens, tokens=tokens, money=money)


def reserve(user: User, tokens: int, money: int | None = 0, seconds: int = 60) -> ModelCall:
    reservation = allowances.reserve(user.pk, TRIAL, priced(tokens, money), lasts=timedelta(seconds=seconds))
    return ModelCall(reservation=reservation)


def settle(user: User, call: ModelCall, tokens: int) -> None:
    call.note(Finished(stop_reason="end_turn", usage=Usage(input_tokens=tokens)))
    allowances.settle(user.pk, call)


def test_every_budget_that_a_person_is_under_counts_and_the_first_that_is_full_refuses(user: User) -> None:
    other, stranger = make_user("other"), make_user("stranger")
    grouped("Research", user, other, tokens_day=1_000, member_tokens_day=700)
    grouped("Everybody", user, other, money_month=1)
    Budget.objects.create(tokens_month=2_000)
    settle(user, reserve(user, 600), 500)
    assert pools()[("Research", user.username)] == pools()[("Research", "")] == [0, 0, 500, 0, 500, 0]
    cases: list[tuple[User, int, int | None, dict[str, Any]]] = [
        (user, 300, 0, {"budget": "Research", "whose": "member", "limit": "tokens_day", "most": 700, "used": 500}),
        (other, 600, 0, {"budget": "Research", "whose": "group", "limit": "tokens_day", "most": 1_000, "used": 500}),
        (
            other,
            10,
            1_000_001,
            {"budget": "Everybody", "whose": "group", "limit": "money_month", "most": 1.0, "used": 0.0},
        ),
        (
            stranger,
            1_501,
            0,
            {"budget": "", "whose": "installation", "limit": "tokens_month", "most": 2_000, "used": 500},
        ),
    ]
    before = pools()
    for who, tokens, money, expected in cases:
        with pytest.raises(BudgetExceeded) as refused:
            reserve(who, tokens, money)
        assert refused.value.details.items() >= expected.items()
        assert refused.value.code == "budget_exceeded"
        assert datetime.fromisoformat(refused.value.details["renews_at"]) > timezone.now()
    with pytest.raises(PriceUnknown) as unpriced:
        reserve(other, 1, None)
    assert unpriced.value.details == {"budget": "Everybody", "provider": "some", "model": "model"}
    assert pools() == before
    reserve(stranger, 10, None)  # nobody limits the money of those who are in no such group
    assert TokenReservation.objects.count() == 2


def test_replies_are_charged_by_their_prices_before_and_after(user: User, settings: Any) -> None:
    settings.OPENBOOK_PRICES = PRICES.replace("offline", "priced")
    stop_remembering()
    budget = grouped("Research", user, money_day=5)
    opened = open_reply(user)
    charge = BudgetCharge.objects.get()
    assert (charge.reply, charge.reserved_tokens, charge.reserved_money) == (opened.reply.id, opened.reply.reserved, 0)
    assert (charge.provider, charge.model) == ("offline", "offline")
    end(opened, input_tokens=100, output_tokens=20)
    assert pools()[("Research", "")] == pools()[("Research", user.username)] == [0, 0, 120, 0, 120, 0]
    rates = rates_of("any", "priced", timezone.now())
    assert rates.most(input_tokens=1_000, output_tokens=10) == 2_050  # a cache may be written
    assert rates.cost({"input_tokens": 1_000, "output_tokens": 10}) == 1_050
    assert rates.cost({"input_tokens": 0, "cache_read_input_tokens": 1, "output_tokens": 0}) == 1  # the part of one
    assert rates_of("any", "other", timezone.now()).most(input_tokens=1, output_tokens=1) is None
    assert [figures(pool) for pool in budgets.recounted(budget)] == [[0, 0, 120, 0, 120, 0]] * 2


async def test_a_reply_that_a_budget_refuses_stores_nothing_and_one_on_its_way_says_why(
    user: User, model: ModelServer
) -> None:
    await in_database(stop_remembering)()
    budget = await in_database(grouped)("Research", user, money_month=0)
    with pytest.raises(BudgetExceeded):
        await replies.start(user=user, thread_id=None, content="Hello")
    assert (await Thread.objects.acount(), await BudgetCharge.objects.acount(), len(model.requests)) == (0, 0, 0)
    budget.money_month = 5
    await budget.asave()
    model.script(lambda body: scripts.text("Hi"))
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    async for _ in replies.follow(opened.reply.id):
        pass
    charge = await BudgetCharge.objects.aget()
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert not charge.is_open
    assert (charge.spent_tokens, charge.model) == (reply.spent, opened.recorded and opened.recorded[1].model)
    assert 0 < charge.spent_money < charge.reserved_money
    assert (await in_database(pools)())[("Research", "")][2:] == [charge.spent_tokens, charge.spent_money] * 2


async def test_what_a_model_declines_for_free_is_charged_to_nobody(user: User, model: ModelServer) -> None:
    await in_database(stop_remembering)()
    await in_database(grouped)("Research", user, tokens_day=100_000, money_day=5)
    for answer, is_free in (
        (scripts.refusal(), True),  # tells tokens that are not billed
        (scripts.refusal(category="bio"), False),
        (scripts.refusal("It was "), False),
    ):
        model.script(answer)
        opened = await replies.start(user=user, thread_id=None, content="Hello")
        async for _ in replies.follow(opened.reply.id):
            pass
        charge = await BudgetCharge.objects.aget(reply=opened.reply.id)
        reply = await Reply.objects.aget(id=opened.reply.id)
        assert not charge.is_open
        assert reply.usage["input_tokens"]
        figures_of = (reply.spent, charge.spent_tokens, charge.spent_money)
        assert all((figure or 0) > 0 for figure in figures_of) is not is_free, (answer, figures_of)
        assert not is_free or figures_of == (0, 0, 0)
    spent = (await in_database(pools)())[("Research", "")]
    call = await in_database(reserve)(user, 500, 500)
    call.note(Finished(stop_reason="refusal"))  # a filter before the model, which tells nothing
    await in_database(allowances.settle)(user.pk, call)
    assert (await in_database(pools)())[("Research", "")] == spent


def test_sums_of_charges_are_the_pools_in_whatever_order_things_happen(  # noqa: C901
    user: User,
) -> None:
    """Whoever is in which group, and whatever is refused, left behind, deleted."""
    stop_remembering()
    dice = random.Random(39)
    people = [user, make_user("ann"), make_user("ben")]
    of = [
        grouped("Red", *people[:2], tokens_day=25_000, member_tokens_day=18_000),
        grouped("Blue", *people[1:], tokens_month=40_000, money_month=1),
        Budget.objects.create(tokens_day=50_000),
    ]
    calls: list[tuple[User, ModelCall]] = []
    opened: list[Any] = []
    refused = 0
    for _ in range(60):
        who = dice.choice(people)
        try:
            match dice.randrange(7):
                case 0 | 1:
                    calls.append(
                        (who, reserve(who, dice.randrange(9_000), dice.randrange(100_000), dice.choice([0, 60])))
                    )
                case 2 if calls:
                    settle(*calls.pop(dice.randrange(len(calls))), dice.randrange(9_000))
                case 3:
                    opened.append(open_reply(who))
                case 4 if opened:
                    end(opened.pop(), dice.choice([Reply.Status.COMPLETED, Reply.Status.STOPPED]), input_tokens=700)
                case 5 if opened:
                    gone = opened.pop()
                    Reply.objects.filter(id=gone.reply.id).update(lease_until=timezone.now() - timedelta(seconds=1))
                    assert closing.interrupt(gone.reply.id, user_id=gone.reply.user_id)
                case 6 if opened:
                    gone = opened.pop()
                    end(gone, input_tokens=50)
                    deletion.delete_thread(gone.thread)
        except RateLimited:
            refused += 1
    assert refused
    budgets.give_back()
    kept = pools()
    for budget in of:
        budgets.recounted(budget)
    assert pools() == kept
    deletion.delete_user(people[1])
    budgets.give_back()
    assert {key: value[2:] for key, value in pools().items()} == {
        key: value[2:] for key, value in kept.items() if key[1] != "ann"
    }  # what a person used who is gone stays used
    kept = pools()
    for budget in of:
        budgets.recounted(budget)
    assert pools() == kept
    assert {*BudgetCharge.objects.filter(user=None).values_list("budget", flat=True)} == {each.pk for each in of}


def test_a_day_ends_and_so_does_a_month_and_what_took_too_long_is_given_back(user: User) -> None:
    grouped("Research", user, tokens_day=100, tokens_month=150)
    with time_machine.travel(datetime(2026, 11, 29, 12, tzinfo=UTC), tick=False):
        now = use_of(user)
        assert budgets.renewal("day", clock.now()) == datetime(2026, 11, 30, tzinfo=UTC)
        assert budgets.renewal("month", clock.now()) == datetime(2026, 12, 1, tzinfo=UTC)
    assert now.used == dict.fromkeys(KINDS, 0)
    reserve(user, 90, seconds=-1)  # its process died
    call = reserve(user, 90, seconds=60)  # which is room again
    assert pools()[("Research", "")][0] == 90
    settle(user, call, 80)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE conversations_budgetpool SET day = day - 1")
    assert (use_of(user).used["tokens_day"], use_of(user).used["tokens_month"]) == (0, 80)
    with pytest.raises(BudgetExceeded) as refused:
        reserve(user, 90)
    assert refused.value.details["limit"] == "tokens_month"
    reserve(user, 60)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE conversations_budgetpool SET month = month - interval '1 month'")
    late = reserve(user, 40, seconds=-1)
    budgets.give_back()
    settle(user, late, 33)  # it lives after all
    assert pools()[("Research", "")][2:] == [33, 0, 33, 0]


def use_of(user: User) -> Use:
    return budgets.uses_of(user.pk)[-1]


def test_people_without_a_budget_have_no_row_and_prices_are_in_memory(user: User) -> None:
    stop_remembering()
    model_catalog.reread()
    grouped("Others", make_user("other"))
    end(open_reply(user), input_tokens=10)
    settle(user, reserve(user, 5), 5)
    assert not BudgetPool.objects.exists()
    assert not BudgetCharge.objects.exists()
