"""What groups and the whole installation may use, in tokens and in money, by day and by month (UTC).

Every budget that a person is under counts: those of all groups that they are in, and the installation's. None is chosen to pay:
a budget says how much its members may use together, not who is billed. Each has a row that decides (``BudgetPool``), and one
for each person's part. They are written by the same statements that set tokens of a person's day aside and settle them
(``conversations.accounts.allowances``), of which ``pools.sql`` has the parts: a limit that is reached fails the whole
statement, by a constraint. People without a budget have no row and need no further statement.

Money is in micro-dollars (USD / 1,000,000) within, and in USD towards people and programs.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from django.db import transaction
from django.db.models import BigIntegerField, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from conversations.accounts.spending import Spent
from conversations.errors import BudgetExceeded, OpenbookError, PriceUnknown
from conversations.models import Budget, BudgetCharge, BudgetPool
from conversations.providers.price_list import rates_of
from conversations.providers.prices import MICRO, UNKNOWN, Rates
from conversations.runtime import clock
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from conversations.runtime.wording import worded

PARTS = read_statements(str(Path(__file__).with_name("pools.py")))
"""Of `pools.sql`, which several statements are made of."""
SQL = read_statements(__file__, PARTS)
PERIODS = ("day", "month")
KINDS = ("tokens_day", "money_day", "tokens_month", "money_month")
CONSTRAINTS = frozenset({*(f"pool_{kind}" for kind in KINDS), "pool_price_known"})
"""Those that refuse a call for which a budget leaves no room."""
CHARGES_KEPT = timedelta(days=400)
"""So that a year can be looked back on, and a month is there until long after its end."""
AT_ONCE = 1_000
SOON_SECONDS = 5
"""When to try again where it depends on the end of a reply."""
GROUP, INSTALLATION, MEMBER = "group", "installation", "member"
NOTHING_STORED = worded("Nothing was stored.")
NO_ROOM = {
    GROUP: "The budget of {name} leaves no room.",
    INSTALLATION: "The budget of this whole server leaves no room.",
    MEMBER: "Your own part of a budget leaves no room.",
}
Whose = Literal["group", "installation", "member"]


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What a call may take: ``input_tokens`` and ``tokens`` in all, ``money`` at most, ``None`` where its price is not known.
    ``provider`` and ``model`` say for what, in the list of what was used."""

    provider: str
    model: str
    input_tokens: int
    tokens: int
    money: int | None
    rates: Rates = UNKNOWN

    def parameters(self, *, spent_tokens: int = 0, spent_money: int = 0) -> dict[str, Any]:
        """As the statements take it, after calls of the same reply that took so much."""
        return {
            "provider": self.provider,
            "model": self.model,
            "reserved": spent_tokens + self.tokens,
            "money": None if self.money is None else spent_money + self.money,
        }

    def beside(self, help: "Charge") -> "Charge":
        """The same with a call that helps before it."""
        money = None if self.money is None or help.money is None else self.money + help.money
        return Charge(
            provider=self.provider,
            model=self.model,
            input_tokens=self.input_tokens + help.input_tokens,
            tokens=self.tokens + help.tokens,
            money=money,
        )


def charge(provider: str, model: str, *, input_tokens: int, output_tokens: int) -> Charge:
    """Of one call. May read the database."""
    rates = rates_of(provider, model, clock.now())
    money = rates.most(input_tokens=input_tokens, output_tokens=output_tokens)
    return Charge(
        provider=provider,
        model=model,
        input_tokens=input_tokens,
        tokens=input_tokens + output_tokens,
        money=money,
        rates=rates,
    )


@dataclass(frozen=True, kw_only=True)
class Use:
    """What is used of a budget, together or (``user``) by one person: ``limits``, ``used`` and ``reserved`` by ``KINDS``; money
    in micro-dollars. ``None`` in ``limits``: no limit."""

    budget: Budget
    whose: Whose
    limits: Mapping[str, int | None]
    used: Mapping[str, int]
    reserved: Mapping[str, int]

    @property
    def name(self) -> str:
        """Of the group; empty for the installation."""
        return self.budget.group.name if self.budget.group else ""

    def share(self, period: str) -> int:
        """How many percent of the limits of a period are used, of the one that is fuller; what is set aside counts not."""
        shares = (self._share(f"{kind}_{period}") for kind in ("tokens", "money"))
        return max((share for share in shares if share is not None), default=0)

    def _share(self, kind: str) -> int | None:
        most = self.limits[kind]
        if most is None:
            return None
        return 100 if not most else self.used[kind] * 100 // most


def budgets_of(user_id: int) -> QuerySet[Budget]:
    """All that the person is under, the installation's last."""
    mine = Budget.objects.filter(Q(group=None) | Q(group__user=user_id)).select_related("group")
    return mine.order_by(F("group__name").asc(nulls_last=True))


def uses_of(user_id: int) -> list[Use]:
    """Of each budget that the person is under, their own part and what is used together."""
    budgets = list(budgets_of(user_id))
    if not budgets:
        return []
    rows = BudgetPool.objects.filter(Q(user=None) | Q(user=user_id), budget__in=budgets)
    pools = {(row.budget_id, row.user_id is not None): row for row in rows}
    return [
        use_in(budget, pools.get((budget.pk, is_own)), is_own=is_own) for budget in budgets for is_own in (True, False)
    ]


def is_of_now(pool: BudgetPool, period: str) -> bool:
    """Whether what a row says of a day or month is about the one that it is now."""
    today = today_utc()
    return pool.day >= today if period == "day" else pool.month >= today.replace(day=1)


def use_in(budget: Budget, pool: BudgetPool | None, *, is_own: bool = False) -> Use:
    """As a row has it today."""
    before = "member_" if is_own else ""
    is_of = {period: pool is not None and is_of_now(pool, period) for period in PERIODS}
    used = {kind: getattr(pool, kind) if is_of[kind.partition("_")[2]] else 0 for kind in KINDS}
    reserved = {kind: getattr(pool, f"reserved_{kind.partition('_')[0]}") if pool else 0 for kind in KINDS}
    return Use(
        budget=budget,
        whose="member" if is_own else "group" if budget.group_id else "installation",
        limits={kind: _micro(kind, getattr(budget, before + kind)) for kind in KINDS},
        used=used,
        reserved=reserved,
    )


def refuse_unless_room(user_id: int, charge: Charge, *, ending: str = NOTHING_STORED) -> None:
    """Raise ``BudgetExceeded`` or ``PriceUnknown`` where a call that may take so much has no room in a budget, once what dead
    processes left is given back."""
    uses = uses_of(user_id)
    give_back(use.budget.pk for use in uses)
    for use in uses_of(user_id):
        if error := refusal(use, charge, clock.now(), ending=ending):
            _note_refusal(use, error)
            raise error


def refuse_more_unless_room(
    user_id: int, reply_id: uuid.UUID | None, charge: Charge, spent: Spent, *, ending: str
) -> None:
    """The same for a further call of a reply, in the budgets that its first one was charged to: what is set aside for the reply
    and not spent is there for it."""
    held = {row.budget_id: row for row in BudgetCharge.objects.filter(reply=reply_id, is_open=True)}
    give_back(held)
    for use in uses_of(user_id):
        if own := held.get(use.budget.pk):
            money = None if charge.money is None else spent.money + charge.money - own.reserved_money
            more = replace(charge, tokens=spent.tokens + charge.tokens - own.reserved_tokens, money=money)
            if error := refusal(use, more, clock.now(), ending=ending):
                _note_refusal(use, error)
                raise error


def _note_refusal(use: Use, error: OpenbookError) -> None:
    """What is shared is used up for now: its managers are to hear of it."""
    if isinstance(error, BudgetExceeded) and use.whose != MEMBER and error.details["retry_after"] != SOON_SECONDS:
        name = f"refused_{error.details['limit'].partition('_')[2]}"
        BudgetPool.objects.filter(budget=use.budget, user=None, **{name: False}).update(**{name: True})


def refusal(
    use: Use, charge: Charge, now: datetime, *, ending: str = NOTHING_STORED
) -> BudgetExceeded | PriceUnknown | None:
    """What speaks against a call, by one budget."""
    if charge.money is None and any(use.limits[kind] is not None for kind in KINDS if kind.startswith("money")):
        return PriceUnknown(
            worded(
                "Money is limited here, and what {model} costs is not known.",
                "Choose another model, or ask staff to give it a price on its page: 0 if it costs nothing.",
                ending,
                model=charge.model or charge.provider,
            ),
            budget=use.name,
            provider=charge.provider,
            model=charge.model,
        )
    for kind in KINDS:
        most, needed = use.limits[kind], charge.tokens if kind.startswith("tokens") else charge.money or 0
        if most is not None and use.used[kind] + use.reserved[kind] + needed > most:
            return _exceeded(use, kind, most, needed, now, ending)
    return None


def _exceeded(use: Use, kind: str, most: int, needed: int, now: datetime, ending: str) -> BudgetExceeded:
    used, reserved = use.used[kind], use.reserved[kind]
    period = kind.partition("_")[2]
    renews_at = renewal(period, now)
    fits_later = used + needed <= most
    seconds = SOON_SECONDS if fits_later else int((renews_at - now).total_seconds()) + 1
    if needed > most:
        when = "It would not fit into a whole budget: ask whoever manages it for a higher one."
    elif fits_later:
        when = "Replies that run hold the rest: send again when they have ended."
    else:
        when = "It renews on {renews} at 00:00 UTC."
    return BudgetExceeded(
        worded(
            NO_ROOM[use.whose],
            "Of {most}, {used} are used, {reserved} set aside for what runs, and this may take {needed}.",
            when,
            ending,
            name=use.name,
            most=amount(kind, most),
            used=amount(kind, used),
            reserved=amount(kind, reserved),
            needed=amount(kind, needed),
            renews=renews_at.date().isoformat(),
        ),
        budget=use.name,
        whose=use.whose,
        limit=kind,
        most=plain(kind, most),
        used=plain(kind, used + reserved),
        needed=plain(kind, needed),
        renews_at=renews_at.isoformat(),
        retry_after=seconds,
    )


def amount(kind: str, value: int) -> str:
    """For people."""
    return f"{value:,} tokens" if kind.startswith("tokens") else f"{Decimal(value) / MICRO:,.2f} USD"


def plain(kind: str, value: int | None) -> int | float | None:
    """For programs: tokens, or USD."""
    return value if value is None or kind.startswith("tokens") else value / MICRO


def renewal(period: str, now: datetime) -> datetime:
    """When a new day or month begins."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today + timedelta(days=1) if period == "day" else (today.replace(day=1) + timedelta(days=32)).replace(day=1)


def give_back(budget_ids: Iterable[int] | None = None) -> int:
    """What dead processes left: calls beside replies whose time is over, and replies that are there no more. Of all budgets
    where none is named. Returns how many."""
    ids = None if budget_ids is None else sorted(set(budget_ids))
    [(count,)] = run(SQL["give_back"], budgets=ids)
    return int(count)


def old_charges(before: datetime) -> QuerySet[BudgetCharge]:
    return BudgetCharge.objects.filter(day__lt=before.date(), is_open=False)


def delete_charges(before: datetime) -> int:
    """Some of the oldest. Returns how many."""
    ids = list(old_charges(before).values_list("id", flat=True)[:AT_ONCE])
    deleted, _ = BudgetCharge.objects.filter(id__in=ids).delete()
    return deleted


def recounted(budget: Budget) -> list[BudgetPool]:
    """The pools as the charges have them; the rows are put right."""
    give_back([budget.pk])
    today = today_utc()
    with transaction.atomic():
        # Whoever charges writes these rows in the same statement: what is read under their locks is complete.
        rows = budget.pools.select_for_update(no_key=True).order_by(F("user").asc(nulls_last=True))
        pools = list(rows)
        for pool in pools:
            charges = BudgetCharge.objects.filter(budget=budget)
            if pool.user_id is not None:
                charges = charges.filter(user=pool.user_id)
            ended, running = charges.filter(is_open=False), charges.filter(is_open=True)
            pool.day, pool.month = today, today.replace(day=1)
            for kind in ("tokens", "money"):
                of_month = ended.filter(day__gte=pool.month)
                setattr(pool, f"reserved_{kind}", _sum(running, f"reserved_{kind}"))
                setattr(pool, f"{kind}_day", _sum(of_month.filter(day=today), f"spent_{kind}"))
                setattr(pool, f"{kind}_month", _sum(of_month, f"spent_{kind}"))
                for period in ("day", "month"):
                    setattr(pool, f"most_{kind}_{period}", None)
            pool.save()
    return pools


def recount_all() -> None:
    """For operators, where sums are in doubt."""
    for budget in Budget.objects.all():
        recounted(budget)


def today_utc() -> date:
    return clock.now().astimezone(UTC).date()


def _micro(kind: str, value: Any) -> int | None:
    return value if value is None or kind.removeprefix("member_").startswith("tokens") else int(value * MICRO)


def _sum(rows: QuerySet[Any], column: str) -> int:
    return int(rows.aggregate(total=Coalesce(Sum(column), 0, output_field=BigIntegerField()))["total"])
