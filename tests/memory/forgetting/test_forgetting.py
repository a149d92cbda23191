"""Forgetting is real: afterwards no table holds what was forgotten, and nothing else is gone."""

import re
from datetime import date, timedelta
from itertools import chain
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.utils import timezone

from artifacts.models import Artifact, ArtifactVersion
from conversations.accounts.instructions import instruct
from conversations.context.builder import continue_context
from conversations.context.query.rewriting_request import rewriting_context
from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.snapshots import NotRebuildable
from conversations.context.render.rendering import canonical, round_text
from conversations.context.rules.fitting import round_section
from conversations.errors import MemoryNotFound, MessageNotFound, ReplyInProgress
from conversations.models import (
    ContextSnapshot,
    Instructions,
    Message,
    Project,
    Prompt,
    Reply,
    ReplyEvent,
    Thread,
    text_blocks,
)
from conversations.models.deletion_guard import allow_deletion
from conversations.providers.offline import OfflineProvider
from conversations.runtime.db import read_only
from conversations.threads import deletion
from memory import forgetting
from memory.index.index_turns import catch_up
from memory.models import Consolidation, DailySummary, IndexedPassage, Memory, ThreadSummary, Topic
from memory.sources.recall import RecallQuery, search
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import (
    make_context,
    make_feedback,
    make_project,
    make_prompt,
    make_reply,
    make_snapshot,
    make_thread,
    make_user,
    record,
)
from tests.conversations.staff.conftest import StaffReader
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic

pytestmark = [pytest.mark.django_db]

SAID = "By the way, the spare key to my cabin is under stone QX-7731, behind the birch."
FACT = "The spare key to the cabin is under stone QX-7731, behind the birch."
QUESTION = "Where is the spare key to my cabin?"
ANSWER = "You keep the spare key to your cabin under stone QX-7731."
TELLING_WORDS = ["QX-7731", "-7731", "stone", "birch"]


def dump() -> str:
    """All rows of all tables as text, bytes of texts included; without counts, which hold no text."""
    with connection.cursor() as cursor:
        tables = sorted(connection.introspection.table_names(cursor))
        rows = []
        for table in tables:
            cursor.execute(f'SELECT one::text FROM "{table}" AS one')  # noqa: S608
            rows += [f"{table}: {row}" for (row,) in cursor.fetchall()]
    return "\n".join(
        sorted(row for row in rows if not row.startswith(("memory_vocabulary", "conversations_allowance")))
    )


BYTES = re.compile(r"\\\\x[0-9a-f]*")
NO_WORDS = re.compile(
    rf"{BYTES.pattern}|\d{{4}}-\d\d-\d\d[ t]\d\d:\d\d:\d\d(?:\.\d+)?|[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}"
)
"""Bytes, times and ids, in which digits of a word may stand by chance."""


def rows_with(*words: str) -> list[str]:
    """The rows of the database in which one of the words stands, as text or as bytes."""
    return [row for row in dump().splitlines() if holds(row.lower(), *words)]


def holds(row: str, *words: str) -> bool:
    """One of them at least; the row in small letters."""
    text, stored = NO_WORDS.sub(" ", row), " ".join(BYTES.findall(row))
    return any(word.lower() in text or word.encode().hex() in stored for word in words)


def turn(thread: Thread, position: int) -> Message:
    return Message.objects.get(thread=thread, position=position)


def add_blocks(thread: Thread, position: int, content: list[dict[str, Any]]) -> None:
    with allow_deletion():
        Message.objects.filter(thread=thread, position=position).update(content=content)


def add_reply(thread: Thread, position: int, reply: Reply) -> None:
    with allow_deletion():
        Message.objects.filter(thread=thread, position=position).update(reply=reply)


def bytes_of(snapshot: ContextSnapshot) -> bytes:
    return canonical(snapshots.rebuild(ContextSnapshot.objects.get(id=snapshot.id)))


def is_gone(snapshot: ContextSnapshot) -> bool:
    """Whether a snapshot says that something of it was forgotten, and can't be rebuilt."""
    with pytest.raises(NotRebuildable) as refused:
        snapshots.rebuild(ContextSnapshot.objects.get(id=snapshot.id))
    body = snapshot_api.body(ContextSnapshot.objects.get(id=snapshot.id))
    assert body["request"] is None
    return refused.value.forgotten_at is not None and body["forgotten_at"] == refused.value.forgotten_at


class Month:
    """A fact told on day 1, and all the places that it has got to by day 30."""

    def __init__(self, user: User) -> None:
        now = timezone.now()
        self.user = user
        self.told = make_thread(
            user, [SAID, "Noted."], title="By the way, the spare key to my cabin is under stone…", created_at=now
        )
        self.source = turn(self.told, 1)
        before = make_memory(user, "The spare key is under the mat MT-5520.", ended_at=now)
        self.memory = make_memory(user, FACT, sources=[self.source.id])
        Memory.objects.filter(id=before.id).update(superseded_by=self.memory)
        self.known = make_memory(user, "The cabin has a red door.")
        self.part = make_thread_summary(self.told, now, "The key is under stone QX-7731.", sources=[self.source.id])
        self.day = make_daily_summary(
            user, date.today().isoformat(), "A cabin.", key_moments=["Key: stone QX-7731"], parts=[self.part.id]
        )
        self.topic = make_topic(user, "Move the spare key away from stone QX-7731")
        self.open = make_topic(user, "Paint the cabin")
        catch_up(user.pk)

        self.asked = make_thread(user, [QUESTION], title="The cabin")
        reply = make_reply(self.asked)
        first = make_context(reply)
        call = {"type": "tool_use", "id": "t1", "name": "search_messages", "input": {"query": "stone birch cabin key"}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": f"2026-01-01 08:00 UTC, user: {SAID}"}
        thought = {"type": "thinking", "thinking": "The stone is QX-7731, I think.", "signature": "c2ln"}
        second = continue_context(first, [round_section(round_text([thought, call, result]))], at=now)
        rewrite = rewriting_context(first, assistant=self.asked.assistant, provider=OfflineProvider())
        self.of_before = [record(first, reply), record(second, reply, round=2), record(rewrite, reply)]
        for seq, piece in enumerate(["You keep it under stone QX", "-7731."], 2):
            ReplyEvent.objects.create(reply=reply, seq=seq, type="reply.delta", data={"text": piece}, at=now)
        Message.objects.create(
            thread=self.asked,
            position=2,
            depth=2,
            role="assistant",
            content=[call, result, *text_blocks(ANSWER)],
            text=ANSWER,
            token_count=50,
            token_total=80,
            created_at=now,
            reply=reply,
        )
        Message.objects.create(
            thread=self.asked,
            position=3,
            depth=3,
            role="user",
            text="And is it far to walk from there? " + "The key lies behind the birch under stone QX-7731. " * 600,
            token_count=9_000,
            token_total=9_080,
            created_at=now,
        )
        Thread.objects.filter(id=self.asked.id).update(message_count=3, last_position=3)
        self.of_before.append(make_snapshot(self.asked))
        self.artifact = make_artifact(self.asked, "# Cabin\n\nKey: stone QX-7731", "# Cabin", title="Stone QX-7731")
        LogEntry.objects.create(
            user=user,
            content_type=ContentType.objects.get_for_model(Artifact),
            object_id=str(self.artifact.id),
            object_repr="Stone QX-7731",
            action_flag=CHANGE,
        )
        self.elsewhere = make_thread(user, ["Who cuts a spare key for a cabin?", "A locksmith."], title="Keys")


@pytest.fixture
def month(user: User) -> Month:
    return Month(user)


def test_a_needle_leaves_no_trace_in_the_database(month: Month) -> None:
    before = set(rows_with(*TELLING_WORDS))
    sections = list(chain(*(snapshot_api.body(snapshot)["sections"] for snapshot in month.of_before)))
    told = {section["name"] for section in sections if "QX-7731" in (section["text"] or "")}
    assert {"memory", "today", "open_threads", "message", "reply"} <= told, "it is all over the book"

    seen = forgetting.what_memory(month.user, month.memory.id)
    assert {*rows_with(*TELLING_WORDS)} == before, "a preview changes nothing"
    done = forgetting.forget_memory(month.user, month.memory.id)
    assert seen == done
    assert [(turn.thread, turn.position, turn.why) for turn in done.turns] == [
        (month.told.id, 1, "source"),
        (month.asked.id, 2, "mention"),
        (month.asked.id, 3, "mention"),
    ]
    assert len(done.memories) == 2 and (done.topics, done.titles, done.artifacts, done.summaries) == (1, 1, 2, 2)
    assert (done.snapshots, [is_gone(snapshot) for snapshot in month.of_before]) == (4, [True] * 4)

    assert rows_with(*TELLING_WORDS, "MT-5520") == []
    catch_up(month.user.pk)
    with read_only():
        left = search(RecallQuery(user_id=month.user.pk, text=f"{QUESTION} {FACT}", at=timezone.now()))
    assert {one.text for one in left} == {
        "Who cuts a spare key for a cabin?",
        "A locksmith.",
        "The cabin has a red door.",
    }


def test_what_a_person_wrote_beside_conversations_goes_where_it_tells_it(month: Month) -> None:
    instruct(month.user, about=f"Thrifty. {FACT}", style="In short sentences.")
    told = make_project(month.user, "Stone QX-7731", instructions="Be kind.")
    telling = make_project(month.user, "The cabin", instructions=f"Mind: {FACT}")
    make_prompt(month.user, f"{FACT} {{{{what}}}}", name="Key")
    kept = make_prompt(month.user, "Where is {{what}}?", name="Where")
    Thread.objects.filter(id=month.told.id).update(tags=["QX-7731"])
    Thread.objects.filter(id=month.elsewhere.id).update(tags=["key"], instructions=FACT)
    make_feedback(month.elsewhere.messages.get(position=2), text=f"No: {FACT}")
    make_feedback(month.asked.messages.get(position=2), text="Too long")
    seen = forgetting.what_memory(month.user, month.memory.id)
    assert seen == forgetting.forget_memory(month.user, month.memory.id)
    assert (seen.instructions, seen.projects, seen.prompts, seen.feedback, seen.titles) == (3, 1, 1, 2, 1)
    assert rows_with(*TELLING_WORDS) == []
    assert list(Instructions.objects.values_list("about", "style")) == [("", "In short sentences.")]
    assert {*Project.objects.values_list("id", "name", "instructions")} == {
        (told.id, "[forgotten]", "Be kind."),
        (telling.id, "The cabin", ""),
    }
    assert Prompt.objects.get() == kept
    assert Thread.objects.get(id=month.elsewhere.id).tags == ["key"]


def test_what_only_shares_the_topic_stays(month: Month) -> None:
    make_reply(month.elsewhere)
    untouched = make_snapshot(month.elsewhere)
    assert "QX-7731" in dump()
    forgetting.forget_memory(month.user, month.memory.id)
    assert turn(month.elsewhere, 1).text == "Who cuts a spare key for a cabin?"
    assert is_gone(untouched), "the tier of memories stood in it"


def test_what_only_the_thinking_tells_goes_too(month: Month) -> None:
    chat = make_thread(month.user, ["Anything new?", "No."])
    add_blocks(chat, 2, [{"type": "thinking", "thinking": f"{FACT} They don't ask."}, *text_blocks("No.")])
    reply = make_reply(make_thread(month.user, ["And now?"]))
    for seq, piece in enumerate(["The spare key is under stone QX", "-7731, behind the birch."], 2):
        data = {"seconds": 1, "summary": piece}
        ReplyEvent.objects.create(reply=reply, seq=seq, type="reply.thinking", data=data, at=timezone.now())
    forgetting.forget_memory(month.user, month.memory.id)
    assert turn(chat, 2).blocks == text_blocks("[forgotten]")
    assert not ReplyEvent.objects.filter(reply=reply).exists()
    assert rows_with(*TELLING_WORDS) == []


class Boat:
    """A name told on day 1, recalled on day 30 in a thread of its own, and answered by the name alone."""

    def __init__(self, user: User) -> None:
        told = make_thread(user, ["My boat is called Quillhaven.", "Noted."])
        self.memory = make_memory(user, "My boat is called Quillhaven.", sources=[turn(told, 1).id])
        catch_up(user.pk)
        self.asked = make_thread(
            user, ["What is the name of my boat?"], title="A boat", message_count=6, last_position=6
        )
        for question, answer in [
            ("", "Quillhaven."),
            ("Is Quillhaven insured?", "I don't know."),
            ("Does a boat need a name?", "A boat needs none by law. It is only called so."),
        ]:
            depth = self.asked.messages.count()
            if question:
                self._say(Message.Role.USER, question, depth := depth + 1)
            reply = make_reply(self.asked)
            make_snapshot(self.asked, reply=reply)
            ReplyEvent.objects.create(reply=reply, seq=2, type="reply.delta", data={"text": answer}, at=timezone.now())
            self._say(Message.Role.ASSISTANT, answer, depth + 1, reply=reply)
        self.artifact = make_artifact(self.asked, "The Quillhaven", "A boat", title="Quillhaven")

    def _say(self, role: str, text: str, place: int, **values: Any) -> None:
        tokens = {"token_count": 10, "token_total": 10 * place}
        at = {"position": place, "depth": place, "created_at": timezone.now()}
        Message.objects.create(thread=self.asked, role=role, text=text, **tokens, **at, **values)


def test_one_word_is_enough_where_the_fact_was_given(user: User) -> None:
    boat = Boat(user)
    elsewhere = make_thread(user, ["A pub was named Quillhaven.", "Was it?"], title="Quillhaven pubs")
    seen = forgetting.what_memory(user, boat.memory.id)
    assert seen == forgetting.forget_memory(user, boat.memory.id)
    assert [(one.text, one.why) for one in seen.turns] == [
        ("My boat is called Quillhaven.", "source"),
        ("Quillhaven.", "mention"),
        ("Is Quillhaven insured?", "mention"),
    ]
    assert [one.text for one in boat.asked.messages.order_by("position")] == [
        "What is the name of my boat?",
        "[forgotten]",
        "[forgotten]",
        "I don't know.",
        "Does a boat need a name?",
        "A boat needs none by law. It is only called so.",
    ]
    assert {row.split(":")[0] for row in rows_with("Quillhaven")} == {
        "conversations_message",
        "conversations_thread",
    }
    assert elsewhere.messages.filter(text__contains="Quillhaven").exists(), "it was not given the fact"


def test_one_word_is_enough_where_instructions_told_the_fact(user: User) -> None:
    instruct(user, about="My boat is called Quillhaven.")
    asked = make_thread(user, ["What is the name of my boat?", "Quillhaven."])
    reply = make_reply(asked)
    make_snapshot(asked, reply=reply)
    add_reply(asked, 2, reply)
    memory = make_memory(user, "Their boat is called Quillhaven.")
    assert [one.text for one in forgetting.forget_memory(user, memory.id).turns] == ["Quillhaven."]
    assert rows_with("Quillhaven") == []


def test_an_answer_is_read_with_its_question(user: User) -> None:
    told = make_thread(user, ["The spare key is hidden under the blue flowerpot.", "Noted."])
    memory = make_memory(user, "The spare key is hidden under the blue flowerpot.", sources=[turn(told, 1).id])
    catch_up(user.pk)
    asked = make_thread(user, ["Where is the spare key?", "Look under the flowerpot."])
    reply = make_reply(asked)
    make_snapshot(asked, reply=reply)
    add_reply(asked, 2, reply)
    done = forgetting.forget_memory(user, memory.id)
    assert [one.text for one in done.turns] == [
        "The spare key is hidden under the blue flowerpot.",
        "Look under the flowerpot.",
    ]


def test_a_request_that_held_neither_the_fact_nor_its_turns_stays_proven(user: User) -> None:
    others = [make_thread(user, ["Who cuts keys?", "A locksmith.", "Thanks!"]) for _ in range(2)]
    before = [(snapshot, bytes_of(snapshot)) for snapshot in map(make_snapshot, others)]
    told = make_thread(user, ["Hello!", "Hi!", SAID, "Noted."])
    later = make_snapshot(told, round=2)
    memory = make_memory(user, FACT, sources=[turn(told, 3).id])
    assert forgetting.forget_memory(user, memory.id).snapshots == 1
    assert is_gone(later)
    assert [(bytes_of(snapshot), snapshots.proof(snapshot)) for snapshot, _ in before] == [
        (sent, True) for _, sent in before
    ]


def test_what_was_forgotten_can_not_be_forgotten_again(month: Month) -> None:
    forgetting.forget_memory(month.user, month.memory.id)
    before = dump()
    for again in (forgetting.what_memory, forgetting.forget_memory):
        with pytest.raises(MemoryNotFound):
            again(month.user, month.memory.id)
    assert forgetting.forget_turn(month.user, month.source.id).memories == ()
    new = set(dump().splitlines()) - set(before.splitlines())
    assert [row.partition(":")[0] for row in new] == ["conversations_auditevent"]  # that it was asked for


def test_another_person_keeps_the_same_words(user: User, other_user: User) -> None:
    mine = make_memory(user, FACT, sources=[turn(make_thread(user, [SAID, ANSWER]), 1).id])
    Month(other_user)
    before = [row for row in dump().splitlines() if "QX-7731" in row]
    forgetting.forget_memory(user, mine.id)
    left = [row for row in dump().splitlines() if "QX-7731" in row]
    assert (len(before) - len(left), {*left} < {*before}) == (3, True), "the memory and two turns"
    with pytest.raises(MemoryNotFound):
        forgetting.forget_memory(user, Memory.objects.get(user=other_user, content=FACT).id)


def test_a_blanked_turn_keeps_its_place(month: Month) -> None:
    before = turn(month.asked, 2)
    forgetting.forget_memory(month.user, month.memory.id)
    after = turn(month.asked, 2)
    assert (after.status, after.text, after.content, after.position, after.depth, after.role) == (
        "forgotten", "[forgotten]", None, 2, 2, "assistant",
    )  # fmt: skip
    assert 0 < after.token_count < before.token_count and after.token_total == before.token_total
    assert after.forgotten_at
    rows = IndexedPassage.objects.filter(thread=month.told, depth=1)
    assert list(rows.values_list("terms", "length")) == [([], 0)]


def test_requests_of_afterwards_rebuild_and_say_that_something_is_forgotten(month: Month) -> None:
    forgetting.forget_memory(month.user, month.memory.id)
    later = make_snapshot(month.asked, round=7)
    sent = bytes_of(later).decode()
    assert snapshots.proof(later)
    assert "[forgotten]" in sent and "QX-7731" not in sent and "red door" in sent


def test_what_is_told_again_is_recorded_again(month: Month) -> None:
    forgetting.forget_memory(month.user, month.memory.id)
    again = make_memory(month.user, FACT, created_at=month.memory.created_at)
    later = make_snapshot(month.asked, round=7)
    assert (b"QX-7731" in bytes_of(later), snapshots.proof(later)) == (True, True)
    assert all(is_gone(snapshot) for snapshot in month.of_before)
    forgetting.forget_memory(month.user, again.id)
    assert (is_gone(later), rows_with("QX-7731")) == (True, [])


def test_summaries_that_told_it_are_empty_at_once_and_due(month: Month) -> None:
    forgetting.forget_memory(month.user, month.memory.id)
    part = ThreadSummary.objects.get(id=month.part.id)
    assert (part.text, part.key_moments, part.stale_since is not None) == ("", [], True)
    assert not DailySummary.objects.filter(user=month.user).exists()
    assert Consolidation.objects.get(user=month.user).wanted_at
    assert list(Topic.objects.filter(user=month.user)) == [month.open]
    assert list(Memory.objects.filter(user=month.user)) == [month.known]
    assert list(
        ArtifactVersion.objects.filter(artifact=month.artifact).order_by("number").values_list("content", flat=True)
    ) == ["[forgotten]", "# Cabin"]


def test_nothing_is_forgotten_under_a_running_reply(month: Month) -> None:
    make_reply(month.asked, status="running", lease_until=timezone.now() + timedelta(seconds=30))
    catch_up(month.user.pk)
    before = dump()
    with pytest.raises(ReplyInProgress):
        forgetting.forget_memory(month.user, month.memory.id)
    assert dump() == before


def test_one_turn_goes_from_what_its_person_wrote_beside_conversations(user: User) -> None:
    text = "The spare key is hidden under the blue flowerpot."
    told = make_thread(user, [text, "Noted."])
    instruct(user, about=f"Careful. {text}", style="In short sentences.")
    make_project(user, "Cabin", instructions=text)
    make_prompt(user, f"{text} {{{{what}}}}", name="Key")
    kept = make_prompt(user, "Where is {{what}}?", name="Where")
    seen = forgetting.what_turn(user, turn(told, 1).id)
    assert seen == forgetting.forget_turn(user, turn(told, 1).id)
    assert (seen.instructions, seen.prompts) == (2, 1)
    assert rows_with("flowerpot") == []
    assert list(Instructions.objects.values_list("about", "style")) == [("", "In short sentences.")]
    assert Prompt.objects.get() == kept


def test_one_turn_goes_with_what_rests_on_it_alone(month: Month) -> None:
    kept = make_memory(month.user, "Both.", sources=[month.source.id, turn(month.elsewhere, 1).id])
    seen = forgetting.what_turn(month.user, month.source.id)
    done = forgetting.forget_turn(month.user, month.source.id)
    assert seen == done
    copied = turn(month.asked, 2)
    assert [(turn.id, turn.why) for turn in done.turns] == [(month.source.id, "source"), (copied.id, "mention")]
    assert done.memories == (month.memory.id,)
    assert kept in Memory.objects.all() and turn(month.told, 2).text == "Noted."
    assert (Thread.objects.get(id=month.told.id).title, month.asked.title) == ("[forgotten]", "The cabin")
    assert rows_with(SAID) == []
    with pytest.raises(MessageNotFound):
        forgetting.forget_turn(make_user("eve"), month.source.id)


def test_everything_goes_but_the_conversations(month: Month) -> None:
    assert forgetting.what_all(month.user) == forgetting.forget_all(month.user)
    models = [Memory, Topic, DailySummary]
    assert [model._default_manager.filter(user=month.user).count() for model in models] == [0, 0, 0]
    assert rows_with("QX-7731", "MT-5520", "red door") == []
    parts = ThreadSummary.objects.order_by("thread_id", "first_position")
    assert [(part.thread_id, part.first_position, part.last_position) for part in parts] == [
        (month.told.id, 1, 2), (month.asked.id, 1, 3), (month.elsewhere.id, 1, 2),
    ]  # fmt: skip
    assert {(part.text, *part.key_moments, *part.sources, part.stale_since) for part in parts} == {("", None)}
    assert {*chain(*IndexedPassage.objects.values_list("terms", flat=True))} == set()
    catch_up(month.user.pk)
    with read_only():
        assert search(RecallQuery(user_id=month.user.pk, text=QUESTION, at=timezone.now())) == []
    assert [one.text for one in month.elsewhere.messages.order_by("position")] == [
        "Who cuts a spare key for a cabin?", "A locksmith.",
    ]  # fmt: skip


def test_a_deleted_thread_takes_along_what_is_remembered_of_it_alone(month: Month) -> None:
    both = make_memory(month.user, "Both.", sources=[month.source.id, turn(month.elsewhere, 1).id])
    other = make_thread_summary(month.elsewhere, timezone.now(), "A locksmith cuts keys.")
    DailySummary.objects.filter(id=month.day.id).update(parts=[month.part.id, other.id])
    deletion.delete_thread(month.told)
    assert {*Memory.objects.filter(sources__len__gt=0)} == {both}
    assert not DailySummary.objects.exists()
    other.refresh_from_db()
    assert (other.text, other.stale_since is not None) == ("A locksmith cuts keys.", True)
    assert is_gone(month.of_before[0])


def test_the_page_of_a_request_says_that_something_was_forgotten(month: Month) -> None:
    forgetting.forget_memory(month.user, month.memory.id)
    client = StaffReader()
    client.force_login(User.objects.create_superuser("root"))
    page = client.read(f"/admin/conversations/contextsnapshot/{month.of_before[0].id}/change/")
    raw = client.read(f"/admin/conversations/contextsnapshot/{month.of_before[0].id}/request.json")
    assert page.status_code == 200 and "forgotten at the person’s wish" in page.text
    assert "not proven" not in page.text and "deleted since" not in page.text
    assert (raw.status_code, "has been forgotten since" in raw.text) == (410, True)


def test_what_rests_on_a_turn_goes_with_its_copy_in_a_fork(user: User) -> None:
    told = make_thread(user, [SAID])
    note = make_memory(user, "Keys are kept outside.", sources=[turn(told, 1).id])
    fork = make_thread(user, [SAID], forked_from=told, created_at=told.created_at)
    forgetting.forget_turn(user, turn(fork, 1).id)
    assert turn(told, 1).status == Message.Status.FORGOTTEN
    assert not Memory.objects.filter(id=note.id).exists()
