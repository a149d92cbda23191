"""What the installation, or the groups of a person, have switched off: sharing, uploads, temporary chats, export.

What a setting of the installation switches off is off for everybody. Else a group without ``GroupAccess`` says nothing, and
whoever is in several with one may what any of them allows, as with its lists.
"""

from collections.abc import Mapping, Sequence

from django.conf import settings

from conversations.errors import ExportOff, OpenbookError, SharingOff, TemporaryChatsOff, UploadsOff
from conversations.models import GroupAccess

SWITCHES = ("sharing", "uploads", "temporary_chats", "export")
"""By the name of the column, and in capitals after ``OPENBOOK_`` of the setting."""
OFF: Mapping[str, type[OpenbookError]] = {
    "sharing": SharingOff,
    "uploads": UploadsOff,
    "temporary_chats": TemporaryChatsOff,
    "export": ExportOff,
}


def on_by(rows: Sequence[Sequence[bool]], installation: frozenset[str]) -> frozenset[str]:
    """Which are on, of the rows of each group, in the order of ``SWITCHES``. Pure."""
    if not rows:
        return installation
    return installation & {name for name, *column in zip(SWITCHES, *rows, strict=True) if any(column)}


def installation() -> frozenset[str]:
    return frozenset(name for name in SWITCHES if getattr(settings, f"OPENBOOK_{name.upper()}"))


def on_for(user_id: int) -> frozenset[str]:
    """In one statement."""
    return on_by(list(GroupAccess.objects.filter(group__user=user_id).values_list(*SWITCHES)), installation())


def demand(user_id: int, name: str) -> None:
    """Raise the error of ``OFF`` unless it is on."""
    if name not in installation() or name not in on_for(user_id):
        raise OFF[name]
