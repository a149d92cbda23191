"""The page inside the sandboxed frame that shows one version of an artifact.

Its content is a stranger's. It may run what it brings, but reaches nothing: it has no origin, so no cookie, no storage and no
way to its parent, and its policy lets nothing in or out. That it can't send the frame elsewhere is up to the page around it,
whose policy names what a frame may show (``frame-src``); so it is served to a frame only.
"""

import re
import secrets
import uuid
from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from artifacts.models import ArtifactVersion, Kind
from conversations import threads
from conversations.errors import ArtifactNotFound

Policy = dict[str, str]

NOTHING: Policy = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'self'",
    "webrtc": "'block'",
}
POLICIES: dict[str, Policy] = {
    Kind.HTML: {
        "sandbox": "allow-scripts",
        "script-src": "'unsafe-inline'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "font-src": "data: blob:",
        "media-src": "data: blob:",
    },
    Kind.SVG: {"sandbox": "", "style-src": "'unsafe-inline'", "img-src": "data:", "font-src": "data:"},
    # 'self' means little to a page without an origin. The nonce lets our own scripts in, and them alone.
    Kind.MERMAID: {
        "sandbox": "allow-scripts",
        "script-src": "'nonce-{nonce}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
    },
}
REFUSED: Policy = {"sandbox": "", "style-src": "'unsafe-inline'"}
HEADERS = {
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
DECLARED_SHADOW = re.compile("shadowroot", re.IGNORECASE)
GUARD = Path(__file__).with_name("guard.js")


@never_cache
@require_safe
def frame(request: HttpRequest, artifact_id: uuid.UUID, number: int) -> HttpResponse:
    """A version as a page of its own, for ``<iframe sandbox>``: HTML, SVG and Mermaid. ``?theme=dark`` darkens a diagram."""
    if request.headers.get("Sec-Fetch-Dest", "iframe") != "iframe":
        return _refused(
            request, 403, "This page is shown inside a chat only. Open the chat and choose the artifact there."
        )
    if not request.user.is_authenticated:
        return _refused(request, 403, "You have been signed out. Sign in again to see this.")
    try:
        artifact = threads.artifact_of(request.user, artifact_id)
        version = artifact.versions.get(number=number)
    except (ArtifactNotFound, ArtifactVersion.DoesNotExist):
        return _nothing(request)
    return _shown(request, artifact.kind, version.content) if artifact.kind in POLICIES else _nothing(request)


def policy(parts: Policy, nonce: str = "") -> str:
    """The header that holds these directives and forbids the rest."""
    return "; ".join(f"{name} {value}".strip() for name, value in (NOTHING | parts).items()).format(nonce=nonce)


def guarded(content: str) -> str:
    """A whole HTML page behind the guard, which runs first. A second doctype, or a second head, is passed over by browsers."""
    return f"<!doctype html><script>{_guard()}</script>{DECLARED_SHADOW.sub('data-shadow', content)}"


@cache
def _guard() -> str:
    return GUARD.read_text()


def _shown(request: HttpRequest, kind: str, content: str) -> HttpResponse:
    nonce = secrets.token_urlsafe(16)
    context = {"content": content, "nonce": nonce, "dark": request.GET.get("theme") == "dark"}
    if kind == Kind.HTML:
        response = HttpResponse(guarded(content))
    else:
        response = render(request, f"conversations/frames/{kind}.html", context)
    return _secured(response, policy(POLICIES[kind], nonce))


def _nothing(request: HttpRequest) -> HttpResponse:
    return _refused(request, 404, "There is nothing here, or it isn’t yours. It may have been deleted.")


def _refused(request: HttpRequest, status: int, words: str) -> HttpResponse:
    return _secured(
        render(request, "conversations/frames/refused.html", {"words": words}, status=status), policy(REFUSED)
    )


def _secured(response: HttpResponse, csp: str) -> HttpResponse:
    for name, value in (HEADERS | {"Content-Security-Policy": csp}).items():
        response.headers[name] = value
    return response
