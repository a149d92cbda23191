"""The page on which people make tokens for their programs, see them and take them back. It needs no script."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.accounts import allowances, limits, tokens
from conversations.models import ApiToken
from conversations.web.forms import TokenForm
from conversations.web.fresh import fresh_sign_in
from conversations.web.views import SignedInRequest


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest) -> HttpResponse:
    """The caller's tokens. A new one takes the password, as it outlives the session, and is shown in the answer to the form
    and never again."""
    row = ApiToken(user=request.user)
    form = TokenForm(request.POST or None, instance=row)
    if form.is_valid():
        row.secret = form.issued()
        form = TokenForm(instance=ApiToken(user=request.user))
    context = {
        "form": form,
        "made": row,
        "tokens": tokens.of(request.user),
        "now": timezone.now(),
        "limits": limits.limits_of(request.user),
        "use": allowances.use_of(request.user.pk),
    }
    return render(request, "conversations/tokens.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: SignedInRequest, token_id: int) -> HttpResponse:
    """Ask first, then take the token back. Answers 404 for another user's."""
    token = get_object_or_404(tokens.of(request.user), id=token_id)
    if request.method != "POST":
        return render(request, "conversations/revoke_token.html", {"token": token})
    tokens.revoke(tokens.of(request.user).filter(id=token.pk))
    return redirect("tokens")
