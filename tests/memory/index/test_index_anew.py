"""What was indexed by the rules of an earlier release is indexed anew by a worker, and what is forgotten stays so."""

from itertools import chain, repeat

import pytest
from django.contrib.auth.models import User

from conversations import schedule
from conversations.models import FilePart, Message
from memory import forgetting
from memory.index.index_anew import index_anew
from memory.index.index_turns import catch_up
from memory.models import IndexedPassage, StaleIndex, Vocabulary
from memory.tasks import index_stale
from tests.conversations.factories import make_thread, make_thread_with_file

pytestmark = pytest.mark.django_db(transaction=True)


def known(user: User) -> dict[str, list[object]]:
    """What the user's turns and parts are found by."""
    passages = IndexedPassage.objects.filter(user=user).order_by("thread", "depth", "number").values_list("pk", "terms")
    counts = Vocabulary.objects.filter(user=user).values_list("turns", "length", "common", "shares", "names")
    parts = FilePart.objects.filter(user=user).order_by("id").values_list("id", "terms")
    return {"passages": [*passages], "parts": [*parts], "counts": [*counts]}


def make_stale(user: User) -> None:
    IndexedPassage.objects.filter(user=user).exclude(terms=[]).update(terms=[1])
    FilePart.objects.filter(user=user).update(terms=[1])
    StaleIndex.objects.create(user=user)


def test_all_that_is_stale_is_indexed_anew_a_piece_at_a_time(user: User, other_user: User) -> None:
    for number in range(3):
        make_thread(user, [f"부산에서 {number}", "Noted.", "A long turn. " * 200])
    make_thread_with_file(user, ["The rent of C++.", "Notices."])
    theirs = make_thread(other_user, ["Mine."])
    catch_up(user.pk)
    catch_up(other_user.pk)
    forgotten = Message.objects.filter(user=user, text__startswith="부산에서 1").get()
    forgetting.forget_turn(user, forgotten.id)
    catch_up(user.pk, recount=True)
    before, others = known(user), known(other_user)
    make_stale(user)
    assert known(user) != before
    for may_go_on in (repeat(False), chain([True], repeat(False)), repeat(True)):
        index_anew(user.pk, may_go_on.__next__)
        if StaleIndex.objects.filter(user=user).exists():
            assert known(user) != before
    assert known(user) == before
    assert not StaleIndex.objects.exists()
    assert known(other_user) == others and theirs.id


def test_a_worker_has_a_task_for_it_while_there_is_any(user: User) -> None:
    make_thread(user, ["부산에서"])
    catch_up(user.pk)
    before = known(user)
    schedule.sweep()
    waiting = schedule._tasks(index_stale.module_path)
    assert not waiting.exists()
    make_stale(user)
    schedule.sweep()
    schedule.sweep()
    assert waiting.count() == 1
    index_stale.func()
    assert known(user)["passages"] == before["passages"]
    assert not StaleIndex.objects.exists()
