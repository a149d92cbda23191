"""What the caller wants every answer to know."""

from typing import Annotated, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts import instructions
from conversations.models.projects import LONGEST_INSTRUCTIONS
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Clean, fill

InstructionsText = Annotated[Clean, {"max_length": LONGEST_INSTRUCTIONS}, "At most 1,500 characters; empty: none."]


class InstructionsChange(TypedDict, total=False):
    about: InstructionsText
    style: InstructionsText


class InstructionsAnswer(TypedDict):
    about: Annotated[str, "About you, in your own words."]
    style: Annotated[str, "How you want to be answered."]


class InstructionsDetail(APIView):
    @describe(responses=described(InstructionsAnswer))
    def get(self, request: Request) -> Response:
        """What every answer to the caller is given: about them, and how they want to be answered."""
        return Response(fill(InstructionsAnswer, instructions.instructions_of(caller(request))))

    @describe(request=described(InstructionsChange), responses=described(InstructionsAnswer))
    def patch(self, request: Request) -> Response:
        """Write or empty them. A thread leaves them out with `uses_account_instructions`."""
        written = instructions.instruct(caller(request), **valid(InstructionsChange, request))
        return Response(fill(InstructionsAnswer, written))
