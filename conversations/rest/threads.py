"""Threads: listed, made, changed, deleted, forked. Each is asked for through ``conversations.threads``."""

from functools import partial
from typing import Annotated, Any, TypedDict

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import tasks, threads, wire
from conversations.accounts.group_access import ALL, access_of
from conversations.errors import InvalidMessage
from conversations.holds import coverage
from conversations.import_export.forking import fork
from conversations.models import Reply, Thread
from conversations.rest import conditional
from conversations.rest.base import APIView, AsyncAPIView, caller
from conversations.rest.deleted import RESPONSES, deleted
from conversations.rest.descriptions import describe
from conversations.rest.instructions import InstructionsText
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Moment, Parameter, Switch, Words
from conversations.rest.serializers import described, valid
from conversations.rest.thread_labels import Tags, ThreadsAnswer, ThreadsChange, change_of
from conversations.runtime import long_work
from conversations.runtime.lagging import read_lagging, with_lag
from conversations.runtime.long_work import WorkKind
from conversations.runtime.shapes import Id, Slug
from conversations.runtime.text import clean, one_line
from conversations.threads import costs, deletion, forks, labels, model_choices, paths, projects
from conversations.threads import search as threads_search
from memory.consolidation import consolidation_state

Title = Annotated[str, {"max_length": 200, "allow_blank": True}]


Temporary = Annotated[
    bool,
    {"default": False},
    "For a new thread only. `true`: it goes when it is closed (`DELETE threads/{id}/`, a minute after its last socket, an hour "
    "after its last turn), nothing is learnt from it, and it is given nothing that is remembered unless `remembers` is set.",
]


class ThreadFields(TypedDict, total=False):
    title: Annotated[Title, "At most 200 characters, in one line; empty: from the first message."]
    assistant: Annotated[Slug, "`companion` (default), `analyst`, or one that staff made."]
    model: Annotated[
        str,
        {"allow_blank": True, "max_length": 121},
        "Of `GET models/`, which answers in it from now on; any other is refused with 400 `model_not_offered`. Empty, or "
        "the assistant's own: that one, whichever it will be.",
    ]
    project: Annotated[
        Id | None,
        "The project that it is in; null: none. With the thread goes what it taught. A new thread in a project has the "
        "project's assistant and model, unless others are named.",
    ]
    instructions: InstructionsText
    uses_account_instructions: Annotated[bool, "`false`: it is given nothing of `GET account/instructions/`."]


class NewThread(ThreadFields, total=False):
    temporary: Temporary


class ThreadChange(ThreadFields, total=False):
    pinned: Annotated[bool, "`true`: it stands above the others in the list."]
    archived: Annotated[bool, "`true`: it is put away; everything of it stays."]
    tags: Tags
    active: Annotated[
        Id,
        "Id of a turn of the thread: the path through it becomes the active one, to its newest end. What was said on the path "
        "that is left stays stored and counts no more.",
    ]
    remembers: Annotated[
        bool,
        "`false`: it is given nothing that is remembered, and nothing of it is remembered or recalled elsewhere.",
    ]


class ForkRequest(TypedDict):
    message: Annotated[str, {"max_length": 100}, "Id of a turn of the thread, on the active path or another one."]


class ThreadList(APIView):
    pagination_class = ordered_by("-updated_at", "-id")
    words = Words(
        "q",
        "Only those with all of these words in the title, in one turn, in one part of a file or in a file's name; words are "
        "found in all their forms, the last one by its beginning too; small ones count only where there are no others. "
        "`match` and `file_match` say where.",
    )
    assistant = Parameter("assistant", "Only those with this assistant: its slug.")
    updated_since = Moment("updated_since", "Only those whose last turn is from then or later.")
    project = Parameter("project", "Only those of this project: its id; `none`: only those of no project.")
    archived = Switch("archived", "`true`: only those that are archived; `false`: only the others. Left out: all.")
    pinned = Switch("pinned", "`true`: only those that are pinned; `false`: only the others. Left out: all.")
    tag = Parameter("tag", "Only those with this tag.")

    @describe(
        responses=described(wire.ThreadAnswer, many=True),
        parameters=[words, assistant, updated_since, project, archived, pinned, tag],
    )
    def get(self, request: Request) -> Response:
        """The threads of the caller, the one that was active last first."""
        if looked_for := self.words.read(request):
            return self._found(request, looked_for)
        return self._list(request, threads.listed(caller(request)))

    def _list(
        self, request: Request, queryset: QuerySet[Thread], search: threads_search.Search | None = None
    ) -> Response:
        if assistant := self.assistant.text(request):
            queryset = queryset.filter(assistant=threads.assistant_known(assistant))
        if since := self.updated_since.read(request):
            queryset = queryset.filter(updated_at__gte=since)
        if project := self.project.text(request):
            queryset = queryset.filter(
                project=None if project == projects.NONE else projects.get(caller(request), project)
            )
        if tag := self.tag.text(request):
            queryset = labels.with_tag(queryset, clean(tag))
        queryset = labels.shown(queryset, archived=self.archived.given(request), pinned=self.pinned.given(request))
        return self.page(request, queryset.select_related("assistant"), partial(_thread_objects, search=search))

    @read_lagging
    def _found(self, request: Request, looked_for: str) -> Response:
        search = threads_search.search_of(caller(request), looked_for)
        response = self._list(request, threads_search.threads_with(search), search)
        return with_lag(response)

    @describe(request=described(NewThread), responses={201: described(wire.ThreadAnswer)})
    def post(self, request: Request) -> Response:
        """Open an empty thread."""
        payload = valid(NewThread, request)
        user, named = caller(request), payload.get("assistant")
        access = access_of(user.pk)
        assistant = threads.assistant_named(named, access)
        thread = threads.unsaved(user=user, assistant=assistant, title=one_line(payload.get("title", "")))
        project = projects.project_of(user, payload.get("project"))
        projects.opened_in(project, thread, assistant=named, model=payload.get("model", ""), access=access)
        thread.instructions = payload.get("instructions", "").strip()
        thread.uses_account_instructions = payload.get("uses_account_instructions", True)
        if payload.get("temporary"):
            threads.make_temporary(thread)
        thread.save(force_insert=True)
        return Response(_thread_objects([thread])[0], status=201)

    @describe(
        operation_id="api_v1_threads_change_several",
        request=described(ThreadsChange),
        responses=described(ThreadsAnswer),
    )
    def patch(self, request: Request) -> Response:
        """Pin, archive, tag or move several threads: all of them, or none where one isn't there."""
        payload = valid(ThreadsChange, request)
        changed = labels.change(caller(request), payload["ids"], change_of(payload))
        return Response({"results": _thread_objects(changed)})


class ThreadDetail(AsyncAPIView):
    @describe(responses=described(wire.ThreadAnswer))
    def get(self, request: Request, thread_id: str) -> Response:
        """One thread."""
        thread = threads.get(caller(request), thread_id)
        return conditional.unless_known(request, _tag_of(thread), lambda: _with_cost(thread))

    @describe(request=described(ThreadChange), responses=described(wire.ThreadAnswer))
    def patch(self, request: Request, thread_id: str) -> Response:
        """Rename, pin, archive or tag a thread, move it into a project, give it another assistant or model, say whether it
        takes part in memory, or go to another branch."""
        thread = threads.get(caller(request), thread_id)
        payload = valid(ThreadChange, request)
        if "temporary" in request.data:
            raise InvalidMessage("Whether a thread is temporary is said when it is opened.", field="temporary")
        changes = _changes_of(thread, payload)
        with transaction.atomic():
            conditional.demand_match(request, _tag_of(thread, locked=True))
            if "project" in changes:
                projects.move(thread, projects.project_of(caller(request), changes.pop("project")))
            if "active" in changes:
                paths.activate(caller(request), thread.id, changes.pop("active"))
            if changes:
                threads.change(thread, **changes)
        if payload.get("remembers"):
            consolidation_state.request(thread.user_id)
        changed = threads.get(caller(request), thread_id)
        return conditional.tagged(Response(_thread_objects([changed])[0]), _tag_of(changed))

    @describe(responses=RESPONSES)
    async def delete(self, request: Request, thread_id: str) -> Response:
        """Delete a thread with all that belongs to it, for good. 200 in place of 204 tells what a legal hold keeps of it."""
        work = partial(self._delete, request, thread_id)
        return deleted(await long_work.run(caller(request).pk, WorkKind.CHANGE, work))

    def _delete(self, request: Request, thread_id: str) -> str:
        thread = threads.get(caller(request), thread_id)
        with transaction.atomic():
            conditional.demand_match(request, _tag_of(thread, locked=True))
            held = coverage.notice(thread.user_id, project=thread.project_id)
            deletion.delete_thread(thread)
        return held


class ThreadFork(AsyncAPIView):
    @describe(request=described(ForkRequest), responses={201: described(wire.ThreadAnswer)})
    async def post(self, request: Request, thread_id: str) -> Response:
        """Copy the path up to and with a turn into a new thread: its turns, what they brought and made. What is remembered of
        them stays with the thread that they come from."""
        user, message = caller(request), valid(ForkRequest, request)["message"]
        answer = await long_work.run(user.pk, WorkKind.CHANGE, lambda: self._fork(user, thread_id, message))
        return Response(answer, status=201)

    def _fork(self, user: User, thread_id: str, message: str) -> wire.ThreadAnswer:
        return _thread_objects([fork(user, thread_id, message, read_later=tasks.enqueue_reading)])[0]


def _changes_of(thread: Thread, payload: ThreadChange) -> dict[str, Any]:
    """By name, as the thread's columns have them; ``project`` and ``active`` are the ids of what it moves to."""
    changes: dict[str, Any] = {**payload}
    if "title" in payload:
        changes |= {"title": one_line(payload["title"]), "title_through": None}
    if "tags" in payload:
        changes["tags"] = labels.tags_from(payload["tags"])
    access = access_of(thread.user_id) if payload.keys() & {"assistant", "model"} else ALL
    if "assistant" in payload:
        changes["assistant"] = threads.assistant_named(payload["assistant"], access)
    if "model" in payload:
        assistant = changes.get("assistant", thread.assistant)
        changes["model"] = model_choices.model_for_thread(assistant, payload["model"], access)
    if "instructions" in payload:
        changes["instructions"] = payload["instructions"].strip()
    return changes


def _tag_of(thread: Thread, *, locked: bool = False) -> str:
    more = (model_choices.of_threads([thread]), forks.of_threads([thread]))
    return conditional.of_thread(thread, more, locked=locked)


def _with_cost(thread: Thread) -> wire.ThreadAnswer:
    answer = _thread_objects([thread])[0]
    if settings.OPENBOOK_SHOW_COSTS:
        cost = costs.cost_of_thread(thread)
        answer["cost"] = None if cost is None else f"{cost:.4f}"
    return answer


def _thread_objects(page: list[Thread], search: threads_search.Search | None = None) -> list[wire.ThreadAnswer]:
    users = {thread.user_id for thread in page}
    of_page = Reply.objects.filter(user__in=users, thread__in=page, status=Reply.Status.RUNNING)
    running = {reply.thread_id: reply for reply in of_page}
    models, forked = model_choices.of_threads(page), forks.of_threads(page)
    objects = [
        wire.thread_object(
            thread, running.get(thread.id), models.get(thread.id, model_choices.OWN), forked.get(thread.id, forks.NONE)
        )
        for thread in page
    ]
    if search:
        places, files = threads_search.places(search, page), threads_search.file_places(search, page)
        for shown, thread in zip(objects, page, strict=True):
            place, file = places.get(thread.id), files.get(thread.id)
            shown["match"] = wire.match_object(place.turn, place.excerpt, place.words) if place else None
            shown["file_match"] = wire.file_match_object(file) if file else None
    return objects
