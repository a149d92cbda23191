"""The caller's prompts, and those of the installation."""

from typing import Annotated, NotRequired, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from conversations.accounts import sign_in, staff_networks
from conversations.models import Prompt, SharedPrompt
from conversations.models.prompts import NAME_CHARS, TEXT_CHARS
from conversations.rest.base import APIView, caller, token_of
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Clean, Id, Line, Time, fill
from conversations.threads import prompts


def says_something(text: str) -> None:
    if not text.strip():
        raise ValidationError("It must say something.")


Name = Annotated[
    Line, {"max_length": NAME_CHARS, "validators": [says_something]}, f"1 to {NAME_CHARS} characters, in one line."
]
Text = Annotated[
    Clean,
    {"max_length": TEXT_CHARS, "validators": [says_something]},
    f"At most {TEXT_CHARS:,} characters, with variables such as `{{{{topic}}}}`, at most {prompts.MOST_VARIABLES}.",
]


class NewPrompt(TypedDict):
    name: Name
    text: Text
    shared: NotRequired[Annotated[bool, "For everybody: only staff who may add such prompts."]]


class PromptChange(TypedDict, total=False):
    name: Name
    text: Text


class PromptAnswer(TypedDict):
    id: Annotated[Id, "Id of the prompt."]
    name: Annotated[str, "That it is chosen by."]
    text: Annotated[str, "What a message begins as."]
    variables: Annotated[list[str], "What stands between `{{` and `}}` in its text, each once."]
    shared: Annotated[bool, "`true`: staff wrote it for everybody; only they change it."]
    created_at: Annotated[Time, "When it was made."]
    updated_at: Annotated[Time, "When it was last changed."]


class PromptsAnswer(TypedDict):
    results: Annotated[list[PromptAnswer], "The caller's own by name, then those of the installation."]


class PromptList(APIView):
    @describe(operation_id="api_v1_prompts_list", responses=described(PromptsAnswer))
    def get(self, request: Request) -> Response:
        """All prompts that the caller may use: their own, at most 500, and those of the installation."""
        rows: list[Prompt | SharedPrompt] = [*prompts.of(caller(request)), *prompts.shared()]
        return Response({"results": [prompt_object(prompt) for prompt in rows]})

    @describe(request=described(NewPrompt), responses={201: described(PromptAnswer)})
    def post(self, request: Request) -> Response:
        """Keep a text to write messages with. Refused with 403 `prompt_not_yours` where it is for everybody, unless the caller
        is staff and may add such."""
        fields = valid(NewPrompt, request)
        if fields.get("shared") and caller(request).is_staff:
            _from_where_staff_work(request)
        made = prompts.create(caller(request), **fields)
        return Response(prompt_object(made), status=201)


class PromptDetail(APIView):
    @describe(responses=described(PromptAnswer))
    def get(self, request: Request, prompt_id: str) -> Response:
        """One prompt."""
        return Response(prompt_object(prompts.get(caller(request), prompt_id)))

    @describe(request=described(PromptChange), responses=described(PromptAnswer))
    def patch(self, request: Request, prompt_id: str) -> Response:
        """Change one's own prompt, or, as staff who may, one for everybody."""
        prompt = _to(request, "change", prompt_id)
        prompts.change(prompt, **valid(PromptChange, request))
        return Response(prompt_object(prompts.get(caller(request), prompt_id)))

    @describe(responses={204: None})
    def delete(self, request: Request, prompt_id: str) -> Response:
        """Delete one's own prompt, or, as staff who may, one for everybody."""
        prompts.delete(_to(request, "delete", prompt_id))
        return Response(status=204)


def _to(request: Request, act: str, prompt_id: str) -> Prompt | SharedPrompt:
    """One to change or delete: one for everybody from where staff work alone."""
    prompt = prompts.get_to(caller(request), act, prompt_id)
    if isinstance(prompt, SharedPrompt):
        _from_where_staff_work(request)
    return prompt


def _from_where_staff_work(request: Request) -> None:
    """Raises ``AddressNotAllowed``."""
    staff_networks.demand_place(sign_in.address_of(request._request), actor=token_of(request) or caller(request))


def prompt_object(prompt: Prompt | SharedPrompt) -> PromptAnswer:
    return fill(
        PromptAnswer,
        prompt,
        variables=prompts.variables_of(prompt.text),
        shared=isinstance(prompt, SharedPrompt),
    )
