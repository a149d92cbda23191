"""Tokens over the API: got for a password, listed, taken back."""

from datetime import datetime, timedelta
from typing import Annotated, Any, TypedDict

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from rest_framework import exceptions
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts import allowances, budgets, freshness, networks, second_factors, sign_in, tokens
from conversations.accounts.allowances import AllowanceUse
from conversations.accounts.limits import KINDS, NO_LIMITS, Limits, limits_of, limits_of_token
from conversations.accounts.passwords import NO_PASSWORDS, takes_passwords
from conversations.accounts.scopes import grantable
from conversations.accounts.session_user import is_leaving
from conversations.errors import AccountLeaving, BeyondOwnRights, FreshSignInNeeded, SecondFactorNeeded, TokenNotFound
from conversations.files import store
from conversations.models import ApiToken, Scope
from conversations.models.tokens import default_scopes
from conversations.rest.base import APIView, caller, token_of
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.runtime import clock
from conversations.runtime.shapes import Time, fill

INTEGER, BIG_INTEGER = {"min_value": 1, "max_value": 2**31 - 1}, {"min_value": 1, "max_value": 2**63 - 1}


def are_allowed(days: int) -> None:
    if days > tokens.most_days():
        raise exceptions.ValidationError(f"At most {tokens.most_days()} days.")


def is_to_come(at: datetime) -> None:
    if not clock.now() < at <= clock.now() + timedelta(days=tokens.most_days()):
        raise exceptions.ValidationError(f"It must be a time to come, at most {tokens.most_days()} days from now.")


def are_networks(addresses: list[str]) -> None:
    try:
        networks.normalized(addresses)
    except networks.NotANetwork as error:
        raise exceptions.ValidationError(str(error)) from None


class TokenTerms(TypedDict, total=False):
    """Left out: as far and as long as the server allows."""

    days: Annotated[
        int,
        {"min_value": 1, "validators": [are_allowed]},
        "How long it works; at most, and by default, as long as the server allows.",
    ]
    expires_at: Annotated[datetime, {"validators": [is_to_come]}, "Until when it works, in place of `days`."]
    addresses: Annotated[
        list[str],
        {"validators": [are_networks]},
        "Networks from which it works, such as `192.0.2.0/24`; from everywhere by default.",
    ]
    requests_minute: Annotated[int, INTEGER, "How many of your requests a minute may be its own; all by default."]
    running_replies: Annotated[int, INTEGER, "How many of your running replies may be its own; all by default."]
    tokens_day: Annotated[int, BIG_INTEGER, "How many of your tokens a day may be its own; all by default."]


SCOPES = "What it may be used for; by default `read`, `write` and `export`. Those of staff and directories take their rights."


class NewToken(TokenTerms):
    name: Annotated[str, {"max_length": 80}, "What you recognise it by."]
    scopes: Annotated[list[Annotated[str, Scope]], {"default": default_scopes(), "allow_empty": False}, SCOPES]


class TokenRequest(TokenTerms):
    username: Annotated[str, {"max_length": 150}, "As for signing in."]
    password: Annotated[str, {"max_length": 4_096, "trim_whitespace": False}, "As for signing in."]
    code: Annotated[
        str,
        {"max_length": 32, "default": ""},
        "Of the authenticator app, or one of the recovery codes, where the account has a second factor.",
    ]
    name: Annotated[str, {"max_length": 80, "default": "API"}, "What you recognise it by."]
    scopes: Annotated[list[Annotated[str, Scope]], {"default": default_scopes(), "allow_empty": False}, SCOPES]


class TokenAnswer(TypedDict):
    token: Annotated[str, "Shown once. Use it as `Authorization: Token …`."]


class TokenDescription(TypedDict):
    """What a token is, without the token: nobody can show it again."""

    id: Annotated[int, "Id of the token."]
    name: Annotated[str, "What you recognise it by."]
    scopes: Annotated[list[Annotated[str, Scope]], "What it may be used for."]
    addresses: Annotated[list[str], "Networks from which it works; empty: from everywhere."]
    created_at: Annotated[Time, "When it was made."]
    expires_at: Annotated[Time, "From then on it is refused."]
    last_used_at: Annotated[Time | None, "To the minute."]
    last_used_from: Annotated[str, "The network that it was used from then; of IPv6 the first 64 bits."]
    requests_minute: Annotated[int | None, "Its own limit, if it has one."]
    running_replies: Annotated[int | None, "Its own limit, if it has one."]
    tokens_day: Annotated[int | None, "Its own limit, if it has one."]


class CreatedToken(TokenDescription):
    token: Annotated[str, "Shown once. Use it as `Authorization: Token …`."]


class UseAnswer(TypedDict):
    """Limits, and what is used of them. `null`: no limit."""

    requests_minute: Annotated[int | None, "Requests a minute."]
    running_replies: Annotated[int | None, "Replies that may run at once."]
    tokens_day: Annotated[int | None, "From 00:00 UTC; read and written, cached or not."]
    running_now: Annotated[int, "Replies that run."]
    tokens_used: Annotated[
        int, "By today's calls of models that have ended, in tokens; estimated where a service tells none."
    ]
    tokens_reserved: Annotated[int, "Set aside for replies and notes that are being made, in tokens."]


class BudgetFigures(TypedDict):
    """Tokens, and money in USD; days and months begin at 00:00 UTC."""

    tokens_day: Annotated[int, "In tokens."]
    money_day: Annotated[float, "In USD."]
    tokens_month: Annotated[int, "In tokens."]
    money_month: Annotated[float, "In USD."]


class BudgetLimits(TypedDict):
    """Limits in tokens and in USD, and what is used of them. `null`: no limit."""

    tokens_day: Annotated[int | None, "In tokens."]
    money_day: Annotated[float | None, "In USD."]
    tokens_month: Annotated[int | None, "In tokens."]
    money_month: Annotated[float | None, "In USD."]
    used: Annotated[BudgetFigures, "By calls of models that have ended."]


class GroupLimits(BudgetLimits):
    """What a group that you are in may use together."""

    name: Annotated[str, "That of the group."]
    own: Annotated[BudgetLimits, "What each of its members may use of it, and what you use."]


class LimitsAnswer(UseAnswer):
    """Your limits, of all your programs and pages together, and what you use of them. `null`: no limit."""

    tokens_noted: Annotated[int, "Of the tokens used, those that notes of your conversations took."]
    files_bytes: Annotated[int | None, "What your files may take, with the pictures of their parts."]
    files_used: Annotated[int, "What they take, in bytes."]
    groups: Annotated[list[GroupLimits], "The budgets of the groups that you are in; all of them count."]
    token: Annotated[
        UseAnswer | None,
        "The same of the token that the call came with: its part of yours. `null`: it has no limits of its own, or the call "
        "came with a session.",
    ]


class TokenView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    def get_authenticate_header(self, request: Request) -> str:
        return "Token"  # or else DRF makes a 403 of a wrong password

    @describe(request=described(TokenRequest), responses=described(TokenAnswer))
    def post(self, request: Request) -> Response:
        """Exchange a username and a password for a token; with a code, where the account has a second factor."""
        if not takes_passwords():
            raise exceptions.PermissionDenied(NO_PASSWORDS)
        payload = valid(TokenRequest, request)
        with sign_in.attempt(request._request, payload["username"]) as attempt:
            try:
                user = authenticate(request._request, username=payload["username"], password=payload["password"])
            except ValidationError as error:  # of a directory: it is away, or gives no account
                raise exceptions.AuthenticationFailed(" ".join(error.messages)) from error
            if not isinstance(user, User):
                raise exceptions.AuthenticationFailed("The username or the password is wrong.")
            attempt.forgive()
        if is_leaving(user):
            raise AccountLeaving
        _prove_factor(request._request, user, payload["code"])
        return Response({"token": _made(user, payload).secret})


def _made(user: User, payload: Any) -> ApiToken:
    """Raises ``BeyondOwnRights`` for a scope that takes a right which the user doesn't have."""
    beyond = [scope for scope in payload["scopes"] if scope not in grantable(user)]
    if beyond:
        raise BeyondOwnRights(f"The scope `{beyond[0]}` takes a right that you don’t have.", scopes=beyond)
    limits = {name: payload[name] for name in KINDS if name in payload}
    row = ApiToken(
        user=user,
        name=payload["name"],
        scopes=payload["scopes"],
        addresses=networks.normalized(payload.get("addresses", ())),
        **limits,
    )
    row.secret = tokens.store(row, days=payload.get("days"), expires_at=payload.get("expires_at"))
    return row


def _within_own(parent: ApiToken, payload: Any) -> None:
    """Take care that a token makes none that may more than itself. Raises ``BeyondOwnRights``."""
    beyond = [scope for scope in payload["scopes"] if scope not in parent.scopes]
    if beyond:
        raise BeyondOwnRights(
            f"A token gives no scope that it doesn’t have: this one lacks {' and '.join(f'`{each}`' for each in beyond)}.",
            scopes=beyond,
        )
    addresses = networks.normalized(payload.get("addresses") or parent.addresses)
    if not networks.are_within(addresses, parent.addresses):
        raise BeyondOwnRights(
            "A token that works from some networks makes none for others.", addresses=parent.addresses
        )
    payload["addresses"] = addresses
    payload["expires_at"] = min(payload.get("expires_at") or parent.expires_at, parent.expires_at)
    for kind in KINDS:
        own = getattr(parent, kind)
        if own is not None:
            payload[kind] = min(payload.get(kind) or own, own)


def _prove_factor(request: HttpRequest, user: User, code: str) -> None:
    """Raises ``SecondFactorNeeded`` where a code is needed and none was sent, and where a factor is still to be set up."""
    if not second_factors.has_factor(user):
        if second_factors.is_lacking(user):
            raise SecondFactorNeeded
        return
    if not code:
        raise SecondFactorNeeded("This account has a second factor. Send a code of it as `code`.")
    with sign_in.code_attempt(request, user.get_username()) as attempt:
        if second_factors.use_code(user, code) is None:
            raise exceptions.AuthenticationFailed("The code is wrong, or was used before.")
        attempt.forgive()


class TokenList(APIView):
    pagination_class = ordered_by("-id")

    @describe(request=described(NewToken), responses={201: described(CreatedToken)})
    def post(self, request: Request) -> Response:
        """Make a token. With a session, where the person has proved who they are within five minutes; with a token, for no
        more, no longer and from nowhere else than itself. The token is in this answer and is never shown again."""
        payload = valid(NewToken, request)
        if parent := token_of(request):
            _within_own(parent, payload)
        elif not freshness.is_fresh(request._request, caller(request)):
            raise FreshSignInNeeded
        row = _made(caller(request), payload)
        return Response({**_object(row), "token": row.secret}, status=201)

    @describe(responses=described(TokenDescription, many=True))
    def get(self, request: Request) -> Response:
        """The tokens of the caller that were not revoked, newest first. Never the tokens themselves."""
        return self.page(request, tokens.of(caller(request)), lambda page: [_object(token) for token in page])


class TokenCurrent(APIView):
    scopes = {"GET": None}

    @describe(responses=described(TokenDescription))
    def get(self, request: Request) -> Response:
        """The token that this call is made with. Needs no scope."""
        if not isinstance(request.auth, ApiToken):
            raise TokenNotFound("This call came with a session, not with a token.")
        return Response(_object(request.auth))


class TokenDetail(APIView):
    @describe(responses={204: None})
    def delete(self, request: Request, token_id: str) -> Response:
        """Revoke a token, for good. It stops working at once."""
        if not (token_id.isascii() and token_id.isdecimal() and len(token_id) < 19):
            raise TokenNotFound
        if not tokens.revoke(tokens.of(caller(request)).filter(id=int(token_id))):
            raise TokenNotFound
        return Response(status=204)


class LimitsDetail(APIView):
    @describe(responses=described(LimitsAnswer))
    def get(self, request: Request) -> Response:
        """What the caller may use, and uses now."""
        user, token = caller(request), token_of(request)
        own = limits_of_token(token) if token else NO_LIMITS
        of_token = _use(own, allowances.use_of(user.pk, token.pk)) if token and own != NO_LIMITS else None
        room = store.room_of(user)
        described: LimitsAnswer = {
            **_use(limits_of(user), allowances.use_of(user.pk)),
            "tokens_noted": allowances.spent_on_notes(user.pk),
            "files_bytes": room.most or None,
            "files_used": room.used,
            "groups": _groups(user.pk),
            "token": of_token,
        }
        return Response(described)


def _groups(user_id: int) -> list[GroupLimits]:
    uses = [use for use in budgets.uses_of(user_id) if use.name]
    return [
        {"name": use.name, **_budget(use), "own": _budget(own)} for own, use in zip(uses[::2], uses[1::2], strict=True)
    ]


def _budget(use: budgets.Use) -> BudgetLimits:
    used = {kind: budgets.plain(kind, use.used[kind]) for kind in budgets.KINDS}
    return fill(BudgetLimits, use, **{kind: budgets.plain(kind, use.limits[kind]) for kind in budgets.KINDS}, used=used)


def _use(limits: Limits, use: AllowanceUse) -> UseAnswer:
    own = {name: getattr(limits, name) or None for name in KINDS}
    return fill(UseAnswer, use, **own, running_now=use.running, tokens_used=use.spent, tokens_reserved=use.reserved)


def _object(token: ApiToken) -> TokenDescription:
    return fill(TokenDescription, token)
