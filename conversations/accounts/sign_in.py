"""Attempts to sign in, counted at every door that takes a password or a code: before anything is looked up or hashed.

Wrong passwords for a name keep everybody out for the rest of the minute, but for browsers in which that person has signed in
before. Those count for themselves, so that nobody can lock a person out.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

from conversations.accounts import devices, passwords
from conversations.accounts.limits import MINUTE
from conversations.errors import RateLimited
from conversations.runtime import rate_counters
from conversations.runtime.wording import worded

HOUR = 3_600
ATTEMPTS = 10
"""Wrong passwords a minute for one name, and for one name in a browser that is known."""
CODES, CODES_HOUR = 5, 20
"""Wrong codes of a second factor, a minute and an hour."""
ATTEMPTS_OF_ADDRESS = 30
"""Wrong passwords a minute from one address, for whomever."""

MAILS = 3
"""An hour to one address, whoever asks for them."""


@dataclass(frozen=True, kw_only=True)
class SignInAttempt:
    """Counted already. ``name`` and ``address`` are what it was counted by; in a known browser it has no address."""

    name: str
    address: str = ""
    also_by_hour: bool = False

    def forgive(self) -> None:
        """The password was right: nothing counts against the name any more, and this attempt not against the address."""
        rate_counters.forget(self.name, seconds=MINUTE)
        if self.also_by_hour:
            rate_counters.forget(self.name, seconds=HOUR)
        if self.address:
            # The others stay: or else an account of one's own would give any number of guesses at those of others.
            rate_counters.take_back(self.address, seconds=MINUTE)


@contextmanager
def attempt(request: HttpRequest, username: str) -> Iterator[SignInAttempt]:
    """An attempt, for as long as its password is looked at. Raises ``RateLimited`` before that, from memory alone."""
    device, network = devices.read_device(request), network_of(address_of(request))
    is_known = device is not None and device.knows(username)
    if device and is_known:
        made = SignInAttempt(name=_key("device", device.id, username.casefold()))
    else:
        made = SignInAttempt(name=_key("name", username.casefold()), address=_key("address", network))
    # A place first: who is refused for want of one has not guessed.
    with passwords.place(made.name if is_known else network):
        if made.address:
            _count(made.address, ATTEMPTS_OF_ADDRESS, MINUTE, FROM_ADDRESS)
        _count(made.name, ATTEMPTS, MINUTE, FOR_NAME)
        token = passwords.is_counted.set(True)
        try:
            yield made
        finally:
            passwords.is_counted.reset(token)


@contextmanager
def code_attempt(request: HttpRequest, username: str) -> Iterator[SignInAttempt]:
    """A guess at a code of somebody whose password was right, or who is signed in. Raises ``RateLimited``.

    A code is short, so that there are fewer guesses than at a password, and so many an hour. In browsers that are known they
    count for themselves here, too: who found out a password keeps nobody out.
    """
    device = devices.read_device(request)
    who = ("device", device.id) if device and device.knows(username) else ("name",)
    key = _key("code", *who, username.casefold())
    _count(key, CODES, MINUTE, "with a code")
    _count(key, CODES_HOUR, HOUR, "with a code")
    yield SignInAttempt(name=key, also_by_hour=True)


@contextmanager
def new_password(request: HttpRequest, kind: str) -> Iterator[None]:
    """A form that hashes a password which is not to be guessed, as for a new account. Raises ``RateLimited``."""
    with passwords.place(network_of(address_of(request))):
        count_request(request, kind, most=settings.OPENBOOK_LIMIT_SIGNUPS_HOUR)
        yield


def count_request(request: HttpRequest, kind: str, *, most: int) -> None:
    """Something that strangers may ask for only so often an hour, from one address. Raises ``RateLimited``."""
    _count(_key(kind, network_of(address_of(request))), most, HOUR, FROM_ADDRESS)


def count_guess(request: HttpRequest, kind: str, *, most: int) -> Callable[[], None]:
    """An address that may be a guess at a secret, counted before it is looked at; so many wrong ones a minute from one network.
    Raises ``RateLimited``. Returns what takes it back: it was right."""
    key = _key(kind, network_of(address_of(request)))
    _count(key, most, MINUTE, FROM_ADDRESS)
    return lambda: rate_counters.take_back(key, seconds=MINUTE)


def is_first_use(kind: str, *who: str, seconds: int) -> bool:
    """Whether what works once was not used within this time."""
    return rate_counters.is_first(_key(kind, *who), seconds=seconds)


def count_mail(email: str) -> bool:
    """Count a mail to this address; whether it may be sent."""
    return rate_counters.count(_key("mail", email.casefold()), seconds=HOUR)[0] <= MAILS


def address_of(request: HttpRequest) -> str:
    """Of the client, or of the proxy that didn't tell: ``config.server.proxies`` has put it there."""
    return str(request.META.get("REMOTE_ADDR", ""))


def network_of(address: str) -> str:
    """What one customer has of addresses: one of IPv4, but 2**64 of IPv6."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((int(ip), 64), strict=False)) if isinstance(ip, IPv6Address) else str(ip)


FROM_ADDRESS = worded("Too many attempts from your address.")
FOR_NAME = worded("Too many attempts for this user name.")


def _count(key: str, most: int, seconds: int, what: str) -> None:
    used, wait = rate_counters.count(key, seconds=seconds)
    if most and used > most:
        when = "Try again in {seconds} s." if wait <= MINUTE else "Try again in {minutes} minutes."
        message = worded(what, when, seconds=wait, minutes=-(-wait // MINUTE))
        raise RateLimited(message, limit="sign_in", most=most, retry_after=wait)


def _key(kind: str, *who: str) -> str:
    # Neither may be any text that somebody sends: a key is bounded, and a log is not to show who was tried.
    return f"sign-in.{kind}.{hashlib.sha256(' '.join(who).encode('utf-8', 'replace')).hexdigest()}"
