"""A thread that is cleared: nothing of what was said in it is left, wherever it had got to; the thread goes on from nothing."""

from datetime import UTC, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from artifacts.models import Artifact
from conversations.context.builder import continue_context
from conversations.context.record.snapshots import proof, runs_of
from conversations.context.render import search_quotes
from conversations.context.render.rendering import round_text
from conversations.context.rules.fitting import round_section
from conversations.errors import ReplyInProgress, ThreadNotFound
from conversations.models import ContextSnapshot, Message, Reply, ReplyEvent, Thread, text_blocks
from conversations.replies import cursor, opening
from conversations.threads import deletion
from conversations.threads.titles import title_from
from memory.consolidation.pending_parts import due_parts
from memory.forgetting import Clearing
from memory.index import word_index
from memory.index.index_turns import catch_up
from memory.index.word_index import SaidTurn
from memory.models import Consolidation, DailySummary, IndexedPassage, Memory, ThreadSummary, Topic
from memory.tags import thread_tag
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_context, make_reply, make_snapshot, make_thread, make_user, record
from tests.conversations.staff.conftest import StaffReader
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic
from tests.memory.forgetting.test_forgetting import bytes_of, dump, is_gone, rows_with

pytestmark = [pytest.mark.django_db]

SAID = "My boat Quillhaven leaks at the stern."
NEEDLE = "Quillhaven"


class Harbour:
    """A conversation about a boat, and all the places that it has got to."""

    def __init__(self, user: User) -> None:
        now = timezone.now()
        self.user = user
        self.other = make_thread(user, ["Who repairs boats?", "A yard does."], title="Yards")
        self.boat = make_thread(
            user, [SAID, "Quillhaven needs caulking.", "Write that down."], title=title_from(SAID), remembers=True
        )
        self.question = self.boat.messages.get(position=1)
        elsewhere = self.other.messages.get(position=1)
        self.memory = make_memory(user, "The boat Quillhaven leaks.", sources=[self.question.id])
        self.kept = [
            make_memory(user, "Likes boats.", sources=[self.question.id, elsewhere.id]),
            make_memory(user, "Lives at the sea.", tags=[thread_tag(self.boat.id)]),
        ]
        self.topic = make_topic(user, "Caulk the Quillhaven", thread=self.boat, sources=[self.question.id])
        self.open = make_topic(user, "Buy paint", thread=self.boat)
        self.part = make_thread_summary(self.boat, now, "Quillhaven leaks.", sources=[self.question.id])
        self.beside = make_thread_summary(self.other, now, "A yard repairs boats.", sources=[elsewhere.id])
        self.day = make_daily_summary(
            user, "2026-03-01", "Quillhaven, and yards.", parts=[self.part.id, self.beside.id]
        )
        catch_up(user.pk)
        self.own = self._asked()
        self.artifact = make_artifact(self.boat, "# Repairs", title="Repairs", after_position=3)
        self.elsewhere = self._told_elsewhere()

    def _asked(self) -> ContextSnapshot:
        reply = make_reply(self.boat)
        snapshot = make_snapshot(self.boat, reply=reply)
        ReplyEvent.objects.create(
            reply=reply, seq=2, type="reply.delta", data={"text": "Quillhaven"}, at=timezone.now()
        )
        return snapshot

    def _told_elsewhere(self) -> list[ContextSnapshot]:
        """A thread that recalled it, and searched for it."""
        self.told = make_thread(self.user, ["What leaks at the stern of my boat?"], title="Leaks")
        reply = make_reply(self.told)
        first = make_context(reply)
        call = {"type": "tool_use", "id": "t1", "name": search_quotes.SEARCH_TOOL, "input": {"query": "boat"}}
        sources = [(timezone.now(), "Who?"), (self.question.created_at, SAID)]
        passages = [
            search_quotes.Passage(source=search_quotes.source_of(at, "user"), text=text) for at, text in sources
        ]
        result = {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": search_quotes.joined(passages),
        }
        second = continue_context(first, [round_section(round_text([call, result]))], at=timezone.now())
        Message.objects.create(
            thread=self.told, position=2, depth=2, role="assistant", content=[call, result, *text_blocks("Your boat.")],
            text="Your boat.", token_count=50, token_total=80, created_at=timezone.now(), reply=reply,
        )  # fmt: skip
        Thread.objects.filter(id=self.told.id).update(message_count=2, last_position=2)
        return [record(first, reply), record(second, reply, round=2)]


@pytest.fixture
def harbour(user: User) -> Harbour:
    return Harbour(user)


def tables() -> set[str]:
    """Those in which the needle stands."""
    return {
        row.partition(":")[0]
        for row in rows_with(NEEDLE)
        if row.startswith(("conversations_", "memory_", "artifacts_"))
    }


def fresh(thread: Thread) -> Thread:
    return Thread.objects.select_related("assistant").get(id=thread.id)


def say(thread: Thread, text: str, **values: Any) -> Message:
    """The next turn of the user, stored as by a sender."""
    place = cursor.place_of(thread.user, thread.id, None, text)
    message = cursor.next_turn(place, text_blocks(text), None)
    assert opening.store_turn(place, message, cursor.session_after(place, message.created_at), None)
    Reply.objects.filter(user_message=message).update(status="completed", ended_at=timezone.now())
    return message


def test_no_table_holds_any_of_it_afterwards(harbour: Harbour) -> None:
    assert tables() == {
        *("conversations_contextblock", "conversations_message", "conversations_replyevent", "conversations_thread"),
        *("memory_dailysummary", "memory_memory", "memory_threadsummary", "memory_topic"),
    }
    whole = dump()
    seen = deletion.what_clearing(harbour.boat)
    assert dump() == whole, "a preview changes nothing"
    done = deletion.clear_thread(harbour.boat)
    assert (
        seen
        == done
        == Clearing(messages=3, quotes=1, memories=1, topics=1, titles=1, summaries=2, snapshots=3, kept_artifacts=1)
    )
    assert rows_with(NEEDLE) == []
    assert not IndexedPassage.objects.filter(thread=harbour.boat).exists()
    assert not ReplyEvent.objects.filter(reply__thread=harbour.boat).exists()


def test_the_thread_stays_with_what_does_not_rest_on_its_turns(harbour: Harbour) -> None:
    before = fresh(harbour.boat)
    deletion.clear_thread(harbour.boat)
    after = fresh(harbour.boat)
    assert (after.message_count, after.last_position, after.cleared_through, after.title) == (0, 3, 3, "")
    assert after.cleared_at and (after.updated_at, after.assistant) == (before.updated_at, before.assistant)
    assert list(Artifact.objects.all()) == [harbour.artifact]
    assert {*Memory.objects.all()} == {*harbour.kept}
    assert list(Topic.objects.all()) == [harbour.open]
    assert list(harbour.other.messages.order_by("position").values_list("text", flat=True)) == [
        "Who repairs boats?", "A yard does.",
    ]  # fmt: skip
    assert list(harbour.told.messages.order_by("position").values_list("text", "status")) == [
        ("What leaks at the stern of my boat?", "complete"), ("[forgotten]", "forgotten"),
    ]  # fmt: skip


def test_a_title_that_a_person_chose_stays(user: User) -> None:
    thread = make_thread(user, [SAID], title="Boats")
    assert deletion.clear_thread(thread).titles == 0
    assert fresh(thread).title == "Boats"


def test_days_are_told_anew_without_it(harbour: Harbour) -> None:
    deletion.clear_thread(harbour.boat)
    assert not DailySummary.objects.exists()
    (left,) = ThreadSummary.objects.all()
    assert (left, left.text, left.stale_since is not None) == (harbour.beside, "A yard repairs boats.", True)
    assert Consolidation.objects.get(user=harbour.user).wanted_at


def test_requests_say_since_when_they_can_not_be_rebuilt(user: User) -> None:
    untouched = make_snapshot(make_thread(user, ["Hello!"]))
    sent, harbour = bytes_of(untouched), Harbour(user)
    runs = harbour.own.runs
    deletion.clear_thread(harbour.boat)
    assert [is_gone(snapshot) for snapshot in [harbour.own, *harbour.elsewhere]] == [True] * 3
    assert ContextSnapshot.objects.get(id=harbour.own.id).runs == runs, "which turns it was given is still told"
    assert (bytes_of(untouched), proof(untouched)) == (sent, True)


def test_a_request_that_was_given_its_turns_alone_is_forgotten_too(user: User) -> None:
    thread = make_thread(user, [SAID], remembers=False)
    snapshot = make_snapshot(thread)
    deletion.clear_thread(thread)
    assert is_gone(snapshot)


def test_the_next_message_begins_afresh_and_no_position_is_given_again(harbour: Harbour) -> None:
    deletion.clear_thread(harbour.boat)
    message = say(fresh(harbour.boat), "Hello again, and once more!")
    thread = fresh(harbour.boat)
    assert (message.position, message.depth, message.parent_id) == (4, 1, None)
    assert (thread.message_count, thread.last_position, thread.title) == (1, 4, "Hello again, and once more!")
    snapshot = make_snapshot(thread)
    assert [(run.first, run.last, run.reason.value) for run in runs_of(snapshot)] == [(4, 4, "newest")]
    assert (proof(snapshot), NEEDLE in bytes_of(snapshot).decode()) == (True, False)
    say(thread, "And then?")
    assert [(run.first, run.last) for run in runs_of(make_snapshot(fresh(thread)))] == [(4, 4), (5, 5)]


def test_to_clear_an_empty_thread_changes_nothing(harbour: Harbour) -> None:
    deletion.clear_thread(harbour.boat)
    before = dump()
    assert deletion.clear_thread(fresh(harbour.boat)) == Clearing(kept_artifacts=1)
    assert dump() == before
    say(fresh(harbour.boat), "Again")
    make_snapshot(fresh(harbour.boat))
    assert deletion.clear_thread(fresh(harbour.boat)) == Clearing(messages=1, titles=1, snapshots=1, kept_artifacts=1)


@pytest.mark.parametrize("where", ["boat", "told"])
def test_nothing_is_cleared_under_a_running_reply(harbour: Harbour, where: str) -> None:
    running = getattr(harbour, where)
    make_reply(running, status="running", lease_until=timezone.now() + timedelta(seconds=30))
    before = dump()
    with pytest.raises(ReplyInProgress) as refused:
        deletion.clear_thread(harbour.boat)
    assert refused.value.details == {"thread": str(running.id)}
    assert dump() == before


def test_what_was_deleted_meanwhile_is_not_cleared(harbour: Harbour) -> None:
    deletion.delete_thread(fresh(harbour.boat))
    with pytest.raises(ThreadNotFound):
        deletion.clear_thread(harbour.boat)


def test_another_person_keeps_the_same_words(harbour: Harbour) -> None:
    Harbour(make_user("eve"))
    deletion.clear_thread(harbour.boat)
    assert len(tables()) == 8
    assert not any(str(harbour.boat.id) in row for row in rows_with(NEEDLE))


def test_who_looked_at_the_thread_before_it_was_cleared_stores_nothing(harbour: Harbour) -> None:
    place = cursor.place_of(harbour.user, harbour.boat.id, None, "And now?")
    message = cursor.next_turn(place, text_blocks("And now?"), None)
    deletion.clear_thread(harbour.boat)
    session = cursor.session_after(place, message.created_at)
    assert opening.store_turn(place, message, session, None) is None
    assert not Message.objects.filter(thread=harbour.boat).exists()


def test_an_index_that_is_late_brings_nothing_back(harbour: Harbour) -> None:
    late = SaidTurn(thread=harbour.boat.id, depth=2, position=2, role="assistant", text=NEEDLE, at=timezone.now())
    deletion.clear_thread(harbour.boat)
    say(fresh(harbour.boat), "Hello again")
    word_index.store(harbour.user.pk, [late])
    catch_up(harbour.user.pk)
    assert list(IndexedPassage.objects.filter(thread=harbour.boat).values_list("depth", "position")) == [(1, 4)]


def test_what_is_said_afterwards_is_a_part_of_its_own(harbour: Harbour) -> None:
    """Parts follow one another without a hole, from the first position on."""
    deletion.clear_thread(harbour.boat)
    say(fresh(harbour.boat), "Hello again")
    due = [one.part for one in due_parts(harbour.user.pk, UTC) if one.thread == harbour.boat.id]
    assert [(part.first, part.last) for part in due] == [(1, 4)]


@pytest.mark.once("*{own}/change/", "*{boat}/map/")
@pytest.mark.parametrize(
    "page",
    ["conversations/thread/{boat}/change/", "conversations/thread/{boat}/map/", "conversations/thread/{boat}/why/?turn=2",
     "conversations/contextsnapshot/{own}/change/", "conversations/reply/{reply}/change/",
     "conversations/contextsnapshot/{elsewhere}/change/", "conversations/contextsnapshot/{own}/compare/",
     "conversations/contextsnapshot/{own}/what-if/", "conversations/contextsnapshot/"],
)  # fmt: skip
def test_staff_are_told_and_no_page_breaks(harbour: Harbour, page: str) -> None:
    deletion.clear_thread(harbour.boat)
    client = StaffReader()
    client.force_login(User.objects.create_superuser("root"))
    ids = {"boat": harbour.boat.id, "own": harbour.own.id, "reply": harbour.own.reply_id}
    answer = client.opened().get(f"/admin/{page.format(**ids, elsewhere=harbour.elsewhere[0].id)}", follow=True)
    assert (answer.status_code, NEEDLE in answer.text) == (200, False)
    if "{own}/change" in page:
        assert "forgotten at the person’s wish" in answer.text
    if "{boat}/change" in page:
        assert "<dt>cleared</dt>" in answer.text
