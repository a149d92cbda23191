"""The audit of what the lock files name, without the services, which can't be reached from everywhere."""

import datetime
import json

from tests import audit
from tests.audit import Finding, Package

ADVISORIES = json.loads(audit.ADVISORIES.read_text())


def test_nothing_that_is_locked_has_a_vulnerability_that_is_known_here() -> None:
    packages = {
        package for lock in audit.PYTHON_LOCKS for package in audit.python_packages((audit.ROOT / lock).read_text())
    }
    for folder in audit.NPM_LOCKS:
        packages |= audit.npm_packages(json.loads((audit.ROOT / folder / "package-lock.json").read_text()))
    assert {"django", "dompurify", "@mermaid-js/tiny"} <= {package.name for package in packages}
    assert audit.known_findings(packages, ADVISORIES["advisories"]) == []
    assert datetime.date.fromisoformat(ADVISORIES["date"]) <= datetime.date.today()


def test_an_affected_version_is_named_and_one_that_is_mended_is_not() -> None:
    packages = [Package("daphne", "4.2.1"), Package("daphne", "4.2.2"), Package("@mermaid-js/tiny", "11.9.0")]
    some = [each for each in ADVISORIES["advisories"] if each["id"] in {"CVE-2026-44545", "CVE-2025-54880"}]
    assert audit.known_findings(packages, some) == [
        Finding("@mermaid-js/tiny", "11.9.0", "CVE-2025-54880"),
        Finding("daphne", "4.2.1", "CVE-2026-44545"),
    ]


def test_what_a_service_could_not_audit_does_not_count_as_audited() -> None:
    skipped = {"name": "a", "skip_reason": "not found"}
    found = {"name": "b", "version": "1", "vulns": [{"id": "CVE-1"}]}
    assert audit.told_by_pypi({"dependencies": [skipped, found]}) == (1, [Finding("b", "1", "CVE-1")])
    assert audit.told_by_pypi({"dependencies": [skipped]}) == (0, [])


def test_an_error_of_npm_is_no_clean_report() -> None:
    assert audit.told_by_npm({"message": "405 Method Not Allowed"}) == (0, [])
    via = {"url": "GHSA-1", "title": "…"}
    report = {"metadata": {"dependencies": {"total": 3}}, "vulnerabilities": {"a": {"range": "<2", "via": [via, "b"]}}}
    assert audit.told_by_npm(report) == (3, [Finding("a", "<2", "GHSA-1")])
