"""The operator's way in where nobody signs in by a password, or the provider is away: a link that `manage.py` prints."""

from django.contrib.auth.models import User
from django.core import signing

from conversations.accounts import session_user
from conversations.runtime.site import public_address

SALT, SECONDS = "openbook.sign-in-link", 600


def link_for(user: User) -> str:
    """Works for ten minutes, and until the next sign-in."""
    return f"{public_address()}/accounts/operator/{signing.dumps([user.pk, _state(user)], salt=SALT)}/"


def user_of(token: str) -> User | None:
    """The superuser whose link it is, while it works."""
    try:
        pk, state = signing.loads(token, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=pk, is_active=True, is_superuser=True).select_related("deletion").first()
    return user if user and not session_user.is_leaving(user) and state == _state(user) else None


def _state(user: User) -> str:
    return user.last_login.isoformat() if user.last_login else ""
