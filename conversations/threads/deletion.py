"""A user's explicit delete of whole threads, or of all turns of one, and of what was remembered of them."""

import logging
from dataclasses import asdict, replace

from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat

from artifacts.models import Artifact
from conversations import threads
from conversations.context.files.thread_files import names_of_files
from conversations.context.turns.groups import FILE
from conversations.errors import ProjectNotEmpty, ReplyInProgress
from conversations.files import store
from conversations.holds import coverage, custody
from conversations.mcp_client import sign_ins
from conversations.models import ApiToken, File, McpSignIn, Message, Project, Reply, Thread, data_map
from conversations.models.deletion_guard import allow_deletion
from conversations.runtime import clock
from conversations.runtime.wording import worded
from conversations.threads import projects
from conversations.threads.titles import titles_from
from conversations.upkeep import hourly_figures
from memory import forgetting
from memory.consolidation import moving
from memory.forgetting import Clearing, ledger
from memory.index.word_index import forget_counts
from memory.models import Memory, ThreadSummary
from memory.tags import project_tag

__all__ = ["allow_deletion", "clear_thread", "delete_thread", "delete_user", "what_clearing"]

log = logging.getLogger("openbook.threads")


def delete_thread(thread: Thread) -> None:
    """With its turns, replies, events, snapshots and their texts, and all that is remembered of it alone, wherever that stood.

    Raises ``ReplyInProgress`` while a reply is running in it or where any of it was given.
    """
    with allow_deletion():
        forgetting.hold_off(thread.user_id)
        if Reply.objects.filter(user=thread.user_id, thread=thread, status=Reply.Status.RUNNING).exists():
            raise ReplyInProgress("A reply is still running in this thread. Stop it first, then delete.")
        rows = forgetting.left_by(thread)
        running = Reply.objects.filter(
            user=thread.user_id, thread__in=rows.touched, status=Reply.Status.RUNNING
        ).first()
        if running:
            raise ReplyInProgress(
                "A reply is still running in a thread that was given something of it. Wait for it to end or stop it, then "
                "delete.",
                thread=str(running.thread_id),
            )
        if thread.temporary:  # which no backup holds
            hourly_figures.keep_of_temporary(thread)
        else:
            ledger.note(ledger.Kind.THREAD, thread.id)
        custody.keep_thread(thread)
        forgetting.blank(thread.user, rows)
        threads.of(thread.user).filter(id=thread.id).delete()
        forget_counts(thread.user_id)
    log.info("thread deleted", extra={"thread_id": str(thread.id)})


def delete_project(project: Project, *, threads_go: str | None) -> None:
    """With its files. ``threads_go`` is ``keep``: its threads leave it, with what they taught; or ``delete``. Raises
    ``ProjectNotEmpty`` where neither is said and the project holds anything, and as ``delete_thread`` and ``delete_file``."""
    mine = {"user": project.user_id, "project": project}
    notes = Memory.objects.filter(user=project.user_id, confined_to=project_tag(project.id))
    held = {
        "threads": Thread.objects.filter(**mine).count(),
        "files": File.objects.filter(**mine).count(),
        "memories": notes.count(),
    }
    if threads_go is None and any(held.values()):
        raise ProjectNotEmpty(
            worded(
                "The project holds {threads} threads, {files} files and {memories} notes. Say what becomes of threads and "
                "notes: `?threads=keep` moves them out of it, `?threads=delete` deletes them. The files go with the project.",
                **held,
            ),
            **held,
        )
    with transaction.atomic():
        custody.keep_project(project)
        for thread in Thread.objects.filter(**mine):
            if threads_go == "delete":
                delete_thread(thread)
            else:
                projects.move(thread, None)
        for file in File.objects.filter(**mine):
            delete_file(file)
        if threads_go == "delete":
            forgetting.forget_notes(project.user, notes)
        else:
            moving.move_notes(notes)
        ledger.note(ledger.Kind.PROJECT, project.id)
        projects.of(project.user).filter(id=project.id).delete()
    log.info("project deleted", extra={"project_id": str(project.id), "threads": threads_go or "none"})


def delete_file(file: File) -> None:
    """With its parts, and with the replies that quote it. A worker removes the bytes within seconds.

    Raises ``ReplyInProgress`` while a reply of the person's is running, unless the file is in no message and no project yet.
    """
    with transaction.atomic():
        unsent = File.objects.filter(user=file.user_id, id=file.id, thread=None, project=None)
        custody.keep_files(file.user_id, unsent)
        if unsent.delete()[0]:
            ledger.note(ledger.Kind.FILE, file.id)
            return
    with allow_deletion():
        forgetting.hold_off(file.user_id)
        forgetting.refuse_while_running(file.user_id, "delete")
        ledger.note(ledger.Kind.FILE, file.id)
        custody.keep_files(file.user_id, store.of(file.user).filter(id=file.id))
        rows = forgetting.left_by_file(file)
        forgetting.blank(file.user, rows)
        store.of(file.user).filter(id=file.id).delete()
    log.info("file deleted", extra={"file_id": str(file.id)})


@transaction.atomic  # in which long results come in pieces
def what_clearing(thread: Thread) -> Clearing:
    """What ``clear_thread`` would do. Reads only."""
    return _clearing(thread, forgetting.cleared_from(thread))


def clear_thread(thread: Thread) -> Clearing:
    """All its turns go, and what rests on them; the thread stays, with what was made beside it. Tells what went.

    Raises ``ReplyInProgress`` while a reply of the person's is running, and ``ThreadNotFound``.
    """
    with allow_deletion():
        forgetting.hold_off(thread.user_id)
        thread = threads.get(thread.user, thread.id)
        forgetting.refuse_while_running(thread.user_id, "clear")
        rows = forgetting.cleared_from(thread)
        done = _clearing(thread, rows)
        if done.messages:
            ledger.note(ledger.Kind.CLEARED, thread.id, through=thread.last_position)
            custody.keep_thread(thread)
            forgetting.blank(thread.user, rows)
            _empty(thread, keeps_title=not done.titles)
    log.info("thread cleared", extra={"thread_id": str(thread.id), **asdict(replace(done, held=""))})
    return done


def delete_user(user: User) -> None:
    """With all of the user's threads; sign-ins to servers are revoked once that is stored. Raises ``ReplyInProgress`` while a
    reply is running in one."""
    with allow_deletion():
        rows = threads.of(user).select_for_update()
        if Reply.objects.filter(user=user, thread__in=list(rows), status=Reply.Status.RUNNING).exists():
            raise ReplyInProgress("A reply is still running for this user. Wait for it to end, then delete.")
        ledger.note(ledger.Kind.ACCOUNT, ledger.account_id(user))
        custody.keep_account(user)
        rows.delete()
        sign_ins.forget(McpSignIn.objects.filter(Q(user=user) | Q(server__user=user)))
        _forget_name(user)
        user.delete()


def _forget_name(user: User) -> None:
    """Where it stands beside the rows that go with the user: in sessions, and in what the admin noted of staff's changes."""
    keys = UserSession.objects.filter(user=user).values_list("session_key", flat=True)
    Session.objects.filter(session_key__in=list(keys)).delete()
    tokens = ApiToken.objects.filter(user=user).values_list("id", flat=True)
    for model, ids in ((User, [user.pk]), (ApiToken, list(tokens))):
        kind = ContentType.objects.get_for_model(model)
        noted = LogEntry.objects.filter(content_type=kind, object_id__in=[str(each) for each in ids])
        noted.update(object_repr=Concat(Value(f"{kind.name} "), "object_id"))


def _clearing(thread: Thread, rows: forgetting.Rows) -> Clearing:
    turns = Message.objects.filter(user=thread.user_id, thread=thread)
    parts = ThreadSummary.objects.filter(user=thread.user_id, thread=thread).exclude(text="")
    return Clearing(
        messages=turns.count(),
        quotes=len(rows.turns),
        memories=len(rows.memories),
        topics=len(rows.topics),
        titles=int(_is_titled_by(thread, turns)),
        summaries=parts.count() + len(rows.summaries) + len(rows.days),
        snapshots=len(rows.requests),
        held=coverage.notice(thread.user_id, project=thread.project_id),
        kept_artifacts=Artifact.objects.filter(user=thread.user_id, thread=thread, deleted_at=None).count(),
    )


def _is_titled_by(thread: Thread, turns: QuerySet[Message]) -> bool:
    """Whether its title is the first words of one of the turns, or the names of its files, as it is unless somebody chose
    another."""
    if not thread.title:
        return False
    if thread.title_through:
        return True
    texts = turns.values_list("text", flat=True).iterator()
    named = turns.filter(content__contains=[{"type": FILE}])
    return any(thread.title in titles_from(text) for text in texts) or any(
        thread.title in titles_from(names_of_files(turn.blocks)) for turn in named
    )


def _empty(thread: Thread, *, keeps_title: bool) -> None:
    """Its positions are never given again, so that every request still tells which turns it was given."""
    for model in data_map.emptied_with_a_thread():
        model._default_manager.filter(user=thread.user_id, thread=thread).delete()
    threads.of(thread.user).filter(id=thread.id).update(
        title=thread.title if keeps_title else "",
        title_through=None,
        opened_by=None,
        message_count=0,
        session_started_at=None,
        away_since=None,
        cleared_at=clock.now(),
        cleared_through=F("last_position"),
    )
    forget_counts(thread.user_id)
