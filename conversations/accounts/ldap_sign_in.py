"""Sign-in by the password of a directory (LDAP), for installations with the extra ``ldap``.

Who somebody is, is the entry of the directory, never a name that an account here happens to have as well.
"""

import logging
from typing import Any

import ldap
from allauth.socialaccount.models import SocialAccount
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django_auth_ldap import config
from django_auth_ldap.backend import LDAPBackend, ldap_error

from conversations.accounts import claims, sign_up
from conversations.accounts.session_user import SessionUserBackend

log = logging.getLogger("openbook.accounts")

PROVIDER = "ldap"
SECONDS = 5
AWAY = gettext_noop("The directory does not answer at the moment. Nothing is lost: try again in a minute.")
AWAY_ERRORS = (ldap.SERVER_DOWN, ldap.TIMEOUT, ldap.CONNECT_ERROR, ldap.UNAVAILABLE, ldap.BUSY)
GROUP_TYPES = {
    "names": config.GroupOfNamesType,
    "unique_names": config.GroupOfUniqueNamesType,
    "posix": config.PosixGroupType,
    "active_directory": config.ActiveDirectoryGroupType,
    "nested_active_directory": config.NestedActiveDirectoryGroupType,
}


class DirectoryBackend(LDAPBackend):  # type: ignore[misc]
    """After the backend of passwords here, so that a superuser's works while the directory is away."""

    def __init__(self) -> None:
        self.default_settings = ldap_settings(settings.OPENBOOK_DIRECTORY)

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        """Raises ``ValidationError`` where the directory is away, or the person is not to have an account."""
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if not isinstance(user, User):
            return None
        rules = claims.rules_of(settings.OPENBOOK_DIRECTORY)
        if rules.known_values:
            claims.apply(user, rules, user.ldap_user.group_names)  # type: ignore[attr-defined]
        return user if user.is_active else None

    async def aauthenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        return await sync_to_async(self.authenticate)(request, **credentials)

    def get_user(self, user_id: Any) -> User | None:
        return SessionUserBackend().get_user(user_id)

    async def aget_user(self, user_id: Any) -> User | None:
        return await SessionUserBackend().aget_user(user_id)

    def get_group_permissions(self, user: User, obj: Any = None) -> set[str]:
        return set()  # rights are those of groups here

    def get_or_build_user(self, username: str, ldap_user: Any) -> tuple[User, bool]:
        """The account of this entry, which is made where the directory is trusted to say whom there is. Raises
        ``ValidationError``."""
        uid = unique_id(ldap_user)
        known = SocialAccount.objects.filter(provider=PROVIDER, uid=uid).select_related("user").first()
        if known:
            return known.user, False
        with transaction.atomic():
            user = self._own_account(username) or self._new_account(username, ldap_user)
            SocialAccount.objects.create(user=user, provider=PROVIDER, uid=uid, extra_data={"username": username[:150]})
        return user, False

    def _own_account(self, username: str) -> User | None:
        """An account here with the same name, where the operator says that names are the directory's; never one of staff."""
        if not settings.OPENBOOK_DIRECTORY.get("trusts_names"):
            return None
        return User.objects.filter(username__iexact=username, is_staff=False, is_superuser=False).first()

    def _new_account(self, username: str, ldap_user: Any) -> User:
        policy = settings.OPENBOOK_DIRECTORY.get("sign_up", "as_others")
        refusal = sign_up.Refusal.CLOSED if policy == "closed" else None
        if policy == "as_others":
            refusal = sign_up.refusal(sign_up.rules())
        if refusal:
            raise ValidationError(gettext(sign_up.MESSAGES[refusal]), code="no_account")
        user = User(username=free_name(username))
        user.first_name, user.last_name = (_value(ldap_user, name)[:150] for name in ("givenName", "sn"))
        user.set_unusable_password()
        user.save()
        return user


def ldap_settings(directory: dict[str, Any]) -> dict[str, Any]:
    """As django-auth-ldap names them."""
    values: dict[str, Any] = {
        "SERVER_URI": directory["server"],
        "START_TLS": directory.get("start_tls", False),
        "BIND_DN": directory.get("bind_dn", ""),
        "BIND_PASSWORD": directory.get("bind_password", ""),
        "USER_SEARCH": config.LDAPSearch(
            directory["users"], ldap.SCOPE_SUBTREE, directory.get("user_filter", "(uid=%(user)s)")
        ),
        "USER_ATTRLIST": ["*", directory.get("uid_attribute", "entryUUID")],
        "ALWAYS_UPDATE_USER": False,
        "CONNECTION_OPTIONS": {
            ldap.OPT_NETWORK_TIMEOUT: SECONDS,
            ldap.OPT_TIMEOUT: SECONDS,
            ldap.OPT_REFERRALS: 0,
            ldap.OPT_X_TLS_REQUIRE_CERT: ldap.OPT_X_TLS_DEMAND,
        },
    }
    if "certificate_authority_file" in directory:
        values["CONNECTION_OPTIONS"][ldap.OPT_X_TLS_CACERTFILE] = directory["certificate_authority_file"]
    values["CONNECTION_OPTIONS"][ldap.OPT_X_TLS_NEWCTX] = 0  # last: it makes those of TLS count
    if "group_base" in directory:
        values["GROUP_SEARCH"] = config.LDAPSearch(directory["group_base"], ldap.SCOPE_SUBTREE)
        values["GROUP_TYPE"] = GROUP_TYPES[directory.get("group_type", "names")]()
    return values


def unique_id(ldap_user: Any) -> str:
    """What stays the same while an entry is renamed or moved; where the directory has no such attribute, its name."""
    name = settings.OPENBOOK_DIRECTORY.get("uid_attribute", "entryUUID")
    value = (ldap_user.attrs.get(name) or [""])[0]
    return (value.hex() if isinstance(value, bytes) else str(value))[:191] or str(ldap_user.dn).casefold()[:191]


def free_name(username: str) -> str:
    """The name itself, or with a number where an account here has it."""
    base = username.replace("\0", "")[:140]
    taken = {
        name.casefold() for name in User.objects.filter(username__istartswith=base).values_list("username", flat=True)
    }
    names = (base if number == 1 else f"{base}{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name.casefold() not in taken)


def _value(ldap_user: Any, name: str) -> str:
    return str((ldap_user.attrs.get(name) or [""])[0]).replace("\0", "")


def _say_away(sender: object, exception: ldap.LDAPError, **kwargs: Any) -> None:
    """The library takes any failure for a wrong password."""
    log.warning("the directory failed", extra={"cause": _cause(exception)})
    if isinstance(exception, (*AWAY_ERRORS, ldap.INSUFFICIENT_ACCESS, ldap.INVALID_CREDENTIALS, ldap.NO_SUCH_OBJECT)):
        raise ValidationError(gettext(AWAY), code="directory_away") from exception


def _cause(exception: ldap.LDAPError) -> str:
    """In the library's words, with what may be wrong where it says too little: a certificate that is not trusted is no more to
    it than a server that can't be reached."""
    details = exception.args[0] if exception.args and isinstance(exception.args[0], dict) else {}
    words = [type(exception).__name__, *(str(details[name]) for name in ("desc", "info") if details.get(name))]
    directory = settings.OPENBOOK_DIRECTORY
    is_secure = directory.get("start_tls") or directory.get("server", "").startswith("ldaps:")
    if is_secure and isinstance(exception, (ldap.SERVER_DOWN, ldap.CONNECT_ERROR)):
        authority = directory.get("certificate_authority_file") or "the system's authorities"
        words.append(f"or its certificate is not of {authority}, or not for this name (certificate_authority_file)")
    return ": ".join(words)


ldap_error.connect(_say_away)
