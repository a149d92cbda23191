"""The pages on which people make webhooks, see what was sent to them, try them, and delete them. They need no script."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from conversations.errors import WebhookDeliveryNotFound
from conversations.models import Webhook
from conversations.web.forms import WebhookForm
from conversations.web.fresh import fresh_sign_in
from conversations.web.views import SignedInRequest
from conversations.webhooks import webhooks

PER_PAGE = 50


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest) -> HttpResponse:
    """The caller's webhooks. The secret of a new one is shown in the answer to the form and never again."""
    form = WebhookForm(request.POST or None, user=request.user)
    secret, made = "", None
    if form.is_valid() and (stored := form.stored()):
        made, secret = stored
        form = WebhookForm(user=request.user)
    context = {
        "form": form,
        "secret": secret,
        "made": made,
        "webhooks": webhooks.of(request.user),
        "most": settings.OPENBOOK_WEBHOOKS,
    }
    return render(request, "conversations/webhooks.html", context)


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def detail(request: SignedInRequest, webhook_id: UUID) -> HttpResponse:
    """One webhook with what was sent to it; by POST it gets a new secret, which is shown in this answer alone."""
    webhook = _mine(request, webhook_id)
    secret = webhooks.renew_secret(webhook) if request.method == "POST" else ""
    rows = Paginator(webhooks.deliveries(webhook), PER_PAGE)
    context: dict[str, Any] = {
        "webhook": _mine(request, webhook_id),
        "secret": secret,
        "listed": rows.get_page(request.GET.get("page")),
    }
    return render(request, "conversations/webhook.html", context)


@never_cache
@login_required
@require_POST
def ping(request: SignedInRequest, webhook_id: UUID) -> HttpResponse:
    webhooks.ping(_mine(request, webhook_id))
    success(request, _("A test is on its way. Reload the page to see what came of it."))
    return redirect("webhook", webhook_id)


@never_cache
@login_required
@require_POST
def switch(request: SignedInRequest, webhook_id: UUID) -> HttpResponse:
    """On where it is off, and the other way round."""
    webhook = _mine(request, webhook_id)
    webhooks.change(webhook, is_active=not webhook.is_active)
    return redirect("webhook", webhook_id)


@never_cache
@login_required
@require_POST
def redeliver(request: SignedInRequest, webhook_id: UUID, delivery_id: UUID) -> HttpResponse:
    try:
        webhooks.redeliver(_mine(request, webhook_id), delivery_id)
    except WebhookDeliveryNotFound as refusal:
        raise Http404 from refusal
    success(request, _("It is sent once more. Reload the page to see what came of it."))
    return redirect("webhook", webhook_id)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: SignedInRequest, webhook_id: UUID) -> HttpResponse:
    """Ask first, then delete it."""
    webhook = _mine(request, webhook_id)
    if request.method != "POST":
        return render(request, "conversations/delete_webhook.html", {"webhook": webhook})
    webhooks.delete(webhook)
    return redirect("webhooks")


def _mine(request: SignedInRequest, webhook_id: UUID) -> Webhook:
    """Answers 404 for another person's."""
    return get_object_or_404(webhooks.of(request.user), id=webhook_id)
