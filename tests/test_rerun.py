"""What the CI does with a test that fails: it runs again, alone, and one bad draw costs nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WORDS = """
import os, pathlib, pytest

def first_time(name):
    file = pathlib.Path(name)
    there = file.exists()
    file.touch()
    return not there

@pytest.fixture
def odd_setup():
    assert not first_time("setup")

@pytest.fixture
def odd_teardown():
    yield
    assert not first_time("teardown")

def test_well(): pass
"""


def ci(folder: Path, tests: str, *options: str) -> tuple[int, list[str]]:
    """The exit status, and the lines that come after the second run of what failed."""
    (folder / "test_it.py").write_text(WORDS + tests)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | {
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONHASHSEED": "17",
    }
    command = [sys.executable, "-m", "pytest", "-p", "tests.rerun", "--notes", "notes", *options]
    first = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if first.returncode == 0:
        return 0, first.stdout.splitlines()
    command = [sys.executable, "-m", "tests.rerun", "notes"]
    second = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said = second.stdout.splitlines()
    ends = [number for number, line in enumerate(said) if " in " in line and line.endswith("s")]
    return second.returncode, said[ends[-1] + 1 :] if ends else said


@pytest.mark.wide
def test_what_passes_the_second_time_is_flaky(tmp_path: Path) -> None:
    tests = (
        "def test_odd(): assert not first_time('it')\n"
        "def test_odd_before(odd_setup): pass\n"
        "def test_odd_after(odd_teardown): pass\n"
    )
    assert ci(tmp_path, tests) == (
        0,
        [
            "FLAKY test_it.py::test_odd seed=17 main, test 2: notes/main-2.txt",
            "FLAKY test_it.py::test_odd_before seed=17 main, test 3: notes/main-3.txt",
            "FLAKY test_it.py::test_odd_after seed=17 main, test 4: notes/main-4.txt",
            "4 passed, 3 flaky",
        ],
    )
    assert (tmp_path / "notes/main-2.txt").read_text() == "test_it.py::test_well\ntest_it.py::test_odd\n"


@pytest.mark.wide
def test_what_fails_twice_fails_the_run(tmp_path: Path) -> None:
    tests = "def test_bad(): assert False\ndef test_odd(): assert not first_time('it')\n"
    status, said = ci(tmp_path, tests)
    assert (status, said[-2:]) == (1, ["FAILED TWICE test_it.py::test_bad", "1 failed, 2 passed, 1 flaky"])


@pytest.mark.wide
def test_more_than_three_flaky_tests_fail_the_run_though_they_are_of_several_suites(tmp_path: Path) -> None:
    for suite in range(2):
        tests = f"@pytest.mark.parametrize('n', range(2))\ndef test_odd(n): assert not first_time(f'{suite}-{{n}}')\n"
        status, said = ci(tmp_path, tests)
    assert (status, said[-2:]) == (
        1,
        ["4 tests are flaky: more than 3 fail the run.", "3 passed, 2 flaky"],
    )


@pytest.mark.wide
def test_a_worker_that_crashed_is_a_failure_of_its_test(tmp_path: Path) -> None:
    tests = "def test_odd():\n    if first_time('it'): os._exit(3)\n"
    status, said = ci(tmp_path, tests, "-p", "xdist.plugin", "-n", "2")
    assert (status, said[-1]) == (0, "2 passed, 1 flaky")
    assert said[0].startswith("FLAKY test_it.py::test_odd seed=17 gw")


@pytest.mark.wide
def test_a_second_run_that_crashes_fails_the_run(tmp_path: Path) -> None:
    status, said = ci(tmp_path, "def test_odd(): os._exit(3)\n", "-p", "xdist.plugin", "-n", "1")
    assert (status, said[-2:]) == (1, ["FAILED TWICE test_it.py::test_odd", "1 failed, 1 passed"])


@pytest.mark.wide
@pytest.mark.parametrize("tests", ["syntax error", "def test_stop(): raise KeyboardInterrupt\n"])
def test_a_run_that_did_not_come_to_its_end_is_not_repeated(tmp_path: Path, tests: str) -> None:
    status, said = ci(tmp_path, tests)
    assert (status, said) == (2, [])


def test_without_notes_there_is_nothing_to_repeat(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.rerun", str(tmp_path)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == pytest.ExitCode.INTERNAL_ERROR


def test_a_run_without_failures_is_run_once(tmp_path: Path) -> None:
    status, said = ci(tmp_path, "")
    assert (status, said[-1].split(" in ")[0]) == (0, "1 passed")
