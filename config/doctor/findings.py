"""What a check finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    SKIPPED = "skipped"
    """Not looked at, because of something else that is wrong."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """``words`` say what is so, ``advice`` what to do; empty where all is well."""

    status: Status
    words: str
    advice: str = ""


class FindingRow(TypedDict):
    """A finding as JSON, with the check that it comes from."""

    group: str
    check: str
    status: str
    words: str
    advice: str


def ok(words: str) -> Finding:
    return Finding(status=Status.OK, words=words)


def warning(words: str, advice: str) -> Finding:
    return Finding(status=Status.WARNING, words=words, advice=advice)


def wrong(words: str, advice: str) -> Finding:
    return Finding(status=Status.WRONG, words=words, advice=advice)


def skipped(words: str) -> Finding:
    return Finding(status=Status.SKIPPED, words=words)


@dataclass(frozen=True, kw_only=True)
class Result:
    """All that one check found, at least one finding."""

    group: str
    check: str
    findings: Sequence[Finding]

    def rows(self) -> list[FindingRow]:
        return [
            FindingRow(group=self.group, check=self.check, status=each.status, words=each.words, advice=each.advice)
            for each in self.findings
        ]


def is_well(results: Sequence[Result], *, strict: bool) -> bool:
    bad = {Status.WRONG, Status.WARNING} if strict else {Status.WRONG}
    return not any(finding.status in bad for result in results for finding in result.findings)
