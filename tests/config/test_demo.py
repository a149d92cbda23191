"""`manage.py demo`, as somebody calls it who wants to see what Openbook does, and then looks at every page of it."""

import re
from collections import Counter
from io import StringIO
from itertools import chain

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from artifacts.models import Artifact
from config.demo import screenplay, support_case
from config.management.commands.demo import MARK
from conversations.context.record import snapshot_api, snapshots
from conversations.models import ContentAccess, ContextSnapshot, Message, Reply, Thread
from conversations.staff.trace.why_page import why_page
from memory.models import DailySummary, Memory, Topic
from tests.conversations.factories import make_thread, make_user

SIGN_IN = re.compile(r"^  (\w+) +(\S+)$", re.MULTILINE)
ADDRESS = re.compile(r"^  http://127\.0\.0\.1:\d+(/\S+)  .*, as (\w+)$", re.MULTILINE)
REASON = "To see whether every page is whole"
MOST_PAGES = 3
"""Of each kind, the newest."""


@pytest.mark.operate
@pytest.mark.django_db(transaction=True)
def test_a_month_of_two_people_is_there_and_every_page_of_it_opens(settings: Settings) -> None:
    settings.OPENBOOK_LIMIT_TOKENS_DAY = 20_000  # less than a month takes
    before, other = make_user("marta", email=f"marta@{MARK}"), make_thread(turns=["Hello?", "Hello."])
    make_thread(before, ["Of the demo before", "It goes."])
    with pytest.raises(CommandError, match="is here already"):
        call_command("demo")
    with pytest.raises(CommandError, match="Others have threads"):
        call_command("demo", again=True)
    output = StringIO()
    call_command("demo", again=True, yes=True, stdout=output)

    assert list(User.objects.filter(pk=before.pk)) == []
    assert Thread.objects.filter(pk=other.pk).exists()
    the_promised_things_are_there()
    passwords = dict(SIGN_IN.findall(output.getvalue()))
    assert passwords.keys() == {"marta", "jonas", "support"}
    clients = {name: Client() for name in passwords}
    assert all(clients[name].login(username=name, password=password) for name, password in passwords.items())
    for name in ("marta", "jonas"):
        every_page_opens(clients[name], chat_pages(User.objects.get(username=name)))
    for name in ("marta", "jonas"):
        clients["support"].post(
            reverse("admin:conversations_contentaccess_open"),
            {"user": User.objects.get(username=name).pk, "reason": REASON},
        )
    every_page_opens(clients["support"], staff_pages(User.objects.get(username="support")))
    addresses = ADDRESS.findall(output.getvalue())
    assert len(addresses) == 5
    for address, name in addresses:
        every_page_opens(clients[name], [address])


def the_promised_things_are_there() -> None:
    of_the_demo = {"thread__user__username__in": ["marta", "jonas"]}
    replies = Reply.objects.filter(**of_the_demo)
    statuses = Counter(replies.values_list("status", flat=True))
    assert statuses.keys() == {"completed", "failed", "interrupted"}
    errors = {reply.error["code"] for reply in replies.exclude(error__isnull=True) if reply.error}
    assert errors >= {"refused", "overloaded", "rate_limited"}
    asked = Counter(replies.exclude(user_message=None).values_list("user_message", flat=True))
    assert sum(attempts > 1 for attempts in asked.values()) == 2
    assert replies.filter(preset="meeting-summary", status="completed").count() == 1
    assert Message.objects.filter(status="forgotten", **of_the_demo).count() == 1
    assert not Message.objects.filter(text__contains="late by eight days").exists()
    assert sorted(Artifact.objects.values_list("version", flat=True)) == [1, 2, 3, 3]
    for name in ("marta", "jonas"):
        own = Thread.objects.filter(user__username=name)
        assert own.count() >= 3
        assert max(own.values_list("message_count", flat=True)) >= 50
        first, last = own.earliest("created_at").created_at, own.latest("updated_at").updated_at
        assert 25 <= (last - first).days <= 30
        for model, least in ((Memory, 8), (DailySummary, 12)):
            assert model.objects.filter(user__username=name).count() >= least
        topics = Topic.objects.filter(user__username=name)
        assert topics.filter(resolved_at=None).exists()
        assert topics.exclude(resolved_at=None).exists()
    requests = ContextSnapshot.objects.filter(**of_the_demo)
    assert requests.filter(status="pending").count() == 0
    newest = requests.filter(purpose="reply").order_by("-created_at")[:MOST_PAGES]
    assert all(snapshots.proof(request) for request in newest)
    assert not is_given(support_case.FORGOTTEN, in_the_request_of=support_case.MISTAKEN)
    assert is_given(support_case.FORGOTTEN, in_the_request_of="I told you about Mila")
    assert ContentAccess.objects.filter(staff_name="support", user__username="marta").count() == 3
    the_support_case_is_answered_by_its_headline()


def the_support_case_is_answered_by_its_headline() -> None:
    """Until when the turn was sent, by which rule it is not, and where it is now."""
    garden = Thread.objects.get(title="The new garden").id
    page = why_page(support_case.turn(garden, support_case.FORGOTTEN), shown=False)
    assert re.fullmatch(
        r"Turn \d+ was sent with \d+ requests, until [^.]+\. Since then it is left out: older than [^.]+\. "
        r"It was recalled beside the message by \d+ requests?, the last of them request \d+[^.]*\. .+",
        page.answer,
    ), page.answer
    assert page.code in ("over_budget", "turn_limit")


def is_given(words: str, *, in_the_request_of: str) -> bool:
    garden = Thread.objects.get(title="The new garden").id
    turn, asked = (support_case.turn(garden, each) for each in (words, in_the_request_of))
    items = snapshot_api.body(support_case.request_of(asked))["items"]
    return any(item["included"] for item in items if item.get("id") == str(turn.id))


def every_page_opens(client: Client, paths: list[str]) -> None:
    assert {path: status for path in paths if (status := client.get(path).status_code) != 200} == {}


def chat_pages(user: User) -> list[str]:
    threads = [str(thread) for thread in Thread.objects.filter(user=user).values_list("id", flat=True)]
    return ["/", "/memory/", "/account/", *(f"/threads/{thread}/" for thread in threads)]


def staff_pages(staff: User) -> list[str]:
    garden = Thread.objects.get(title="The new garden")
    turns = Message.objects.filter(thread=garden).values_list("id", flat=True)
    return [
        "/admin/",
        reverse("admin:conversations_contextsnapshot_overview"),
        f"/admin/conversations/thread/{garden.id}/map/",
        *(f"/admin/conversations/message/{turn}/why/" for turn in turns[:MOST_PAGES]),
        *chain.from_iterable(pages_of(model) for model in admin.site._registry if may_view(staff, model)),
    ]


def may_view(staff: User, model: type[Model]) -> bool:
    return staff.has_perm(f"{model._meta.app_label}.view_{model._meta.model_name}")


def pages_of(model: type[Model]) -> list[str]:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    rows = model._default_manager.order_by("-pk").values_list("pk", flat=True)[:MOST_PAGES]
    return [reverse(f"{name}_changelist"), *(reverse(f"{name}_change", args=[row]) for row in rows)]


@pytest.mark.django_db
def test_who_has_a_name_of_the_demo_is_left_alone() -> None:
    jonas = make_user("jonas")
    with pytest.raises(CommandError, match="Somebody else here is called jonas"):
        call_command("demo", again=True, yes=True)
    assert list(User.objects.all()) == [jonas]


@pytest.mark.parametrize("name", ["marta", "jonas"])
def test_nothing_is_noted_twice_or_settled_that_was_not_opened(name: str) -> None:
    exchanges = [exchange for session in screenplay.read(name) for exchange in session.exchanges]
    messages = [exchange.message for exchange in exchanges if exchange.message]
    facts = [fact for exchange in exchanges for fact in exchange.facts]
    opened = [topic for exchange in exchanges for topic in exchange.opened]
    resolved = [topic for exchange in exchanges for topic in exchange.resolved]
    assert len(messages) == len(set(messages))
    assert len(facts) == len(set(facts))
    assert set(resolved) < set(opened)
