"""The one way to ask for a user's rows. What isn't the user's is not found."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model, OuterRef, Q, QuerySet, Subquery

from artifacts.models import Artifact, Preset
from conversations.accounts import switches
from conversations.accounts.group_access import ALL, Access
from conversations.errors import (
    ArtifactNotFound,
    InvalidMessage,
    MessageNotFound,
    NotFound,
    PresetNotFound,
    ReplyNotFound,
    RequestNotFound,
    ThreadNotFound,
)
from conversations.holds import custody
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread
from conversations.runtime import clock
from conversations.runtime.text import clean
from conversations.runtime.wording import worded

NEW = "new"
"""The one literal id that opens a thread (T5)."""


@dataclass(frozen=True, kw_only=True)
class ThreadState:
    """What makes the turns that a page shows of a thread other ones, though no turn is new."""

    cleared_at: datetime | None
    path_version: int


def state_of(thread: Thread) -> ThreadState:
    return ThreadState(cleared_at=thread.cleared_at, path_version=thread.path_version)


def of(user: User) -> QuerySet[Thread]:
    return Thread.objects.filter(user=user)


def listed(user: User) -> QuerySet[Thread]:
    """As lists, searches and exports have them: without temporary ones."""
    return of(user).filter(temporary=False)


def get(user: User, thread_id: str | uuid.UUID) -> Thread:
    """Raises ``ThreadNotFound`` where the id is malformed, unknown or another user's."""
    return row_with_id(of(user).select_related("assistant"), thread_id, ThreadNotFound)


def locked(user: User, thread_id: str | uuid.UUID, *, moves_path: bool = False) -> Thread:
    """The same, kept from other writers until the transaction ends; where its path moves, from who indexes it, too."""
    rows = of(user).select_for_update(no_key=not moves_path, of=("self",)).select_related("assistant")
    return row_with_id(rows, thread_id, ThreadNotFound)


def messages_of(thread: Thread) -> QuerySet[Message]:
    """The turns on the active path, oldest first."""
    return Message.objects.filter(user=thread.user_id, thread=thread, is_active=True).order_by("depth")


def every_message_of(thread: Thread) -> QuerySet[Message]:
    """The turns of all branches, in the order in which they were stored."""
    return Message.objects.filter(user=thread.user_id, thread=thread).order_by("position")


def message_of(user: User, message_id: str | uuid.UUID) -> Message:
    return row_with_id(Message.objects.filter(user=user), message_id, MessageNotFound)


def message_in(thread: Thread, message_id: str | uuid.UUID) -> Message:
    """Also one that is not on the active path. Raises ``MessageNotFound``."""
    return row_with_id(Message.objects.filter(user=thread.user_id, thread=thread), message_id, MessageNotFound)


def turn_before(turn: Message) -> Message | None:
    """The turn that it follows."""
    return Message.objects.filter(user=turn.user_id, id=turn.parent_id).first() if turn.parent_id else None


def reply_of(user: User, reply_id: str | uuid.UUID) -> Reply:
    return row_with_id(Reply.objects.filter(user=user), reply_id, ReplyNotFound)


def preset_of(thread: Thread, slug: str) -> Preset:
    """A preset that the thread's assistant or its project offers. Raises ``PresetNotFound``."""
    preset = presets_of(thread).filter(slug=slug).first()
    if preset is None:
        raise PresetNotFound
    return preset


def requests_of(user: User) -> QuerySet[ContextSnapshot]:
    return ContextSnapshot.objects.filter(user=user).order_by("-created_at")


def request_of(user: User, request_id: str | uuid.UUID) -> ContextSnapshot:
    return row_with_id(requests_of(user), request_id, RequestNotFound)


def request_for(turn: Message) -> ContextSnapshot | None:
    """The newest request that was made for a turn: the one that an answer came from, or the one that a message got."""
    of_turn = Q(reply=turn.reply_id) if turn.reply_id else Q(message=turn)
    requests = ContextSnapshot.objects.filter(of_turn, user=turn.user_id, purpose=ContextSnapshot.Purpose.REPLY)
    return requests.order_by("-created_at", "-round").first()


def artifact_of(user: User, artifact_id: str | uuid.UUID, *, deleted: bool = False) -> Artifact:
    """Raises ``ArtifactNotFound``, also for one that is deleted unless that is asked for."""
    artifacts = Artifact.objects.filter(user=user)
    return row_with_id(artifacts if deleted else artifacts.filter(deleted_at=None), artifact_id, ArtifactNotFound)


def presets_of(thread: Thread) -> QuerySet[Preset]:
    """The buttons that the thread's assistant and its project offer, each with its newest ``artifact`` of the thread."""
    artifacts = Artifact.objects.filter(
        user=thread.user_id, thread=thread, preset=OuterRef("slug"), deleted_at=None
    ).order_by("-updated_at", "-id")
    of_project = thread.project.presets if thread.project else []
    own = Q(assistants=thread.assistant_id) | Q(slug__in=of_project)
    offered = Preset.objects.filter(own, is_active=True).distinct()
    return offered.annotate(artifact=Subquery(artifacts.values("id")[:1]))


def offered_assistants(access: Access = ALL) -> QuerySet[Assistant]:
    """Those that are active, and that the person's groups allow."""
    active = Assistant.objects.filter(is_active=True)
    return active if access.assistants is None else active.filter(slug__in=access.assistants)


def assistant_named(slug: str | None, access: Access = ALL) -> Assistant:
    """The offered assistant of that name, or the default one for ``None``."""
    offered = offered_assistants(access)
    assistant = offered.filter(slug=slug).first() if slug else offered.order_by("-is_default", "order").first()
    if assistant is None:
        names = ", ".join(offered.values_list("slug", flat=True))
        which = "Offered are: {names}." if names else "Offered are: none; staff can activate one in the admin."
        raise InvalidMessage(worded("There is no such assistant.", which, names=names), field="assistant")
    return assistant


def assistant_known(slug: str) -> Assistant:
    """Also one that is offered no longer: threads may have it."""
    assistant = Assistant.objects.filter(slug=clean(slug)).first()
    if assistant is None:
        names = ", ".join(Assistant.objects.order_by("order", "name").values_list("slug", flat=True))
        raise InvalidMessage(
            worded("There is no such assistant.", "There are: {names}.", names=names), field="assistant"
        )
    return assistant


def create(*, user: User, assistant: Assistant, title: str = "", model: str = "") -> Thread:
    thread = unsaved(user=user, assistant=assistant, title=title)
    thread.model = model
    thread.save(force_insert=True)
    return thread


def unsaved(*, user: User, assistant: Assistant, title: str = "", opened_by: str | None = None) -> Thread:
    now = clock.now()
    return Thread(
        user=user, assistant=assistant, title=clean(title), opened_by=opened_by, created_at=now, updated_at=now
    )


def change(thread: Thread, **changes: Any) -> None:
    """Of its columns, within a transaction. What a person overwrites of its words is kept where a legal hold covers it."""
    rows = Thread.objects.filter(user=thread.user_id, id=thread.id)
    if changes.keys() & {"title", "instructions", "tags"}:
        custody.keep(thread.user_id, rows)
    rows.update(**changes)


def make_temporary(thread: Thread) -> None:
    """A thread that is not stored yet. Its person may switch on that it is given what is remembered. Raises
    ``TemporaryChatsOff``."""
    switches.demand(thread.user_id, "temporary_chats")
    thread.temporary, thread.remembers = True, False


def row_with_id[M: Model](rows: QuerySet[M], id: str | uuid.UUID, otherwise: type[NotFound]) -> M:
    """Raises ``otherwise`` where the id is malformed, or that of none of these rows."""
    row = rows.filter(pk=identifier(id, otherwise)).first()
    if row is None:
        raise otherwise
    return row


def identifier(value: str | uuid.UUID, otherwise: type[NotFound]) -> uuid.UUID:
    try:
        return value if isinstance(value, uuid.UUID) else uuid.UUID(value)
    except ValueError:
        raise otherwise from None
