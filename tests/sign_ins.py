"""Many who try to sign in at once under names that nobody has, and somebody who goes on working meanwhile."""

import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from tests.clients import ApiError, ServerClient

STRANGERS = 30
PATIENT_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """``answers`` to the strangers by status, ``calls`` of the other person in seconds, failed ones by status."""

    answers: Counter[int]
    calls: list[float]
    failures: list[int] = field(default_factory=list)


def crowd(url: str, somebody: ServerClient, strangers: int = STRANGERS) -> Crowd:
    """The strangers come all at once; the other person calls until the last of them has his answer."""
    with ThreadPoolExecutor(max_workers=strangers) as threads:
        attempts = [threads.submit(attempt, url, f"nobody-{uuid.uuid4()}") for _ in range(strangers)]
        calls, failures = [], []
        while wait(attempts, timeout=0).not_done:
            seconds, status = timed_call(somebody)
            calls.append(seconds)
            failures += [status] * (status != 200)
    return Crowd(answers=Counter(each.result() for each in attempts), calls=calls, failures=failures)


def attempt(url: str, name: str) -> int:
    try:
        ServerClient(url).call("POST", "auth/token/", {"username": name, "password": "wrong"}, seconds=PATIENT_SECONDS)
    except ApiError as error:
        return error.status
    return 200


def timed_call(client: ServerClient) -> tuple[float, int]:
    """A page of threads, which needs a database connection."""
    started = time.perf_counter()
    try:
        client.call("GET", "threads/", seconds=PATIENT_SECONDS)
    except ApiError as error:
        return time.perf_counter() - started, error.status
    return time.perf_counter() - started, 200


def undisturbed(client: ServerClient, calls: int) -> Iterator[float]:
    for _ in range(calls):
        yield timed_call(client)[0]
