"""Who is told that a budget fills up: its managers by mail, at 50, 80 and 100 percent, once each in a day or month.

A worker looks, so that no request waits for mail or fails by it. 100 percent is also where a call was refused: the last tokens
are rarely used, as no call fits into them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, override

from conversations import audit
from conversations.accounts import budgets, mailing
from conversations.audit import AuditKind
from conversations.models import Budget, BudgetPool, WebhookEvent
from conversations.runtime.site import public_address
from conversations.webhooks.outbox import Plain, tell
from memory.services import language_of

LEVELS = (50, 80, 100)


@dataclass(frozen=True, kw_only=True)
class LimitReached:
    """A budget has reached a level, in percent, of what may be used in a ``period``."""

    budget: Budget
    period: str
    level: int


def look(warn: Callable[[LimitReached], object] = lambda reached: None) -> list[LimitReached]:
    """What was reached since the last look. Each is found once, however many look at the same time, and handed to ``warn`` in
    the transaction that says so: a worker that dies leaves both to the next or neither."""
    found = []
    for pool in BudgetPool.objects.filter(user=None).select_related("budget__group"):
        for period in budgets.PERIODS:
            level = level_of(pool.budget, pool, period)
            warned = f"warned_{period}"
            if level <= getattr(pool, warned):
                continue
            same = BudgetPool.objects.filter(pk=pool.pk, day=pool.day, **{f"{warned}__lt": level})
            reached = LimitReached(budget=pool.budget, period=period, level=level)
            with transaction.atomic():
                if not same.update(**{warned: level}):
                    continue
                if level == LEVELS[-1]:
                    details = {"period": period, "group": pool.budget.group_id}
                    audit.record(AuditKind.BUDGET_EXCEEDED, actor=None, target=pool.budget, details=details)
                warn(reached)
                managers = managers_of(pool.budget).values_list("pk", flat=True)
                figures: dict[str, Plain] = {"budget": pool.budget_id, "period": period, "percent": level}
                tell(WebhookEvent.LIMIT_REACHED, about=None, data=figures, to=managers)
            found.append(reached)
    return found


def level_of(budget: Budget, pool: BudgetPool | None, period: str) -> int:
    """The highest of ``LEVELS`` that is reached now; 0 for none. ``pool`` is ``None`` where nothing was charged to it yet: one
    with a limit of 0 is used up all the same."""
    if pool and budgets.is_of_now(pool, period) and getattr(pool, f"refused_{period}"):
        return LEVELS[-1]
    use = budgets.use_in(budget, pool)
    return max((level for level in LEVELS if use.share(period) >= level), default=0)


def managers_of(budget: Budget) -> QuerySet[User]:
    """Of the installation's: superusers."""
    mine = Q(pk__in=budget.group.managers.values("user")) if budget.group else Q(is_superuser=True)
    return User.objects.filter(mine, is_active=True)


def announce(reached: LimitReached) -> None:
    """The one place that every reached level passes: who else is to hear of it is told here."""
    if not mailing.is_possible():
        return
    for manager in managers_of(reached.budget).exclude(email=""):
        with override(language_of(manager) or None):
            mailing.post("plain", manager.email, subject=gettext("A budget fills up"), text=sentence(reached))


def sentence(reached: LimitReached) -> str:
    """In the language that is active."""
    name = reached.budget.group.name if reached.budget.group else gettext("the whole server")
    words = {
        ("day", False): gettext("%(level)s %% of what %(name)s may use today are used."),
        ("month", False): gettext("%(level)s %% of what %(name)s may use this month are used."),
        ("day", True): gettext("What %(name)s may use today is used up: models answer again from 00:00 UTC on."),
        ("month", True): gettext(
            "What %(name)s may use this month is used up: models answer again from next month on."
        ),
    }[reached.period, reached.level == LEVELS[-1]]
    link = public_address() + f"/account/budgets/{reached.budget.pk}/"
    return f"{words % {'level': reached.level, 'name': name}}\n\n{link}\n"


def notices(user_id: int) -> list[str]:
    """A line for each budget that the person is under and that is nearly or wholly used. One statement where there is none."""
    return notices_of(budgets.budgets_of(user_id))


def notices_of(of: Iterable[Budget]) -> list[str]:
    found, all_of_them = [], list(of)
    rows = BudgetPool.objects.filter(budget__in=all_of_them, user=None) if all_of_them else ()
    pools = {pool.budget_id: pool for pool in rows}
    for budget in all_of_them:
        level, period = max((level_of(budget, pools.get(budget.pk), period), period) for period in budgets.PERIODS)
        if level >= LEVELS[1]:
            found.append(sentence(LimitReached(budget=budget, period=period, level=level)).partition("\n")[0])
    return found
