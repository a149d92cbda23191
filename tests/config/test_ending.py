"""A signal ends a command wherever Python is when it comes, and what was begun is put in order."""

import os
import signal
import subprocess
import sys

import pytest

from tests.processes import ROOT

CALLBACK = """
import time, weakref
from config.management.ending import end_on_signals

class Thing: pass

def wait_here(reference):
    print("waiting", flush=True)
    time.sleep(60)  # a signal that comes now is raised here, and dropped

end_on_signals()
thing = Thing()
reference = weakref.ref(thing, wait_here)
try:
    del thing
    print("going on", flush=True)
    time.sleep(60)
finally:
    print("in order", flush=True)
"""
DESTRUCTOR = CALLBACK.replace("class Thing: pass", "class Thing:\n    def __del__(self): wait_here(None)").replace(
    "weakref.ref(thing, wait_here)", "None"
)
BUSY = CALLBACK.replace(
    "\nend_on_signals()", "\nfrom config.management import ending\nending.AGAIN_SECONDS = 0\nend_on_signals()"
)
"""It is raised again before the place is left that drops it, as on a machine with much else to do."""


@pytest.mark.parametrize("program", [CALLBACK, DESTRUCTOR, BUSY], ids=["callback", "destructor", "busy"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_a_process_also_where_python_drops_exceptions(program: str, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "waiting\n"
        os.kill(process.pid, number)
        output, errors = process.communicate(timeout=30)
    assert output == "going on\nin order\n"
    if number == signal.SIGINT:
        assert process.returncode == -number
        assert errors.count("Traceback") == 1  # where it ended, as always
    else:
        assert process.returncode == 128 + number
        assert errors == ""
