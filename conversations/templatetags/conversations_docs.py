"""What the documentation pages show of descriptions."""

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
CODE = re.compile("`([^`]+)`")


@register.filter
def coded(text: str) -> SafeString:
    """What stands between backticks as code."""
    return mark_safe(CODE.sub(r"<code>\1</code>", escape(text)))  # noqa: S308  (escaped before)
