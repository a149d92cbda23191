"""What Django and django-allauth say of accounts as it happens, whichever page or program it came by, as events.

Their signals are the way in here, as it is their code that does it: a sign-in by a provider or a second factor is recorded
without that code knowing of the record.
"""

from importlib import import_module
from typing import Any

from allauth.account import signals as account
from django.apps import apps
from django.contrib.auth import signals as auth
from django.contrib.auth.models import AnonymousUser, User
from django.dispatch import Signal
from django.http import HttpRequest

from conversations.audit.recording import Details, actor_of, record
from conversations.models import AuditEvent, AuditKind

FAILURE = AuditEvent.Outcome.FAILURE
METHODS = "account_authentication_methods"
"""Where allauth keeps in a session by what its person signed in."""


def connect() -> None:
    """Once, as the apps are ready."""
    _connect(auth.user_logged_in, _signed_in)
    _connect(auth.user_login_failed, _failed)
    _connect(auth.user_logged_out, _signed_out)
    _of_user(account.user_signed_up, AuditKind.SIGN_UP)
    for signal, way in (
        (account.password_changed, "changed"),
        (account.password_set, "set"),
        (account.password_reset, "reset"),
    ):
        _of_user(signal, AuditKind.PASSWORD_CHANGED, way=way)
    for signal, way in (
        (account.email_changed, "primary"),
        (account.email_added, "added"),
        (account.email_removed, "removed"),
    ):
        _of_user(signal, AuditKind.EMAIL_CHANGED, way=way)
    _connect(account.authentication_step_completed, _proven)
    if apps.is_installed("allauth.mfa"):
        mfa = import_module("allauth.mfa.signals")
        for signal, kind in (
            (mfa.authenticator_added, AuditKind.SECOND_FACTOR_ADDED),
            (mfa.authenticator_removed, AuditKind.SECOND_FACTOR_REMOVED),
            (mfa.authenticator_reset, AuditKind.RECOVERY_CODES_MADE),
        ):
            _connect(signal, _factor(kind))
        _connect(mfa.authentication_failed, _factor_failed)
    if apps.is_installed("allauth.socialaccount"):
        social = import_module("allauth.socialaccount.signals")
        _connect(social.social_account_added, _linked)
        _connect(social.social_account_removed, _unlinked)


def _connect(signal: Signal, receiver: Any) -> None:
    signal.connect(receiver, weak=False, dispatch_uid=f"audit.{receiver.__qualname__}.{id(receiver)}")


def _of_user(signal: Signal, kind: AuditKind, **details: str) -> None:
    def receive(user: User, **rest: Any) -> None:
        record(kind, actor=user, target=user, details=details)

    _connect(signal, receive)


def _signed_in(user: User, request: HttpRequest, **rest: Any) -> None:
    record(AuditKind.SIGN_IN, actor=user, target=user, details={"ways": _ways(request)})


def _ways(request: HttpRequest) -> list[str]:
    """Such as `password`, `mfa`, `socialaccount`; empty where nobody said."""
    methods = getattr(request, "session", {}).get(METHODS) or []
    return [str(each.get("method", ""))[:40] for each in methods][:5]


def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **rest: Any) -> None:
    """Of whom, where there is such an account. What was typed is kept nowhere: it may be a password in the wrong field."""
    name = credentials.get("username")
    known = isinstance(name, str) and "\0" not in name
    user = User.objects.filter(username=name).first() if known else None
    actor = actor_of(request) if request and hasattr(request, "user") else AnonymousUser()
    record(AuditKind.SIGN_IN, actor=actor, target=user, outcome=FAILURE, details={"way": "password"})


def _signed_out(user: User | None, **rest: Any) -> None:
    if user is not None:
        record(AuditKind.SIGN_OUT, actor=user, target=user)


def _proven(user: User, method: str, **rest: Any) -> None:
    if rest.get("reauthenticated"):
        record(AuditKind.REAUTHENTICATION, actor=user, target=user, details={"way": method[:40]})


def _factor(kind: AuditKind) -> Any:
    def receive(user: User, authenticator: Any, **rest: Any) -> None:
        record(kind, target=user, details=_of_factor(authenticator))

    return receive


def _factor_failed(user: User, authenticator: Any = None, **rest: Any) -> None:
    record(AuditKind.SIGN_IN, actor=user, target=user, outcome=FAILURE, details=_of_factor(authenticator))


def _of_factor(authenticator: Any) -> Details:
    return {"way": str(authenticator.type), "factor": authenticator.pk} if authenticator else {"way": "mfa"}


def _linked(sociallogin: Any, **rest: Any) -> None:
    record(AuditKind.PROVIDER_LINKED, target=sociallogin.user, details={"provider": sociallogin.account.provider})


def _unlinked(socialaccount: Any, **rest: Any) -> None:
    record(AuditKind.PROVIDER_UNLINKED, target=socialaccount.user, details={"provider": socialaccount.provider})
