"""What is remembered of the caller: read, added and changed. How it is forgotten is in ``memory.rest.forgetting``."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.types import OpenApiTypes
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.context.explain import uses
from conversations.context.record.snapshot_shapes import NamedProject
from conversations.errors import InvalidMessage, ProjectNotFound, ThreadNotFound
from conversations.models import Message, Project, Scope
from conversations.rest.base import APIView, AsyncAPIView, caller
from conversations.rest.deleted import RESPONSES, deleted
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Parameter, Switch, Words
from conversations.rest.serializers import described, valid
from conversations.runtime import clock, long_work
from conversations.runtime.long_work import WorkKind
from conversations.runtime.shapes import fill
from conversations.runtime.text import clean
from conversations.threads import projects
from memory import forgetting, services
from memory.models import Memory
from memory.rest.shapes import MemoryAnswer, MemoryChange, NewMemory, SourceAnswer, UsesAnswer
from memory.tags import user_tag

LONGEST_DAY = len("2026-10-01")


class MemoryList(APIView):
    part = Scope.MEMORY
    pagination_class = ordered_by("-created_at", "-id")
    words = Words("q", "Only those that hold all of these words.")
    thread = Parameter("thread", "Only those that come from this thread, or belong to it.", type=OpenApiTypes.UUID)
    tag = Parameter("tag", "Only those that have exactly this tag.")
    project = Parameter("project", "Only those of this project: its id; `none`: only those of no project.")
    ended = Switch("ended", "`true`: also those that were replaced or ended.")
    at = Parameter(
        "at",
        "Those that held at the end of this day, such as `2026-10-01`, in the caller's time zone, or at this time.",
    )

    history = Parameter(
        "history",
        "Only what held before this memory: what it took the place of, what that had, and so on.",
        type=OpenApiTypes.UUID,
    )

    @describe(
        responses=described(MemoryAnswer, many=True), parameters=[words, thread, tag, project, ended, at, history]
    )
    def get(self, request: Request) -> Response:
        """What is remembered of the caller, newest first."""
        thread, project = self.thread.text(request), self.project.text(request)
        newest = self.history.text(request)
        outside = project == projects.NONE
        memories = services.memories_of(
            caller(request),
            held=self._at(request) or not (newest or self.ended.read(request)),
            words=self.words.read(request),
            thread=threads.get(caller(request), thread) if thread else None,
            project=None if outside else projects.project_of(caller(request), project),
            outside=outside,
        )
        if tag := self.tag.text(request):
            memories = memories.filter(tags__contains=[clean(tag)])
        if newest:
            newer = services.memory_of(caller(request), newest)
            older = services.histories_of(caller(request), [newer]).get(newer.id, [])
            memories = memories.filter(id__in=[memory.id for memory in older])
        return self.page(request, memories, lambda page: memory_objects(caller(request), page))

    def _at(self, request: Request) -> datetime | None:
        text = self.at.text(request)
        if not text:
            return None
        zone = services.zone_of(services.preferences_of(caller(request)))
        try:
            at = datetime.fromisoformat(text)
            at += timedelta(days=len(text) <= LONGEST_DAY)
            return at if at.tzinfo else at.replace(tzinfo=zone)
        except (ValueError, OverflowError):
            raise self.at.refuse("a day or a time, such as `2026-10-01`") from None

    @describe(request=described(NewMemory), responses={201: described(MemoryAnswer)})
    def post(self, request: Request) -> Response:
        """Have something remembered."""
        payload = valid(NewMemory, request)
        by_hand = isinstance(request.successful_authenticator, SessionAuthentication)
        memory = services.remember(
            user=caller(request),
            content=stripped(payload["content"]),
            tags=own_tags(caller(request), payload.get("tags", [])),
            origin=Memory.Origin.HAND if by_hand else Memory.Origin.PROGRAM,
            at=clock.now(),
            valid_until=payload.get("valid_until"),
        )
        return Response(memory_objects(caller(request), [memory])[0], status=201)


class MemoryDetail(AsyncAPIView):
    part = Scope.MEMORY

    @describe(responses=described(MemoryAnswer))
    def get(self, request: Request, memory_id: str) -> Response:
        """One memory."""
        return Response(memory_objects(caller(request), [services.memory_of(caller(request), memory_id)])[0])

    @describe(request=described(MemoryChange), responses=described(MemoryAnswer))
    def patch(self, request: Request, memory_id: str) -> Response:
        """Correct a memory. Words that came from a conversation are kept as replaced, see `?ended=true`."""
        memory = services.memory_of(caller(request), memory_id)
        changes: dict[str, Any] = {**valid(MemoryChange, request)}
        if "content" in changes:
            changes["content"] = stripped(changes["content"])
        if "tags" in changes:
            changes["tags"] = own_tags(caller(request), changes["tags"]) or [user_tag(caller(request).pk)]
        return Response(memory_objects(caller(request), [services.change(memory, at=clock.now(), **changes)])[0])

    @describe(responses=RESPONSES)
    async def delete(self, request: Request, memory_id: str) -> Response:
        """Forget a memory for good, as `memories/{id}/forget/` does. 200 in place of 204 tells what a legal hold keeps."""
        user = caller(request)
        done = await long_work.run(
            user.pk,
            WorkKind.CHANGE,
            lambda: forgetting.forget_memory(user, services.memory_of(user, memory_id).id),
        )
        return deleted(done.held)


class MemoryRestore(APIView):
    part = Scope.MEMORY

    @describe(request=None, responses=described(MemoryAnswer))
    def post(self, request: Request, memory_id: str) -> Response:
        """Undo the end of a memory. What had ended it counts as never said; it stays, with `?ended=true`."""
        memory = services.restore(services.memory_of(caller(request), memory_id), at=clock.now())
        return Response(memory_objects(caller(request), [memory])[0])


class MemoryUses(APIView):
    part = Scope.MEMORY

    @describe(responses=described(UsesAnswer))
    def get(self, request: Request, memory_id: str) -> Response:
        """What a memory was given to: requests and replies, what it took in them, and when it was last given."""
        memory = services.memory_of(caller(request), memory_id)
        return Response(fill(UsesAnswer, uses.uses_of(caller(request).pk, [memory.id]).get(memory.id, uses.NONE)))


def source_objects(ids: Iterable[uuid.UUID], turns: Mapping[uuid.UUID, Message]) -> list[SourceAnswer]:
    """Of those that are still there, in order."""
    known = [turns[id] for id in ids if id in turns]
    return [fill(SourceAnswer, turn, message=turn.id, thread=turn.thread_id) for turn in known]


def memory_objects(user: User, page: Sequence[Memory]) -> list[MemoryAnswer]:
    turns, known, older = (
        services.sources_of(user, page),
        services.projects_of(user, page),
        services.superseded_by(user, page),
    )
    return [_object(memory, turns, known.get(memory.confined_to), older.get(memory.id, [])) for memory in page]


def _object(
    memory: Memory, turns: Mapping[uuid.UUID, Message], project: Project | None, older: Sequence[Memory]
) -> MemoryAnswer:
    sources = source_objects(memory.sources, turns)
    source = sources[0] if sources else None
    return fill(
        MemoryAnswer,
        memory,
        project=project_object(project),
        source=source,
        sources=sources,
        superseded_by=memory.superseded_by_id,
        supersedes=[each.id for each in older],
    )


def project_object(project: Project | None) -> NamedProject | None:
    return fill(NamedProject, project) if project else None


def stripped(content: str) -> str:
    if not content.strip():
        raise ValidationError({"content": ["Say what is to be remembered."]})
    return content.strip()


def own_tags(user: User, tags: Sequence[str]) -> list[str]:
    """The tags, without repetitions. Raises ``InvalidMessage`` where one names somebody else, or a thread of somebody else."""
    for tag in tags:
        kind, _, named = tag.partition(":")
        if kind == "user" and tag != user_tag(user.pk):
            raise InvalidMessage(f"Your own tag is `{user_tag(user.pk)}`; another user's can't be given.", field="tags")
        if kind == "thread":
            try:
                threads.get(user, named)
            except ThreadNotFound:
                raise InvalidMessage("A `thread:` tag must hold the id of one of your threads.", field="tags") from None
        if kind == "project":
            try:
                projects.get(user, named)
            except ProjectNotFound:
                raise InvalidMessage(
                    "A `project:` tag must hold the id of one of your projects.", field="tags"
                ) from None
    return list(dict.fromkeys(tags))
