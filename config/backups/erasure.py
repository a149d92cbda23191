"""What was forgotten since a backup, forgotten again after it was restored."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Model

from conversations.accounts import lifecycle
from conversations.models import File, Message, Reply, Share, Thread
from conversations.replies.closing import interrupt
from conversations.sharing import shares
from conversations.threads import deletion
from memory import forgetting
from memory.forgetting import ledger
from memory.forgetting.ledger import Entry, Kind
from memory.models import Memory, Topic

MARGIN = timedelta(minutes=5)
"""By which clocks may differ, and a transaction may have begun before its end."""

OF_A_TIME = {Kind.EVERYTHING, Kind.LEAVING, Kind.STAYING}
"""What says nothing of what a later backup holds."""


def apply(*, since: datetime, but: Collection[UUID] = ()) -> Counter[str]:
    """Forget again what the ledger names, but for these ids. Returns how much of it was still there, by kind.

    Ids are never given twice, so that whatever is there under one is what was forgotten. That all was forgotten of somebody
    holds for what there was before, and is done again where it was after ``since``; whether an account is to be deleted is
    what its person said last.
    """
    done: Counter[str] = Counter()
    if not Path(settings.OPENBOOK_ERASURE_LEDGER).is_dir():
        return done
    digests = ledger.digests()
    spared = {digests.of(kind, id) for kind in Kind for id in but}
    named: dict[Kind, dict[str, Entry]] = defaultdict(dict)
    for entry in ledger.entries():
        if entry.digest in spared:
            continue
        if entry.kind not in OF_A_TIME or entry.at >= since - MARGIN:
            named[entry.kind][entry.digest] = _further(entry, named[entry.kind].get(entry.digest))
    if named:
        _end_replies()
    for kind, steps in STEPS.items():
        for step in steps(named[kind]) if named[kind] else ():
            step()
            done[kind] += 1
    said = [each for kind in (Kind.LEAVING, Kind.STAYING) for each in _users(kind, named[kind])]
    for user, entry in sorted(said, key=lambda each: each[1].at):
        if entry.kind is Kind.LEAVING:
            lifecycle.leave(user, asked_at=entry.at)
        else:
            lifecycle.stay(user)
    return done


def _further(entry: Entry, other: Entry | None) -> Entry:
    return max(entry, other or entry, key=lambda each: (each.through, each.at))


def _end_replies() -> None:
    """Nobody runs them any more, and where one runs nothing is forgotten."""
    running = Reply.objects.filter(status=Reply.Status.RUNNING)
    for user_id, reply_id in list(running.values_list("user", "id")):
        interrupt(reply_id, user_id=user_id)


type Steps = Iterator[Callable[[], object]]


def _rows[M: Model](model: type[M], kind: Kind, entries: dict[str, Entry]) -> Iterator[tuple[M, Entry]]:
    digests = ledger.digests()
    ids = model._default_manager.order_by("pk").values_list("pk", flat=True)
    found = [(pk, entry) for pk in ids.iterator() if (entry := entries.get(digests.of(kind, pk)))]
    for pk, entry in found:
        row = model._default_manager.filter(pk=pk).first()  # it may have gone with another
        if row is not None:
            yield row, entry


def _users(kind: Kind, entries: dict[str, Entry]) -> Iterator[tuple[User, Entry]]:
    digests = ledger.digests()
    for user in list(User.objects.all()) if entries else ():
        if entry := entries.get(digests.of(kind, ledger.account_id(user))):
            yield user, entry


def _accounts(entries: dict[str, Entry]) -> Steps:
    return (partial(deletion.delete_user, user) for user, _ in _users(Kind.ACCOUNT, entries))


def _threads(entries: dict[str, Entry]) -> Steps:
    return (partial(deletion.delete_thread, each) for each, _ in _rows(Thread, Kind.THREAD, entries))


def _files(entries: dict[str, Entry]) -> Steps:
    return (partial(deletion.delete_file, each) for each, _ in _rows(File, Kind.FILE, entries))


def _cleared(entries: dict[str, Entry]) -> Steps:
    """Unless the backup is of after: then there are later turns, or it knows."""
    for thread, entry in _rows(Thread, Kind.CLEARED, entries):
        if thread.cleared_through < entry.through and thread.last_position <= entry.through:
            yield partial(deletion.clear_thread, thread)


def _memories(entries: dict[str, Entry]) -> Steps:
    for memory, _ in _rows(Memory, Kind.MEMORY, entries):
        yield partial(forgetting.forget_memory, memory.user, memory.id)


def _topics(entries: dict[str, Entry]) -> Steps:
    return (partial(forgetting.forget_topic, each) for each, _ in _rows(Topic, Kind.TOPIC, entries))


def _turns(entries: dict[str, Entry]) -> Steps:
    for turn, _ in _rows(Message, Kind.TURN, entries):
        if turn.forgotten_at is None:
            yield partial(forgetting.forget_turn, turn.thread.user, turn.id)


def _shares(entries: dict[str, Entry]) -> Steps:
    for share, _ in _rows(Share, Kind.SHARE, entries):
        if share.revoked_at is None:
            yield partial(shares.revoke, Share.objects.filter(user=share.user_id, id=share.id))


def _everything(entries: dict[str, Entry]) -> Steps:
    return (partial(forgetting.forget_all, user) for user, _ in _users(Kind.EVERYTHING, entries))


STEPS: dict[Kind, Callable[[dict[str, Entry]], Steps]] = {
    Kind.ACCOUNT: _accounts,
    Kind.THREAD: _threads,
    Kind.FILE: _files,
    Kind.CLEARED: _cleared,
    Kind.MEMORY: _memories,
    Kind.TURN: _turns,
    Kind.TOPIC: _topics,
    Kind.SHARE: _shares,
    Kind.EVERYTHING: _everything,
}
