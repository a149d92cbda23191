"""What was done so that everybody can use the pages, and how to tell where it isn't so. For everybody, signed in or not."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def statement(request: HttpRequest) -> HttpResponse:
    """Whatever it says of tests, ``tests/browser/test_accessibility.py`` and its neighbours do."""
    contact = settings.OPENBOOK_CONTACT
    context = {
        "contact": f"mailto:{contact}" if "@" in contact and "://" not in contact else contact,
        "contact_words": contact,
    }
    return render(request, "conversations/accessibility.html", context)
