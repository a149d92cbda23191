"""What makes the chat an app that can be installed: its manifest, the worker that browsers run for it, and the page that this
keeps for when the server is away. None of it holds anything of a person's."""

import hashlib
import json
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language, get_language_bidi
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

SCRIPTS = settings.BASE_DIR / "conversations" / "static" / "conversations"
WORKER = SCRIPTS / "js" / "service-worker.js"
OFFLINE_PARTS = (
    "css/tokens.css",
    "css/parts.css",
    "css/base.css",
    "css/offline.css",
    "js/early-theme.js",
    "js/offline.js",
)
PAPER = "#fdfcfa"


@require_safe
def manifest(request: HttpRequest) -> JsonResponse:
    content = {
        "id": "/",
        "name": "Openbook",
        "short_name": "Openbook",
        "description": _("A chat that shows what each reply was given."),
        "lang": get_language(),
        "dir": "rtl" if get_language_bidi() else "ltr",
        "start_url": reverse("chat"),
        "scope": "/",
        "display": "standalone",
        "background_color": PAPER,
        "theme_color": PAPER,
        "icons": [
            _icon("icon-192.png", 192, "any"),
            _icon("icon-512.png", 512, "any"),
            _icon("icon-maskable-512.png", 512, "maskable"),
        ],
        "shortcuts": [
            {"name": _("New conversation"), "url": reverse("chat")},
            {"name": _("Memory"), "url": reverse("memory")},
        ],
    }
    return JsonResponse(content, content_type="application/manifest+json")


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Shown by the worker in place of a page that can't be reached. The drafts on it are those that the browser has."""
    return render(request, "conversations/offline.html")


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Other bytes at each release, so that browsers take the new one and what it keeps."""
    page = offline(request).content
    parts = [SCRIPTS / part for part in OFFLINE_PARTS]
    release = hashlib.sha256(b"".join([page, *map(Path.read_bytes, parts)])).hexdigest()[:16]
    kept = [reverse("offline"), *(static(f"conversations/{part}") for part in OFFLINE_PARTS)]
    head = f"const RELEASE = {json.dumps(release)};\nconst KEPT = {json.dumps(kept)};\n"
    return HttpResponse(head + WORKER.read_text(), content_type="text/javascript")


def _icon(name: str, size: int, purpose: str) -> dict[str, str]:
    source = static(f"conversations/icons/{name}")
    return {"src": source, "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}
