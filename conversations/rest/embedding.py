"""The exchange of what another site signs about a visitor for a token of the small chat that it shows."""

from typing import Annotated, TypedDict

from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts import embedding
from conversations.rest.base import APIView
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Time


class EmbedTokenRequest(TypedDict):
    assertion: Annotated[
        str,
        {"max_length": 4_000},
        "A JSON Web Token (HS256) that the site signs: `iss` its name, `sub` the visitor, `aud` `openbook`, `exp` at most five "
        "minutes from now.",
    ]


class EmbedTokenAnswer(TypedDict):
    token: Annotated[str, "For the scope `chat`. Use it as `Authorization: Token …`."]
    expires_at: Annotated[Time, "From then on it is refused."]


class EmbedTokenView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @describe(request=described(EmbedTokenRequest), responses=described(EmbedTokenAnswer))
    def post(self, request: Request) -> Response:
        """Exchange what a site signs about a visitor for a short token, from a page of that site."""
        assertion = valid(EmbedTokenRequest, request)["assertion"]
        token, ends = embedding.exchange(assertion, request.headers.get("Origin", ""))
        return Response({"token": token, "expires_at": ends})
