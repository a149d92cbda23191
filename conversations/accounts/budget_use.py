"""Who used what of a budget: sums by member, day and model. Names and figures only: no content, no titles."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count, F, Q, QuerySet, Sum

from conversations.accounts.budgets import Use
from conversations.accounts.managers import groups_managed_by
from conversations.models import Budget, BudgetCharge
from conversations.providers.prices import MICRO
from conversations.runtime.wording import filled, number

VIEW = "conversations.view_budget"
DAYS = 31


@dataclass(frozen=True, kw_only=True)
class UseRow:
    """``calls``: replies, and calls beside them."""

    label: str
    tokens: int
    money: Decimal
    calls: int


def budgets_seen_by(user: User | AnonymousUser) -> QuerySet[Budget]:
    """Those of the groups that a person manages; all, the server's too, for staff who have the right to."""
    every = Budget.objects.select_related("group").order_by(F("group__name").asc(nulls_first=True))
    if user.is_active and user.has_perm(VIEW):
        return every
    return every.filter(group__in=groups_managed_by(user))


def charges(budget: Budget, since: date) -> QuerySet[BudgetCharge]:
    return BudgetCharge.objects.filter(budget=budget, day__gte=since, is_open=False)


def first_day(today: date) -> date:
    return today - timedelta(days=DAYS - 1)


def summed(rows: QuerySet[BudgetCharge], *by: str) -> list[tuple[Any, ...]]:
    """The values of ``by``, then tokens, micro-dollars and calls."""
    sums = {
        "tokens": Sum("spent_tokens"),
        "money": Sum("spent_money"),
        "calls": Count("id", filter=Q(spent_tokens__gt=0)),
    }
    return list(rows.values_list(*by).annotate(**sums).order_by(*by))


def by(rows: QuerySet[BudgetCharge], *columns: str, unknown: str = "") -> list[UseRow]:
    """By what these columns say, the most tokens first."""
    found = [
        UseRow(label=" / ".join(label or unknown for label in labels), tokens=tokens, money=usd(money), calls=calls)
        for *labels, tokens, money, calls in summed(rows, *columns)
    ]
    return sorted(found, key=lambda row: (-row.tokens, row.label))


def usd(micro: int) -> Decimal:
    return Decimal(micro) / MICRO


def in_words(use: Use, period: str) -> str:
    """What was used in a day or month, beside its limit where it has one, in the language of the page."""

    def amount(kind: str, micro_or_tokens: int) -> str:
        return number(micro_or_tokens) if kind.startswith("tokens") else number(usd(micro_or_tokens), places=2)

    def part(kind: str) -> str:
        used, most = amount(kind, use.used[kind]), use.limits[kind]
        return used if most is None else filled("{uses} of {most}", uses=used, most=amount(kind, most))

    return filled("{tokens} tokens, {money} USD", tokens=part(f"tokens_{period}"), money=part(f"money_{period}"))
