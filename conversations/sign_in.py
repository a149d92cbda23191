"""Attempts to sign in, counted at every door that takes a password."""

import hashlib

from conversations import counting
from conversations.errors import RateLimited
from conversations.limits import MINUTE

ATTEMPTS = 10
"""Wrong passwords a minute, from one address for one name."""


def count_attempt(address: str, username: str) -> str:
    """Count an attempt, before the password is looked at. Returns what to ``forgive`` it by; raises ``RateLimited``."""
    # Neither may be any text that somebody sends: a key is bounded, and a log is not to show who was tried.
    who = f"{address} {username.casefold()}"
    key = f"sign-in.{hashlib.sha256(who.encode('utf-8', 'replace')).hexdigest()}"
    used, seconds = counting.count(key, seconds=MINUTE)
    if used > ATTEMPTS:
        message = f"Too many attempts for this user name. Try again in {seconds} s."
        raise RateLimited(message, limit="sign_in", most=ATTEMPTS, retry_after=seconds)
    return key


def forgive(key: str) -> None:
    """The password was right."""
    counting.forget(key, seconds=MINUTE)
