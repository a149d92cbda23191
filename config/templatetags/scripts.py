"""How pages name their scripts."""

from django import template
from django.templatetags.static import static

from config.server import scripts

register = template.Library()


@register.simple_tag
def script(path: str) -> str:
    """The address of a page's script, with all that it imports where that was joined."""
    return static(scripts.path_of(path))
