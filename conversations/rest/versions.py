"""Versions of assistants, for staff who may change these: read, drafted and published."""

from typing import Annotated, Any, TypedDict

from django.core.exceptions import ValidationError
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import audit, versions
from conversations.accounts import scopes
from conversations.audit import AuditKind
from conversations.errors import AssistantVersionNotFound
from conversations.models import Assistant, AssistantVersion, Scope
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Clean, Time, fill


class AssistantVersionAnswer(TypedDict):
    number: Annotated[int, "From 1, in the order in which they were made."]
    state: Annotated[str, ["draft", "current", "earlier"], "`current`: the assistant is as it says."]
    note: Annotated[str, "What it is for, in a line; may be empty."]
    author: Annotated[str | None, "User name of who made it; null: not known, or not a person."]
    created_at: Annotated[Time, "When it was made."]
    published_at: Annotated[Time | None, "When it last became the assistant's; null: it is a draft."]
    content: Annotated[dict[str, Any], "All that shapes requests: prompt, model, budgets, switches, tools, presets."]


class NewAssistantVersion(TypedDict):
    content: Annotated[
        dict[str, Any], "What is to be another than the assistant has now, by the names that `content` has."
    ]
    note: Annotated[Clean, {"default": "", "max_length": 200}, "What it is for, in a line."]


class VersionList(APIView):
    scopes = {"GET": Scope.STAFF_ASSISTANTS, "POST": Scope.STAFF_ASSISTANTS}
    pagination_class = ordered_by("-number")

    @describe(responses=described(AssistantVersionAnswer, many=True))
    def get(self, request: Request, slug: str) -> Response:
        """For staff who may change assistants: the versions of one, newest first. A token needs `staff:assistants`."""
        assistant = _assistant(request, slug)
        rows = versions.versions_of(assistant)
        return self.page(request, rows, lambda page: [_object(each, assistant) for each in page])

    @describe(request=described(NewAssistantVersion), responses={201: described(AssistantVersionAnswer)})
    def post(self, request: Request, slug: str) -> Response:
        """Write a draft: it shapes no request until it is published, and `manage.py replay --draft` tries it on past ones."""
        assistant, wanted = _assistant(request, slug), valid(NewAssistantVersion, request)
        try:
            draft = versions.make_draft(assistant, wanted["content"], author=caller(request), note=wanted["note"])
        except ValidationError as error:
            raise exceptions.ValidationError({"content": error.messages}) from error
        audit.record(AuditKind.ROW_CHANGED, target=assistant, details={"act": "drafted", "version": draft.number})
        return Response(_object(draft, assistant), status=201)


class VersionPublish(APIView):
    scopes = {"POST": Scope.STAFF_ASSISTANTS}

    @describe(request=None, responses=described(AssistantVersionAnswer))
    def post(self, request: Request, slug: str, number: str) -> Response:
        """Make the assistant as this version says: a draft, or an earlier one again. It holds from the next message on.
        Assistants share presets, so these stay as they are: where the version has others, another is made and answered."""
        assistant = _assistant(request, slug)
        version = versions.versions_of(assistant).filter(number=int(number)).first() if number.isdecimal() else None
        if version is None:
            raise AssistantVersionNotFound
        changed = versions.publish(version, author=caller(request))
        assert changed.version
        return Response(_object(changed.version, changed))


def _assistant(request: Request, slug: str) -> Assistant:
    """Whatever its state. Raises ``PermissionDenied`` first, so that nobody else learns which there are, and
    ``AssistantVersionNotFound``."""
    if not caller(request).has_perm(scopes.CHANGE_ASSISTANT):
        raise exceptions.PermissionDenied
    assistant = Assistant.objects.filter(slug=slug).first()
    if assistant is None:
        raise AssistantVersionNotFound
    return assistant


def _object(version: AssistantVersion, assistant: Assistant) -> AssistantVersionAnswer:
    is_current = version.pk == assistant.version_id
    return fill(
        AssistantVersionAnswer,
        version,
        state="current" if is_current else "earlier" if version.published_at else "draft",
        author=version.author.get_username() if version.author else None,
    )
