"""`manage.py retention`: what is kept for how long, and what workers would delete now. It deletes nothing."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group
from django.utils import timezone

from config.management.output import PrintableCommand
from conversations.upkeep import retention
from conversations.upkeep.expired import Expired
from conversations.upkeep.retention import Kind

CHANGEABLE = ("threads", "snapshots", "files", "feedback", "accesses", "audit")
MOST_DAYS = 99_999


class Command(PrintableCommand):
    help = (
        "Show what is kept for how long, and what workers would delete now. Nothing is deleted by this command; with --days "
        "it shows what another setting would delete."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days",
            type=kind_and_days,
            action="append",
            default=[],
            metavar="KIND=DAYS",
            help=f"as if it were kept for so many days; 0: for good. KIND is one of {', '.join(CHANGEABLE)}",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="a list of objects instead of words")

    def handle(self, *args: Any, days: list[tuple[str, int]], as_json: bool, **options: Any) -> None:
        now = timezone.now()
        found = [
            (kind, kind.preview(now - kind.kept) if kind.kept is not None else None)
            for kind in retention.kinds(dict(days))
        ]
        if as_json:
            self.stdout.write(json.dumps([as_object(kind, expired) for kind, expired in found]))
            return
        for kind, expired in found:
            self.stdout.write(f"{kind.name}: {kind.what}")
            origin = kind.setting or rule_in_words(kind)
            self.stdout.write(f"  kept {in_words(kind.kept)}{f' ({origin})' if origin else ''}")
            self.stdout.write(f"  {going(expired)}\n" if expired else "  nothing goes\n")


def kind_and_days(text: str) -> tuple[str, int]:
    name, _, days = text.partition("=")
    if name not in CHANGEABLE or not (days.isascii() and days.isdigit()) or int(days) > MOST_DAYS:
        raise ArgumentTypeError(f"{text!r} is none of {', '.join(f'{kind}=DAYS' for kind in CHANGEABLE)}")
    return name, int(days)


def rule_in_words(kind: Kind) -> str:
    rule = kind.scope.rule if kind.scope else None
    if rule is None:
        return ""
    if rule.project:
        return f"rule {rule.id}, for the project {rule.project}"
    if rule.group:
        return f"rule {rule.id}, for the group {Group.objects.get(pk=rule.group)}"
    return f"rule {rule.id}, for the installation"


def in_words(kept: timedelta | None) -> str:
    if kept is None:
        return "for good"
    if not kept:
        return "until then"
    if kept < timedelta(days=1):
        return f"for {kept / timedelta(minutes=1):,.0f} minutes"
    return f"for {kept.days:,} day{'s' * (kept.days != 1)}"


def going(expired: Expired) -> str:
    if not expired.count:
        return "nothing goes now"
    least = "at least " if expired.is_bounded else ""
    return (
        f"{least}{expired.count:,} would go now, the oldest of {expired.oldest:%Y-%m-%d %H:%M} UTC, "
        f"{least}{expired.bytes / 1e6:,.1f} MB"
    )


def as_object(kind: Kind, expired: Expired | None) -> dict[str, object]:
    return {
        "kind": kind.name,
        "setting": kind.setting,
        "rule": kind.scope.rule.id if kind.scope else None,
        "group": kind.scope.rule.group if kind.scope else None,
        "project": str(kind.scope.rule.project) if kind.scope and kind.scope.rule.project else None,
        "days": None if kind.kept is None else kind.kept / timedelta(days=1),
        "count": expired.count if expired else 0,
        "is_bounded": bool(expired and expired.is_bounded),
        "oldest": expired.oldest.isoformat() if expired and expired.oldest else None,
        "bytes": expired.bytes if expired else 0,
    }
