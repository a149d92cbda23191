"""People shape their conversations in whatever order: nothing that was said is lost, the active path is a path, and each
request holds what its scope lets it, explains itself, is proved and comes out again.

By the real services and statements; the model's answers are made up here. The suite tries a few dozen steps, ``make soak``
thousands.
"""

import os
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import override_settings
from django.utils import timezone
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pytest_django import Settings

from conversations.context.record import snapshot_api, snapshots
from conversations.import_export.forking import fork
from conversations.models import ContextSnapshot, Message, Reply, Thread
from conversations.replies import closing, opening
from conversations.replies.closing import ReplyProgress
from conversations.replies.events import OWNER
from conversations.replies.model_requests import OpenedReply, first_request, record
from conversations.replies.outcomes import Outcome, stopped
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage, user_blocks
from conversations.threads import deletion, paths, projects
from memory import forgetting
from memory.consolidation.consolidate import consolidate
from memory.index.index_turns import catch_up
from memory.models import DailySummary, IndexedPassage, Memory, ThreadSummary, Topic
from tests.conversations.factories import make_user
from tests.conversations.proofs import remade_exactly
from tests.conversations.threads.shapes import Folder, Said, Talk, open_to, words_in
from tests.memory.forgetting.test_forgetting import rows_with

MANY = int(os.environ.get("OPENBOOK_TEST_EXAMPLES", "0"))
EXAMPLES, STEPS = (MANY // 4, 40) if MANY else (3, 12)
SAID = (
    "My dog is called {}.",
    "I live in {}, by the sea.",
    "I have to sell my boat {} next week.",
    "Please note that my sister {} is allergic to nuts.",
)
ASKED = "What do you know of my dog, my boat, my sister, and where I live?"

picks = st.integers(min_value=0, max_value=10_000)
switches = st.booleans()


class Shaping(RuleBasedStateMachine):
    """Two people with two projects each. ``talks`` are the threads that there are, as they are expected to be."""

    def __init__(self) -> None:
        super().__init__()
        self.undone = transaction.atomic()
        self.undone.__enter__()
        self.users = {user.pk: user for user in (make_user(), make_user())}
        self.folders: dict[int, list[Folder]] = {}
        self.talks: list[Talk] = []
        self.touched: list[Talk] = []
        self.words = 0
        self.dead: set[str] = set()

    @initialize(flags=st.lists(switches, min_size=8, max_size=8))
    def make_projects(self, flags: list[bool]) -> None:
        for owner, user in self.users.items():
            self.folders[owner] = [self._folder(user, flags.pop(), flags.pop()) for _ in range(2)]
            self._opened(owner, None, temporary=False)

    def _folder(self, user: User, uses: bool, shares: bool) -> Folder:
        made = projects.create(user, name="Boats", uses_outside_memory=uses, shares_memory=shares)
        return Folder(id=made.id, uses_outside=uses, shares=shares)

    @rule(owner=picks, folder=picks, temporary=switches)
    def open(self, owner: int, folder: int, temporary: bool) -> None:
        user = list(self.users)[owner % 2]
        places = [None, *self.folders[user]]
        self._opened(user, places[folder % len(places)], temporary=temporary)

    def _opened(self, owner: int, folder: Folder | None, *, temporary: bool) -> None:
        word, message = self._message(owner, None, project=folder and folder.id, temporary=temporary)
        opened = opening.open_turn(message)
        talk = Talk(id=opened.thread.id, owner=owner, folder=folder, temporary=temporary)
        self.talks.append(talk)
        self._answered(talk, opened, word)

    @precondition(lambda self: self.talks)
    @rule(pick=picks)
    def say(self, pick: int) -> None:
        talk = self._talk(pick)
        word, message = self._message(talk.owner, talk.id)
        self._answered(talk, opening.open_turn(message), word)

    @precondition(lambda self: self.talks)
    @rule(pick=picks, which=picks)
    def edit(self, pick: int, which: int) -> None:
        talk = self._talk(pick)
        if turn := self._turn(talk, which, "user"):
            word, message = self._message(talk.owner, talk.id, edits=str(turn))
            talk.end = talk.turns[turn].parent
            self._answered(talk, opening.open_turn(message), word)

    @precondition(lambda self: self.talks)
    @rule(pick=picks, which=picks)
    def answer_again(self, pick: int, which: int) -> None:
        talk = self._talk(pick)
        turn = self._turn(talk, which, "user")
        if turn and (reply := talk.turns[turn].reply):
            opened = opening.open_retry(user=self.users[talk.owner], reply_id=reply)
            newest, talk.end = talk.end, turn
            is_newest = newest is not None and turn in {newest, talk.turns[newest].parent}
            self._answered(talk, opened, before=newest if is_newest else None)

    @precondition(lambda self: self.talks)
    @rule(pick=picks, which=picks)
    def go_to(self, pick: int, which: int) -> None:
        talk = self._talk(pick)
        turn = list(talk.turns)[which % len(talk.turns)]
        paths.activate(self.users[talk.owner], talk.id, turn)
        talk.end = talk.newest_end(turn)

    @precondition(lambda self: any(not talk.temporary for talk in self.talks))
    @rule(pick=picks, which=picks)
    def fork(self, pick: int, which: int) -> None:
        lasting = [talk for talk in self.talks if not talk.temporary]
        talk = lasting[pick % len(lasting)]
        turn = list(talk.turns)[which % len(talk.turns)]
        made = fork(self.users[talk.owner], talk.id, turn, read_later=lambda file: None)
        copies = Message.objects.filter(thread=made).order_by("position").values_list("id", flat=True)
        copy, parent = Talk(id=made.id, owner=talk.owner, folder=talk.folder), None
        for id, original in zip(copies, map(talk.turns.__getitem__, talk.path_to(turn)), strict=True):
            said = Said(word=original.word, parent=parent, role=original.role, gone=original.gone)
            copy.add(id, said)
            parent = id
        self.talks.append(copy)
        self.touched.append(copy)

    @precondition(lambda self: self.talks)
    @rule(pick=picks, folder=picks)
    def move(self, pick: int, folder: int) -> None:
        talk = self._talk(pick)
        places = [None, *self.folders[talk.owner]]
        talk.folder = places[folder % len(places)]
        user = self.users[talk.owner]
        thread = Thread.objects.select_related("user").get(id=talk.id)
        projects.move(thread, projects.get(user, talk.folder.id) if talk.folder else None)

    @precondition(lambda self: len(self.talks) > 1)
    @rule(pick=picks)
    def delete(self, pick: int) -> None:
        talk = self._talk(pick)
        deletion.delete_thread(Thread.objects.select_related("user").get(id=talk.id))
        self._removed(talk)

    @precondition(lambda self: any(self.folders.values()))
    @rule(owner=picks, pick=picks, threads_go=st.sampled_from(["keep", "delete"]))
    def delete_project(self, owner: int, pick: int, threads_go: str) -> None:
        user = list(self.users.values())[owner % 2]
        if not (mine := self.folders[user.pk]):
            return
        folder = mine.pop(pick % len(mine))
        deletion.delete_project(projects.get(user, folder.id), threads_go=threads_go)
        for talk in [talk for talk in self.talks if talk.folder is folder]:
            if threads_go == "delete":
                self._removed(talk)
            else:
                talk.folder = None

    @precondition(lambda self: self.talks)
    @rule(pick=picks, which=picks)
    def forget_turn(self, pick: int, which: int) -> None:
        talk = self._talk(pick)
        turn = list(talk.turns)[which % len(talk.turns)]
        forgetting.forget_turn(self.users[talk.owner], turn)
        self.dead.add(talk.turns[turn].word)
        self._reread(talk.owner)
        assert talk.turns[turn].gone

    @rule(owner=picks, pick=picks)
    def forget_note(self, owner: int, pick: int) -> None:
        user = list(self.users.values())[owner % 2]
        notes = list(Memory.objects.filter(user=user).order_by("created_at", "id"))
        if notes:
            note = notes[pick % len(notes)]
            forgetting.forget_memory(user, note.id)
            self.dead |= words_in(note.content)
            self._reread(user.pk)

    @rule(owner=picks)
    def consolidate(self, owner: int) -> None:
        with override_settings(OPENBOOK_PROVIDER="offline"):  # by rules: there is no model to write summaries
            consolidate(list(self.users)[owner % 2], at=timezone.now() + timedelta(hours=1))

    def _talk(self, pick: int) -> Talk:
        talk = self.talks[pick % len(self.talks)]
        self.touched.append(talk)
        return talk

    def _turn(self, talk: Talk, which: int, role: str) -> UUID | None:
        turns = [id for id, said in talk.turns.items() if said.role == role and not said.gone]
        return turns[which % len(turns)] if turns else None

    def _word(self) -> str:
        self.words += 1
        return f"zq{self.words}vix"

    def _message(self, owner: int, thread: UUID | None, **values: Any) -> tuple[str, NewMessage]:
        word = self._word()
        text = f"{SAID[self.words % len(SAID)].format(word.capitalize())} {ASKED}"
        return word, NewMessage(user=self.users[owner], thread_id=thread, blocks=user_blocks(text), **values)

    def _answered(self, talk: Talk, opened: OpenedReply, word: str = "", *, before: UUID | None = None) -> None:
        """The turn is where it belongs, and its request holds what it may. Every fifth reply is stopped before its first word:
        then the path ends as it did ``before``, where that was answered already.
        """
        self.touched.append(talk)
        if word:
            talk.add(opened.question.id, Said(word=word, parent=talk.end, role="user"))
        talk.turns[opened.question.id].reply = opened.reply.id
        recorded = opened.recorded or record(*first_request(opened))
        self._holds_what_it_may(talk, recorded[0], {talk.turns[before].word} if before else set())
        word = self._word()
        is_silent = self.words % 5 == 0
        events = closing.close(
            reply_id=opened.reply.id,
            user_id=talk.owner,
            owner=OWNER,
            outcome=stopped() if is_silent else Outcome(status=Reply.Status.COMPLETED, stop_reason="end_turn"),
            progress=ReplyProgress(transcript=ReplyTranscript.of("" if is_silent else f"{word.capitalize()} it is.")),
        )
        assert events
        if is_silent:
            talk.end = before or talk.end
        else:
            answer = Message.objects.get(user=talk.owner, reply=opened.reply)
            talk.add(answer.id, Said(word=word, parent=opened.question.id, role="assistant"))

    def _holds_what_it_may(self, talk: Talk, request: ContextSnapshot, still: set[str]) -> None:
        """``still``: the answer that stays until there is another one may be in what is remembered."""
        given = words_in(str(snapshots.rebuild(request)))
        may = set[str]().union(*(other.words() for other in self.talks if open_to(talk, other)))
        assert given <= may | still, "something leaked"
        assert talk.words() <= given, "something of its own path is missing"

    def _removed(self, talk: Talk) -> None:
        self.talks = [each for each in self.talks if each is not talk]
        left = {said.word for each in self.talks for said in each.turns.values()}
        self.dead |= {said.word for said in talk.turns.values()} - left
        self._reread(talk.owner)

    def _reread(self, owner: int) -> None:
        """What was forgotten beside what was named, as that repeats it or rests on it."""
        forgotten = set(
            Message.objects.filter(user=owner, status=Message.Status.FORGOTTEN).values_list("id", flat=True)
        )
        for talk in self.talks:
            for id in forgotten & talk.turns.keys():
                talk.turns[id].gone = True
        alive = {said.word for talk in self.talks for said in talk.turns.values() if not said.gone}
        assert not alive & self.dead, "something that was forgotten is still there"

    @invariant()
    def threads_are_as_expected(self) -> None:
        there = {talk.id: talk for talk in self.touched if talk in self.talks}
        self.touched.clear()
        for talk in there.values():
            has_the_expected_turns(talk)
        for owner in {talk.owner for talk in there.values()}:
            catch_up(owner)

    @invariant()
    def nothing_is_remembered_of_what_was_left(self) -> None:
        for owner in self.users:
            mine = [talk for talk in self.talks if talk.owner == owner and not talk.temporary]
            assert remembered(owner) <= set[str]().union(*(talk.words() for talk in mine))
            places = {(talk.id, id) for talk in mine for id in talk.path}
            indexed = IndexedPassage.objects.filter(user=owner).values_list("thread", "position")
            turns = Message.objects.filter(user=owner).values_list("thread", "position", "id")
            ids = {(thread, position): id for thread, position, id in turns}
            assert {(thread, ids[thread, position]) for thread, position in indexed} <= places

    def teardown(self) -> None:
        try:
            for talk in self.talks:
                for turn in talk.turns:
                    assert paths.ids_to(turn, thread_id=talk.id, user_id=talk.owner) == talk.path_to(turn)
            for request in ContextSnapshot.objects.filter(user__in=self.users):
                is_explained_and_comes_out_again(request)
            assert not (self.dead and rows_with(*self.dead))
        finally:
            transaction.set_rollback(True)
            self.undone.__exit__(None, None, None)


def has_the_expected_turns(talk: Talk) -> None:
    turns = list(Message.objects.filter(user=talk.owner, thread=talk.id).order_by("position"))
    assert [turn.id for turn in turns] == list(talk.turns)
    assert [turn.parent_id for turn in turns] == [said.parent for said in talk.turns.values()]
    active = sorted((turn for turn in turns if turn.is_active), key=lambda turn: turn.depth)
    assert [turn.id for turn in active] == talk.path
    assert [turn.depth for turn in active] == list(range(1, len(active) + 1))
    assert Thread.objects.get(id=talk.id).message_count == len(active)
    versions = paths.versions(turns)
    assert {turn.id: list(versions[turn.id].ids) for turn in turns} == {id: talk.versions(id) for id in talk.turns}
    assert paths.ids_to(turns[-1].id, thread_id=talk.id, user_id=talk.owner) == talk.path_to(turns[-1].id)


def remembered(owner: int) -> set[str]:
    """The words that stand in what is known of a person."""
    notes = Memory.objects.filter(user=owner, ended_at=None).values_list("content", flat=True)
    topics = Topic.objects.filter(user=owner).values_list("title", flat=True)
    parts = ThreadSummary.objects.filter(user=owner).values_list("text", "key_moments")
    days = DailySummary.objects.filter(user=owner).values_list("text", "key_moments")
    return words_in(str([*notes, *topics, *parts, *days]))


def is_explained_and_comes_out_again(request: ContextSnapshot) -> None:
    """Unless something of it was forgotten."""
    body = snapshot_api.body(request)
    if body["forgotten_at"]:
        assert body["request"] is None
        return
    positions = [position for run in snapshots.runs_of(request) for position in range(run.first, run.last + 1)]
    assert positions == list(range(1, len(positions) + 1))
    assert request.message_id == Message.objects.get(thread=request.thread_id, position=positions[-1]).id
    assert snapshots.proof(request)
    assert remade_exactly(request)


@pytest.mark.wide
@pytest.mark.django_db
def test_whatever_people_do_to_their_conversations_nothing_is_lost_and_nothing_leaks(settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "anthropic"
    settings.ANTHROPIC_API_KEY = "never asked"
    budget = hypothesis_settings(
        max_examples=EXAMPLES, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Shaping, settings=budget)
