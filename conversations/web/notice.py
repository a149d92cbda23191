"""The page of the notice that people accept before they go on. It needs no script."""

from allauth.account.utils import get_next_redirect_url
from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.accounts import notices, switches
from conversations.errors import NoticeChanged
from conversations.runtime.wording import translated
from conversations.web.views import SignedInRequest


class AcceptanceForm(forms.Form):
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest) -> HttpResponse:
    """The notice in force, to be read and accepted; leads on where it was accepted, and where there is none."""
    goal = get_next_redirect_url(request) or reverse("chat")
    problem = None
    if request.method == "POST":
        form = AcceptanceForm(request.POST)
        try:
            notices.accept(request.user, form.cleaned_data["version"] if form.is_valid() else 0)
        except NoticeChanged as error:
            problem = error
        else:
            return redirect(goal)
    notice = notices.newest()
    if notice is None:
        return redirect(goal)
    context = {
        "notice": notice,
        "acceptance": notices.acceptance_of(request.user, notice),
        "goal": goal,
        "problem": problem and translated(problem.message),
        "can_export": "export" in switches.on_for(request.user.pk),
    }
    return render(request, "account/notice.html", context, status=problem.status if problem else 200)
