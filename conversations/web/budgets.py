"""The pages on which managers see what their groups use, and staff what everybody does: sums by member, day and model."""

import csv
from dataclasses import dataclass
from datetime import date, timedelta

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from conversations.accounts import budget_use, budget_warnings, budgets
from conversations.accounts.managers import groups_managed_by
from conversations.models import Budget, BudgetPool
from conversations.runtime.wording import filled, number
from conversations.web.views import SignedInRequest

WIDTH, HEIGHT = 620, 120
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One day: where it stands in the chart, and what it says."""

    x: float
    y: float
    width: float
    height: float
    day: date
    tokens: int
    money: str


@never_cache
@login_required
@require_safe
def listing(request: SignedInRequest) -> HttpResponse:
    seen = list(budget_use.budgets_seen_by(request.user))
    pools = {pool.budget_id: pool for pool in BudgetPool.objects.filter(budget__in=seen, user=None)}
    uses = [(budget, budgets.use_in(budget, pools.get(budget.pk))) for budget in seen]
    context = {
        "budgets": [
            (
                budget,
                _name(budget),
                filled("today: {used}", used=budget_use.in_words(use, "day")),
                filled("this month: {used}", used=budget_use.in_words(use, "month")),
            )
            for budget, use in uses
        ],
        "without": groups_managed_by(request.user).filter(budget=None),
    }
    return render(request, "conversations/budgets.html", context)


@never_cache
@login_required
@require_safe
def page(request: SignedInRequest, budget_id: int) -> HttpResponse:
    """Answers 404 for a group that somebody else manages."""
    budget = _budget(request, budget_id)
    today = budgets.today_utc()
    rows = budget_use.charges(budget, budget_use.first_day(today))
    pool = budget.pools.filter(user=None).first()
    use = budgets.use_in(budget, pool)
    of_days = {day: (tokens, money) for day, tokens, money, _ in budget_use.summed(rows, "day")}
    shares = budgets.use_in(budget, None, is_own=True).limits
    context = {
        "budget": budget,
        "name": _name(budget),
        "notices": budget_warnings.notices_of([budget]),
        "limits": [
            (_words(kind), _amount(kind, use.used[kind]), _amount(kind, most) if most is not None else "")
            for kind, most in use.limits.items()
        ],
        "shares": [(_words(kind), _amount(kind, most)) for kind, most in shares.items() if most is not None],
        "may_change": request.user.has_perm("conversations.change_budget"),
        "bars": bars(of_days, today),
        "first_day": budget_use.first_day(today),
        "today": today,
        "most_tokens": max((tokens for tokens, _ in of_days.values()), default=0),
        "width": WIDTH,
        "height": HEIGHT,
        "members": budget_use.by(rows, "user__username", unknown=_("people whose account is deleted")),
        "models": budget_use.by(rows, "provider", "model"),
    }
    return render(request, "conversations/budget.html", context)


@never_cache
@login_required
@require_safe
def as_csv(request: SignedInRequest, budget_id: int) -> HttpResponse:
    """All that is kept, a line for each member, day and model."""
    budget = _budget(request, budget_id)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="use-{budget.pk}.csv"'
    sheet = csv.writer(response)
    sheet.writerow(["day", "member", "provider", "model", "calls", "tokens", "usd"])
    rows = budget_use.summed(budget_use.charges(budget, date.min), "day", "user__username", "provider", "model")
    for day, member, provider, model, tokens, money, calls in rows:
        figures = [calls, tokens, f"{budget_use.usd(money):.6f}"]
        sheet.writerow([day.isoformat(), plain(member or ""), plain(provider), plain(model), *figures])
    return response


def plain(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def bars(of_days: dict[date, tuple[int, int]], today: date) -> list[Bar]:
    """One for each of the last days, the highest as high as the chart."""
    first, step = budget_use.first_day(today), WIDTH / budget_use.DAYS
    highest = max((tokens for tokens, _ in of_days.values()), default=0) or 1
    found = []
    for offset in range(budget_use.DAYS):
        day = first + timedelta(days=offset)
        tokens, money = of_days.get(day, (0, 0))
        height = round(HEIGHT * tokens / highest, 1)
        found.append(
            Bar(
                x=round(offset * step, 1),
                y=HEIGHT - height,
                width=round(step - 3, 1),
                height=height,
                day=day,
                tokens=tokens,
                money=number_format(budget_use.usd(money), 2),
            )
        )
    return found


def _budget(request: SignedInRequest, budget_id: int) -> Budget:
    budget = budget_use.budgets_seen_by(request.user).filter(id=budget_id).first()
    if budget is None:
        raise Http404("There is no such budget, or you don't manage its group.")
    return budget


def _name(budget: Budget) -> str:
    return budget.group.name if budget.group else _("The whole server")


def _amount(kind: str, value: int) -> str:
    if kind.startswith("tokens"):
        return filled("{tokens} tokens", tokens=value)
    return filled("{money} USD", money=number(budget_use.usd(value), places=2))


def _words(kind: str) -> str:
    return {
        "tokens_day": _("Tokens today"),
        "money_day": _("Money today"),
        "tokens_month": _("Tokens this month"),
        "money_month": _("Money this month"),
    }[kind]
