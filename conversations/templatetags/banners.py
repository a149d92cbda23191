"""What staff show above pages."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.contrib.auth.models import User

from conversations.accounts import banners as shown
from conversations.models import Banner

register = template.Library()
BLANK = [Banner(level=level, is_dismissable=True) for level in Banner.Level]
"""What the page's script makes later ones of."""


@register.inclusion_tag("conversations/banners.html", takes_context=True)
def banners(context: Mapping[str, Any]) -> dict[str, Any]:
    """A region that is there before anything stands in it, so that screen readers say what comes; none for strangers."""
    user = context.get("user")
    if not isinstance(user, User):
        return {}
    return {"reader": user.pk, "banners": shown.shown_to(user), "blank": BLANK}
