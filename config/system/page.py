"""The page *System*, and the runbooks that it leads to."""

import re
from pathlib import Path

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from config.observability.version import code_version
from config.system import facts, lines
from conversations.staff.overview import charts

RIGHT = "conversations.view_maintenancerun"
RUNBOOKS = Path(settings.BASE_DIR) / "docs" / "operate"
RUNBOOK = re.compile(r"docs/operate/([\w-]+)\.md")
BESIDE = re.compile(r"([\w-]+)\.md(?:#.*)?")


def system(request: HttpRequest) -> HttpResponse:
    """How the installation is. No content of anybody."""
    refuse_without_right(request)
    found = facts.look()
    shown = lines.sections(found, code_version=code_version())
    context = {
        "title": gettext("System"),
        "at": found.installation.at,
        "sections": [
            (section.title, [(line, linked(line.finding.advice)) for line in section.lines]) for section in shown
        ],
        "worrying": [line for section in shown for line in section.lines if line.is_worrying],
        "tables": None if found.tables is None else lines.table_rows(found.tables),
        "chart": None if found.months is None else lines.growth(found.months, found.installation.at),
        "plane": charts.PLANE,
    }
    return TemplateResponse(request, "admin/system.html", admin.site.each_context(request) | context)


def runbook(request: HttpRequest, name: str) -> HttpResponse:
    refuse_without_right(request)
    path = RUNBOOKS / f"{name}.md"
    if not path.is_file():
        raise Http404
    text = path.read_text(encoding="utf-8")
    title = text.partition("\n")[0].lstrip("# ")
    context = {"title": title, "text": rendered(text)}
    return TemplateResponse(request, "admin/runbook.html", admin.site.each_context(request) | context)


def refuse_without_right(request: HttpRequest) -> None:
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied


def linked(advice: str) -> SafeString:
    """With links to the runbooks that it names, where they are installed."""
    advice = str(advice)  # may be one that is translated as it is read
    before = 0
    parts = []
    for match in RUNBOOK.finditer(advice):
        parts.append((advice[before : match.start()], runbook_link(match[1])))
        before = match.end()
    return format_html("{}{}", format_html_join("", "{}{}", parts), advice[before:])


def runbook_link(name: str) -> SafeString:
    words = f"docs/operate/{name}.md"
    if not (RUNBOOKS / f"{name}.md").is_file():
        return format_html("{}", words)
    return format_html('<a href="{}">{}</a>', reverse("runbook", args=[name]), words)


def rendered(text: str) -> SafeString:
    """Markdown as HTML. Links to documents that are no runbooks stay as words."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (takes a tenth of a second, which only this page should cost)
    from markdown_it.token import Token  # noqa: PLC0415

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for block in tokens:
        shown: list[Token] = []
        is_dropped = False
        for part in block.children or ():
            if part.type == "link_open":
                href = str(part.attrGet("href"))
                beside = BESIDE.fullmatch(href)
                is_dropped = not beside and not href.startswith(("http://", "https://"))
                if beside:
                    part.attrSet("href", reverse("runbook", args=[beside[1]]))
            if not (is_dropped and part.type in ("link_open", "link_close")):
                shown.append(part)
        if block.children:
            block.children = shown
    html: str = markdown.renderer.render(tokens, markdown.options, {})
    html = html.replace("<pre>", '<pre tabindex="0">')  # which scrolls sideways on a phone, also by keys
    return mark_safe(html)  # noqa: S308  (a document of ours; HTML in it is escaped)
