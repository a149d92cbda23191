"""What the prompt cache would have cost with other lifetimes, as a table beside the findings of the linter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.models import Assistant, CacheForecast
from conversations.staff import display

FIVE_MINUTES, HOUR = Assistant.CacheLifetime
OTHER = {FIVE_MINUTES: HOUR, HOUR: FIVE_MINUTES}
SHOWN = ("none", "system", FIVE_MINUTES, HOUR, "as sent", "reported")
WIDTH = 44


@dataclass(frozen=True, kw_only=True)
class Forecast:
    assistant: SafeString
    requests: str
    costs: Sequence[SafeString | str]
    setting: str
    recommended: str
    expected: str
    true: str


@dataclass(frozen=True, kw_only=True)
class Savings:
    """USD; ``None``: not known, or there is nothing to hold it against."""

    recommended: str
    expected: float
    true: float | None


def forecasts() -> list[Forecast]:
    rows = CacheForecast.objects.select_related("assistant").order_by("-requests", "pk")
    return [_forecast(row) for row in rows]


def savings(costs: Mapping[str, float | None], setting: str) -> Savings:
    """What the lifetime that costs least saves: beside what was sent, or, where the assistant sets one, beside the other one.
    Pure."""
    known = {name: cost or 0.0 for name, cost in costs.items()}
    recommended = min(OTHER, key=lambda name: known[name])
    if not setting:
        return Savings(recommended=recommended, expected=known["as sent"] - known[recommended], true=None)
    other, reported = known[OTHER[Assistant.CacheLifetime(setting)]], costs["reported"]
    return Savings(
        recommended=recommended,
        expected=other - known[setting],
        true=None if reported is None else other - reported,
    )


def _forecast(row: CacheForecast) -> Forecast:
    setting = row.assistant.cache_lifetime
    own = savings(row.costs, setting)
    shown = {**row.costs, "system": min(row.costs[f"system {name}"] for name in OTHER)}
    most = max(cost or 0 for cost in shown.values())
    return Forecast(
        assistant=display.link(Assistant, row.assistant_id, row.assistant.name),
        requests=display.number(row.requests),
        costs=[_cost(shown[name], most) for name in SHOWN],
        setting=_name(setting) if setting else gettext("by pauses"),
        recommended=_name(own.recommended),
        expected=_usd(own.expected),
        true=_usd(own.true),
    )


def _name(lifetime: str) -> str:
    return gettext(str(Assistant.CacheLifetime(lifetime).label))


def _usd(value: float | None) -> str:
    if value is None:
        return display.NOTHING
    sign = "\u2212" if value < 0 else ""
    return sign + display.money(Decimal(str(abs(value))))


def _cost(value: float | None, most: float) -> SafeString | str:
    if value is None:
        return display.NOTHING
    return format_html(
        '<span class="ob-tokens">{}</span><svg class="ob-bar" width="{}" height="6" aria-hidden="true">'
        '<rect class="ob-track" width="{}" height="6"/><rect class="ob-fill" width="{}" height="6"/></svg>',
        _usd(value),
        WIDTH,
        WIDTH,
        round(WIDTH * value / most, 1) if most else 0,
    )
