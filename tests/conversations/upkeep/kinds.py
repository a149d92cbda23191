"""Retention of one kind, whatever the settings say."""

from datetime import datetime

from conversations.upkeep import retention


def delete(name: str, before: datetime) -> None:
    """All of the kind that is older, by each rule there is."""
    for kind in retention.kinds():
        if kind.name == name:
            kind.delete(before)


def delete_snapshots(before: datetime) -> None:
    """Recorded requests, row by row: no month is dropped."""
    for kind in retention.kinds():
        if kind.name == "snapshots" and kind.scope:
            retention.delete_snapshots(before, kind.scope)
