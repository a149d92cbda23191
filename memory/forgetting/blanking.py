"""The rows that go, deleted or blanked where they are. Must run with the door open."""

import uuid
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import F, Max, Model, Q, QuerySet, Value
from django.db.models.functions import Least

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.files.account import files_named
from conversations.context.record.snapshots import digest_once_forgotten
from conversations.context.tokens.estimate import turn_tokens
from conversations.holds import custody
from conversations.models import (
    Case,
    CaseAnswer,
    ContextBlock,
    ContextSnapshot,
    Feedback,
    File,
    FilePart,
    Message,
    Prompt,
    Reply,
    ReplyEvent,
    Schedule,
    Thread,
    data_map,
    text_blocks,
)
from conversations.models.data_map import FORGOTTEN, Fate
from conversations.runtime import clock
from conversations.runtime.db import run
from memory.forgetting.result import ForgottenTurn, Rows
from memory.index.word_index import forget_counts
from memory.models import Consolidation, DailySummary, IndexedPassage, Memory, ThreadSummary, Topic

TOKENS = turn_tokens(text_blocks(FORGOTTEN))

# Their places stay, so that nothing takes them for turns that are still to be indexed.
EMPTY_PLACES = """
UPDATE memory_indexedpassage AS place SET terms = '{}', length = 0
FROM conversations_message AS turn
WHERE turn.user_id = %(user)s AND turn.id = ANY(%(turns)s) AND place.user_id = turn.user_id
  AND place.thread_id = turn.thread_id AND place.depth = turn.depth AND place.position = turn.position
"""

FORGET_COUNTS = """
DELETE FROM conversations_tokencount AS count USING conversations_message AS turn
WHERE turn.user_id = %(user)s AND turn.id = ANY(%(turns)s) AND count.user_id = turn.user_id
  AND count.thread_id = turn.thread_id AND count.position = turn.position
"""

FORGET_EXCERPTS = """
DELETE FROM conversations_turnfile AS given USING conversations_message AS turn
WHERE turn.user_id = %(user)s AND turn.id = ANY(%(turns)s) AND given.user_id = turn.user_id
  AND given.thread_id = turn.thread_id AND given.position = turn.position
"""


def blank(user: User, rows: Rows) -> None:
    """All of these rows of the user's; summaries are to be made anew of what is left."""
    now = clock.now()
    custody.keep(user.pk, *_originals(user, rows))
    _log_entries(rows)
    _threads(user, rows)
    for (label, column), telling in rows.columns.items():
        table = apps.get_model(label)
        mine = table._default_manager.filter(user=user, pk__in=telling)
        mine.update(**{column: data_map.blanks_of(table)[column]})
    _turns(user, rows.turns, now)
    _requests(user, rows, now)
    _blocks(user, rows.blocks, now)
    ReplyEvent.objects.filter(user=user, reply__in=rows.replies | rows.errors).delete()
    gone: list[tuple[type[Model], Collection[Any]]] = [
        *((File, rows.files), (Memory, rows.memories), (Topic, rows.topics), (DailySummary, rows.days)),
        *((Artifact, rows.artifacts), (ArtifactVersion, rows.versions), (Prompt, rows.prompts)),
        (Schedule, rows.schedules),
        (Feedback, rows.feedback),
    ]
    for model, ids in gone:
        _take(model._default_manager.filter(user=user, pk__in=ids))
    _take(ThreadSummary.objects.filter(user=user, id__in=rows.summaries), stale_since=now)
    ThreadSummary.objects.filter(user=user, id__in=rows.beside).update(stale_since=now)
    if rows.summaries or rows.beside:
        Consolidation.objects.update_or_create(user=user, defaults={"wanted_at": now})


def _originals(user: User, rows: Rows) -> list[QuerySet[Any]]:
    """What a legal hold keeps of these rows, as it stands before."""
    ids: list[tuple[type[Model], Collection[Any]]] = [
        *((Message, [turn.id for turn in rows.turns]), (Reply, rows.replies | rows.errors)),
        *((ContextSnapshot, rows.requests), (ContextBlock, rows.blocks), (File, rows.files), (Feedback, rows.feedback)),
        *((Memory, rows.memories), (Topic, rows.topics), (Artifact, rows.artifacts), (Prompt, rows.prompts)),
        *((ArtifactVersion, rows.versions), (Thread, rows.threads), (Schedule, rows.schedules)),
        *((apps.get_model(label), telling) for (label, _), telling in rows.columns.items()),
    ]
    own = [model._default_manager.filter(user=user, pk__in=keys) for model, keys in ids if keys]
    return [*own, FilePart.objects.filter(user=user, file__in=rows.files)] if rows.files else own


def blank_all(user: User) -> None:
    """What is kept up beside a person's turns: nothing of them is found any more, and nothing is summarised again."""
    mine = Thread.objects.filter(user=user)  # by their index
    _take(IndexedPassage.objects.filter(user=user, thread__in=mine), length=0)
    forget_counts(user.pk)
    _take(ThreadSummary.objects.filter(user=user), sources=[], stale_since=None)
    ThreadSummary.objects.bulk_create(_parts_to_come(user, clock.now()))


def _parts_to_come(user: User, now: datetime) -> Iterable[ThreadSummary]:
    """The turns behind the last part of each thread as a part that tells nothing."""
    ends = ThreadSummary.objects.filter(user=user).values_list("thread_id").annotate(Max("last_position"))
    done = dict(ends.values_list("thread_id", "last_position__max"))
    return [
        ThreadSummary(
            thread=thread,
            user=user,
            first_position=done.get(thread.id, 0) + 1,
            last_position=thread.last_position,
            started_at=thread.created_at,
            ended_at=thread.updated_at,
            made_at=now,
        )
        for thread in Thread.objects.filter(user=user)
        if thread.last_position > done.get(thread.id, 0)
    ]


def _take(rows: QuerySet[Any], **also: Any) -> None:
    """As the data map says: the rows go, or their words do. ``also`` is what changes of rows that stay."""
    if data_map.table_of(rows.model).forgotten is Fate.GOES:
        rows.delete()
        return
    _leave_kinds(rows)
    rows.update(**data_map.blanks_of(rows.model) | also)


def _leave_kinds(rows: QuerySet[Any]) -> None:
    """Of columns that tell a kind beside the words, errors above all, the kind stays."""
    for name, blank in data_map.dependent_blanks_of(rows.model).items():
        for pk, value in list(rows.filter(**{f"{name}__isnull": False}).values_list("pk", name)):
            rows.filter(pk=pk).update(**{name: blank(value)})


def _threads(user: User, rows: Rows) -> None:
    mine = Thread.objects.filter(user=user)
    mine.filter(id__in=rows.threads).update(title=data_map.blanks_of(Thread)["title"])
    touched = mine.filter(id__in={turn.thread for turn in rows.turns})
    gone = Message.objects.filter(user=user, id__in=[turn.id for turn in rows.turns], client_message_id__isnull=False)
    sent = gone.values_list("client_message_id", flat=True)
    touched.filter(opened_by__in=list(sent)).update(opened_by=data_map.blanks_of(Thread)["opened_by"])
    # The row of a thread has another version whenever its turns say something else.
    touched.update(title=F("title"))


def _requests(user: User, rows: Rows, now: datetime) -> None:
    """What services answered to them may quote them. One that a worker has asked and that has no answer yet ends here, so
    that none is stored any more."""
    requests = ContextSnapshot.objects.filter(user=user, id__in=rows.requests)
    running = requests.filter(status=ContextSnapshot.Status.PENDING)
    running.update(status=ContextSnapshot.Status.INTERRUPTED, ended_at=now)
    _take(requests)
    _cases(user, rows)
    ended = Reply.objects.filter(user=user).exclude(status=Reply.Status.RUNNING)
    _leave_kinds(ended.filter(id__in=rows.errors))
    _take(ended.filter(id__in=rows.replies))


def _cases(user: User, rows: Rows) -> None:
    """What staff expect of these requests, and what models answered to them in experiments."""
    cases = Case.objects.filter(thread__in=Thread.objects.filter(user=user))
    touched = cases.filter(request__in=rows.requests)
    touched.update(**dict.fromkeys(data_map.TABLES["conversations.Case"].staff.split(), ""))
    answers = CaseAnswer.objects.filter(case__in=cases)
    named = Q(case__in=touched) | Q(request__in=rows.requests) | Q(verdict_request__in=rows.requests)
    if rows.files:
        given = answers.filter(request__files__isnull=False).values_list("pk", "request__files")
        files = {str(id) for id in rows.files}
        named |= Q(pk__in=[pk for pk, packed in given if files & files_named(packed)])
    _take(answers.filter(named))


def _turns(user: User, turns: Collection[ForgottenTurn], now: datetime) -> None:
    ids = [turn.id for turn in turns]
    run(FORGET_EXCERPTS, user=user.pk, turns=ids)
    Message.objects.filter(user=user, id__in=ids).update(
        **data_map.blanks_of(Message),
        status=Message.Status.FORGOTTEN,
        token_count=Least(Value(TOKENS), F("token_total")),
        forgotten_at=now,
    )
    run(EMPTY_PLACES, user=user.pk, turns=ids)
    run(FORGET_COUNTS, user=user.pk, turns=ids)


def _blocks(user: User, ids: Collection[int], now: datetime) -> None:
    """Under another digest, so that the text can be stored again if it is said again."""
    mine = ContextBlock.objects.filter(user=user)
    blocks = list(mine.filter(id__in=ids).defer("text"))
    for block in blocks:
        block.sha256, block.forgotten_at = digest_once_forgotten(bytes(block.sha256)), now
        block.text = data_map.blanks_of(ContextBlock)["text"]
    threads, digests = {block.thread_id for block in blocks}, {block.sha256 for block in blocks}
    mine.filter(thread__in=threads, sha256__in=digests).delete()  # forgotten once before
    mine.bulk_update(blocks, ["sha256", "text", "forgotten_at"], batch_size=500)


def _log_entries(rows: Rows) -> None:
    """The admin's log keeps what a row was called, which may be a person's own words."""
    named: list[tuple[type[Model], Collection[uuid.UUID]]] = [
        (Thread, rows.threads),
        (Artifact, rows.artifacts),
        (Memory, rows.memories),
        (Topic, rows.topics),
        (Message, [turn.id for turn in rows.turns]),
    ]
    for model, ids in named:
        entries = LogEntry.objects.filter(
            content_type=ContentType.objects.get_for_model(model), object_id__in=[str(id) for id in ids]
        )
        _take(entries)
