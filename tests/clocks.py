"""A clock that is wrong for the processes that are given it, and can be set while they run, by libfaketime."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

LIBRARIES = "*/faketime/libfaketimeMT.so.1"


@dataclass(frozen=True)
class Clock:
    """``file`` says how far it is from the true one; each look at the time reads it."""

    file: Path

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "LD_PRELOAD": library(),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            # What waits for so many seconds waits by the monotonic clock, which nobody sets.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, off: timedelta) -> None:
        """At once: nobody reads half of it."""
        new = self.file.with_suffix(".new")
        new.write_text(f"{off.total_seconds():+.0f}\n")
        new.replace(self.file)


def library() -> str:
    found = os.environ.get("OPENBOOK_TEST_FAKETIME") or next(map(str, Path("/usr/lib").glob(LIBRARIES)), None)
    if found is None:
        pytest.fail("libfaketime is missing. Run `sh tests/services.sh`, or name it in OPENBOOK_TEST_FAKETIME.")
    return found
