"""What staff tell people above pages."""

from typing import Annotated, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts import banners
from conversations.models import Banner
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described
from conversations.runtime.shapes import Time, fill


class BannerObject(TypedDict):
    id: Annotated[int, "Id of the banner."]
    version: Annotated[int, "It grows with each change, so that who dismissed it sees it again."]
    text: Annotated[str, "Plain text."]
    level: Annotated[str, Banner.Level, "How much it matters."]
    is_dismissable: Annotated[bool, "Whether a page lets people dismiss it."]
    ends_at: Annotated[Time | None, "Until when it is shown; null: until staff delete it."]


class BannersAnswer(TypedDict):
    results: Annotated[list[BannerObject], "In the order in which they began."]


class BannerList(APIView):
    scopes = {"GET": None}
    needs_acceptance = False

    @describe(responses=described(BannersAnswer))
    def get(self, request: Request) -> Response:
        """What staff tell the caller now, as it stands above pages."""
        shown = banners.shown_to(caller(request))
        return Response({"results": [fill(BannerObject, banner) for banner in shown]})
