"""Secrets of sign-in providers that are rows: encrypted among their settings, as allauth keeps its own column in clear."""

import logging

from allauth.socialaccount.models import SocialApp

from conversations.runtime import encryption

log = logging.getLogger("openbook.accounts")

PURPOSE = "sign-in provider"
KEY = "sealed_secret"


def seal(secret: str) -> str:
    return encryption.encrypt(secret, purpose=PURPOSE).decode()


def open_secret(app: SocialApp) -> None:
    """Give a row its secret, for as long as it is in use."""
    sealed = (app.settings or {}).get(KEY)
    if not sealed:
        return
    try:
        app.secret = encryption.decrypt(sealed.encode(), purpose=PURPOSE)
    except encryption.NotDecryptable:
        log.warning(
            "the secret of a sign-in provider can't be read: enter it again", extra={"provider": app.provider_id}
        )


def renew() -> int:
    """Encrypt anew what was encrypted with a former SECRET_KEY. Returns how many."""
    count = 0
    for app in SocialApp.objects.all():
        sealed = (app.settings or {}).get(KEY)
        if not sealed:
            continue
        try:
            after = encryption.renewed(sealed.encode(), purpose=PURPOSE)
        except encryption.NotDecryptable:
            continue
        if after:
            count += SocialApp.objects.filter(pk=app.pk, settings=app.settings).update(
                settings=app.settings | {KEY: after.decode()}
            )
    return count
