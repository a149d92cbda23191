"""Streams of bytes, encrypted piece by piece, so that memory stays flat and a cut or changed stream is found out.

The construction is STREAM (Hoang, Reyhanitabar, Rogaway, Vizár: online authenticated encryption), as the file format age uses
it: AES-256-GCM over pieces of 64 KiB, whose nonce is the number of the piece and whether it is the last. Each stream has a key
of its own, derived from the installation's key and a random salt.
"""

import hmac
import os
from collections.abc import Iterator
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SALT, PIECE, TAG = 16, 2**16, 16
SHORTEST_KEY = 32


class Readable(Protocol):
    def read(self, most: int, /) -> bytes: ...


class NotReadable(Exception):
    """It was encrypted with another key, or is damaged."""


def derived(key: str, salt: bytes, purpose: str) -> bytes:
    """32 bytes for one purpose."""
    derivation = HKDF(algorithm=SHA256(), length=32, salt=salt, info=f"openbook backup {purpose}".encode())
    return derivation.derive(key.encode())


def mac(key: str, content: bytes) -> str:
    """In hex: what proves that who had the key wrote this."""
    return hmac.digest(derived(key, b"", "manifest"), content, "sha256").hex()


class Sealer:
    """``write`` gives what is to be stored of it by now, ``end`` the rest."""

    def __init__(self, key: str) -> None:
        self._salt = os.urandom(SALT)
        self._cipher = AESGCM(derived(key, self._salt, "stream"))
        self._waiting = bytearray()
        self._number = 0

    def begin(self) -> bytes:
        return self._salt

    def write(self, content: bytes) -> Iterator[bytes]:
        self._waiting += content
        while len(self._waiting) > PIECE:  # the last piece is never empty where there is another
            piece = bytes(self._waiting[:PIECE])
            del self._waiting[:PIECE]
            yield self._sealed(piece, is_last=False)

    def end(self) -> bytes:
        return self._sealed(bytes(self._waiting), is_last=True)

    def _sealed(self, piece: bytes, *, is_last: bool) -> bytes:
        sealed = self._cipher.encrypt(_nonce(self._number, is_last=is_last), piece, None)
        self._number += 1
        return sealed


def unsealed(source: Readable, key: str) -> Iterator[bytes]:
    """What was sealed. Raises ``NotReadable``, at the latest where the stream ends."""
    cipher = AESGCM(derived(key, source.read(SALT).ljust(SALT, b"\0"), "stream"))
    number, piece = 0, source.read(PIECE + TAG)
    while True:
        following = source.read(PIECE + TAG)
        try:
            yield cipher.decrypt(_nonce(number, is_last=not following), piece, None)
        except InvalidTag:
            raise NotReadable from None
        if not following:
            return
        number, piece = number + 1, following


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11) + bytes([is_last])
