"""Secrets as they lie in the database: encrypted with a key that is derived from SECRET_KEY.

What was encrypted with one of SECRET_KEY_FALLBACKS can still be read. A copy of the database alone tells nothing.
"""

import base64
from functools import cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class NotDecryptable(Exception):
    """It was encrypted with another SECRET_KEY, or is damaged."""


def encrypt(text: str, *, purpose: str) -> bytes:
    """``purpose`` tells secrets of one kind from others: what was encrypted for one can't be read as another."""
    return _cipher(purpose).encrypt(text.encode())


def decrypt(encrypted: bytes, *, purpose: str) -> str:
    """Raises ``NotDecryptable``."""
    try:
        return _cipher(purpose).decrypt(encrypted).decode()
    except InvalidToken:
        raise NotDecryptable from None


def renewed(encrypted: bytes, *, purpose: str) -> bytes | None:
    """The same encrypted with the SECRET_KEY of now; ``None`` where it is. Raises ``NotDecryptable``."""
    try:
        _fernet(settings.SECRET_KEY, purpose).decrypt(encrypted)
    except InvalidToken:
        return encrypt(decrypt(encrypted, purpose=purpose), purpose=purpose)
    return None


def _cipher(purpose: str) -> MultiFernet:
    return MultiFernet([_fernet(key, purpose) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


@cache
def _fernet(secret_key: str, purpose: str) -> Fernet:
    derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=f"openbook {purpose}".encode())
    return Fernet(base64.urlsafe_b64encode(derivation.derive(secret_key.encode())))
