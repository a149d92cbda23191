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
        self._laps[name] = self._laps.get(name, 0.0) + now - self._lap
        self._lap = now

    def laps(self) -> dict[str, float]:
        seconds = self._laps | {"total": time.perf_counter() - self._started}
        return {name: round(taken * 1_000_000) / 1000 for name, taken in seconds.items()}
