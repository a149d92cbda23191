"""The caller's projects."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NotRequired, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from conversations.accounts.group_access import access_of
from conversations.holds import coverage
from conversations.models import Project
from conversations.rest.base import APIView, AsyncAPIView, caller
from conversations.rest.deleted import RESPONSES, deleted
from conversations.rest.descriptions import describe
from conversations.rest.instructions import InstructionsText
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Choice, Switch
from conversations.rest.serializers import described, valid
from conversations.runtime import long_work
from conversations.runtime.long_work import WorkKind
from conversations.runtime.shapes import Id, Line, Slug, Time, fill
from conversations.threads import deletion, model_choices, projects


def is_name(name: str) -> None:
    if not name.strip():
        raise ValidationError("A project needs a name.")


Name = Annotated[Line, {"max_length": 100, "validators": [is_name]}, "1 to 100 characters, in one line."]


class ProjectFields(TypedDict, total=False):
    colour: Annotated[str, Project.Colour, "That it is marked with."]
    instructions: InstructionsText
    assistant: Annotated[Slug | None, "That its new threads are opened with; null: the default one."]
    model: Annotated[
        str,
        {"allow_blank": True, "max_length": 121},
        "Of `GET models/`, that its new threads are opened with. Empty: the assistant's own.",
    ]
    presets: Annotated[
        list[Slug], {"max_length": 50}, "Slugs of presets that its threads offer beside those of their assistants."
    ]
    uses_outside_memory: Annotated[bool, "`true`: its threads are given what is remembered outside of it."]
    shares_memory: Annotated[bool, "`true`: what is remembered in it is given to threads outside of it."]


class NewProject(ProjectFields):
    name: Name


class ProjectChange(ProjectFields, total=False):
    name: Name


class ProjectAnswer(TypedDict):
    id: Annotated[Id, "Id of the project."]
    name: Annotated[str, "As its person called it."]
    colour: Annotated[str, Project.Colour, "That it is marked with."]
    instructions: Annotated[str, "What every answer in its threads is given."]
    assistant: Annotated[Slug | None, "That its new threads are opened with; null: the default one."]
    model: Annotated[str, "That its new threads are opened with; empty: the assistant's own."]
    presets: Annotated[list[str], "Presets that its threads offer beside those of their assistants."]
    uses_outside_memory: Annotated[bool, "Whether its threads are given what is remembered outside of it."]
    shares_memory: Annotated[bool, "Whether what is remembered in it is given to threads outside of it."]
    thread_count: NotRequired[Annotated[int, "Threads that are in it."]]
    file_count: NotRequired[Annotated[int, "Files that were uploaded to it."]]
    created_at: Annotated[Time, "When it was made."]
    updated_at: Annotated[Time, "When it was last changed."]


COUNTS = ("thread_count", "file_count")


class ProjectList(APIView):
    pagination_class = ordered_by("name", "id")
    counts = Switch("counts", "`false`: without `thread_count` and `file_count`, each of which is counted row by row.")

    @describe(responses=described(ProjectAnswer, many=True), parameters=[counts])
    def get(self, request: Request) -> Response:
        """The projects of the caller, by name."""
        rows = projects.of(caller(request)).select_related("assistant")
        if self.counts.read(request, default=True):
            rows = projects.counted(rows)
        return self.page(request, rows, project_objects)

    @describe(request=described(NewProject), responses={201: described(ProjectAnswer)})
    def post(self, request: Request) -> Response:
        """Make a project: a folder of threads and files, with instructions and a memory of its own."""
        made = projects.create(caller(request), **valid(NewProject, request))
        return Response(_answer(request, made.id), status=201)


class ProjectDetail(AsyncAPIView):
    threads = Choice(
        "threads",
        ["keep", "delete"],
        "What becomes of its threads and of what was remembered in them: `keep` moves them out of it, `delete` deletes them. "
        "Its files go in either case. Left out: a project that holds anything is refused with 409 `project_not_empty`.",
    )

    @describe(responses=described(ProjectAnswer))
    def get(self, request: Request, project_id: str) -> Response:
        """One project."""
        return Response(_answer(request, project_id))

    @describe(request=described(ProjectChange), responses=described(ProjectAnswer))
    def patch(self, request: Request, project_id: str) -> Response:
        """Change a project. Its threads stay as they are; its switches count from their next message on."""
        project = projects.get(caller(request), project_id)
        projects.change(project, **valid(ProjectChange, request))
        return Response(_answer(request, project_id))

    @describe(parameters=[threads], responses=RESPONSES)
    async def delete(self, request: Request, project_id: str) -> Response:
        """Delete a project; `threads` says what becomes of what it holds. 200 in place of 204 tells what a legal hold keeps."""
        work = partial(self._delete, request, project_id)
        return deleted(await long_work.run(caller(request).pk, WorkKind.CHANGE, work))

    def _delete(self, request: Request, project_id: str) -> str:
        project = projects.get(caller(request), project_id)
        held = coverage.notice(project.user_id, project=project.id)
        deletion.delete_project(project, threads_go=self.threads.read(request))
        return held


def _answer(request: Request, project_id: Any) -> ProjectAnswer:
    project = projects.get(caller(request), project_id)
    return project_objects(list(projects.counted(projects.of(caller(request))).filter(id=project.id)))[0]


def project_objects(page: Sequence[Project]) -> list[ProjectAnswer]:
    """With the counts of those that ``projects.counted`` gave."""
    ids: Mapping[str, str] = (
        model_choices.listed_ids(access_of(page[0].user_id)) if any(project.model for project in page) else {}
    )
    return [
        fill(
            ProjectAnswer,
            project,
            assistant=project.assistant and project.assistant.slug,
            model=ids.get(project.model, project.model),
            **{name: vars(project)[name] for name in COUNTS if name in vars(project)},
        )
        for project in page
    ]
