"""The admin's ways to show a value, for its templates."""

from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_list import result_headers
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.models import ContextSnapshot, Reply
from conversations.providers.errors import words_instead
from conversations.regression.lifted_rules import LIFTED
from conversations.runtime import wording
from conversations.runtime.lagging import as_of
from conversations.staff import display
from conversations.staff.requests.request_list import RequestChangeList

register = template.Library()

for show in (
    display.when,
    display.mono,
    display.short_id,
    display.number,
    display.milliseconds,
    display.status,
    display.error_code,
    display.purpose,
    display.rough,
    display.with_tokens,
    wording.inside,
):
    register.filter(show.__name__, show)


register.simple_tag(as_of)


@register.filter
def in_place_of(snapshot: ContextSnapshot) -> str:
    """For a request that another model was asked with before."""
    words = gettext(words_instead(snapshot.fallback_cause))
    return wording.filled("in place of {model}, which {words}", model=snapshot.fallback_for, words=words)


@register.filter
def may_be_lifted(code: str) -> bool:
    """Whether requests can be built again without the rule of this reason."""
    return code in LIFTED


@register.filter
def took(reply: Reply) -> str:
    return display.took(reply.created_at, reply.ended_at)


@register.filter
def tokens_bar(snapshot: ContextSnapshot) -> SafeString:
    return display.tokens_bar(snapshot.total_tokens, snapshot.budget, snapshot.hard_cap)


@register.inclusion_tag("admin/change_list_results.html")
def request_rows(changelist: RequestChangeList) -> dict[str, Any]:
    """In place of Django's ``result_list``: the same table."""
    return {"result_headers": list(result_headers(changelist)), "results": [[row] for row in changelist.rows]}
