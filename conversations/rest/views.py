"""The REST API. Each view asks ``conversations.threads`` for the caller's rows and ``conversations.replies`` for replies."""

from functools import partial
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import replies, tasks, threads, wire
from conversations.context.record import snapshot_api
from conversations.context.record.snapshot_shapes import SnapshotAnswer
from conversations.errors import InvalidMessage, NotFound, ReplyNotFound
from conversations.import_export.forking import fork
from conversations.models import ContextSnapshot, Message, Reply, Scope, Thread
from conversations.replies import BegunReply, model_requests
from conversations.replies.events import Event, data_of
from conversations.replies.user_content import NewMessage, file_ids, user_blocks
from conversations.rest import conditional
from conversations.rest.base import STREAMED, APIView, AsyncAPIView, Continuation, caller, event_stream, token_of
from conversations.rest.errors import ReplyFailed
from conversations.rest.instructions import InstructionsText
from conversations.rest.pagination import ordered_by, turns_before
from conversations.rest.query_params import Choice, Moment, Parameter, Switch, Words
from conversations.rest.serializers import described, valid
from conversations.rest.thread_labels import Tags, ThreadsAnswer, ThreadsChange, change_of
from conversations.runtime import long_work
from conversations.runtime.db import in_database
from conversations.runtime.lagging import read_lagging, with_lag
from conversations.runtime.long_work import WorkKind
from conversations.runtime.shapes import Id, Slug, fill
from conversations.runtime.text import clean, one_line
from conversations.threads import costs, deletion, forks, labels, model_choices, paths, projects
from conversations.threads import search as threads_search
from conversations.wire.events import ReplyEndedData
from conversations.wire.model_list import ModelsAnswer, model_list
from memory.consolidation import consolidation_state

Title = Annotated[str, {"max_length": 200, "allow_blank": True}]


ModelId = {"default": "", "allow_blank": True, "max_length": 121}


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


class MessageRequest(TypedDict):
    content: Annotated[Any, {"default": ""}, "A text, or a list of text blocks. May be empty where there are files."]
    files: Annotated[
        Any,
        {"default": None},
        "Ids of files that it brings, of `POST files/`, at most 20. They belong to the thread then.",
    ]
    client_message_id: Annotated[
        Any, {"default": None}, "Your own id of the message, at most 100 characters; makes sending idempotent."
    ]
    assistant: Annotated[Slug | None, {"default": None}, "For a new thread only."]
    model: Annotated[
        str,
        ModelId,
        "Of `GET models/`, for this message; any other is refused with 400 `model_not_offered`. Left out: the thread's.",
    ]
    thread_model: Annotated[
        str, ModelId, "For a new thread only: its model, of `GET models/`. Left out: the assistant's own."
    ]
    project: Annotated[Id | None, {"default": None}, "For a new thread only: the project that it is opened in."]
    edits: Annotated[
        Any,
        {"default": None},
        "Id of a message of yours in the thread that this is another version of: both are kept, and the path through this one "
        "becomes the active one.",
    ]
    temporary: Temporary


class ForkRequest(TypedDict):
    message: Annotated[str, {"max_length": 100}, "Id of a turn of the thread, on the active path or another one."]


class RetryRequest(TypedDict):
    model: Annotated[
        str,
        ModelId,
        "Of `GET models/`, or the assistant's fallback model, to answer in place of the one that declined; any other is "
        "refused with 400 `model_not_offered`. Left out: the one that answered last.",
    ]


class AssistantAnswer(TypedDict):
    slug: Annotated[Slug, "Its name in the API."]
    name: Annotated[str, "As people are shown it."]
    description: Annotated[str, "One line that people choose it by."]


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

    @extend_schema(
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

    @extend_schema(request=described(NewThread), responses={201: described(wire.ThreadAnswer)})
    def post(self, request: Request) -> Response:
        """Open an empty thread."""
        payload = valid(NewThread, request)
        user, named = caller(request), payload.get("assistant")
        thread = threads.unsaved(
            user=user, assistant=threads.assistant_named(named), title=one_line(payload.get("title", ""))
        )
        project = projects.project_of(user, payload.get("project"))
        projects.opened_in(project, thread, assistant=named, model=payload.get("model", ""))
        thread.instructions = payload.get("instructions", "").strip()
        thread.uses_account_instructions = payload.get("uses_account_instructions", True)
        if payload.get("temporary"):
            threads.make_temporary(thread)
        thread.save(force_insert=True)
        return Response(_thread_objects([thread])[0], status=201)

    @extend_schema(
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
    @extend_schema(responses=described(wire.ThreadAnswer))
    def get(self, request: Request, thread_id: str) -> Response:
        """One thread."""
        thread = threads.get(caller(request), thread_id)
        return conditional.unless_known(request, _tag_of(thread), lambda: _with_cost(thread))

    @extend_schema(request=described(ThreadChange), responses=described(wire.ThreadAnswer))
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
                threads.of(caller(request)).filter(id=thread.id).update(**changes)
        if payload.get("remembers"):
            consolidation_state.request(thread.user_id)
        changed = threads.get(caller(request), thread_id)
        return conditional.tagged(Response(_thread_objects([changed])[0]), _tag_of(changed))

    @extend_schema(responses={204: None})
    async def delete(self, request: Request, thread_id: str) -> Response:
        """Delete a thread with all that belongs to it, for good."""
        await long_work.run(caller(request).pk, WorkKind.CHANGE, lambda: self._delete(request, thread_id))
        return Response(status=204)

    def _delete(self, request: Request, thread_id: str) -> None:
        thread = threads.get(caller(request), thread_id)
        with transaction.atomic():
            conditional.demand_match(request, _tag_of(thread, locked=True))
            deletion.delete_thread(thread)


class ThreadFork(AsyncAPIView):
    @extend_schema(request=described(ForkRequest), responses={201: described(wire.ThreadAnswer)})
    async def post(self, request: Request, thread_id: str) -> Response:
        """Copy the path up to and with a turn into a new thread: its turns, what they brought and made. What is remembered of
        them stays with the thread that they come from."""
        user, message = caller(request), valid(ForkRequest, request)["message"]
        answer = await long_work.run(user.pk, WorkKind.CHANGE, lambda: self._fork(user, thread_id, message))
        return Response(answer, status=201)

    def _fork(self, user: User, thread_id: str, message: str) -> wire.ThreadAnswer:
        return _thread_objects([fork(user, thread_id, message, read_later=tasks.enqueue_reading)])[0]


class MessageList(AsyncAPIView):
    pagination_class = ordered_by("position")
    before = Parameter("before", "`end`, or a position: the newest turns before it, oldest first.")
    path = Parameter(
        "path",
        "`all`: every turn, in the order in which they were stored; the id of a turn: the path that ends with it. "
        "Left out: the active path.",
    )

    @extend_schema(responses=described(wire.MessageAnswer, many=True), parameters=[before, path])
    def get(self, request: Request, thread_id: str) -> Response:
        """The turns of a thread's active path, or of another one, oldest first."""
        thread = threads.get(caller(request), thread_id)
        tag = conditional.of_messages(thread, request.build_absolute_uri())
        return conditional.unless_known(request, tag, lambda: self._page(request, self._turns(request, thread)))

    def _turns(self, request: Request, thread: Thread) -> QuerySet[Message]:
        path = self.path.text(request)
        if path is None:
            return threads.messages_of(thread)
        return threads.every_message_of(thread) if path == "all" else paths.turns_to(thread, path)

    def _page(self, request: Request, turns: QuerySet[Message]) -> Any:
        before = self.before.text(request)
        if before is None:
            return self.page(request, turns, wire.messages_with_replies).data
        messages, previous = turns_before(request, turns, before)
        return {"next": None, "previous": previous, "results": wire.messages_with_replies(messages)}

    @extend_schema(request=described(MessageRequest), responses={201: described(wire.ExchangeAnswer)})
    def post(self, request: Request, thread_id: str) -> Continuation:
        """Send a message and wait for the whole reply."""
        return partial(_whole_reply, _begin(request, thread_id))


class MessageStream(AsyncAPIView):
    @extend_schema(request=described(MessageRequest), responses=STREAMED)
    def post(self, request: Request, thread_id: str) -> Continuation:
        """Send a message and read the reply as Server-Sent Events."""
        return partial(_followed, _begin(request, thread_id))


class ContextPreview(AsyncAPIView):
    scopes = {"POST": Scope.READ}

    @extend_schema(request=described(MessageRequest), responses=described(SnapshotAnswer))
    def post(self, request: Request, thread_id: str) -> Response:
        """The context that a message would get. Calls no model and writes nothing."""
        payload = valid(MessageRequest, request)
        return Response(
            model_requests.preview_context(
                NewMessage(
                    user=caller(request),
                    thread_id=None if thread_id == threads.NEW else thread_id,
                    assistant=payload["assistant"],
                    blocks=user_blocks(payload["content"], may_be_empty=bool(payload["files"])),
                    files=file_ids(payload["files"]),
                    model=payload["model"],
                    thread_model=payload["thread_model"],
                    project=payload["project"],
                    edits=payload["edits"],
                    temporary=payload["temporary"],
                )
            )
        )


class RequestList(APIView):
    pagination_class = ordered_by("-created_at", page_size=10)  # each brings its whole context
    status = Choice("status", ContextSnapshot.Status.values, "Only those that are in this state.")

    @extend_schema(responses=described(SnapshotAnswer, many=True), parameters=[status])
    def get(self, request: Request, thread_id: str) -> Response:
        """The model requests of a thread, newest first."""
        queryset = threads.get(caller(request), thread_id).snapshots.all()
        if status := self.status.read(request):
            queryset = queryset.filter(status=status)
        return self.page(request, queryset, lambda page: [snapshot_api.body(snapshot) for snapshot in page])


class RequestDetail(APIView):
    @extend_schema(responses=described(SnapshotAnswer))
    def get(self, request: Request, request_id: str) -> Response:
        """One model request: what it was given, what was left out and why."""
        try:
            snapshot = threads.requests_of(caller(request)).get(id=request_id)
        except (ContextSnapshot.DoesNotExist, ValidationError):  # the latter where it is no id at all
            raise NotFound("There is no such model request, or it isn't yours. Check the id.") from None
        return Response(snapshot_api.body(snapshot))


class ReplyStop(AsyncAPIView):
    @extend_schema(request=None, responses={202: described(wire.ReplyAnswer)})
    async def post(self, request: Request, reply_id: str) -> Response:
        """Stop a running reply; the text so far is kept. Follow its events to see the end."""
        reply = await replies.stop(user=caller(request), reply_id=reply_id)
        return Response(wire.reply_object(reply), status=202)


class ReplyRetry(AsyncAPIView):
    @extend_schema(request=described(RetryRequest), responses={202: described(wire.ReplyAnswer)})
    async def post(self, request: Request, reply_id: str) -> Response:
        """Let a model answer the same message again. Follow the new reply's events."""
        model = valid(RetryRequest, request)["model"]
        opened = await replies.retry(user=caller(request), reply_id=reply_id, model=model, token=token_of(request))
        return Response(wire.reply_object(opened.reply), status=202)


class ReplyContinue(AsyncAPIView):
    @extend_schema(request=None, responses={202: described(wire.ReplyAnswer)})
    async def post(self, request: Request, reply_id: str) -> Response:
        """Go on where a reply was cut short. Follow the new reply's events: its text begins with all that there was."""
        opened = await replies.go_on(user=caller(request), reply_id=reply_id, token=token_of(request))
        return Response(wire.reply_object(opened.reply), status=202)


class ReplyEvents(AsyncAPIView):
    after = Parameter("after", "The last `seq` that you have; 0 for all.", type=OpenApiTypes.INT)

    @extend_schema(parameters=[after], responses=STREAMED)
    async def get(self, request: Request, reply_id: str) -> HttpResponseBase:
        """Resume a stream from any point, also after its end."""
        reply = await in_database(threads.reply_of)(caller(request), reply_id)
        # Browsers send the header when they reconnect, to the same address as before.
        last_event = request.headers.get("Last-Event-ID") or self.after.text(request) or "0"
        if not (last_event.isascii() and last_event.isdecimal()) or len(last_event) > 9:
            raise InvalidMessage("`after` must be the last `seq` that you have, 0 or greater.")
        return event_stream(reply.id, after=int(last_event))


class AssistantList(APIView):
    pagination_class = ordered_by("order", "name")

    @extend_schema(responses=described(AssistantAnswer, many=True))
    def get(self, request: Request) -> Response:
        """The assistants that a thread may be opened with."""
        assistants = threads.offered_assistants()
        return self.page(request, assistants, lambda page: [fill(AssistantAnswer, each) for each in page])


class ModelList(APIView):
    @extend_schema(responses=described(ModelsAnswer))
    def get(self, request: Request) -> Response:
        """The models that can be chosen for a thread or a message."""
        return Response({"results": model_list(threads.offered_assistants())})


def _changes_of(thread: Thread, payload: ThreadChange) -> dict[str, Any]:
    """By name, as the thread's columns have them; ``project`` and ``active`` are the ids of what it moves to."""
    changes: dict[str, Any] = {**payload}
    if "title" in payload:
        changes |= {"title": one_line(payload["title"]), "title_through": None}
    if "tags" in payload:
        changes["tags"] = labels.tags_from(payload["tags"])
    if "assistant" in payload:
        changes["assistant"] = threads.assistant_named(payload["assistant"])
    if "model" in payload:
        assistant = changes.get("assistant", thread.assistant)
        changes["model"] = model_choices.model_for_thread(assistant, payload["model"])
    if "instructions" in payload:
        changes["instructions"] = payload["instructions"].strip()
    return changes


def _begin(request: Request, thread_id: str) -> BegunReply:
    payload = valid(MessageRequest, request)
    return replies.begin(
        user=caller(request),
        thread_id=None if thread_id == threads.NEW else thread_id,
        content=payload["content"],
        files=payload["files"],
        client_message_id=payload["client_message_id"],
        assistant=payload["assistant"],
        model=payload["model"],
        thread_model=payload["thread_model"],
        project=payload["project"],
        edits=payload["edits"],
        temporary=payload["temporary"],
        token=token_of(request),
    )


async def _followed(begun: BegunReply) -> HttpResponseBase:
    return event_stream(replies.let_run(begun).reply.id)


async def _whole_reply(begun: BegunReply) -> Response:
    """The stored turns of a reply, once it has ended."""
    opened = replies.let_run(begun)
    question = opened.question
    ending = await ended(opened.reply.id, user_message=str(question.id))
    versions = await in_database(paths.versions_of)(question) if paths.may_have_versions(question) else None
    exchange: wire.ExchangeAnswer = {
        "thread": ending["thread"],
        "user_message": wire.message_object(question, ending["reply"], versions),
        "reply": ending["reply"],
        "assistant_message": ending["message"],
        "request": ending["request"],
    }
    return Response(exchange, status=201)


async def ended(reply_id: UUID, **details: str) -> ReplyEndedData:
    """How a reply ended, once it has. Raises ``ReplyFailed`` with these details where it failed, ``ReplyNotFound`` where its
    thread was deleted meanwhile."""
    last: Event | None = None
    async for event in replies.follow(reply_id):
        last = event
    if last is None or not last.is_last:
        raise ReplyNotFound
    if error := last.data.get("error"):
        raise ReplyFailed(error, thread=last.data["thread"], **details, reply=str(reply_id))
    return data_of(last, ReplyEndedData)


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
