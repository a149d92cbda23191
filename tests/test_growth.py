"""The made year of `make bench ONLY=growth`: who writes when, what it comes to, and how it is drawn."""

from statistics import mean
from xml.etree import ElementTree

import pytest

from conversations.models import ModelPrice
from conversations.providers.prices import Tokens
from tests.benchmarks.growth import estimates, people, picture
from tests.benchmarks.growth.measured import Measured, Table

MEASURED = Measured(
    messages=100,
    tables={
        "conversations_message": Table(rows=2, heap=1_000, index=200),
        "conversations_contextsnapshot": Table(rows=1, heap=900, index=100),
        estimates.EVENTS: Table(rows=50, heap=5_000, index=1_000),
        "auth_user": Table(rows=0, heap=10, index=0),
    },
    wal=6_000,
    wal_after_checkpoint=8_000,
    transactions=12,
    server_ms=60,
    postgres_ms=6,
    reply_seconds=5,
    connections=10,
    server_mb=200,
    socket_kb=50,
    tokens=Tokens(input=1_000, output=300),
    page_table=2_000,
    page_storage=30_000,
    page_ms=20,
    load="0",
)


@pytest.fixture(scope="module")
def made() -> people.Year:
    return people.year(300)


def test_a_year_is_the_same_each_time(made: people.Year) -> None:
    assert made == people.year(300)
    assert made != people.year(300, seed=20)


def test_people_write_as_their_habits_say(made: people.Year) -> None:
    days = sum(share * a_week for share, a_week in people.HABITS) * 52
    expected = 300 * days * (1 + people.THREADS_MORE) * people.MESSAGES
    assert sum(made.messages) == pytest.approx(expected, rel=0.1)
    assert sum(made.threads) == pytest.approx(expected / people.MESSAGES, rel=0.1)
    weekends = mean(made.messages[day] for day in range(364) if day % 7 > 4)
    assert weekends < mean(made.messages[day] for day in range(364) if day % 7 < 5)


def test_events_do_not_grow_with_the_years(made: people.Year) -> None:
    grown = estimates.growth(MEASURED, made)
    assert grown.total[-1] == pytest.approx(sum(made.messages) * 2_210 + sum(made.pages) * 2_000)
    assert {kind: round(sizes[-1] / sum(made.messages)) for kind, sizes in grown.kinds.items() if kind != "files"} == {
        "turns": 1_200,
        "record of requests": 1_000,
        "index for recall": 0,
        "rest": 10,
    }


def test_the_newest_request_of_each_thread_outlives_retention(made: people.Year) -> None:
    whole, kept = (estimates.growth(MEASURED, made, days).kinds[estimates.RECORD] for days in (0, 90))
    assert whole[:90] == kept[:90]
    assert kept[-1] == 1_000 * (sum(made.messages[-90:]) + sum(made.threads[:-90]))


def test_a_process_has_one_core_and_a_rate_several_processes() -> None:
    few, many = (estimates.need(MEASURED, rate) for rate in (1, 100))
    assert (few.servers, many.servers) == (1, 10)
    assert (many.connections, many.running, many.wal) == (160, 500, 800_000)
    assert many.events == 100 * 3_600 * 6_000


def test_limits_are_told_in_the_order_in_which_they_are_met() -> None:
    rates = list(estimates.limits(MEASURED).values())
    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(10)


def test_a_bill_grows_with_its_price(made: people.Year) -> None:
    cheap, dear = (
        ModelPrice(input=times, output=5 * times, cache_write=0, cache_write_hour=0, cache_read=0) for times in (1, 2)
    )
    one, two = (estimates.bill(MEASURED, made, price) for price in (cheap, dear))
    assert one.model == pytest.approx(sum(made.messages) / 12 * 2_500 / 1e6)
    assert two.model == pytest.approx(2 * one.model)
    assert one.machines == two.machines


def test_pictures_are_whole_and_hold_no_script(made: people.Year) -> None:
    grown = estimates.growth(MEASURED, made)
    drawn = [
        picture.year_of_bytes("Bytes <of> a year", grown.kinds, ("kept", grown.total)),
        picture.cores_by_rate("Cores", {"servers": [(1.0, 0.1), (10.0, 1.0)]}, estimates.limits(MEASURED)),
    ]
    for text in drawn:
        root = ElementTree.fromstring(text)  # noqa: S314
        kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert kinds <= {"svg", "title", "style", "rect", "line", "text", "polygon", "polyline"}
        assert "prefers-color-scheme: dark" in text
        assert max(map(len, text.splitlines())) < 400
