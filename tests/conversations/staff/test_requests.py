"""The list of model requests: what each filter finds, page after page, and what a row tells."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.models import FATES, Assistant, ContextSnapshot, Thread
from conversations.staff import display
from conversations.staff.requests.request_filters import BUDGETED
from tests.conversations.factories import make_snapshot, make_thread
from tests.conversations.staff.conftest import list_url
from tests.conversations.staff.requests import make_requests
from tests.html import as_read

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)
SAID = {
    "input_tokens": 1_000,
    "output_tokens": 100,
    "cache_read_input_tokens": 3_000,
    "cache_creation_input_tokens": 0,
}


def listed_requests(client: Client, url: str) -> list[ContextSnapshot]:
    return list(client.get(url).context["cl"].result_list)


def tells(snapshot: ContextSnapshot, reason: str) -> bool:
    return any(run.reason == reason for run in snapshots.runs_of(snapshot))


def is_over(snapshot: ContextSnapshot) -> bool:
    return snapshot.total_tokens > snapshot.budget and snapshot.purpose in BUDGETED


def is_on(at: datetime, *day: int) -> bool:
    return (at.year, at.month, at.day)[: len(day)] == day


FILTERS: list[tuple[dict[str, str], Callable[[ContextSnapshot], bool]]] = [
    *(({"reason": code}, lambda one, code=code: tells(one, code)) for code in FATES),
    *(({"status__exact": name}, lambda one, name=name: one.status == name) for name in ContextSnapshot.Status.values),
    *(
        ({"purpose__exact": name}, lambda one, name=name: one.purpose == name)
        for name in ContextSnapshot.Purpose.values
    ),
    ({"budget": "over"}, is_over),
    ({"error": "any"}, lambda one: one.error is not None),
    ({"error": "overloaded"}, lambda one: one.error is not None and one.error["code"] == "overloaded"),
    ({"model": "claude-haiku-5-5"}, lambda one: one.model == "claude-haiku-5-5"),
    ({"created_at__year": "2026", "created_at__month": "2"}, lambda one: is_on(one.created_at, 2026, 2)),
    (
        {"created_at__year": "2026", "created_at__month": "3", "created_at__day": "1", "error": "any"},
        lambda one: is_on(one.created_at, 2026, 3, 1) and one.error is not None,
    ),
]


def test_each_filter_finds_exactly_what_it_says(staff: Client) -> None:
    made = make_requests(5, newest=NOW, days=4, count=48)[::-1]
    expected = {str(query): [one.pk for one in made if fits(one)] for query, fits in FILTERS}
    found = {
        str(query): [one.pk for one in listed_requests(staff, list_url("contextsnapshot", **query))]
        for query, _ in FILTERS
    }
    assert found == expected
    assert {query: len(pks) for query, pks in expected.items() if not 0 < len(pks) < 48} == {}


def test_an_assistant_filters_too(staff: Client) -> None:
    made = make_requests(5, newest=NOW, days=1, count=20)
    assistant = Assistant.objects.get(slug="analyst")
    found = listed_requests(staff, list_url("contextsnapshot", assistant=str(assistant.pk)))
    assert [one.pk for one in found] == [one.pk for one in made[::-1] if one.thread.assistant_id == assistant.pk]


def test_every_fate_is_a_reason_of_turns() -> None:
    of_others = {"remembered", "listed", "expired", "limit", "repeated", "instructed", "other_project", "temporary"}
    of_others |= {"offered", "changed"}
    of_files = {"unrelated", "read", "unseen", "unread", "hidden", "damaged", "not_read", "broken_off"}
    assert set(FATES) == {reason.value for reason in Reason} - {"newest", "recent"} - of_others - of_files


@pytest.mark.parametrize("query", [{}, {"status__exact": "completed"}])
def test_the_pages_show_each_request_once_newest_first_and_back_again(query: dict[str, str], staff: Client) -> None:
    made = make_requests(5, newest=NOW, days=1, count=230)[::-1]
    wanted = [one.pk for one in made if not query or one.status == "completed"]
    pages, link = [], list_url("contextsnapshot", **query)
    while link:
        changes = staff.get(link).context["cl"]
        pages.append([one.pk for one in changes.result_list])
        link = changes.older_link and list_url("contextsnapshot") + changes.older_link
    assert [pk for page in pages for pk in page] == wanted
    assert {len(page) for page in pages[:-1]} == {50}
    back = [pages[-1]]
    while changes.newer_link:
        changes = staff.get(list_url("contextsnapshot") + changes.newer_link).context["cl"]
        back.append([one.pk for one in changes.result_list])
    assert back == pages[::-1]


def test_no_page_counts_the_table(staff: Client) -> None:
    make_requests(4, newest=NOW, days=1, count=60)
    with CaptureQueriesContext(connection) as captured:
        page = staff.get(list_url("contextsnapshot")).text
    asked = [query["sql"].upper() for query in captured if "CONTEXTSNAPSHOT" in query["sql"].upper()]
    assert not [sql for sql in asked if "LIMIT" not in sql and "WHERE" not in sql]
    assert "50 on this page, 60 in all, newest first, as of 2" in as_read(page)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ({}, ["February 2026", "March 2026"]),
        ({"created_at__year": "2026", "created_at__month": "3"}, ["March 1", "March 2"]),
    ],
)
def test_the_date_hierarchy_goes_from_the_first_to_the_last_request(
    query: dict[str, str], titles: list[str], staff: Client
) -> None:
    make_requests(5, newest=NOW, days=3, count=10)
    choices = staff.get(list_url("contextsnapshot", **query)).context["cl"].periods["choices"]
    assert [choice.title for choice in choices] == titles


def test_a_row_tells_what_the_snapshot_tells_and_no_content(staff: Client) -> None:
    secret = "Where I buried it"
    snapshot = make_snapshot(make_thread(turns=[secret], title=secret))
    at = timezone.now()
    ContextSnapshot.objects.bulk_create(
        [
            ContextSnapshot(
                **{field.attname: getattr(snapshot, field.attname) for field in snapshot._meta.concrete_fields}
                | {"id": None, "reply_id": None, "provider": "anthropic", "model": "claude-sonnet-4-6", "usage": SAID}
                | {
                    "created_at": at,
                    "ended_at": at + timedelta(seconds=2),
                    "first_token_ms": 412,
                    "runs": "1-7 over_budget;8 newest 5",
                }
                | {"id": type(snapshot)._meta.pk.get_default(), "stop_reason": "max_tokens"}
            )
        ]
    )
    page = staff.get(list_url("contextsnapshot")).text
    row = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[page.index("claude-sonnet-4-6") :]))
    for words in ("completed max_tokens", "7 left out", "2.0 s first 412 ms", "$0.0054", "75% cached"):
        assert words in row
    assert f"{display.id_link(Thread, snapshot.thread_id)}" in page
    assert secret not in page
    assert listed_requests(staff, list_url("contextsnapshot", q=secret)) == []


def test_storing_the_end_of_a_request_touches_no_index() -> None:
    with connection.cursor() as cursor:
        hot = "SELECT pg_stat_get_xact_tuples_hot_updated('conversations_contextsnapshot_first'::regclass)"
        before = cursor.execute(hot).fetchone()[0]
        for _ in range(5):  # now and then a page is full
            make_snapshot()
        assert cursor.execute(hot).fetchone()[0] > before


def test_the_list_and_the_index_lead_to_the_overview(staff: Client) -> None:
    overview = list_url("contextsnapshot") + "overview/"
    assert f'href="{overview}"' in staff.get(list_url("contextsnapshot")).text
    assert f'href="{overview}"' in staff.get("/admin/").text
