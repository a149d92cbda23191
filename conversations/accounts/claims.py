"""What a provider says of a person decides what they may here: claim values become groups, staff, superusers.

Applied at every sign-in, so that a change at the provider changes rights here. Only what the rules name is given or taken.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

log = logging.getLogger("openbook.accounts")


@dataclass(frozen=True, kw_only=True)
class ClaimRules:
    """``groups`` names groups of this server by the claim value that gives them. ``staff`` and ``superusers`` are values too;
    ``None``: the provider doesn't govern that."""

    claim: str = ""
    groups: Mapping[str, tuple[str, ...]]
    staff: frozenset[str] | None = None
    superusers: frozenset[str] | None = None

    @property
    def known_values(self) -> frozenset[str]:
        return frozenset(self.groups) | (self.staff or frozenset()) | (self.superusers or frozenset())


def rules_of(settings: Mapping[str, Any]) -> ClaimRules:
    """Those in the settings of a provider, which were checked where they were written."""
    staff, superusers = settings.get("staff"), settings.get("superusers")
    return ClaimRules(
        claim=settings.get("groups_claim", ""),
        groups={value: tuple(names) for value, names in settings.get("groups", {}).items()},
        staff=None if staff is None else frozenset(staff),
        superusers=None if superusers is None else frozenset(superusers),
    )


def values_of(rules: ClaimRules, *documents: Mapping[str, Any]) -> list[str]:
    """The values that the rules know, of the first document that has the claim. Its name may be a path, such as
    ``realm_access.roles``."""
    for document in documents:
        found = _claim(document, rules.claim)
        if found is not None:
            listed = [found] if isinstance(found, str) else found if isinstance(found, list | tuple) else []
            return sorted(rules.known_values.intersection(value for value in listed if isinstance(value, str)))
    return []


def apply(user: User, rules: ClaimRules, values: Iterable[str]) -> None:
    """Give and take what the rules govern. A missing group is made, without rights."""
    held = frozenset(values)
    governed = {name for names in rules.groups.values() for name in names}
    wanted = {name for value, names in rules.groups.items() if value in held for name in names}
    with transaction.atomic():
        present = set(user.groups.filter(name__in=governed).values_list("name", flat=True))
        for name in wanted - present:
            user.groups.add(Group.objects.get_or_create(name=name)[0])
        user.groups.remove(*user.groups.filter(name__in=present - wanted))
        changed = _flags(user, rules, held)
        if changed:
            user.save(update_fields=changed)
    if wanted != present or changed:
        log.info("rights changed by a provider", extra={"user_id": user.pk, "flags": changed})


def _flags(user: User, rules: ClaimRules, held: frozenset[str]) -> list[str]:
    before = (user.is_staff, user.is_superuser)
    if rules.superusers is not None:
        user.is_superuser = bool(rules.superusers & held)
    if rules.staff is not None:
        # Or else whoever holds the key of last resort could no longer reach the admin.
        user.is_staff = bool(rules.staff & held) or user.is_superuser
    return [
        name
        for name, was, now in zip(("is_staff", "is_superuser"), before, (user.is_staff, user.is_superuser), strict=True)
        if was != now
    ]


def _claim(document: Mapping[str, Any], name: str) -> Any:
    if name in document or not name:
        return document.get(name)
    found: Any = document
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
