"""Tokens over the API: got for a password, listed, taken back."""

from typing import Any

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.utils.cache import patch_cache_control
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts import allowances, sign_in, tokens
from conversations.accounts.allowances import AllowanceUse
from conversations.accounts.limits import KINDS, NO_LIMITS, Limits, limits_of, limits_of_token
from conversations.accounts.session_user import is_leaving
from conversations.errors import AccountLeaving, TokenNotFound
from conversations.models import ApiToken, Scope
from conversations.rest.base import APIView, caller, token_of, valid
from conversations.rest.pagination import TokenPagination
from conversations.wire import moment

MOST_INTEGER, MOST_BIG_INTEGER = 2**31 - 1, 2**63 - 1


class TokenRequest(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150, help_text="As for signing in.")
    password = serializers.CharField(max_length=4_096, trim_whitespace=False, help_text="As for signing in.")
    name = serializers.CharField(max_length=80, default="API", help_text="What you recognise it by.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices),
        default=list(Scope.values),
        allow_empty=False,
        help_text="What it may be used for: `read`, `write`, `export`. All by default.",
    )
    days = serializers.IntegerField(
        required=False,
        min_value=1,
        help_text="How long it works; at most, and by default, as long as the server allows.",
    )
    requests_minute = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_INTEGER,
        help_text="How many of your requests a minute may be its own; all by default.",
    )
    running_replies = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_INTEGER,
        help_text="How many of your running replies may be its own; all by default.",
    )
    tokens_day = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_BIG_INTEGER,
        help_text="How many of your tokens a day may be its own; all by default.",
    )

    def validate_days(self, days: int) -> int:
        if days > tokens.most_days():
            raise serializers.ValidationError(f"At most {tokens.most_days()} days.")
        return days


class TokenAnswer(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Shown once. Use it as `Authorization: Token …`.")


class TokenDescription(serializers.Serializer[Any]):
    """What a token is, without the token: nobody can show it again."""

    id = serializers.IntegerField(help_text="Id of the token.")
    name = serializers.CharField(help_text="What you recognise it by.")
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices), help_text="What it may be used for.")
    created_at = serializers.DateTimeField(help_text="When it was made.")
    expires_at = serializers.DateTimeField(help_text="From then on it is refused.")
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="To the minute.")
    requests_minute = serializers.IntegerField(allow_null=True, help_text="Its own limit, if it has one.")
    running_replies = serializers.IntegerField(allow_null=True, help_text="Its own limit, if it has one.")
    tokens_day = serializers.IntegerField(allow_null=True, help_text="Its own limit, if it has one.")


class UseAnswer(serializers.Serializer[Any]):
    """Limits, and what is used of them. `null`: no limit."""

    requests_minute = serializers.IntegerField(allow_null=True, help_text="Requests a minute.")
    running_replies = serializers.IntegerField(allow_null=True, help_text="Replies that may run at once.")
    tokens_day = serializers.IntegerField(allow_null=True, help_text="From 00:00 UTC; read and written, cached or not.")
    running_now = serializers.IntegerField(help_text="Replies that run.")
    tokens_used = serializers.IntegerField(help_text="By today's replies that have ended, in tokens.")
    tokens_reserved = serializers.IntegerField(help_text="Set aside for replies that run, in tokens.")


class LimitsAnswer(UseAnswer):
    """Your limits, of all your programs and pages together, and what you use of them. `null`: no limit."""

    token = UseAnswer(
        allow_null=True,
        help_text="The same of the token that the call came with: its part of yours. `null`: it has no limits of its own, or "
        "the call came with a session.",
    )


class TokenView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    def get_authenticate_header(self, request: Request) -> str:
        return "Token"  # or else DRF makes a 403 of a wrong password

    @extend_schema(request=TokenRequest, responses=TokenAnswer)
    def post(self, request: Request) -> Response:
        """Exchange a username and a password for a token."""
        payload = valid(TokenRequest, request)
        with sign_in.attempt(request._request, payload["username"]) as attempt:
            user = authenticate(request._request, username=payload["username"], password=payload["password"])
            if not isinstance(user, User):
                raise exceptions.AuthenticationFailed("The username or the password is wrong.")
            attempt.forgive()
        if is_leaving(user):
            raise AccountLeaving
        wanted = {name: payload[name] for name in ("days", *KINDS) if name in payload}
        token = tokens.issue(user=user, name=payload["name"], scopes=payload["scopes"], **wanted)
        response = Response({"token": token})
        patch_cache_control(response, no_store=True)
        return response


class TokenList(APIView):
    pagination_class = TokenPagination

    @extend_schema(responses=TokenDescription(many=True))
    def get(self, request: Request) -> Response:
        """The tokens of the caller that were not revoked, newest first. Never the tokens themselves."""
        paginator = self.pagination_class()
        page: list[ApiToken] = paginator.paginate_queryset(tokens.of(caller(request)), request)
        return paginator.get_paginated_response([_object(token) for token in page])


class TokenCurrent(APIView):
    scopes = {"GET": None}

    @extend_schema(responses=TokenDescription)
    def get(self, request: Request) -> Response:
        """The token that this call is made with. Needs no scope."""
        if not isinstance(request.auth, ApiToken):
            raise TokenNotFound("This call came with a session, not with a token.")
        return Response(_object(request.auth))


class TokenDetail(APIView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, token_id: str) -> Response:
        """Revoke a token, for good. It stops working at once."""
        if not (token_id.isascii() and token_id.isdecimal() and len(token_id) < 19):
            raise TokenNotFound
        if not tokens.revoke(tokens.of(caller(request)).filter(id=int(token_id))):
            raise TokenNotFound
        return Response(status=204)


class LimitsDetail(APIView):
    @extend_schema(responses=LimitsAnswer)
    def get(self, request: Request) -> Response:
        """What the caller may use, and uses now."""
        user, token = caller(request), token_of(request)
        described = _described(limits_of(user), allowances.use_of(user.pk))
        own = limits_of_token(token) if token else NO_LIMITS
        if token is None or own == NO_LIMITS:
            return Response({**described, "token": None})
        return Response({**described, "token": _described(own, allowances.use_of(user.pk, token.pk))})


def _described(limits: Limits, use: AllowanceUse) -> dict[str, Any]:
    return {
        "requests_minute": limits.requests_minute or None,
        "running_replies": limits.running_replies or None,
        "tokens_day": limits.tokens_day or None,
        "running_now": use.running,
        "tokens_used": use.spent,
        "tokens_reserved": use.reserved,
    }


def _object(token: ApiToken) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "scopes": token.scopes,
        "created_at": moment(token.created_at),
        "expires_at": moment(token.expires_at),
        "last_used_at": moment(token.last_used_at),
        "requests_minute": token.requests_minute,
        "running_replies": token.running_replies,
        "tokens_day": token.tokens_day,
    }
