"""Why a turn was forgotten, and the map of a thread."""

import re
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from conversations.context.query.rewriting_request import rewriting_context
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.models import Assistant, ContentAccess, ContextSnapshot, Message, Thread
from conversations.models.deletion_guard import allow_deletion
from conversations.providers.offline import OfflineProvider
from conversations.staff import display
from conversations.staff.trace import map_page, trace_reads
from conversations.staff.trace.map_page import SHOWN, Axis
from conversations.staff.trace.why_page import why_page
from memory.models import Preferences
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_context, make_reply, make_snapshot, make_thread, make_user, record
from tests.conversations.staff.conftest import REASON, SignIn, StaffReader
from tests.html import as_read
from tests.memory.factories import make_memory, make_preferences, make_thread_summary, make_topic

pytestmark = pytest.mark.django_db

NEEDLE = "Bello the dog"


def small(**changes: int) -> Assistant:
    """Its window holds two turns or four, by tokens."""
    budget = {
        "history_tokens_low": 0,
        "history_tokens_high": 60,
        "total_tokens": 100,
        "hard_cap_tokens": 150,
        "recall_tokens": 0,
    }
    return Assistant.objects.create(slug="small", name="Small", system_prompt="Be brief.", **budget | changes)


def make_requests(thread: Thread, *positions: int) -> list[ContextSnapshot]:
    """A request for each of these user turns, as of then."""
    turns = {turn.position: turn for turn in thread.messages.all()}
    return [make_snapshot(reply=make_reply(thread, user_message=turns[position])) for position in positions]


def make_requests_of_turns(thread: Thread, count: int) -> list[ContextSnapshot]:
    return make_requests(thread, *range(1, 2 * count, 2))


def long_thread(count: int = 7, **values: Any) -> Thread:
    values.setdefault("assistant", Assistant.objects.filter(slug="small").first() or small())
    return make_thread(turns=[f"{NEEDLE} has a number, {n}." for n in range(2 * count)], **values)


def turn(thread: Thread, position: int) -> Message:
    return Message.objects.select_related("thread__user", "thread__assistant").get(thread=thread, position=position)


def why_url(message: Message) -> str:
    return reverse("admin:conversations_message_why", args=[message.pk])


def map_url(thread: Thread) -> str:
    return reverse("admin:conversations_thread_map", args=[thread.pk])


def answer_of(thread: Thread, position: int) -> str:
    return why_page(turn(thread, position), shown=True).answer


def time(snapshot: ContextSnapshot) -> str:
    return display.moment(snapshot.created_at)


def holding(made: Sequence[ContextSnapshot], position: int) -> list[ContextSnapshot]:
    return [one for one in made for run in snapshots.runs_of(one) if run.first <= position <= run.last and run.included]


def test_a_turn_that_left_the_window_says_until_when_it_was_sent_and_why_it_is_not() -> None:
    thread = long_thread()
    made = make_requests_of_turns(thread, 7)
    held = holding(made, 3)
    assert 1 < len(held) < 6
    assert answer_of(thread, 3) == (
        f"Turn 3 was sent with {len(held)} requests, until {time(held[-1])}. Since then it is left out: "
        "older than what the token budget holds. No summary covers it, and no memory rests on it."
    )


def test_what_was_said_on_a_branch_that_was_left_is_not_told_as_older() -> None:
    """Though it lies among turns that are."""
    thread = long_thread()
    turns = {turn.position: turn for turn in thread.messages.all()}
    left = [turns[3], turns[4]]
    with allow_deletion():
        thread.messages.filter(position__in=[3, 4]).update(is_active=False)
        thread.messages.filter(position__gte=5).update(
            depth=F("depth") - 2, token_total=F("token_total") - sum(turn.token_count for turn in left)
        )
        thread.messages.filter(position=5).update(parent=turns[2])
    make_requests(thread, 5, 13)
    answers = [answer_of(thread, position) for position in (2, 3, 4, 5)]
    assert ["on another branch than the one" in answer for answer in answers] == [False, True, True, False]
    assert ["older than what the token budget holds" in answer for answer in answers] == [True, False, False, True]
    page = map_page.map_page(thread, until="")
    assert re.search(r"left out \(\d+ no room, 2 on another branch\)", page.verdict)


def test_the_first_request_without_a_turn_is_named_and_linked(staff: StaffReader) -> None:
    thread = long_thread()
    made = make_requests_of_turns(thread, 7)
    without = made[made.index(holding(made, 3)[-1]) + 1]
    page = as_read(staff.get(why_url(turn(thread, 3))).text)
    [row] = re.findall(r'<tr class="ob-turning">(.*?)</tr>', page, re.DOTALL)
    assert reverse("admin:conversations_contextsnapshot_change", args=[without.pk]) in row
    assert "the first that did not hold it" in row
    assert Reason.OVER_BUDGET.rule in row


def test_a_turn_that_every_request_held_says_so() -> None:
    thread = make_thread(turns=["one", "two", "three", "four", "five"])
    make_requests(thread, 1, 3, 5)
    assert answer_of(thread, 2).startswith("Turn 2 was given to every request since it was said, 2 so far. ")


def test_before_any_request_there_is_nothing_to_tell(staff: StaffReader) -> None:
    thread = make_thread(turns=["one"])
    assert answer_of(thread, 1).startswith("Turn 1 has not been in question yet: no request has been made since")
    assert "No request has been made in this thread." in staff.get(why_url(turn(thread, 1))).text
    assert "No request has been made in this thread" in staff.get(map_url(thread)).text


def test_a_fulfilled_request_comes_back_with_why_when_its_artifact_is_deleted() -> None:
    thread = make_thread(turns=["Make a list", "Made.", "Thanks", "Welcome", "And now?"])
    artifact = make_artifact(thread, message=turn(thread, 2))
    make_requests(thread, 1, 3)
    artifact.deleted_at = timezone.now()
    artifact.save()
    [back] = make_requests(thread, 5)
    page = why_page(turn(thread, 1), shown=True)
    assert page.answer.startswith(
        f"Turn 1 is sent again since {time(back)}: its artifact was deleted, or the filter switched off, "
    )
    assert [row.what for row in page.rows] == [
        "the message to answer",
        "left out: its artifact was made",
        "sent",
    ]
    make_requests(thread, 1)  # a retry of the first
    assert [row.what for row in why_page(turn(thread, 3), shown=True).rows] == [
        "not said yet, or said after the message",
        "the message to answer",
        "sent",
        "not said yet, or said after the message",
    ]


def test_what_stands_for_a_turn_is_named_with_the_requests_that_were_given_it() -> None:
    thread = make_thread(turns=["turn"] * 24)
    forgotten = turn(thread, 3)
    make_thread_summary(thread, timezone.now(), first_position=1, last_position=6)
    memory = make_memory(thread.user, sources=[forgotten.id])
    make_memory(thread.user, sources=[forgotten.id], ended_at=timezone.now())
    make_memory(thread.user, "Ada has a brother.", sources=[turn(thread, 4).id])
    make_topic(thread.user, sources=[forgotten.id], thread=thread)
    made = make_requests_of_turns(thread, 3)
    other = make_snapshot(make_thread(thread.user, ["Hello?"]))
    page = why_page(forgotten, shown=True)
    assert page.answer.endswith("A summary covers it; 1 memory and 1 topic rest on it.")
    assert [(one.kind, one.state.split()[0], one.stands) for one in page.stand_ins] == [
        ("summary", "of", True),
        ("memory", "holds", True),
        ("memory", "ended", False),
        ("topic", "open", True),
    ]
    given = {one.id: [each.id for each in one.given] for one in page.stand_ins}
    since = [other, *made[::-1]]
    assert given[memory.id] == [one.id for one in since if one.created_at >= forgotten.created_at]
    assert [one for one in given.values() if not one] == [[], []]


def test_what_else_bears_on_it_is_told() -> None:
    thread = long_thread(remembers=False)
    Message.objects.filter(thread=thread, position=4).update(is_active=False)
    make_preferences(thread.user, remembers=False)
    notes = " ".join(why_page(turn(thread, 4), shown=True).notes)
    assert "stands on a branch that was left" in notes
    assert "Memory is off for this thread" in notes
    assert "switched memory off" in notes
    Preferences.objects.all().delete()
    assert "switched memory off" not in " ".join(why_page(turn(thread, 4), shown=True).notes)


def test_requests_that_quote_turns_are_named_apart() -> None:
    thread = make_thread(turns=["one", "two", "three"])
    reply = make_reply(thread)
    asking = record(
        rewriting_context(make_context(reply), assistant=thread.assistant, provider=OfflineProvider()), reply
    )
    page = why_page(turn(thread, 1), shown=True)
    assert (page.total, [one.pk for one in page.quoting]) == (0, [asking.pk])
    assert map_page.map_page(thread, until="").total == 0


def test_a_map_has_its_newest_requests_and_leads_to_older_ones(
    staff: StaffReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_page, "SHOWN", 3)
    thread = long_thread()
    made = make_requests_of_turns(thread, 7)
    numbers = {until: [c.number for c in map_page.map_page(thread, until=until).columns] for until in ("", "4", "99")}
    assert numbers == {"": [5, 6, 7], "4": [2, 3, 4], "99": [5, 6, 7]}
    page = as_read(staff.get(map_url(thread), {"until": "4"}).text)
    assert ('href="?until=1"' in page, 'href="?until=7"' in page) == (True, True)
    columns = re.findall(r'<a href="([^"]+)" tabindex="-1"><rect', page)
    rows = re.findall(r'<th scope="row"><a href="([^"]+)">', page)
    links = [reverse("admin:conversations_contextsnapshot_change", args=[one.pk]) for one in made[1:4]]
    assert (columns, rows) == (links, links[::-1])


def test_a_map_tells_apart_what_was_summarised_by_then() -> None:
    thread = long_thread()
    made = make_requests_of_turns(thread, 7)
    make_thread_summary(thread, made[5].created_at, first_position=1, last_position=4)
    make_thread_summary(thread, made[0].created_at, "", first_position=5, last_position=8)
    page = map_page.map_page(thread, until="")
    assert [fate.value for fate in page.legend] == ["no_room", "summarised", "sent", "asked"]
    assert [(band.is_empty, band.title[:13]) for band in page.bands] == [
        (False, "Turns 1 to 4:"),
        (True, "Turns 5 to 8:"),
    ]


def test_the_number_of_a_turn_leads_to_why_it_was_forgotten(staff: StaffReader) -> None:
    thread = make_thread(turns=["one", "two"])
    url = reverse("admin:conversations_thread_why", args=[thread.pk])
    assert staff.get(url, {"turn": "2"}).headers["Location"] == why_url(turn(thread, 2))
    for nonsense in ("3", "0", "x", ""):
        assert staff.get(url, {"turn": nonsense}).headers["Location"] == map_url(thread)


def test_old_turns_that_nothing_sent_share_a_strip() -> None:
    axis = Axis(begin=901, end=1_000, unit=6.0)
    assert [axis.top(place) for place in (1, 451, 901, 902, 1_001)] == pytest.approx([0, 14, 28, 34, 628])
    assert axis.span(901, 910) == (28.0, 60.0)
    assert axis.span(1, 1)[1] > 1


@pytest.mark.wide
@pytest.mark.parametrize("page", ["map", "why"])
def test_a_page_of_three_requests_costs_as_many_queries_as_a_page_of_one(page: str, staff: StaffReader) -> None:
    def queries(requests: int) -> int:
        thread = long_thread()
        make_thread_summary(thread, timezone.now(), last_position=5)
        make_memory(thread.user, sources=[turn(thread, 1).id])
        make_requests_of_turns(thread, requests)
        url = map_url(thread) if page == "map" else why_url(turn(thread, 1))
        staff.opened()
        with CaptureQueriesContext(connection) as captured:
            assert staff.get(url).status_code == 200
        return len(captured)

    queries(1)
    assert queries(1) == queries(3)


@pytest.mark.parametrize(("page", "permission"), [("map", "view_thread"), ("why", "view_message")])
def test_a_trace_is_for_staff_who_may_view_the_row(page: str, permission: str, signed_in: SignIn) -> None:
    thread = make_thread(turns=["one"])
    url = map_url(thread) if page == "map" else why_url(turn(thread, 1))
    clients = [Client(), signed_in(is_staff=False), signed_in(), signed_in(permission)]
    assert [client.get(url).status_code for client in clients] == [302, 302, 403, 200]
    unknown = url.replace(url.split("/")[4], str(uuid.uuid4()))
    assert clients[-1].get(unknown).status_code == 404


def test_no_content_stands_on_a_trace_before_a_reason_and_no_map_needs_one(staff: StaffReader) -> None:
    thread = long_thread(title=NEEDLE)
    forgotten = turn(thread, 3)
    make_requests_of_turns(thread, 7)
    make_thread_summary(thread, timezone.now(), NEEDLE, last_position=5)
    make_memory(thread.user, NEEDLE, sources=[forgotten.id])
    make_topic(thread.user, NEEDLE, sources=[forgotten.id])
    assert [NEEDLE in staff.get(url).text for url in (map_url(thread), why_url(forgotten))] == [False, False]
    assert not ContentAccess.objects.exists()
    assert [NEEDLE in staff.read(url).text for url in (map_url(thread), why_url(forgotten))] == [False, True]
    [access] = ContentAccess.objects.all()
    assert (access.what, access.object_id, access.user_id) == ("why of a turn", str(forgotten.pk), thread.user_id)


def test_from_the_index_a_complaint_is_five_clicks_from_its_reason() -> None:
    """Of a lead of the support, who has stated why they read it."""
    thread, lead = long_thread(4), make_user("lea", is_staff=True)
    make_requests_of_turns(thread, 4)
    lead.groups.add(Group.objects.get(name="Support lead"))
    staff = StaffReader()
    staff.force_login(lead)
    staff.opened()
    page = reverse("admin:index")
    for link in (
        reverse("admin:auth_user_changelist"),
        reverse("admin:conversations_thread_changelist") + f"?user__id__exact={thread.user_id}",
        reverse("admin:conversations_thread_change", args=[thread.pk]),
        map_url(thread),
        reverse("admin:conversations_thread_why", args=[thread.pk]) + "?turn=1",
    ):
        assert f'href="{link}' in staff.get(page).text
        page = link
    assert "Turn 1 was sent with" in staff.get(page, follow=True).text
    looked = ContentAccess.objects.filter(user=thread.user).order_by("id").values_list("staff_name", "what", "reason")
    assert ("lea", "thread", REASON) in looked
    assert looked.last() == ("lea", "why of a turn", REASON)


def test_many_requests_are_drawn_as_few_shapes(staff: StaffReader) -> None:
    thread = make_thread(turns=["one", "two", "three"])
    [made] = make_requests(thread, 3)
    copies = []
    for n in range(SHOWN + 20):
        made.pk, made.reply_id, made.created_at = None, None, made.created_at + timedelta(seconds=1)
        made.runs = f"1-{2 * n + 2} over_budget;{2 * n + 3} newest 5"
        copies.append(
            ContextSnapshot(
                **{f.attname: getattr(made, f.attname) for f in made._meta.concrete_fields if f.attname != "id"}
            )
        )
    ContextSnapshot.objects.bulk_create(copies)
    page = staff.get(map_url(thread)).text
    assert page.count('class="ob-column"') == SHOWN
    assert page.count('<path class="ob-shape') <= 3
    assert len(page) < 300_000
    assert trace_reads.replying(thread).count() == SHOWN + 21
