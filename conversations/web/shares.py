"""The page on which people see all links that they have shared, and revoke them. It needs no script."""

from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import error, success
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from conversations.models import Share
from conversations.runtime.site import requested_address
from conversations.runtime.wording import translated
from conversations.sharing import shares
from conversations.web.views import SignedInRequest
from memory.forgetting.ledger import LedgerAway

PER_PAGE = 50


@never_cache
@login_required
@require_http_methods(["GET", "HEAD"])
def page(request: SignedInRequest) -> HttpResponse:
    rows = Paginator(shares.of(request.user).select_related("thread", "artifact"), PER_PAGE)
    listed = rows.get_page(request.GET.get("page"))
    here = requested_address(request)
    addresses = ((share, shares.address_of(share)) for share in listed)
    context = {
        "listed": listed,
        "links": [(share, f"{here}{address}" if address else "") for share, address in addresses],
        "now": timezone.now(),
        "is_on": settings.OPENBOOK_SHARING,
    }
    return render(request, "conversations/shares.html", context)


@never_cache
@login_required
@require_POST
def revoke(request: SignedInRequest, share_id: UUID) -> HttpResponse:
    """Answers 404 for another person's, and for one that is revoked."""
    try:
        revoked = shares.revoke(Share.objects.filter(user=request.user, id=share_id))
    except LedgerAway as refusal:
        error(request, translated(refusal.message))
        return redirect("shares")
    if not revoked:
        raise Http404("There is no such link.")
    success(request, _("The link is revoked: it opens nothing any more."))
    return redirect("shares")
