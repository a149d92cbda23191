"""`manage.py audit_export`: the audit record as JSON lines in the shape of OCSF, to standard output."""

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from config.management.commands.forget_again import moment
from config.management.output import PrintableCommand
from conversations import audit
from conversations.audit import ocsf
from conversations.models import AuditEvent
from conversations.runtime.db import close_pool
from conversations.runtime.ids import lowest_uuid7


class Command(PrintableCommand):
    help = "Write the sealed events of the audit record as JSON lines in the shape of OCSF 1.7.0, by their numbers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--after", type=int, default=0, metavar="NUMBER", help="only those with a higher number")
        parser.add_argument("--since", type=moment, metavar="TIME", help="only from then on: 2026-11-23T14:05:00+00:00")
        parser.add_argument("--until", type=moment, metavar="TIME", help="only from before then")

    def handle(self, *args: Any, after: int, since: datetime | None, until: datetime | None, **options: Any) -> None:
        events = AuditEvent.objects.filter(number__gt=after).order_by("number")
        if since:
            events = events.filter(id__gte=lowest_uuid7(since))
        if until:
            events = events.filter(id__lt=lowest_uuid7(until))
        count = 0
        try:
            for event in ocsf.described(events.iterator(chunk_size=ocsf.AT_ONCE)):
                self.stdout.write(json.dumps(event, ensure_ascii=False, sort_keys=True))
                count += 1
            audit.record(audit.AuditKind.AUDIT_EXPORTED, actor=None, details={"events": count, "after": after})
        finally:
            close_pool()
