"""The admin's ways to show a value, for its templates."""

from django import template
from django.utils.safestring import SafeString

from conversations.models import ContextSnapshot, Reply
from conversations.providers.errors import words_instead
from conversations.staff import display

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
):
    register.filter(show.__name__, show)


register.filter("instead", words_instead)


@register.filter
def took(reply: Reply) -> str:
    return display.took(reply.created_at, reply.ended_at)


@register.filter
def tokens_bar(snapshot: ContextSnapshot) -> SafeString:
    return display.tokens_bar(snapshot.total_tokens, snapshot.budget, snapshot.hard_cap)
