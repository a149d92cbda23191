"""A circuit breaker: a service that failed to answer several times in a row is not asked for some seconds, so that no reply
waits for its time-out. Then one request tries whether it is back, and all others are still turned away.

What no connection was made for says that the service is away. What it answers with an error of its own, or not in time, may lie
in the request, and then in its model: so failures of one thread count once, and they close no more than the model.

Each process counts for itself. What it takes to find out that a service is away is a few requests, and a count that processes
share would itself have to be reached before each of them.
"""

import logging
import time
from collections.abc import AsyncGenerator, Hashable
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakSet

from django.conf import settings

from conversations.providers.base import ProviderError, ProviderEvent, UsageSoFar
from conversations.providers.errors import DOWN, OWN_ERRORS, provider_error

FAILURES = 3
"""So many in a row open a circuit."""
SERVICE = ""
"""The circuit of a whole service, beside those of its models."""
TRIAL_SECONDS = 5.0
"""What the others are told to wait while one request tries whether the service is back: how long that takes isn't known."""

asking_thread: ContextVar[str] = ContextVar("asking_thread", default="")
"""The thread that is replied in. What asks without one is of nobody: each of its failures counts."""
log = logging.getLogger("openbook.providers")


class Permit:
    """To make one call."""


@dataclass
class Circuit:
    """Closed while ``open_until`` is ``None``, else open until that time, and half-open from then on: then ``trial`` is the
    call that is made, if one is. ``sources`` are the threads that calls failed of since the last that did not. Pure; times are
    seconds of a clock that never goes back."""

    sources: set[Hashable] = field(default_factory=set)
    open_until: float | None = None
    trial: Permit | None = None

    def wait(self, now: float) -> float:
        """Seconds until a call may be made; 0 where it may be made now."""
        if self.open_until is None:
            return 0.0
        return max(self.open_until - now, TRIAL_SECONDS if self.trial else 0.0)

    def begin(self, now: float) -> Permit:
        """Only where there is nothing to ``wait`` for."""
        permit = Permit()
        if self.open_until is not None:
            self.trial = permit
        return permit

    def succeed(self) -> None:
        """Whichever call it was: the service is there."""
        self.sources, self.open_until, self.trial = set(), None, None

    def fail(self, permit: Permit, now: float, seconds: float, source: Hashable = None) -> None:
        """``seconds`` are how long the circuit is open then; 0 never opens it. A call that began before it opened, and fails
        later, prolongs nothing. Failures of one ``source`` count once."""
        if self.open_until is None:
            self.sources.add(source or permit)
            opens = len(self.sources) >= FAILURES and seconds > 0
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
    """That of one provider. Its circuits are of the ``place`` that was asked last: at another address, or with another key,
    they begin anew. May be used from any thread."""

    name: str
    circuits: dict[str, Circuit] = field(default_factory=dict)
    """By model; ``SERVICE`` for all of them."""
    place: Hashable = None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        BREAKERS.add(self)

    def wait(self, model: str = "") -> float:
        """Seconds until the service is asked again, for a model or for any of them; 0 where it is."""
        now = time.monotonic()
        with self._lock:
            names = (SERVICE, model) if model else (*self.circuits,)
            return max((self.circuits[name].wait(now) for name in names if name in self.circuits), default=0.0)

    async def guard(
        self, place: Hashable, model: str, events: AsyncGenerator[ProviderEvent]
    ) -> AsyncGenerator[ProviderEvent]:
        """The events of one call. Raises ``ProviderError``, at once where the service is not to be asked."""
        service, own, permits = self._begin(place, model)
        settled = False
        try:
            async with aclosing(events):
                async for event in events:
                    if not settled and not isinstance(event, UsageSoFar):
                        settled = True
                        self._succeed(service, own)
                    yield event
        except ProviderError as error:
            if not settled and error.code in OWN_ERRORS:
                if error.status is not None:
                    self._succeed(service)
                self._fail(own, permits[1], error, asking_thread.get())
            elif not settled and error.code in DOWN:
                self._fail(service, permits[0], error)
            elif not settled and error.status is not None:  # it answered, if not well
                self._succeed(service, own)
            raise
        finally:
            with self._lock:
                service.release(permits[0])
                own.release(permits[1])

    def _begin(self, place: Hashable, model: str) -> tuple[Circuit, Circuit, tuple[Permit, Permit]]:
        """The circuits of the service and of the model, and a permit of each."""
        now = time.monotonic()
        with self._lock:
            if place != self.place:
                self.place, self.circuits = place, {}
            service, own = (self.circuits.setdefault(name, Circuit()) for name in (SERVICE, model or "default"))
            if wait := max(service.wait(now), own.wait(now)):
                raise provider_error("circuit_open", retry_after=wait)
            return service, own, (service.begin(now), own.begin(now))

    def _succeed(self, *circuits: Circuit) -> None:
        with self._lock:
            was_open = any(circuit.open_until is not None for circuit in circuits)
            for circuit in circuits:
                circuit.succeed()
        if was_open:
            log.warning("circuit_closed", extra={"provider": self.name})

    def _fail(self, circuit: Circuit, permit: Permit, error: ProviderError, source: str = "") -> None:
        with self._lock:
            before = circuit.open_until
            circuit.fail(permit, time.monotonic(), settings.OPENBOOK_BREAKER_SECONDS, source)
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
