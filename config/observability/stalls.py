"""A log line for each step that kept the event loop from everything else, with the place in the code where it was.

A step holds up the loop where it runs on it, and where it holds the interpreter's lock in another thread: both are looked at.
The loop beats twenty times a second; a thread looks whether it does, and where each thread is while it does not.
"""

import asyncio
import logging
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from config.observability import figures

log = logging.getLogger("openbook.stalls")

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = tuple(f"{ROOT / name}/" for name in ("artifacts", "config", "conversations", "memory"))
BEAT_SECONDS = 0.05
BASELINE_SECONDS = 1.0
MOST_FRAMES = 8
WAITING = "waiting"
"""The place where no thread of this process worked: a call that waits on the loop's thread, or a busy machine."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Where the thread is that worked most. ``place`` is a function of ours, of which there are so many and no more."""

    thread: str
    place: str
    stack: tuple[str, ...]


@dataclass
class Watchdog:
    """``limit`` in seconds: shorter stalls are not told of."""

    limit: float
    _due: float = 0.0
    _stalls: list[float] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _loop_thread: int = 0
    _loop: asyncio.AbstractEventLoop | None = None

    def begin(self) -> None:
        """On the loop that is to be watched."""
        self._loop, self._loop_thread = asyncio.get_running_loop(), threading.get_ident()
        self._due = time.monotonic()
        self._beat()
        threading.Thread(target=self._watch, name="stalls", daemon=True).start()

    def end(self) -> None:
        self._ended.set()

    def _beat(self) -> None:
        now = time.monotonic()
        if (late := now - self._due) > self.limit:
            self._stalls.append(late)
        self._due = now + BEAT_SECONDS
        if self._loop and not self._ended.is_set():
            self._loop.call_later(BEAT_SECONDS, self._beat)

    def _watch(self) -> None:
        samples: Counter[Sample] = Counter()
        baseline, taken = cpu_seconds(), time.monotonic()
        while not self._ended.wait(BEAT_SECONDS):
            now = time.monotonic()
            late = now - self._due
            if late > self.limit / 2 or self._stalls:
                samples[self._sample(baseline)] += 1
            elif now - taken > BASELINE_SECONDS:
                baseline, taken = cpu_seconds(), now
            if late <= 0:
                while self._stalls:
                    report(self._stalls.pop(0), samples)
                samples.clear()

    def _sample(self, baseline: dict[int, float]) -> Sample:
        frames, now = sys._current_frames(), cpu_seconds()
        threads = {thread.ident: thread for thread in threading.enumerate() if thread.name != "stalls"}
        used = {ident: now.get(t.native_id or 0, 0) - baseline.get(t.native_id or 0, 0) for ident, t in threads.items()}
        busiest = max(used, key=lambda ident: used[ident], default=self._loop_thread)
        is_known = bool(now) and used.get(busiest, 0) > self.limit / 4
        ident = busiest if is_known else self._loop_thread
        frame = frames.get(ident or 0)
        name = "loop" if ident == self._loop_thread else "another"
        stack = tuple(_own_frames(frame))
        place = stack[0].split(" ", 1)[-1] if stack and (is_known or not now) else WAITING
        return Sample(thread=name, place=place, stack=stack)


def report(seconds: float, samples: Counter[Sample]) -> None:
    """A line of the log, and a figure."""
    sample = samples.most_common(1)[0][0] if samples else Sample(thread="", place=WAITING, stack=())
    log.warning(
        "event loop stalled",
        extra={
            "stalled_ms": round(seconds * 1000),
            "place": sample.place,
            "in_thread": sample.thread,
            "code_stack": list(sample.stack),
        },
    )
    figures.STALL_SECONDS.record(seconds, {"code.function.name": sample.place})


def _own_frames(frame: FrameType | None) -> list[str]:
    """Places in our code, innermost first: "memory/language/passages.py:47 passages"."""
    own: list[str] = []
    while frame and len(own) < MOST_FRAMES:
        code = frame.f_code
        if code.co_filename.startswith(PACKAGES):
            own.append(f"{code.co_filename.removeprefix(f'{ROOT}/')}:{frame.f_lineno} {code.co_qualname}")
        frame = frame.f_back
    return own


def cpu_seconds() -> dict[int, float]:
    """What each thread of this process has used of a processor, by its number in the kernel; nothing but on Linux."""
    used: dict[int, float] = {}
    try:
        for task in Path("/proc/self/task").iterdir():
            used[int(task.name)] = int((task / "schedstat").read_bytes().split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        return used
    return used
