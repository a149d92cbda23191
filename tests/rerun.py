"""What failed is run once more, alone: a pytest plugin that notes what failed, and the second run.

``pytest -p tests.rerun --notes FOLDER`` notes; ``python -m tests.rerun FOLDER`` runs again what failed. What passes then is
printed as FLAKY, with the hash seed and with a file of the tests that its process had run up to it:
``PYTHONHASHSEED=<seed> pytest @<file>`` runs these again.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

MOST_FLAKY = 3
"""More than so many in one run of the CI fail it."""
ALONE = "main"


@dataclass
class Notes:
    """``failed`` names the process that a test failed in, and ``ran`` what each process ran, in order."""

    exit_status: int = pytest.ExitCode.INTERNAL_ERROR
    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    ran: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Notes":
        """Of a run that did not come to its end there are none."""
        file = folder / "notes.json"
        return cls(**json.loads(file.read_text())) if file.exists() else cls()

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "notes.json").write_text(json.dumps(asdict(self)))


class NoteTaker:
    def __init__(self, folder: Path) -> None:
        self.folder, self.notes = folder, Notes()
        (folder / "notes.json").unlink(missing_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of setup, test and teardown each, and of a worker that crashed."""
        node = getattr(report, "node", None)
        worker = node.gateway.id if node else ALONE
        ran = self.notes.ran.setdefault(worker, [])
        if ran[-1:] != [report.nodeid]:
            ran.append(report.nodeid)
        if report.failed:
            self.notes.failed.setdefault(report.nodeid, worker)
        elif report.passed and report.when == "call":
            self.notes.passed.append(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.notes.exit_status = int(exitstatus)
        self.notes.passed = [test for test in self.notes.passed if test not in self.notes.failed]
        self.notes.write(self.folder)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--notes", type=Path, metavar="FOLDER", help="note there what failed, for python -m tests.rerun")


def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("notes")
    if folder and not hasattr(config, "workerinput"):
        config.pluginmanager.register(NoteTaker(folder))


def run_again(folder: Path) -> int:
    """The exit status of both runs together."""
    first = Notes.read(folder)
    if first.exit_status != pytest.ExitCode.TESTS_FAILED:
        return first.exit_status
    second = second_run(folder, list(first.failed))
    flaky = [test for test in first.failed if test in second.passed]
    failed = [test for test in first.failed if test not in second.passed]
    for test in flaky:
        write(f"FLAKY {test} seed={os.environ.get('PYTHONHASHSEED', 'random')} {order(folder, first, test)}")
    for test in failed:
        write(f"FAILED TWICE {test}")
    total = count(folder / "flaky.txt", flaky)
    if total > MOST_FLAKY:
        write(f"{total} tests are flaky: more than {MOST_FLAKY} fail the run.")
    counts = {"failed": len(failed), "passed": len(first.passed) + len(flaky), "flaky": len(flaky)}
    write(", ".join(f"{number} {word}" for word, number in counts.items() if number))
    return int(bool(failed) or total > MOST_FLAKY)


def second_run(folder: Path, tests: list[str]) -> Notes:
    """One after another, in one process. Where the first run's options came from the environment, they don't hold."""
    named = folder / "failed.txt"
    named.write_text("\n".join(tests) + "\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    command = [sys.executable, "-m", "pytest", "-p", "tests.rerun", "--notes", str(folder / "again"), f"@{named}"]
    (folder / "again" / "notes.json").unlink(missing_ok=True)
    write(f"Once more, alone: {len(tests)} that failed.")
    subprocess.run([*command, "--maxfail", str(MOST_FLAKY)], env=environment, check=False)
    return Notes.read(folder / "again")


def order(folder: Path, notes: Notes, test: str) -> str:
    """The file that names what the test's process had run up to it."""
    worker = notes.failed[test]
    ran = notes.ran[worker]
    before = ran[: ran.index(test) + 1]
    file = folder / f"{worker}-{len(before)}.txt"
    file.write_text("\n".join(before) + "\n")
    return f"{worker}, test {len(before)}: {file}"


def count(file: Path, flaky: list[str]) -> int:
    """How many were flaky in this run of the CI, which may be of several suites."""
    with file.open("a") as lines:
        lines.writelines(f"{test}\n" for test in flaky)
    return len(file.read_text().splitlines())


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(run_again(Path(sys.argv[1])))
