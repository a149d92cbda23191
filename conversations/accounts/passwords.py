"""The hash of passwords, which takes most of a second of a core on purpose: in a thread or two of its own, with no database
connection held meanwhile, and for so many at once only. Whatever page or call hashes a password comes through here."""

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection
from django.utils.translation import gettext_noop

from conversations.errors import RateLimited
from conversations.runtime.wording import worded

NO_PASSWORDS = gettext_noop("There are no passwords on this server. Sign in by a provider or a passkey.")
THREADS = 1 if (os.cpu_count() or 1) <= 2 else 2
PLACES = 16
PLACES_OF_ONE = 12
"""Hashes that run or wait, in all and for one address: nobody alone takes all of them."""
RETRY_SECONDS = 10
NICENESS = 10


def takes_passwords() -> bool:
    """Whether people sign in by one: of an account here, or of a directory."""
    return bool(settings.OPENBOOK_PASSWORD_SIGN_IN or settings.OPENBOOK_DIRECTORY)


class Places:
    """Who may have a password hashed, counted by address."""

    def __init__(self, *, total: int = PLACES, of_one: int = PLACES_OF_ONE) -> None:
        self._total, self._of_one = total, of_one
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, who: str) -> None:
        """Raises ``RateLimited`` where none is free."""
        with self._lock:
            if self._taken.total() >= self._total or self._taken[who] >= self._of_one:
                message = worded(
                    "Too many people sign in at this moment. Try again in {seconds} s.", seconds=RETRY_SECONDS
                )
                raise RateLimited(message, limit="password_hashes", most=self._of_one, retry_after=RETRY_SECONDS)
            self._taken[who] += 1

    def give_back(self, who: str) -> None:
        with self._lock:
            self._taken[who] -= 1
            if not self._taken[who]:
                del self._taken[who]


def _yield_to_others() -> None:
    """Replies go before sign-ins. Only Linux knows the niceness of a thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


PLACES_HERE = Places()
EXECUTOR = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="passwords", initializer=_yield_to_others)
is_counted: ContextVar[bool] = ContextVar("is_counted", default=False)
"""Whether a password may be compared: within an attempt that was counted."""
has_place: ContextVar[bool] = ContextVar("has_place", default=False)


@contextmanager
def place(who: str) -> Iterator[None]:
    """A place for the hashes of the block, taken before anything is looked up. Raises ``RateLimited``."""
    PLACES_HERE.take(who)
    token = has_place.set(True)
    try:
        yield
    finally:
        has_place.reset(token)
        PLACES_HERE.give_back(who)


def close() -> None:
    """The process ends: who waits for a hash waits no more."""
    EXECUTOR.shutdown(wait=False, cancel_futures=True)


class UncountedAttempt(Exception):
    """Of our own making: a password was compared outside of ``sign_in.attempt``, so it could be guessed at without end."""


class PasswordHasher(PBKDF2PasswordHasher):
    """Django's own in all but where it runs, and that it compares nothing that is not counted."""

    def verify(self, password: str, encoded: str) -> bool:
        if not is_counted.get():
            raise UncountedAttempt
        return super().verify(password, encoded)

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        return _hashed(lambda: super(PasswordHasher, self).encode(password, salt, iterations))


def _hashed(hash_password: Callable[[], str]) -> str:
    with nullcontext() if has_place.get() else place(""):
        if not connection.in_atomic_block:
            connection.close()  # back to the pool; Django takes another for the next statement
        return EXECUTOR.submit(hash_password).result()
