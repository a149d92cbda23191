"""Codes as an authenticator app makes them: RFC 6238, written apart from what is tested."""

import base64
import hashlib
import hmac
import time


def code_of(key: str, *, steps: int = 0) -> str:
    """The six digits that an app with this key shows now, or so many steps of 30 seconds later."""
    count = int(time.time() // 30) + steps
    digest = hmac.new(base64.b32decode(key), count.to_bytes(8, "big"), hashlib.sha1).digest()
    at = digest[-1] & 15
    return str((int.from_bytes(digest[at : at + 4], "big") & 0x7FFFFFFF) % 10**6).zfill(6)
