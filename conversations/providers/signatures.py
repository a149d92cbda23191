"""By what a service of somebody else knows that a request comes from this installation."""

import hashlib
import hmac
import time
from collections.abc import Mapping


def signature_headers(body: bytes, secret: str, *, now: float | None = None) -> Mapping[str, str]:
    """HMAC-SHA256 over the time in seconds, a dot, and the body, in hex. Empty without a secret."""
    if not secret:
        return {}
    at = str(int(time.time() if now is None else now))
    digest = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"X-Openbook-Time": at, "X-Openbook-Signature": f"sha256={digest}"}
