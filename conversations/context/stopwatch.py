"""How long each step of a build took."""

import time


class Stopwatch:
    """Milliseconds by step, and in all since it was started."""

    def __init__(self) -> None:
        self._started = self._lap = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """What has been done since the last lap was this."""
        now = time.perf_counter()
        self._laps[name] = round(self._laps.get(name, 0) + (now - self._lap) * 1000, 3)
        self._lap = now

    def laps(self) -> dict[str, float]:
        return self._laps | {"total": round((time.perf_counter() - self._started) * 1000, 3)}
