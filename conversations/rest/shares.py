"""Links that show a thread up to a turn, or an artifact, to whoever has them."""

from datetime import datetime, timedelta
from typing import Annotated, TypedDict

from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.errors import ShareNotFound
from conversations.models import Share
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Parameter
from conversations.rest.serializers import described, valid
from conversations.runtime import clock
from conversations.runtime.shapes import Id, Time, fill
from conversations.sharing import shares
from conversations.sharing.shares import Shows, Terms

OFF = {"default": False}
KINDS = ("thread", "artifact")


def are_allowed(days: int) -> None:
    if days > shares.most_days():
        raise exceptions.ValidationError(f"At most {shares.most_days()} days.")


def is_to_come(at: datetime) -> None:
    if not clock.now() < at <= clock.now() + timedelta(days=shares.most_days()):
        raise exceptions.ValidationError(f"It must be a time to come, at most {shares.most_days()} days from now.")


class ShowsFields(TypedDict):
    """What stands on the page beside what was said."""

    book: Annotated[bool, OFF, "By which model each reply is, and how many turns it was given: figures, no words."]
    files: Annotated[bool, OFF, "The files that turns brought; else neither they nor their names in citations."]
    names: Annotated[bool, OFF, "Your user name, and which assistant answered."]
    title: Annotated[bool, OFF, "The title, on the page and in previews of the link."]


class ShareTerms(TypedDict, total=False):
    days: Annotated[
        int,
        {"min_value": 1, "validators": [are_allowed]},
        f"How long it can be opened: {shares.DAYS}, or fewer where the server allows fewer.",
    ]
    expires_at: Annotated[datetime, {"validators": [is_to_come]}, "Until when, in place of `days`."]
    shows: Annotated[ShowsFields, "What it shows beside what was said; nothing of it by default."]


class ThreadShareRequest(ShareTerms, total=False):
    message: Annotated[
        Id, "The last turn that it shows, on whichever path that is; the newest of the active path by default."
    ]


class ArtifactShareRequest(ShareTerms, total=False):
    version: Annotated[
        int | None,
        {"min_value": 1, "max_value": 2**31 - 1},
        "The version that it shows. Left out or null: whichever is the newest when it is opened.",
    ]


class ShareAnswer(TypedDict):
    id: Annotated[Id, "Id of the link."]
    url: Annotated[
        str | None,
        "Its path on this server, `/s/<token>/`. Null: it was made under a `SECRET_KEY` that is gone; it still opens.",
    ]
    kind: Annotated[str, KINDS, "What it shows."]
    thread: Annotated[Id, "Id of the thread that it is of."]
    message: Annotated[Id | None, "The last turn that it shows; null: it shows an artifact."]
    artifact: Annotated[Id | None, "The artifact that it shows; null: it shows turns."]
    version: Annotated[int | None, "The version of the artifact; null: the newest, or it shows turns."]
    shows: Annotated[ShowsFields, "What it shows beside what was said."]
    views: Annotated[int, "How often it was opened by somebody else."]
    created_at: Annotated[Time, "When it was made."]
    expires_at: Annotated[Time, "From then on it opens nothing."]


class ThreadShareList(APIView):
    @describe(request=described(ThreadShareRequest), responses={201: described(ShareAnswer)})
    def post(self, request: Request, thread_id: str) -> Response:
        """Make a link that shows the thread up to a turn to whoever has it. Later turns and other paths never show, nor what is
        forgotten from then on. Refused with 403 `sharing_off` where the server does not allow it."""
        thread = threads.get(caller(request), thread_id)
        fields = valid(ThreadShareRequest, request)
        share = shares.of_thread(thread, _terms(fields), message_id=fields.get("message"))
        return Response(share_object(share), status=201)


class ArtifactShareList(APIView):
    @describe(request=described(ArtifactShareRequest), responses={201: described(ShareAnswer)})
    def post(self, request: Request, artifact_id: str) -> Response:
        """Make a link that shows an artifact to whoever has it. Refused with 403 `sharing_off` where the server does not allow
        it."""
        user = caller(request)
        artifact = threads.artifact_of(user, artifact_id)
        fields = valid(ArtifactShareRequest, request)
        share = shares.of_artifact(artifact, user, _terms(fields), version=fields.get("version"))
        return Response(share_object(share), status=201)


class ShareList(APIView):
    pagination_class = ordered_by("-id")
    thread = Parameter("thread", "Only those of this thread: its id.")

    @describe(responses=described(ShareAnswer, many=True), parameters=[thread])
    def get(self, request: Request) -> Response:
        """The links of the caller that show anything, newest first, also those that have expired. None that were revoked."""
        user = caller(request)
        rows = shares.of(user)
        if thread_id := self.thread.text(request):
            rows = rows.filter(thread=threads.get(user, thread_id))
        return self.page(request, rows, lambda page: [share_object(each) for each in page])


class ShareDetail(APIView):
    @describe(responses={204: None})
    def delete(self, request: Request, share_id: str) -> Response:
        """Revoke a link, for good. It opens nothing from now on."""
        id = threads.identifier(share_id, ShareNotFound)
        if not shares.revoke(Share.objects.filter(user=caller(request), id=id)):
            raise ShareNotFound
        return Response(status=204)


def share_object(share: Share) -> ShareAnswer:
    return fill(
        ShareAnswer,
        share,
        url=shares.address_of(share),
        thread=share.thread_id,
        message=share.message_id,
        artifact=share.artifact_id,
        shows=shows_of(share),
    )


def shows_of(share: Share) -> ShowsFields:
    return {
        "book": share.shows_book,
        "files": share.shows_files,
        "names": share.shows_names,
        "title": share.shows_title,
    }


def _terms(fields: ShareTerms) -> Terms:
    """Raises DRF's ``ValidationError``."""
    days, expires_at = fields.get("days"), fields.get("expires_at")
    if days and expires_at:
        raise exceptions.ValidationError({"expires_at": "Send either this or `days`."})
    if days:
        expires_at = clock.now() + timedelta(days=days)
    return Terms(shows=Shows(**fields.get("shows", {})), expires_at=expires_at)
