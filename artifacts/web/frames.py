"""The page inside the sandboxed frame that shows one version of an artifact.

Its content is a stranger's. It has no origin, so no cookie, no storage and no way to its parent, and its policy lets nothing
in or out. As browsers don't hold all that a script can do (docs/security.md), it is shown without scripts, rewritten by
``artifacts.web.sanitizer``. ``POST`` is the person's click on *Run its scripts*: the page as it is, behind a guard.
"""

import asyncio
import json
import re
import secrets
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from weakref import WeakValueDictionary

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from artifacts.models import ArtifactVersion, Kind
from conversations import threads
from conversations.errors import ArtifactNotFound
from conversations.runtime.db import in_database

Policy = dict[str, str]

NOTHING: Policy = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'self'",
    "webrtc": "'block'",
}
STILL: Policy = {"sandbox": "", "style-src": "'unsafe-inline'", "img-src": "data:", "font-src": "data:"}
RUNNING: Policy = {
    "sandbox": "allow-scripts",
    "script-src": "'unsafe-inline'",
    "style-src": "'unsafe-inline'",
    "img-src": "data: blob:",
    "font-src": "data: blob:",
    "media-src": "data: blob:",
    # All that a script makes markup of goes through the guard's policy.
    "require-trusted-types-for": "'script'",
    "trusted-types": "default",
}
# 'self' means little to a page without an origin. The nonce lets our own scripts in, and them alone.
DRAWING: Policy = {
    "sandbox": "allow-scripts",
    "script-src": "'nonce-{nonce}'",
    "style-src": "'unsafe-inline'",
    "img-src": "data:",
}
HEADERS = {
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SHOWN = {Kind.HTML, Kind.SVG}

INNER_PAGE = re.compile(r"<(/?)(?=(?:iframe|frame|frameset|object|applet|fencedframe|portal)[\s/>])", re.IGNORECASE)
LEADING_AWAY = re.compile(r"<(?:meta|link|base|embed)(?=[\s/>])", re.IGNORECASE)
GUARD = Path(__file__).with_name("guard.js")

NOTHING_HERE = "There is nothing here, or it isn’t yours. It may have been deleted."
REWRITING_SECONDS = 10
"""The process limits its own work; this is for a machine that gives it none."""
# A page in work keeps a core busy: more at once would only make each one slower, and of one person's one at a time is enough.
REWRITING = ThreadPoolExecutor(max_workers=2, thread_name_prefix="pages")
_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()


class NotShown(Exception):
    """The content can't be read in the time and memory that a page may take."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
async def frame(request: HttpRequest, artifact_id: uuid.UUID, number: int) -> HttpResponse:
    """A version of an HTML page or an SVG picture as a page of its own, for ``<iframe sandbox>``."""
    user = await request.auser()
    if refusal := _refusal(request, user):
        return refusal
    assert isinstance(user, User)
    runs = request.method == "POST"
    if runs and not settings.OPENBOOK_RUN_SCRIPTS:
        return refused(request, 403, "Scripts of generated pages are switched off on this server.")
    version = await in_database(_version)(user, artifact_id, number)
    if version is None or version.artifact.kind not in ({Kind.HTML} if runs else SHOWN):
        return refused(request, 404, NOTHING_HERE)
    if runs:
        return _secured(HttpResponse(with_guard(version.content)), policy(RUNNING))
    return await still_page(request, version)


@never_cache
@require_safe
def drawing(request: HttpRequest) -> HttpResponse:
    """A page of our own for a sandboxed frame, without content: a page tells it a diagram's text and gets a picture. It is for
    anybody, as shared links show diagrams to people who aren't signed in."""
    if refusal := not_in_a_frame(request):
        return refusal
    nonce = secrets.token_urlsafe(16)
    return _secured(render(request, "artifacts/frames/drawing.html", {"nonce": nonce}), policy(DRAWING, nonce))


def policy(parts: Policy, nonce: str = "") -> str:
    """The header that holds these directives and forbids the rest."""
    return "; ".join(f"{name} {value}".strip() for name, value in (NOTHING | parts).items()).format(nonce=nonce)


def with_guard(content: str) -> str:
    """A whole HTML page behind the guard, which runs first. A second doctype, or a second head, is passed over by browsers.

    What would open a page within it stands there under another name, and so does what loads or leads away by itself:
    ``basefont`` is an element that does nothing any more, has no content, and doesn't end the head.
    """
    return f"<!doctype html><script>{_guard()}</script>" + LEADING_AWAY.sub(
        "<basefont", INNER_PAGE.sub(r"<\1x-", content)
    )


def not_in_a_frame(request: HttpRequest) -> HttpResponse | None:
    if request.headers.get("Sec-Fetch-Dest", "iframe") == "iframe":
        return None
    return refused(request, 403, "This page is shown inside a chat only. Open the chat and choose the artifact there.")


def _refusal(request: HttpRequest, user: User | AnonymousUser) -> HttpResponse | None:
    if refusal := not_in_a_frame(request):
        return refusal
    if not user.is_authenticated:
        return refused(request, 403, "You have been signed out. Sign in again to see this.")
    return None


@cache
def _guard() -> str:
    return GUARD.read_text()


def _version(user: User, artifact_id: uuid.UUID, number: int) -> ArtifactVersion | None:
    try:
        artifact = threads.artifact_of(user, artifact_id)
    except ArtifactNotFound:
        return None
    return artifact.versions.filter(number=number).select_related("artifact").first()


def still(kind: str, content: str) -> bytes:
    """The page or picture without anything that runs, loads or leads away. Raises ``NotShown``. Not for an event loop."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "artifacts.web.sanitizer"],
            input=json.dumps({"kind": kind, "content": content}).encode(),
            cwd=settings.BASE_DIR,
            env={"PYTHONUTF8": "1"},
            capture_output=True,
            timeout=REWRITING_SECONDS,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        raise NotShown from None
    return done.stdout


async def still_page(request: HttpRequest, version: ArtifactVersion) -> HttpResponse:
    """A version without its scripts, for whoever may see it; with its ``artifact`` at hand."""
    if version.artifact.kind not in SHOWN:
        return refused(request, 404, NOTHING_HERE)
    work = asyncio.get_running_loop().run_in_executor
    async with _turns.setdefault(version.user_id, asyncio.Lock()):
        try:
            page = await work(REWRITING, still, version.artifact.kind, version.content)
        except NotShown:
            return refused(request, 200, "This is too involved to be shown here. Look at its source, or download it.")
    return _secured(HttpResponse(page), policy(STILL))


def refused(request: HttpRequest, status: int, words: str) -> HttpResponse:
    page = render(request, "artifacts/frames/refused.html", {"words": words}, status=status)
    return _secured(page, policy({"sandbox": "", "style-src": "'unsafe-inline'"}))


def _secured(response: HttpResponse, csp: str) -> HttpResponse:
    for name, value in (HEADERS | {"Content-Security-Policy": csp}).items():
        response.headers[name] = value
    return response
