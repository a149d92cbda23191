"""What is known of a person, from the database: whose, which day's, how long ago, and what fails (C3–C7, C9)."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.db.models import JSONField, Value
from django.test.utils import CaptureQueriesContext

from conversations.context.sessions import Session, session_at
from conversations.context.source_problems import Problem, ProblemKind
from conversations.models import Assistant, Thread
from conversations.runtime.db import read_only
from memory.models import DailySummary, Memory, Preferences, ThreadSummary, Topic
from memory.tags import thread_tag, user_tag
from tests.conversations.factories import make_thread
from tests.memory.factories import (
    make_daily_summary,
    make_memory,
    make_preferences,
    make_thread_summary,
    make_topic,
)
from tests.memory.profiles import KnownFact, OpenTopic, Profile, Summary, build_tiers
from tests.memory.profiles import read_profile as read_standing

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]

BEGAN = datetime(2026, 3, 28, 10, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BACK = Session(started_at=BEGAN, away_since=BEGAN - 2 * DAY)
TABLES = {
    "preferences": "memory_preferences",
    "memory": "memory_memory",
    "today": "memory_dailysummary",
    "open_threads": "memory_topic",
    "last_conversation": "memory_threadsummary",
}


def read_profile(
    user: User, thread: Thread | None = None, *, began: datetime = BEGAN, away: timedelta | None = None
) -> Profile:
    session = Session(started_at=began, away_since=None if away is None else began - away)
    with read_only():
        return read_standing(user_id=user.pk, thread_id=thread.id if thread else None, session=session)


def profile_of(user: User) -> Profile:
    """One row in every source, and what is then known after two days away."""
    make_preferences(user, time_zone="Asia/Shanghai")
    memory = make_memory(user, "她住在汉堡 🏡", created_at=BEGAN - DAY)
    today = make_daily_summary(user, "2026-03-28", "今天很忙 🐌", key_moments=["🎉 新工作", "Пошла домой"])
    topic = make_topic(user, "🛶 里斯本之行", opened_at=BEGAN - DAY)
    last = make_thread_summary(make_thread(user), BEGAN - 2 * DAY, "聊了书 📚")
    return Profile(
        began_at=BEGAN,
        facts=(KnownFact(id=str(memory.pk), text="她住在汉堡 🏡", said_on=memory.said_at.date()),),
        today=Summary(id=str(today.pk), text="今天很忙 🐌", moments=("🎉 新工作", "Пошла домой")),
        topics=(OpenTopic(id=str(topic.pk), title="🛶 里斯本之行", opened_at=BEGAN - DAY),),
        last_conversation=Summary(id=str(last.pk), text="聊了书 📚", ended_on=date(2026, 3, 26)),
    )


def without(standing: Profile, source: str, kind: ProblemKind, message: str) -> Profile:
    lost: dict[str, dict[str, Any]] = {
        "preferences": {"remembers": False},
        "memory": {"facts": ()},
        "today": {"today": None},
        "open_threads": {"topics": ()},
        "last_conversation": {"last_conversation": None},
    }
    problem = Problem(source=source, kind=kind, message=message)
    return Profile(**vars(standing) | lost[source] | {"problems": (problem,)})


def facts(user: User, thread: Thread | None = None) -> list[str]:
    return [fact.text for fact in read_profile(user, thread).facts]


def test_nothing_is_known_of_a_new_person(user: User) -> None:
    assert read_profile(user) == Profile(began_at=BEGAN)


def test_every_source_is_read_in_any_script(user: User) -> None:
    assert profile_of(user) == read_profile(user, away=2 * DAY)


def test_another_users_rows_are_never_read(user: User, other_user: User) -> None:
    profile_of(other_user)
    assert read_profile(user, away=2 * DAY) == Profile(began_at=BEGAN)


def test_the_newest_memories_come_first_and_no_more_than_can_matter(user: User) -> None:
    for number in range(60):
        make_memory(user, f"fact {number}", created_at=BEGAN - number * HOUR)
    assert facts(user) == [f"fact {number}" for number in range(40)]


@pytest.mark.parametrize(
    ("tags", "seen_here", "seen_elsewhere"),
    [
        (["user"], True, True),
        ([], True, True),
        (["work", "日程"], True, True),
        (["thread"], True, False),
        (["work", "thread"], True, False),
        (["thread", "user"], True, True),
    ],
)
def test_what_belongs_to_one_thread_is_not_given_to_another(
    user: User, tags: list[str], seen_here: bool, seen_elsewhere: bool
) -> None:
    here, elsewhere = make_thread(user), make_thread(user)
    spelled = {"user": user_tag(user.pk), "thread": thread_tag(here.id)}
    make_memory(user, tags=[spelled.get(tag, tag) for tag in tags])
    assert [bool(facts(user, thread)) for thread in (here, elsewhere, None)] == [
        seen_here,
        seen_elsewhere,
        seen_elsewhere,
    ]


def test_memories_of_other_threads_don_t_push_out_those_of_the_person(user: User) -> None:
    make_memory(user, "old and personal", created_at=BEGAN - 900 * DAY)
    tags = [thread_tag(make_thread(user).id)]
    Memory.objects.bulk_create(Memory(user=user, content="there", tags=tags, created_at=BEGAN) for _ in range(200))
    assert facts(user, make_thread(user)) == ["old and personal"]


def test_a_memory_that_has_ended_is_gone_at_once_and_one_that_expires_with_the_next_session(user: User) -> None:
    make_memory(user, "until Friday", valid_until=BEGAN + HOUR, created_at=BEGAN - HOUR)
    make_memory(user, "until last week", valid_until=BEGAN, created_at=BEGAN - 2 * HOUR)
    moved = make_memory(user, "lives in Hamburg", created_at=BEGAN - 3 * HOUR)
    standing = read_profile(user)
    assert [(fact.text, fact.valid_until) for fact in standing.facts] == [
        ("until Friday", BEGAN + HOUR),
        ("until last week", BEGAN),
        ("lives in Hamburg", None),
    ]
    Memory.objects.filter(pk=moved.pk).update(ended_at=BEGAN + timedelta(minutes=5))
    assert facts(user) == ["until Friday", "until last week"]


@pytest.mark.parametrize(
    ("zone", "began", "day"),
    [
        ("UTC", "2026-03-28T23:59:59Z", "2026-03-28"),
        ("UTC", "2026-03-29T00:00:00Z", "2026-03-29"),
        ("Pacific/Auckland", "2026-03-28T10:59:59Z", "2026-03-28"),
        ("Pacific/Auckland", "2026-03-28T11:00:00Z", "2026-03-29"),
        ("America/Los_Angeles", "2026-03-28T06:59:59Z", "2026-03-27"),
        ("America/Los_Angeles", "2026-03-28T07:00:00Z", "2026-03-28"),
        # The day that summer time begins has 23 hours, the day that it ends 25.
        ("America/Los_Angeles", "2026-03-08T08:00:00Z", "2026-03-08"),
        ("America/Los_Angeles", "2026-03-09T06:59:59Z", "2026-03-08"),
        ("America/Los_Angeles", "2026-03-09T07:00:00Z", "2026-03-09"),
        ("Pacific/Auckland", "2026-04-04T11:00:00Z", "2026-04-05"),
        ("Pacific/Auckland", "2026-04-05T11:59:59Z", "2026-04-05"),
        ("Pacific/Auckland", "2026-04-05T12:00:00Z", "2026-04-06"),
        # The furthest from UTC that there are.
        ("Pacific/Kiritimati", "2026-03-28T10:00:00Z", "2026-03-29"),
        ("Etc/GMT+12", "2026-03-28T11:59:59Z", "2026-03-27"),
    ],
)
def test_today_is_the_day_of_the_persons_own_time_zone(user: User, zone: str, began: str, day: str) -> None:
    make_preferences(user, time_zone=zone)
    middle = date.fromisoformat(day)
    for offset in range(-2, 3):
        make_daily_summary(user, (other := middle + offset * DAY).isoformat(), f"about {other}")
    standing = read_profile(user, began=datetime.fromisoformat(began))
    assert standing.today and standing.today.text == f"about {day}"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../../etc/passwd", "Europe", "Europe/Berlin\n"])
def test_an_unknown_time_zone_falls_back_to_utc_and_says_so(user: User, zone: str) -> None:
    make_preferences(user, time_zone=zone)
    make_daily_summary(user, "2026-03-28", "about today")
    standing = read_profile(user)
    message = "The time zone is unknown; UTC stands in for it."
    assert (standing.today and standing.today.text, standing.problems) == (
        "about today",
        (Problem(source="preferences", kind=ProblemKind.GARBAGE, message=message),),
    )


def test_who_wants_nothing_remembered_is_given_no_tier(user: User) -> None:
    profile_of(user)
    assistant = Assistant.objects.get(slug="companion")
    assert len(build_tiers(read_profile(user, away=2 * DAY), assistant)) == 4
    Preferences.objects.update(remembers=False)
    assert build_tiers(read_profile(user, away=2 * DAY), assistant) == []


def test_the_newest_topics_come_first_and_a_resolved_one_goes(user: User) -> None:
    topics = [make_topic(user, f"topic {age}", opened_at=BEGAN - age * DAY) for age in (9, 0, 7, 2, 30)]
    assert [topic.title for topic in read_profile(user).topics] == [f"topic {age}" for age in (0, 2, 7, 9, 30)]
    Topic.objects.filter(pk=topics[3].pk).update(resolved_at=BEGAN)
    assert [topic.title for topic in read_profile(user).topics] == [f"topic {age}" for age in (0, 7, 9, 30)]


@pytest.mark.parametrize(
    ("away", "given"), [(None, False), (23 * HOUR, False), (24 * HOUR, False), (25 * HOUR, True), (400 * DAY, True)]
)
def test_the_last_conversation_is_given_after_more_than_a_day_away(
    user: User, away: timedelta | None, given: bool
) -> None:
    make_thread_summary(make_thread(user), BEGAN - 2 * DAY)
    assert bool(read_profile(user, away=away).last_conversation) == given


def test_the_last_conversation_is_the_latest_other_one_before_the_session(user: User) -> None:
    here = make_thread(user)
    make_thread_summary(make_thread(user), BEGAN - 9 * DAY, "long ago")
    make_thread_summary(make_thread(user), BEGAN - 3 * DAY, "the last")
    make_thread_summary(here, BEGAN - 2 * DAY, "this one")
    make_thread_summary(make_thread(user), BEGAN, "in this session")
    last = read_profile(user, here, away=2 * DAY).last_conversation
    assert last and (last.text, last.ended_on) == ("the last", date(2026, 3, 25))


def test_the_day_that_it_ended_on_and_those_of_notes_are_told_in_the_persons_time_zone(user: User) -> None:
    make_preferences(user, time_zone="Pacific/Auckland")
    make_thread_summary(make_thread(user), datetime(2026, 3, 20, 12, tzinfo=UTC))
    make_memory(user, created_at=datetime(2026, 3, 20, 12, tzinfo=UTC))
    profile = read_profile(user, away=8 * DAY)
    last, (fact,) = profile.last_conversation, profile.facts
    assert last and last.ended_on == fact.said_on == date(2026, 3, 21)


def test_the_text_is_the_same_at_every_minute_of_a_session_also_past_midnight(user: User) -> None:
    make_preferences(user, time_zone="Europe/Berlin")
    before_midnight = datetime(2026, 3, 27, 22, 30, tzinfo=UTC)
    for day in ("2026-03-27", "2026-03-28"):
        make_daily_summary(user, day, f"about {day}", key_moments=["a moment"])
    make_memory(user, "until midnight", valid_until=before_midnight + HOUR, created_at=BEGAN - 9 * DAY)
    make_topic(user, opened_at=before_midnight - 7 * DAY)
    make_thread_summary(make_thread(user), before_midnight - 3 * DAY)
    assistant = Assistant.objects.get(slug="companion")
    session, last_active = None, before_midnight - 25 * HOUR
    texts = []
    for minute in range(90):
        now = before_midnight + timedelta(minutes=minute)
        session, last_active = session_at(now, last_active=last_active, last_session=session), now
        with read_only():
            standing = read_standing(user_id=user.pk, thread_id=None, session=session)
        texts.append([tier.text for tier in build_tiers(standing, assistant)])
    assert len(texts[0]) == 4 and texts == [texts[0]] * 90


def test_one_statement_reads_everything_and_the_transaction_stays_as_it_was(user: User) -> None:
    profile_of(user)
    with read_only(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 12345")
        with CaptureQueriesContext(connection) as queries:
            read_standing(user_id=user.pk, thread_id=None, session=Session(started_at=BEGAN))
        reads = [query["sql"] for query in queries if "SELECT" in query["sql"]]
        cursor.execute("SELECT current_setting('statement_timeout'), current_setting('plan_cache_mode')")
        assert (len(reads), cursor.fetchone()) == (1, ("12345ms", "force_generic_plan"))


def test_the_statement_is_prepared_and_planned_only_once(user: User) -> None:
    for _ in range(5):
        read_profile(user)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(generic_plans) > 0, sum(custom_plans) FROM pg_prepared_statements"
            " WHERE statement LIKE 'SELECT%%json_agg%%'"
        )
        assert cursor.fetchone() == (True, 0)


def test_the_number_of_rows_read_does_not_grow_with_what_is_known(user: User, other_user: User) -> None:
    here = make_thread(user)
    places = count(1)
    for person, thread in ((user, here), (user, make_thread(user)), (other_user, make_thread(other_user))):
        ages = [BEGAN - number * HOUR for number in range(600)]
        tags = [[], [thread_tag(thread.id)]]
        Memory.objects.bulk_create(
            Memory(user=person, content="fact", tags=tags[number % 2], created_at=at) for number, at in enumerate(ages)
        )
        Topic.objects.bulk_create(Topic(user=person, title="topic", opened_at=at) for at in ages)
        ThreadSummary.objects.bulk_create(
            ThreadSummary(
                thread=here,
                user=person,
                first_position=place,
                last_position=place,
                text="talk",
                started_at=at,
                ended_at=at,
                made_at=at,
            )
            for place, at in zip(places, ages, strict=False)
        )
        DailySummary.objects.bulk_create(
            (
                DailySummary(user=person, day=BEGAN.date() - number * DAY, text="day", updated_at=BEGAN)
                for number in range(600)
            ),
            ignore_conflicts=True,
        )
    with connection.cursor() as cursor:
        for table in TABLES.values():
            cursor.execute(f"ANALYZE {table}")
    before = rows_read()
    standing = read_profile(user, here, away=2 * DAY)
    after = rows_read()
    assert (len(standing.facts), len(standing.topics), standing.last_conversation) == (40, 10, None)
    assert {source: after[table] - before[table] for source, table in TABLES.items()} == {
        "preferences": 0,
        "memory": 80,
        "today": 2,
        "open_threads": 10,
        "last_conversation": 20,
    }


def rows_read() -> dict[str, int]:
    """Rows of each table that this transaction has fetched so far, as PostgreSQL counts them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
            " WHERE relname LIKE 'memory_%%'"
        )
        return dict(cursor.fetchall())


@pytest.mark.parametrize("source", TABLES)
def test_a_source_that_raises_costs_that_source_only(user: User, source: str) -> None:
    whole = profile_of(user)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {TABLES[source]} RENAME TO elsewhere")
    with read_only():
        standing = read_standing(user_id=user.pk, thread_id=None, session=BACK)
        assert Thread.objects.count() == 1, "the transaction goes on"
    assert standing == without(whole, source, ProblemKind.ERROR, "The database did not answer: UndefinedTable.")


def takes_less_than_a_second(step: Callable[[], None]) -> bool:
    """One time out of a few: a busy machine may hold up any."""

    def seconds() -> float:
        started = time.perf_counter()
        step()
        return time.perf_counter() - started

    return any(seconds() < 1 for _ in range(5))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("source", TABLES)
@pytest.mark.usefixtures("deadlines")
def test_a_source_that_stalls_costs_that_source_and_less_than_a_second(user: User, source: str) -> None:
    whole = profile_of(user)

    def read_once() -> None:
        with read_only():
            standing = read_standing(user_id=user.pk, thread_id=None, session=BACK)
            assert Thread.objects.count() == 1, "the transaction goes on"
        assert standing == without(whole, source, ProblemKind.TIMED_OUT, "The database did not answer: QueryCanceled.")

    with locked(TABLES[source]):
        assert takes_less_than_a_second(read_once)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("deadlines")
def test_all_sources_that_stall_together_cost_less_than_a_second(user: User) -> None:
    profile_of(user)

    def read_once() -> None:
        assert [(problem.source, problem.kind) for problem in read_profile(user, away=2 * DAY).problems] == [
            (source, ProblemKind.TIMED_OUT) for source in TABLES
        ]

    with locked(*TABLES.values()):
        assert takes_less_than_a_second(read_once)
    with CaptureQueriesContext(connection) as queries:
        assert [read_profile(user, away=2 * DAY).problems for _ in range(5)] == [()] * 5
    assert sum("json_agg" in query["sql"] for query in queries) == 5, "and one statement is enough again"


@contextmanager
def locked(*tables: str) -> Iterator[None]:
    """Another connection keeps everyone from reading the tables."""
    with psycopg.connect(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"]) as other:
        other.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


@pytest.mark.parametrize("moments", [None, "one text", {"a": 1}, [1], ["fine", None], ["long " * 5_000]])
def test_key_moments_that_are_no_list_of_texts_cost_today_only(user: User, moments: object) -> None:
    whole = profile_of(user)
    assert whole.today
    DailySummary.objects.update(key_moments=Value(moments, JSONField()))
    message = f"The key moments of summary {whole.today.id} are no list of texts, or too long."
    assert read_profile(user, away=2 * DAY) == without(whole, "today", ProblemKind.GARBAGE, message)


@pytest.mark.parametrize(
    ("source", "spoil"),
    [
        ("memory", "UPDATE memory_memory SET content = repeat('secret', 100000)"),
        ("today", "UPDATE memory_dailysummary SET text = repeat('secret', 100000)"),
        ("last_conversation", "UPDATE memory_threadsummary SET text = repeat('secret', 100000)"),
    ],
)
def test_a_text_too_long_to_be_a_summary_costs_that_row_only(user: User, source: str, spoil: str) -> None:
    whole = profile_of(user)
    with connection.cursor() as cursor:
        cursor.execute(spoil)
    assert read_profile(user, away=2 * DAY) == without(whole, source, ProblemKind.GARBAGE, "A text is too long.")


@pytest.mark.parametrize("at", ["infinity", "10000-01-01 00:00+00", "0044-03-15 00:00+00 BC"])
def test_a_time_out_of_range_costs_that_row_only(user: User, at: str) -> None:
    whole = profile_of(user)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memory_topic SET opened_at = %s", [at])
    assert read_profile(user, away=2 * DAY) == without(
        whole, "open_threads", ProblemKind.GARBAGE, "A time is out of range."
    )


def test_problems_hold_no_texts(user: User) -> None:
    """Messages of the database can quote the values that it stumbled over."""
    make_memory(user, "my secret")
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION stumble(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN $1::int; END $$;"
        )
        cursor.execute("ALTER TABLE memory_memory RENAME TO kept")
        cursor.execute(
            "CREATE VIEW memory_memory AS SELECT id, user_id, stumble(content) AS content, confined_to, created_at,"
            " said_at, valid_until, ended_at FROM kept"
        )
    assert read_profile(user).problems == (
        Problem(
            source="memory",
            kind=ProblemKind.ERROR,
            message="The database did not answer: InvalidTextRepresentation.",
        ),
    )


def test_reading_writes_nothing(user: User) -> None:
    profile_of(user)
    tables = [*TABLES.values(), "conversations_thread"]
    before = write_counts(tables)
    read_profile(user, away=2 * DAY)
    assert write_counts(tables) == before
    with pytest.raises(DatabaseError, match="read-only transaction"), read_only():
        Topic.objects.update(title="changed")


def write_counts(tables: list[str]) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables"
            " WHERE relname = ANY(%s) ORDER BY relname",
            [tables],
        )
        return list(cursor.fetchall())
