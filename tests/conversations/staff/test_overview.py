"""The overview: its numbers are those of the requests, whether their hours are kept or counted anew."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.context.record.snapshots import left_out
from conversations.models import Assistant, ContextSnapshot, RequestHour
from conversations.providers.price_list import price_list
from conversations.staff.overview import charts
from conversations.staff.overview.charts import Series
from conversations.staff.overview.usage_charts import RANGES, Range, first_step, overview, steps_of
from conversations.upkeep import hourly_figures
from tests.conversations.factories import make_snapshot
from tests.conversations.staff.conftest import SignIn
from tests.conversations.staff.requests import make_requests
from tests.html import as_read

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)
URL = "/admin/conversations/contextsnapshot/overview/"


def figures_of(snapshot: ContextSnapshot) -> Counter[str]:
    """The figures of one request, from its own columns."""
    usage = snapshot.usage
    sums = Counter(
        {
            f"status {snapshot.status}": 1,
            "reported": bool(usage),
            "input": usage.get("input_tokens", 0),
            "output": usage.get("output_tokens", 0),
            "cache_read": usage.get("cache_read_input_tokens", 0),
            "cache_write": usage.get("cache_creation_input_tokens", 0) - usage.get("cache_creation_1h_input_tokens", 0),
            "cache_write_hour": usage.get("cache_creation_1h_input_tokens", 0),
            "recalled": snapshot.recalled is not None,
            "troubled": snapshot.problems is not None,
            "over_budget": snapshot.total_tokens > snapshot.budget and snapshot.purpose in ("reply", "artifact"),
        }
        | {f"left_out {reason}": turns for reason, turns in left_out(snapshot).items()}
    )
    took = (snapshot.ended_at - snapshot.created_at) // timedelta(milliseconds=1) if snapshot.ended_at else None
    for name, milliseconds in (("first_token", snapshot.first_token_ms), ("took", took)):
        if milliseconds is not None:
            sums[f"{name} {sum(edge <= milliseconds for edge in hourly_figures.BINS)}"] += 1
    return +sums


def expected(made: list[ContextSnapshot], start: datetime, step: timedelta, steps: int) -> list[Counter[str]]:
    sums: list[Counter[str]] = [Counter() for _ in range(steps)]
    for one in made:
        if one.created_at >= start:
            sums[(one.created_at - start) // step].update(figures_of(one))
    return sums


@pytest.mark.once("24h-*")
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("shown", RANGES, ids=lambda shown: shown.slug)
def test_the_figures_are_those_of_the_requests(shown: Range, kept: bool) -> None:
    made = make_requests(7, newest=NOW, days=32 if shown.slug == "30d" else 8 if shown.slug == "7d" else 2, count=120)
    if kept:
        hourly_figures.keep(NOW)
        assert RequestHour.objects.exists()
    start = first_step(shown, NOW)
    known = price_list()
    steps = steps_of(shown, start, hourly_figures.hours(start, NOW + timedelta(seconds=1)), known)
    assert [step.sums for step in steps] == expected(made, start, shown.step, shown.steps)
    costs = [hourly_figures.cost_of(one) for one in made if one.created_at >= start]
    assert sum(step.cost for step in steps) == sum(filter(None, costs), Decimal(0))
    assert sum(step.unpriced for step in steps) == sum(
        bool(one.usage) and cost is None
        for one, cost in zip([one for one in made if one.created_at >= start], costs, strict=True)
    )


def test_hours_are_kept_once_and_only_when_their_requests_have_ended() -> None:
    made = make_requests(8, newest=NOW, days=1, count=80)
    first = min(
        one.created_at for one in made if one.status == "pending" and one.created_at > NOW - hourly_figures.STUCK
    )
    hourly_figures.keep(NOW)
    kept = list(RequestHour.objects.order_by("pk").values_list("pk", "figures"))
    until = hourly_figures.kept_until()
    assert until
    assert until <= first.replace(minute=0, second=0, microsecond=0)
    hourly_figures.keep(NOW)
    assert list(RequestHour.objects.order_by("pk").values_list("pk", "figures")) == kept


def test_what_is_kept_outlives_its_requests() -> None:
    make_requests(9, newest=NOW, days=2, count=40)
    hourly_figures.keep(NOW + timedelta(days=3))
    start = NOW.replace(minute=0) - timedelta(days=3)
    before = [(hour.hour, hour.figures) for hour in hourly_figures.hours(start, NOW)]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL openbook.door = 'open'")
        ContextSnapshot.objects.all().delete()
    assert [(hour.hour, hour.figures) for hour in hourly_figures.hours(start, NOW)] == before != []


def test_the_overview_can_be_narrowed_to_an_assistant_and_a_model() -> None:
    made = make_requests(10, newest=NOW, days=20, count=60)
    assistant = Assistant.objects.get(slug="analyst").pk
    page = overview(RANGES[2], assistant=assistant, model="claude-haiku-5-5", now=NOW + timedelta(seconds=1))
    assert page.requests == sum(
        one.thread.assistant_id == assistant and one.model == "claude-haiku-5-5" for one in made
    )
    assert page.models == sorted({one.model for one in made})


def test_a_percentile_is_at_most_a_tenth_too_long() -> None:
    times = [*range(100, 2_000, 19)]
    sums = Counter(f"took {sum(edge <= one for edge in hourly_figures.BINS)}" for one in times)
    for share, exact in ((0.5, times[49]), (0.95, times[94])):
        found = hourly_figures.percentile(sums, "took", share)
        assert found is not None
        assert exact <= found <= exact * 1.11
    assert hourly_figures.percentile(Counter(), "took", 0.5) is None


def test_the_page_shows_each_number_of_a_chart_in_its_table(staff: Client) -> None:
    make_requests(11, newest=timezone.now(), days=5, count=40)
    response = staff.get(URL, {"range": "7d"})
    drawn = [(chart.title, row.label, *row.values) for chart in response.context["page"].charts for row in chart.rows]
    tables = re.findall(r"<caption[^>]*>([^<]+)</caption>.*?<tbody>(.*?)</tbody>", as_read(response.text))
    shown = [
        (title, *re.findall(r">([^<>]+)</t[hd]>", row))
        for title, body in tables
        for row in re.findall("<tr>.*?</tr>", body)
    ]
    full = [row for row in drawn if row[0] in {title for title, _ in tables}]
    assert shown == full
    assert len({title for title, _ in tables}) == len(response.context["page"].charts)
    assert "style=" not in response.text[response.text.index('id="content-main"') :]


def test_an_overview_costs_as_many_queries_for_many_requests_as_for_one(staff: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert staff.get(URL).status_code == 200
        return len(captured)

    make_snapshot()
    one = queries()
    make_requests(12, newest=timezone.now(), days=1)
    assert queries() == one


def test_an_empty_overview_says_how_it_fills(staff: Client) -> None:
    assert "No model requests in this time. Each message that somebody sends makes one" in staff.get(URL).text


@pytest.mark.parametrize("query", ["range=never", "assistant=x", "assistant=99", "model=nope", "range=30d&model="])
def test_an_unknown_choice_breaks_nothing(query: str, staff: Client) -> None:
    make_snapshot()
    assert staff.get(f"{URL}?{query}").status_code == 200


def test_only_who_may_see_model_requests_sees_their_overview(signed_in: SignIn) -> None:
    statuses = [
        client.get(URL).status_code
        for client in (Client(), signed_in(is_staff=False), signed_in(), signed_in("view_contextsnapshot"))
    ]
    assert statuses == [302, 302, 403, 200]
    assert "overview/" not in signed_in("view_thread").get("/admin/").text


def test_bars_stand_on_one_another_up_to_their_sum() -> None:
    series = [Series(name="a", look="a", values=[3, 0]), Series(name="b", look="b", values=[1, 2])]
    chart = charts.chart("s", "T", ["x", "y"], series, charts.Axis(show="{:g}".format))
    first, second, third = chart.bars
    assert (first.y + first.height, first.height) == pytest.approx((charts.FLOOR, 3 * second.height))
    assert second.y + second.height == pytest.approx(first.y)
    assert third.height == pytest.approx(2 * second.height, abs=0.02)
    assert [tick.label for tick in chart.ticks] == ["0", "2.5", "5"]


def test_a_line_breaks_where_there_is_nothing_and_a_lone_value_is_a_dot() -> None:
    series = [Series(name="a", look="a", values=[1, 2, None, 4])]
    [line] = charts.chart("s", "T", ["w", "x", "y", "z"], series, charts.Axis(show="{:g}".format), are_lines=True).lines
    assert (line.points.count("M"), line.points.count("L"), len(line.dots)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("top", "scale"), [(0, 1), (1, 1), (1.01, 2), (2.2, 2.5), (37, 50), (501, 1_000), (0.0003, 0.0005)]
)
def test_a_scale_ends_at_a_round_number(top: float, scale: float) -> None:
    assert charts.nice(top) == pytest.approx(scale)
