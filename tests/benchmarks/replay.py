"""Past requests built again and compared: how many a second, in how much memory, whether the same of each kind comes out with
unchanged settings, what it takes to build them without a note, with one or without a rule, and what those who talk meanwhile
feel.

Alone: ``make bench ONLY=replay``.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from artifacts.models import Preset
from conversations.context import replay
from conversations.context.reasons import Reason
from conversations.context.record.request_record import Record, record_of
from conversations.context.render.rendering import round_text
from conversations.context.rules.fitting import round_section
from conversations.context.sources import AddedNote
from conversations.models import Assistant, ContextSnapshot, Reply, text_blocks
from conversations.providers.price_list import price_list
from conversations.regression import counterfactual
from conversations.regression.replaying import (
    Change,
    outcome_of,
    remade_without,
    remaking,
    replay_requests,
    requests_of,
)
from conversations.regression.report import Report
from conversations.replies import closing, model_requests, opening, outcomes
from conversations.replies.events import OWNER
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import read_only
from memory.index.index_turns import catch_up
from tests.benchmarks.backup import PEOPLE, copies, ended, import_thread, talk
from tests.benchmarks.lint import cpu
from tests.benchmarks.measuring import database, doing, p50_p95
from tests.benchmarks.message import PASSWORD, long_thread
from tests.benchmarks.served import served
from tests.conversations.factories import make_file, make_thread, make_user
from tests.memory.factories import make_memory
from tests.processes import UNDISTURBED, server_process
from tests.services import fresh_database, url_of

REQUESTS = 240
TIMES = 10
"""As many more are made for the second look at memory."""
THREAD_REQUESTS = 12
"""In each thread, in turn of each kind."""
TURNS = 80
WEEK = timedelta(days=7)
CALL = {"type": "tool_use", "id": "t", "name": "search", "input": {"q": "boats"}}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "Two boats came in at first light. " * 20}
MODEL = {"provider": "anthropic", "model": "claude-sonnet-5-5"}
SECONDS = 30.0
"""For which people talk alone, and then beside replays."""

type Kind = Callable[["Talk"], ContextSnapshot]


def main() -> None:
    settings.OPENBOOK_LIMIT_TOKENS_DAY = 0
    with database():
        rebuilt()
    beside_replies()


class Talk:
    """A thread of a person that the requests of each kind are made in."""

    def __init__(self, user: User) -> None:
        said = [
            f"Turn {n}: the harbour lay quiet, and the cafe sold {n} lemon cakes. " * (1 + n % 7) for n in range(TURNS)
        ]
        self.user, self.thread = user, make_thread(user, said)
        self.last: model_requests.OpenedReply | None = None

    def say(self, text: str, **values: object) -> ContextSnapshot:
        blocks = text_blocks(text)
        message = NewMessage(user=self.user, thread_id=self.thread.id, blocks=blocks, **values)  # type: ignore[arg-type]
        return self.recorded(opening.open_turn(message))[0]

    def recorded(self, opened: model_requests.OpenedReply) -> model_requests.ModelRequest:
        request = opened.recorded or model_requests.record(*model_requests.first_request(opened))
        self.last = opened
        return request

    def end(self) -> None:
        assert self.last
        reply = self.last.reply
        if Reply.objects.filter(id=reply.id, user=self.user, status=Reply.Status.RUNNING).exists():
            answer = ReplyTranscript.of("They came at first light." if self.last.message else "")
            outcome = outcomes.Outcome(status=Reply.Status.COMPLETED) if self.last.message else outcomes.stopped()
            closing.close(
                reply_id=reply.id,
                user_id=self.user.pk,
                owner=OWNER,
                outcome=outcome,
                progress=closing.ReplyProgress(transcript=answer),
            )


def retried(talk: Talk) -> ContextSnapshot:
    talk.say("Who came?")
    talk.end()
    assert talk.last
    return talk.recorded(opening.open_retry(user=talk.user, reply_id=talk.last.reply.id))[0]


def with_a_round(talk: Talk) -> ContextSnapshot:
    """The second request of a reply, after a tool."""
    talk.say("Find boats")
    assert talk.last
    reply = talk.last
    context = (reply.recorded or (None, None))[1]
    assert context
    first = ContextSnapshot.objects.get(reply=reply.reply.id, user=talk.user)
    sections = [round_section(round_text([CALL, RESULT]))]
    return model_requests.record(*model_requests.further_request(first, context, sections))[0]


def with_a_file(talk: Talk) -> ContextSnapshot:
    parts = [f"Part {n}: who rents a boat pays {n} euros a day, and brings it back clean." for n in range(30)]
    return talk.say("What does a boat cost?", files=[make_file(talk.user, parts=parts).id])


def by_a_preset(talk: Talk) -> ContextSnapshot:
    return talk.recorded(opening.open_preset(user=talk.user, thread_id=talk.thread.id, slug="letter", click=None))[0]


KINDS: dict[str, Kind] = {
    "a message": partial(Talk.say, text="How was it at the harbour today?"),
    "a follow-up": partial(Talk.say, text="And why?"),
    "tried again": retried,
    "after a tool": with_a_round,
    "with a file": with_a_file,
    "of a preset": by_a_preset,
}


def rebuilt() -> None:
    assistant = Assistant.objects.get(slug="companion")
    Assistant.objects.filter(pk=assistant.pk).update(**MODEL)
    assistant.refresh_from_db()
    preset = Preset.objects.create(slug="letter", name="Letter", prompt="Write a letter.", kind="document")
    preset.assistants.add(assistant)
    with doing(f"making {REQUESTS:,} requests"):
        kinds = make(REQUESTS)
    print(f"\n== requests built again and compared, {TURNS} turns before each; load {os.getloadavg()[0]:.1f}")
    speed(assistant)
    by_kind(assistant, kinds)
    counterfactuals([snapshot.pk for snapshot in kinds])
    few = peak()
    with doing(f"making {TIMES} times as many"):
        make(REQUESTS * (TIMES - 1))
    speed(assistant)
    print(f"  memory of `manage.py replay`: {few:.0f} MB; with {TIMES} times as many requests {peak():.0f} MB")


def make(count: int) -> dict[ContextSnapshot, str]:
    """So many requests, with their kinds."""
    made: dict[ContextSnapshot, str] = {}
    while len(made) < count:
        user = make_user()
        for number in range(12):
            make_memory(user, f"The boat of her neighbour number {number} is green.", created_at=timezone.now() - WEEK)
        talk = Talk(user)
        catch_up(user.pk)
        for name, kind in [*KINDS.items()] * (THREAD_REQUESTS // len(KINDS)):
            made[kind(talk)] = name
            talk.end()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return made


def speed(assistant: Assistant) -> None:
    for _ in range(2):  # the first time statements are planned
        report, began, used = Report(), time.perf_counter(), cpu()
        ids = requests_of(assistant, since=timezone.now() - WEEK)
        count = sum(1 for _ in replay_requests(ids, Change(assistant=assistant), report))
        seconds, processor = time.perf_counter() - began, cpu() - used
    print(
        f"  {count:,} in one process: {count / seconds:.0f} a second, 10,000 in {10_000 * seconds / count / 60:.1f} minutes"
        f" by the clock, {10_000 * processor / count / 60:.1f} of CPU with PostgreSQL’s;"
        f" {report.identical:,} identical, {report.not_replayable:,} not replayable"
    )


def by_kind(assistant: Assistant, kinds: dict[ContextSnapshot, str]) -> None:
    all_of, same = Counter(kinds.values()), Counter[str]()
    for snapshot, name in kinds.items():
        with read_only():
            record = record_of(ContextSnapshot.objects.get(pk=snapshot.pk))
            same[name] += outcome_of(record, Change(assistant=assistant), price_list())[0].is_identical
    print("  identical with unchanged settings:", ", ".join(f"{name} {same[name]}/{all_of[name]}" for name in all_of))


def counterfactuals(ids: Sequence[UUID]) -> None:
    """What each question costs beside a plain rebuild of the same requests, PostgreSQL's CPU included."""
    added = AddedNote(text="Plays the violin.", at=timezone.now() - WEEK)
    questions: dict[str, Callable[[Record], object]] = {
        "rebuilt": lambda record: replay.build(record, record.settings),
        "without a note": lambda record: counterfactual.without(record, note_of(record)),
        "with a note": lambda record: counterfactual.with_added(record, added),
        "without the rule “remembered”": lambda record: remade_without(record, Reason.REMEMBERED),
    }
    used: dict[str, float] = {}
    for _ in range(2):  # the first time statements are planned
        for name, question in questions.items():
            before = cpu()
            for id in ids:
                with remaking():
                    question(
                        record_of(ContextSnapshot.objects.select_related("thread__assistant", "version").get(pk=id))
                    )
            used[name] = (cpu() - before) / len(ids)
    plain = used["rebuilt"]
    print(
        f"  of {len(ids):,}, CPU of a request:",
        ", ".join(f"{name} {1000 * each:.1f} ms ({each / plain:.2f})" for name, each in used.items()),
    )


def note_of(record: Record) -> str:
    """The first that it was given."""
    return next(str(item["id"]) for item in record.items if item["kind"] == "memory" and item["included"])


def peak() -> float:
    """MB, of a process of its own."""
    url = url_of(str(connection.settings_dict["NAME"]))
    return ended(COMMAND, {**os.environ, **UNDISTURBED, "DATABASE_URL": url})


COMMAND = [sys.executable, "manage.py", "replay", "--assistant", "companion"]


def beside_replies() -> None:
    """The ratio that is wanted is 1.3 at most."""
    with ExitStack() as stack:
        model = stack.enter_context(served("model", 60, 0))
        url = stack.enter_context(fresh_database())
        environment = {
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "OPENBOOK_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key-of-the-bench",
            "ANTHROPIC_BASE_URL": model.url,
        }
        running = stack.enter_context(server_process(url, **environment))
        people = [(person, import_thread(person, long_thread())) for person in copies(url, running.url)]
        with doing("talking until there are requests"):
            talk(people, partial(time.sleep, SECONDS))
        with doing("talking alone"):
            alone = talk(people, partial(time.sleep, SECONDS))
        variables = {**os.environ, **UNDISTURBED, **environment, "DJANGO_SETTINGS_MODULE": "tests.server_settings"}
        with doing("talking beside replays"):
            beside = talk(people, partial(replay_for, SECONDS, {**variables, "DATABASE_URL": url}))
    print(f"\n== messages of {PEOPLE} people while requests are built again; load {os.getloadavg()[0]:.1f}")
    least = p50_p95([milliseconds for _, milliseconds in alone])[1]
    for name, values in (("alone", alone), ("beside replays", beside)):
        p50, p95 = p50_p95([milliseconds for _, milliseconds in values])
        print(f"  {name:<16} p50 {p50:7.1f}  p95 {p95:7.1f} ms  {p95 / least:5.2f}x  of {len(values):,}")


def replay_for(seconds: float, variables: dict[str, str]) -> None:
    """One after the other."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        ended(COMMAND, variables)
