"""The pages behind shared links, for whoever has the address. They need no script to be read, set no cookie for who is not
signed in, and tell search engines and the next site nothing.

A link that is unknown, revoked, expired or switched off meets the same page, so that nobody learns which it is.
"""

from typing import IO
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from artifacts.models import ArtifactVersion
from artifacts.web import frames
from conversations.accounts import sign_in
from conversations.errors import FileNotFound, NotFound, ShareNotFound
from conversations.files import storage, store
from conversations.models import Share
from conversations.rest.attachments import attached
from conversations.rest.files import opened_picture, stream_file
from conversations.runtime.db import in_database
from conversations.sharing import copying, page, shares, viewers
from conversations.web.views import SignedInRequest

GUESSES = 60
"""Wrong addresses a minute from one network."""
HEADERS = {"X-Robots-Tag": "noindex, nofollow, noarchive, nosnippet", "Referrer-Policy": "same-origin"}
"""Not ``no-referrer``: with that browsers send ``Origin: null``, and *Continue from this* would be refused as a forgery."""
ROBOTS = """\
# Nothing here is for search engines. Those that keep to noindex may read the pages behind shared links, as it is there that
# they learn of it: an address that they must not read can still be listed by what others write beside it.
User-agent: Googlebot
User-agent: Bingbot
User-agent: DuckDuckBot
Allow: /s/
Disallow: /

User-agent: *
Disallow: /
"""


def robots(request: HttpRequest) -> HttpResponse:
    return HttpResponse(ROBOTS, content_type="text/plain; charset=utf-8")


@never_cache
@require_safe
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """What the link shows, as it is now."""
    try:
        share = _opened(request, token)
        number = _page_number(request)
        response = _artifact_page(request, share) if share.artifact else _thread_page(request, share, number)
    except ShareNotFound:
        return _gone(request)
    is_theirs = request.user.is_authenticated and request.user.pk == share.user_id
    if request.method == "GET" and number == 1 and not is_theirs and viewers.is_reader(request.headers):
        shares.count_view(share)
    return _hidden(response)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def continued(request: SignedInRequest, token: str) -> HttpResponse:
    """*Continue from this*. Who comes back from signing in meets the page once more, and asks there."""
    if request.method != "POST":
        return _hidden(redirect("shared", token=token))
    try:
        thread_id = copying.copy_for(request.user, _opened(request, token))
    except ShareNotFound:
        return _gone(request)
    return _hidden(redirect("thread", thread_id=thread_id))


@never_cache
@require_safe
async def frame(request: HttpRequest, token: str) -> HttpResponse:
    """A generated page or picture in the frame of a shared artifact: without scripts, as the chat shows it at first."""
    if refusal := frames.not_in_a_frame(request):
        return _hidden(refusal)
    try:
        version = await in_database(_version)(request, token)
    except ShareNotFound:
        return _hidden(frames.refused(request, 404, "This link shows nothing any more."))
    return _hidden(await frames.still_page(request, version))


@never_cache
@require_safe
async def file(request: HttpRequest, token: str, file_id: UUID) -> HttpResponseBase:
    """A file of a turn. A picture comes without what it told of place and camera, anything else to be saved."""
    try:
        name, is_picture, (source, size, media_type) = await in_database(_file)(request, token, file_id)
    except NotFound:
        return await in_database(_gone)(request)
    answer = stream_file(source, None, size=size, media_type=media_type)
    return _hidden(attached(answer, name, inline=is_picture))


def _thread_page(request: HttpRequest, share: Share, number: int) -> HttpResponse:
    thread = page.thread_page(share, number)
    return render(request, "conversations/shared/thread.html", _context(request, share) | {"thread": thread})


def _artifact_page(request: HttpRequest, share: Share) -> HttpResponse:
    shown = page.artifact_of(share)
    context = {"shown": shown, "is_framed": shown.artifact.kind in frames.SHOWN}
    return render(request, "conversations/shared/artifact.html", _context(request, share) | context)


def _context(request: HttpRequest, share: Share) -> dict[str, object]:
    return {
        "here": request.path,
        "share": share,
        "title": page.title_of(share),
        "sharer": share.user.get_username() if share.shows_names else "",
        "assistant": share.thread.assistant.name if share.shows_names else "",
    }


def _opened(request: HttpRequest, token: str) -> Share:
    """Raises ``ShareNotFound``, and ``RateLimited`` where it was guessed too often."""
    was_right = sign_in.count_guess(request, "share", most=GUESSES)
    share = shares.opened(token)
    was_right()
    return share


def _page_number(request: HttpRequest) -> int:
    text = request.GET.get("page", "1")
    if not (text.isascii() and text.isdecimal() and len(text) < 7):
        raise ShareNotFound
    return int(text)


def _version(request: HttpRequest, token: str) -> ArtifactVersion:
    return page.artifact_of(_opened(request, token)).version


def _file(request: HttpRequest, token: str, file_id: UUID) -> tuple[str, bool, tuple[IO[bytes], int, str]]:
    """Its name, whether it is a picture, and its open bytes with their size and media type."""
    row = page.file_of(_opened(request, token), file_id)
    if row.kind != page.PICTURE:
        return row.name, False, (storage.open_bytes(row.place), row.size, row.media_type)
    part = store.parts_of(row).exclude(picture="").first()
    if part is None:
        raise FileNotFound
    return row.name, True, opened_picture(part.picture)


def _gone(request: HttpRequest) -> HttpResponse:
    return _hidden(render(request, "conversations/shared/gone.html", status=404))


def _hidden[R: HttpResponseBase](response: R) -> R:
    for name, value in HEADERS.items():
        response.headers[name] = value
    return response
