"""A circuit breaker: a service that failed to answer several times in a row is not asked for some seconds, so that no reply
waits for its time-out. Then one request tries whether it is back, and all others are still turned away.

Each process counts for itself. What it takes to find out that a service is away is a few requests, and a count that processes
share would itself have to be reached before each of them.
"""

import logging
import time
from collections.abc import AsyncGenerator, Hashable
from contextlib import aclosing
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakSet

from django.conf import settings

from conversations.providers.base import ProviderError, ProviderEvent, UsageSoFar
from conversations.providers.errors import DOWN, provider_error

FAILURES = 3
"""So many in a row open a circuit."""
TRIAL_SECONDS = 5.0
"""What the others are told to wait while one request tries whether the service is back: how long that takes isn't known."""

log = logging.getLogger("openbook.providers")


class Permit:
    """To make one call."""


@dataclass
class Circuit:
    """Closed while ``open_until`` is ``None``, else open until that time, and half-open from then on: then ``trial`` is the
    call that is made, if one is. Pure; times are seconds of a clock that never goes back."""

    failures: int = 0
    open_until: float | None = None
    trial: Permit | None = None

    def wait(self, now: float) -> float:
        """Seconds until a call may be made; 0 where it may be made now."""
        if self.open_until is None:
            return 0.0
        return max(self.open_until - now, TRIAL_SECONDS if self.trial else 0.0)

    def begin(self, now: float) -> Permit | None:
        """Nothing where no call may be made."""
        if self.wait(now):
            return None
        permit = Permit()
        if self.open_until is not None:
            self.trial = permit
        return permit

    def succeed(self) -> None:
        """Whichever call it was: the service is there."""
        self.failures, self.open_until, self.trial = 0, None, None

    def fail(self, permit: Permit, now: float, seconds: float) -> None:
        """``seconds`` are how long the circuit is open then; 0 never opens it. A call that began before it opened, and fails
        later, prolongs nothing."""
        if self.open_until is None:
            self.failures += 1
            opens = self.failures >= FAILURES and seconds > 0
        else:
            opens = permit is self.trial
        if opens:
            self.open_until, self.trial = now + seconds, None

    def release(self, permit: Permit) -> None:
        """The call ended without a word on whether the service is there: another one may try."""
        if permit is self.trial:
            self.trial = None


@dataclass(eq=False)
class CircuitBreaker:
    """That of one provider. Its circuit is of the ``place`` that was asked last: at another address, or with another key, it
    begins anew. May be used from any thread."""

    name: str
    circuit: Circuit = field(default_factory=Circuit)
    place: Hashable = None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        BREAKERS.add(self)

    def wait(self) -> float:
        """Seconds until the service is asked again; 0 where it is."""
        return self.circuit.wait(time.monotonic())

    async def guard(self, place: Hashable, events: AsyncGenerator[ProviderEvent]) -> AsyncGenerator[ProviderEvent]:
        """The events of one call. Raises ``ProviderError``, at once where the service is not to be asked."""
        circuit, permit = self._begin(place)
        settled = False
        try:
            async with aclosing(events):
                async for event in events:
                    if not settled and not isinstance(event, UsageSoFar):
                        settled = True
                        self._succeed(circuit)
                    yield event
        except ProviderError as error:
            if not settled and error.code in DOWN:
                settled = True
                self._fail(circuit, permit, error)
            elif not settled and error.status is not None:  # it answered, if not well
                settled = True
                self._succeed(circuit)
            raise
        finally:
            if not settled:
                with self._lock:
                    circuit.release(permit)

    def _begin(self, place: Hashable) -> tuple[Circuit, Permit]:
        now = time.monotonic()
        with self._lock:
            if place != self.place:
                self.place, self.circuit = place, Circuit()
            circuit = self.circuit
            permit = circuit.begin(now)
        if permit is None:
            raise provider_error("circuit_open", retry_after=circuit.wait(now))
        return circuit, permit

    def _succeed(self, circuit: Circuit) -> None:
        with self._lock:
            was_open = circuit.open_until is not None
            circuit.succeed()
        if was_open:
            log.warning("circuit_closed", extra={"provider": self.name})

    def _fail(self, circuit: Circuit, permit: Permit, error: ProviderError) -> None:
        with self._lock:
            before = circuit.open_until
            circuit.fail(permit, time.monotonic(), settings.OPENBOOK_BREAKER_SECONDS)
            opened = circuit.open_until != before
        if opened:
            seconds = settings.OPENBOOK_BREAKER_SECONDS
            log.warning("circuit_opened", extra={"provider": self.name, "code": error.code, "seconds": seconds})


BREAKERS: WeakSet[CircuitBreaker] = WeakSet()
"""Those of this process."""


def resting() -> dict[str, float]:
    """The providers that this process does not ask now, with the seconds until it does."""
    waits = sorted((breaker.name, breaker.wait()) for breaker in list(BREAKERS))
    # Of a name the longest: its provider may have been made anew.
    return {name: wait for name, wait in waits if wait}
