"""The pages on which people look after their account. They need no script."""

from typing import Any

from django import forms
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.messages import success
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from conversations import accounts, mailing, sign_in
from conversations.chat.views import SignedInRequest
from conversations.forms import ConfirmedForm, MailForm
from conversations.models import SignIn


@never_cache
@login_required
@require_http_methods(["GET", "HEAD"])
def page(request: SignedInRequest) -> HttpResponse:
    """Where the caller is signed in, and what can be changed."""
    context = {
        "sign_ins": accounts.sign_ins_of(request.user),
        "this": request.session.session_key,
        "mail_is_possible": mailing.is_possible(),
    }
    return render(request, "conversations/account.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def change_password(request: SignedInRequest) -> HttpResponse:
    """Other sessions end; this one goes on."""
    form = PasswordChangeForm(request.user, request.POST or None)
    if form.is_bound:
        with _confirmation(request) as attempt:
            is_valid = form.is_valid()
            if "old_password" not in form.errors:
                attempt.forgive()
            if is_valid:
                form.save()
        if is_valid:
            before = request.session.session_key
            update_session_auth_hash(request, request.user)
            accounts.follow(before, request)
            ended = accounts.sign_out_elsewhere(request.user, request.session.session_key)
            others = f" {ended} other sign-in{'s' * (ended != 1)} ended." if ended else ""
            success(request, f"Your password is changed.{others} Access tokens go on working until you revoke them.")
            return redirect("account")
    return render(request, "registration/change_password.html", {"form": form})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def change_mail(request: SignedInRequest) -> HttpResponse:
    form = MailForm(request.user, request.POST or None, initial={"email": request.user.email})
    if _is_confirmed(request, form):
        request.user.email = form.cleaned_data["email"]
        request.user.save(update_fields=["email"])
        success(request, "Your mail address is saved." if request.user.email else "Your mail address is removed.")
        return redirect("account")
    return render(request, "registration/change_mail.html", {"form": form})


@never_cache
@login_required
@require_POST
def sign_out(request: SignedInRequest) -> HttpResponse:
    """End one session, by the id of its row, or all but this one."""
    rows = SignIn.objects.filter(user=request.user).exclude(session_key=request.session.session_key)
    chosen = request.POST.get("sign_in", "")
    if chosen:
        rows = (
            rows.filter(id=int(chosen)) if chosen.isascii() and chosen.isdecimal() and len(chosen) < 19 else rows.none()
        )
    ended = accounts.sign_out(rows)
    success(request, f"{ended} sign-in{'s' * (ended != 1)} ended.")
    return redirect("account")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: SignedInRequest) -> HttpResponse:
    """Say what will go, and take the password for it. It goes in a day."""
    form = ConfirmedForm(request.user, request.POST or None)
    # Or else whoever looks at what others wrote could take their own name out of the record of it.
    if not request.user.is_staff and _is_confirmed(request, form):
        accounts.ask_deletion(request.user, request.session.session_key)
        return redirect("leaving")
    return render(request, "registration/delete_account.html", {"form": form, "goes": accounts.what_goes(request.user)})


def _is_confirmed(request: SignedInRequest, form: forms.Form) -> bool:
    """Whether the form is filled in rightly, its password as well."""
    if not form.is_bound:
        return False
    with _confirmation(request) as attempt:
        is_valid = form.is_valid()
        if "password" not in form.errors:
            attempt.forgive()
    return is_valid


def _confirmation(request: SignedInRequest) -> Any:
    return sign_in.attempt(request, request.user.get_username())
