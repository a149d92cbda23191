"""The linter: what it finds in recorded requests, what becomes of a finding, and that it tells no text."""

import json
import uuid
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from conversations.context.record import snapshots
from conversations.context.record.snapshot_codec import pack_cache
from conversations.context.render.tool_sections import ToolTexts
from conversations.context.rules.prompt_cache import MESSAGE, SYSTEM, CachePlan, CacheState
from conversations.linter import lint
from conversations.linter.figures import Finding
from conversations.models import (
    Assistant,
    AuditEvent,
    CacheForecast,
    ContextSnapshot,
    LintFinding,
    Message,
    ModelPrice,
    Thread,
)
from conversations.models.deletion_guard import allow_deletion
from conversations.providers import get_provider
from conversations.runtime import clock
from conversations.runtime.ids import uuid7
from memory.index import word_index
from memory.index.word_index import SaidTurn
from tests.conversations.factories import make_context, make_lint_finding, make_reply, make_thread, make_user, record
from tests.memory.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]
REPEATED = "Answer in short sentences, and never in a list of points."
MODEL = {"provider": "anthropic", "model": "claude-sonnet-5-5"}
TOOLS = ToolTexts(
    definitions=[
        {"name": name, "description": "Does what it is called.", "input_schema": {"type": "object", "properties": {}}}
        for name in ("find_page", "draw_chart")
    ]
)
NOTES = (
    "I live in Porto.",
    "I live in Lisbon.",
    "Plays the violin in the orchestra of Braga.",
    "Plays the violin in the orchestra of Braga now.",
)


def again(snapshot: ContextSnapshot, times: int, **values: Any) -> None:
    """The same request so many times more, with other values."""
    columns = {field.attname: getattr(snapshot, field.attname) for field in ContextSnapshot._meta.concrete_fields}
    columns |= {"reply_id": None, **MODEL}
    start = values.pop("created_at", snapshot.created_at)
    ContextSnapshot.objects.bulk_create(
        ContextSnapshot(**columns | {"id": uuid7(), "created_at": start + timedelta(seconds=number)} | values)
        for number in range(times)
    )


@pytest.fixture
def thread() -> Thread:
    """With forty requests, one of them to another model: of two tools one was called, the prompt says something twice, notes
    are alike and contradict."""
    assistant = Assistant.objects.get(slug="companion")
    assistant.system_prompt = f"You are a companion.\n{REPEATED}\nBe kind.\n{REPEATED.upper()}"
    assistant.recall_tokens = 0
    assistant.save()
    user = make_user()
    for text in NOTES:
        make_memory(user, text, created_at=clock.now() - timedelta(days=3))
    thread = make_thread(user, ["Where do I live?"])
    reply = make_reply(thread)
    again(record(make_context(reply, tools=TOOLS), reply), 39)
    Message.objects.create(
        thread=thread,
        user_id=user.pk,
        position=2,
        depth=2,
        role="assistant",
        text="Look.",
        content=[{"type": "text", "text": "Look."}, {"type": "tool_use", "id": "a", "name": "find_page", "input": {}}],
        token_count=9,
        token_total=99,
        created_at=clock.now(),
    )
    return thread


def look() -> dict[tuple[str, str], Finding]:
    now = clock.now()
    return {(found.rule, found.subject): found for found in lint.look(now - lint.MONTH, now).findings}


def test_what_is_of_no_use_is_found_with_what_it_takes(thread: Thread) -> None:
    snapshot = ContextSnapshot.objects.latest("id")
    tokens = {part.name: part.tokens for part in snapshots.sections_of(snapshot)}
    found = look()
    tool = found["unused_tool", "draw_chart"]
    assert (tool.count, tool.setting) == (40, "tools")
    assert tool.tokens == pytest.approx(40 * tokens["tools"] / 2, rel=0.02)
    assert ("unused_tool", "find_page") not in found
    repeated = found["repeated_text", "base"]
    share = len(REPEATED) / len(thread.assistant.system_prompt)
    assert repeated.count == 40
    assert repeated.tokens == pytest.approx(40 * tokens["base"] * share, rel=0.05)
    assert found["similar_notes", ""].count == 40
    assert len(found["contradicting_notes", ""].details["memories"]) == 2
    budgets = {subject: each.details for (rule, subject), each in found.items() if rule == "unused_budget"}
    assert budgets["today_tokens"] == {"most": 0, "budget": thread.assistant.today_tokens}
    assert "recall_tokens" not in budgets
    assert all(uuid.UUID(each.example) for each in found.values())


def test_a_note_is_idle_until_a_word_of_it_is_said(thread: Thread) -> None:
    assert len(look()["idle_notes", ""].details["memories"]) == 4

    def say(text: str, position: int) -> None:
        said = SaidTurn(thread=thread.pk, depth=position, position=position, role="user", text=text, at=clock.now())
        word_index.store(thread.user_id, [said])

    say("My violin needs new strings.", 3)
    assert len(look()["idle_notes", ""].details["memories"]) == 2
    say("Lisbon and Porto are by the sea; I live there.", 5)
    assert ("idle_notes", "") not in look()


def test_what_the_cache_loses_is_found_by_its_culprit(thread: Thread) -> None:
    first = ContextSnapshot.objects.earliest("id")
    again(first, 40, cache=pack_cache(CachePlan(state=CacheState.WARM, expected=10, marks=(SYSTEM, MESSAGE))))
    assert not [rule for rule, _ in look() if rule in ("broken_cache", "small_prefix")]

    other = pack_cache(CachePlan(state=CacheState.OTHER_SYSTEM, marks=(SYSTEM, MESSAGE)))
    changed = first.sections.replace("tools ", "tools 1", 1)
    for number in range(30):
        at = first.created_at + timedelta(hours=1, minutes=number)
        again(first, 1, cache=other, sections=changed, created_at=at)
        again(first, 1, created_at=at + timedelta(seconds=30))
    moved = pack_cache(CachePlan(state=CacheState.MOVED, expected=7, marks=(SYSTEM, MESSAGE)))
    again(first, 31, cache=moved)
    small = pack_cache(CachePlan(state=CacheState.TOO_SMALL))
    model = "claude-haiku-5-5-20260301"
    again(first, 33, cache=small, model=model, total_tokens=500, created_at=first.created_at + timedelta(hours=2))
    found = look()
    assert found["broken_cache", "moved"].count == 31
    assert found["broken_cache", "moved"].setting == "history_tokens_low"
    system = sum(part.tokens for part in snapshots.sections_of(first))
    assert found["broken_cache", "moved"].tokens == 31 * (first.message_history_tokens + system - 7)
    assert found["broken_cache", "tools"].setting == "tools"
    missed = found["small_prefix", ""]
    assert (missed.count, missed.tokens, missed.details) == (33, 33 * 500, {"missing": 12})


def test_another_lifetime_is_recommended_by_the_pauses_there_were(thread: Thread) -> None:
    first = ContextSnapshot.objects.earliest("id")
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 2_000}
    start = first.created_at - timedelta(days=2)
    for number in range(30):  # ten minutes apart: with five minutes everything is written again
        cold = CachePlan(state=CacheState.COLD if number else CacheState.FIRST, marks=(SYSTEM, MESSAGE))
        again(first, 1, cache=pack_cache(cold), usage=usage, created_at=start + number * timedelta(minutes=10))
    found = look()["cache_lifetime", "1h"]
    price = ModelPrice.objects.filter(model__provider="anthropic", model__name=MODEL["model"], above=0).latest("pk")
    total = first.total_tokens
    sent = sum(part.tokens for part in snapshots.sections_of(first))
    sent += first.message_history_tokens + snapshots.runs_of(first)[-1].tokens
    five_minutes = 30 * total * price.cache_write
    hour = 29 * (sent * price.cache_read + (total - sent) * price.cache_write_hour) + total * price.cache_write_hour
    assert (found.setting, found.count, found.tokens) == ("cache_lifetime", 30, 30 * total)
    assert found.cost == (five_minutes - hour) / 1_000_000
    lint.lint(clock.now())
    forecast = CacheForecast.objects.get()
    assert forecast.costs["as sent"] == forecast.costs["5m"] == float(five_minutes / 1_000_000)
    assert forecast.costs["reported"] == float((30 * (10 * price.input + 2_000 * price.cache_write)) / 1_000_000)
    Assistant.objects.update(cache_lifetime="1h")
    assert ("cache_lifetime", "1h") not in look()
    assert look_at_lifetime(thread) == "1h"


def look_at_lifetime(thread: Thread) -> str:
    """Of the next request of a thread, whoever's pauses it would go by."""
    thread.refresh_from_db()
    provider = get_provider("anthropic")
    return make_context(make_reply(thread), provider).cache.lifetime.name


def test_money_is_what_tokens_of_the_prompt_cost_on_the_average(thread: Thread) -> None:
    first = ContextSnapshot.objects.earliest("id")
    usage = {"input_tokens": 100, "output_tokens": 5, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 0}
    again(first, 30, usage=usage)
    tool = look()["unused_tool", "draw_chart"]
    price = ModelPrice.objects.filter(
        model__provider="anthropic", model__name=MODEL["model"], above=0, since__isnull=False
    ).get()
    average = (price.input * 100 + price.cache_read * 900) / 1000 / 1_000_000
    assert tool.count == 70
    assert tool.cost == pytest.approx(
        average * tool.tokens * 69 / 70, rel=Decimal("0.001")
    )  # nothing is paid for the one of the offline provider


def test_a_finding_is_mended_and_opens_again_by_itself(thread: Thread) -> None:
    now = clock.now()
    lint.lint(now)
    row = LintFinding.objects.get(rule="repeated_text")
    lint.accept(row.pk, "It is meant so.", by=make_user("kim", is_staff=True), now=now)
    lint.lint(now)
    row.refresh_from_db()
    assert (row.state, row.reason) == ("accepted", "It is meant so.")

    first = ContextSnapshot.objects.earliest("id")
    with allow_deletion():
        ContextSnapshot.objects.all().delete()
    again(first, 30, sections="")
    lint.lint(now)
    row.refresh_from_db()
    assert row.state == "mended"
    lint.accept(row.pk, "Late.", by=make_user("ann", is_staff=True), now=now)
    again(first, 30)
    lint.lint(now)
    row.refresh_from_db()
    assert (row.state, row.reason, row.accepted_by) == ("open", "", None)
    acts = AuditEvent.objects.filter(kind="finding_changed", target_id=str(row.pk)).order_by("id")
    assert [event.details["act"] for event in acts] == ["accepted", "mended", "open"]
    with allow_deletion():
        ContextSnapshot.objects.all().delete()
    lint.lint(now)
    row.refresh_from_db()
    assert row.state == "open"  # where there are no requests nothing is known


def test_the_command_tells_figures_and_no_words(thread: Thread, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "findings.json"
    call_command("lint_context", "--json", str(path))
    told = path.read_text()
    found = json.loads(told)
    assert {each["finding"] for each in found} >= {"unused_tool", "repeated_text", "similar_notes", "unused_budget"}
    assert {"finding", "count", "tokens_month", "example", "setting"} <= found[0].keys()
    rows = json.dumps(list(LintFinding.objects.values("subject", "details", "reason", "setting")))
    for words in (REPEATED, "Porto", "violin", "Where do I live"):
        assert words not in told + rows + capsys.readouterr().out


def test_support_accepts_a_finding_with_a_reason_on_its_page(client: Client) -> None:
    support = make_user("kim", is_staff=True)
    support.groups.set(Group.objects.filter(name="Support"))
    client.force_login(support)
    listed = reverse("admin:conversations_lintfinding_changelist")
    assert "manage.py lint_context looks now" in client.get(listed).content.decode()
    row = make_lint_finding()
    costs = {"none": 9, "5m": 5.5, "1h": 3.25, "system 5m": 8, "system 1h": 7, "as sent": 5, "reported": 4}
    CacheForecast.objects.create(assistant=row.assistant, made_at=clock.now(), requests=40, costs=costs)
    page = client.get(listed).content.decode()
    assert all(text in page for text in ("draw_chart", "#id_tools", "$3.25", "$1.75"))
    Assistant.objects.filter(pk=row.assistant_id).update(cache_lifetime="5m")
    assert "\u2212$2.25" in client.get(listed).content.decode()  # what an hour costs less, and so does not save

    change = reverse("admin:conversations_lintfinding_change", args=[row.pk])
    assert client.post(change, {"reason": "Soon."}).status_code == 302
    row.refresh_from_db()
    assert (row.state, row.reason, row.accepted_by) == ("accepted", "Soon.", support)
    answer = client.get("/api/v1/findings/?state=accepted").json()["results"]
    assert [(each["finding"], each["subject"], each["reason"]) for each in answer] == [
        ("unused_tool", "draw_chart", "Soon.")
    ]
    LintFinding.objects.update(state="mended")
    assert client.post(change, {"reason": ""}).status_code == 403
    assert AuditEvent.objects.filter(kind="finding_changed", actor_id=support.pk).count() == 1
