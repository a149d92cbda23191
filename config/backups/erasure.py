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
from conversations.holds import actions, coverage, custody, release
from conversations.holds.actions import RESTORED, HoldSubject
from conversations.models import File, LegalHold, Message, Project, Prompt, Reply, Schedule, Share, Thread
from conversations.replies.closing import interrupt
from conversations.schedules import schedules
from conversations.sharing import shares
from conversations.threads import deletion, prompts
from memory import forgetting
from memory.forgetting import ledger
from memory.forgetting.ledger import Entry, Kind
from memory.models import Memory, Topic

MARGIN = timedelta(minutes=5)
"""By which clocks may differ, and a transaction may have begun before its end."""

OF_A_TIME = {Kind.EVERYTHING, Kind.LEAVING, Kind.STAYING}
"""What says nothing of what a later backup holds."""
OF_HOLDS = (Kind.HOLD, Kind.HOLD_ENDED)


def apply(*, since: datetime, but: Collection[UUID] = ()) -> Counter[str]:
    """Forget again what the ledger names, but for these ids. Returns how much of it was still there, by kind.

    Holds come first: those that have ended meanwhile end, and what they alone had kept goes; those that have begun meanwhile
    begin again, and keep what was deleted after.

    Ids are never given twice, so that whatever is there under one is what was forgotten. That all was forgotten of somebody
    holds for what there was before, and is done again where it was after ``since``; whether an account is to be deleted is
    what its person said last.
    """
    done: Counter[str] = Counter()
    if not Path(settings.OPENBOOK_ERASURE_LEDGER).is_dir():
        return done
    named = _named(since, but)
    _apply_holds(named)
    if named:
        _end_replies()
    for kind, steps in STEPS.items():
        for entry, step in steps(named[kind]) if named[kind] else ():
            with custody.asked_at(entry.at):
                step()
            done[kind] += 1
    said = [each for kind in (Kind.LEAVING, Kind.STAYING) for each in _users(kind, named[kind])]
    for user, entry in sorted(said, key=lambda each: each[1].at):
        if entry.kind is Kind.LEAVING:
            lifecycle.leave(user, asked_at=entry.at)
        else:
            lifecycle.stay(user)
    return done


type Named = dict[Kind, dict[str, Entry]]


def _named(since: datetime, but: Collection[UUID]) -> Named:
    """What the ledger names, by digest: of each the entry that goes furthest."""
    digests = ledger.digests()
    spared = {digests.of(kind, id) for kind in Kind for id in but}
    named: Named = defaultdict(dict)
    for entry in ledger.entries():
        if entry.digest not in spared and (entry.kind not in OF_A_TIME or entry.at >= since - MARGIN):
            named[entry.kind][entry.digest] = _further(entry, named[entry.kind].get(entry.digest))
    return named


def _apply_holds(named: Named) -> None:
    """As they stood last: whatever of them the backup knows."""
    entries = {digest: entry for kind in OF_HOLDS for digest, entry in named.pop(kind, {}).items()}
    for hold in LegalHold.objects.filter(ended_at=None):
        last = _last_of(entries, hold.subject)
        if last and last.kind is Kind.HOLD_ENDED:
            LegalHold.objects.filter(id=hold.id).update(ended_at=last.at)
    for subject in _subjects() if entries else ():
        last = _last_of(entries, subject.in_ledger)
        lasting = coverage.current(subject.user.pk).filter(subject=subject.in_ledger)
        if last and last.kind is Kind.HOLD and not lasting.exists():
            actions.begin(subject, reason=RESTORED, by="", began_at=last.at)
    release.release_due()


def _last_of(entries: dict[str, Entry], subject: str) -> Entry | None:
    digests = ledger.digests()
    said = [entry for kind in OF_HOLDS if (entry := entries.get(digests.of(kind, subject)))]
    return max(said, key=lambda each: each.at, default=None)


def _subjects() -> Iterator[HoldSubject]:
    """All that a hold may be on: accounts and projects."""
    for user in User.objects.order_by("pk").iterator():
        yield HoldSubject(user=user)
    for project in Project.objects.select_related("user").order_by("pk").iterator():
        yield HoldSubject(user=project.user, project_id=project.id)


def _further(entry: Entry, other: Entry | None) -> Entry:
    return max(entry, other or entry, key=lambda each: (each.through, each.at))


def _end_replies() -> None:
    """Nobody runs them any more, and where one runs nothing is forgotten."""
    running = Reply.objects.filter(status=Reply.Status.RUNNING)
    for user_id, reply_id in list(running.values_list("user", "id")):
        interrupt(reply_id, user_id=user_id)


type Steps = Iterator[tuple[Entry, Callable[[], object]]]


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
    return ((entry, partial(deletion.delete_user, user)) for user, entry in _users(Kind.ACCOUNT, entries))


def _threads(entries: dict[str, Entry]) -> Steps:
    return ((entry, partial(deletion.delete_thread, each)) for each, entry in _rows(Thread, Kind.THREAD, entries))


def _files(entries: dict[str, Entry]) -> Steps:
    return ((entry, partial(deletion.delete_file, each)) for each, entry in _rows(File, Kind.FILE, entries))


def _cleared(entries: dict[str, Entry]) -> Steps:
    """Unless the backup is of after: then there are later turns, or it knows."""
    for thread, entry in _rows(Thread, Kind.CLEARED, entries):
        if thread.cleared_through < entry.through and thread.last_position <= entry.through:
            yield entry, partial(deletion.clear_thread, thread)


def _memories(entries: dict[str, Entry]) -> Steps:
    for memory, entry in _rows(Memory, Kind.MEMORY, entries):
        yield entry, partial(forgetting.forget_memory, memory.user, memory.id)


def _topics(entries: dict[str, Entry]) -> Steps:
    return ((entry, partial(forgetting.forget_topic, each)) for each, entry in _rows(Topic, Kind.TOPIC, entries))


def _projects(entries: dict[str, Entry]) -> Steps:
    """What was deleted along with one is named itself, and is gone by now: what is there was to stay."""
    for project, entry in _rows(Project, Kind.PROJECT, entries):
        yield entry, partial(deletion.delete_project, project, threads_go="keep")


def _prompts(entries: dict[str, Entry]) -> Steps:
    return ((entry, partial(prompts.delete, prompt)) for prompt, entry in _rows(Prompt, Kind.PROMPT, entries))


def _schedules(entries: dict[str, Entry]) -> Steps:
    return ((entry, partial(schedules.delete, each)) for each, entry in _rows(Schedule, Kind.SCHEDULE, entries))


def _turns(entries: dict[str, Entry]) -> Steps:
    for turn, entry in _rows(Message, Kind.TURN, entries):
        if turn.forgotten_at is None:
            yield entry, partial(forgetting.forget_turn, turn.thread.user, turn.id)


def _shares(entries: dict[str, Entry]) -> Steps:
    for share, entry in _rows(Share, Kind.SHARE, entries):
        if share.revoked_at is None:
            yield entry, partial(shares.revoke, Share.objects.filter(user=share.user_id, id=share.id))


def _everything(entries: dict[str, Entry]) -> Steps:
    return ((entry, partial(forgetting.forget_all, user)) for user, entry in _users(Kind.EVERYTHING, entries))


STEPS: dict[Kind, Callable[[dict[str, Entry]], Steps]] = {
    Kind.ACCOUNT: _accounts,
    Kind.THREAD: _threads,
    Kind.FILE: _files,
    Kind.CLEARED: _cleared,
    Kind.MEMORY: _memories,
    Kind.TURN: _turns,
    Kind.TOPIC: _topics,
    Kind.PROJECT: _projects,
    Kind.PROMPT: _prompts,
    Kind.SCHEDULE: _schedules,
    Kind.SHARE: _shares,
    Kind.EVERYTHING: _everything,
}
