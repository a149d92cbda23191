"""What an account proves itself with beside its password: an authenticator app, passkeys, and recovery codes for when they are
lost. allauth keeps them; here is who has one, who must have one, and whether a code is right."""

import logging
import time

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations.accounts.user_values import value_of
from conversations.runtime import encryption
from conversations.runtime.sql_files import read_statements

APP, PASSKEY, RECOVERY_CODES = (
    Authenticator.Type.TOTP,
    Authenticator.Type.WEBAUTHN,
    Authenticator.Type.RECOVERY_CODES,
)
FACTORS = (APP, PASSKEY)
"""Recovery codes stand in for one of these, and go with the last of them."""
PURPOSE = "second factors"
"""Of the encryption of their secrets."""
STATEMENTS = read_statements(__file__)

log = logging.getLogger("openbook.accounts")


def of(user: User) -> QuerySet[Authenticator]:
    rows: QuerySet[Authenticator] = Authenticator.objects.filter(user=user)
    return rows


def has_factor(user: User) -> bool:
    return of(user).filter(type__in=FACTORS).exists()


def is_lacking(user: User) -> bool:
    """Whether a group of theirs requires a second factor, and they have none. Asks the database, unless the row came along
    with the answer, as that of a session does."""
    known: bool | None = getattr(user, "is_lacking_factor", None)
    return known if known is not None else bool(value_of(user.pk, STATEMENTS["lacks_factor"]))


def use_code(user: User, code: str) -> Authenticator | None:
    """The authenticator that this code is of, now used up: one of an app works once, and so does a recovery code.

    Whoever calls it counts the attempt: ``sign_in.code_attempt``.
    """
    try:
        for row in of(user).exclude(type=PASSKEY):
            is_right = _use_app_code(row, code) if row.type == APP else row.wrap().validate_code(code)
            if is_right:
                return row
    except encryption.NotDecryptable:
        log.exception("a second factor can't be read with this SECRET_KEY", extra={"user_id": user.pk})
    return None


def remove_all(user: User) -> None:
    """With the recovery codes: the account signs in by its password, or as it was made."""
    of(user).delete()


def step_of(secret: str, code: str, *, after: int = -1) -> int | None:
    """The step of time, of 30 s, that this is the code of: the current one or a neighbour, and later than ``after``."""
    now = int(time.time()) // app_settings.TOTP_PERIOD
    for step in range(now - app_settings.TOTP_TOLERANCE, now + app_settings.TOTP_TOLERANCE + 1):
        if step > after and compare_user_code(actual=code, expected=format_hotp_value(hotp_value(secret, step))):
            return step
    return None


def codes_left(codes: Authenticator) -> int:
    """How many recovery codes were not used yet."""
    used: int = codes.data.get("used_mask", 0)
    return int(app_settings.RECOVERY_CODE_COUNT) - used.bit_count()


def note_step(row: Authenticator, step: int) -> None:
    """No code of this step or of an earlier one works any more, in whatever process."""
    row.data["last_step"] = step
    row.save(update_fields=["data"])


@transaction.atomic
def _use_app_code(row: Authenticator, code: str) -> bool:
    locked = Authenticator.objects.select_for_update().filter(pk=row.pk).first()
    if locked is None:
        return False
    secret = encryption.decrypt(locked.data["secret"].encode(), purpose=PURPOSE)
    step = step_of(secret, code, after=locked.data.get("last_step", -1))
    if step is None:
        return False
    note_step(locked, step)
    return True
