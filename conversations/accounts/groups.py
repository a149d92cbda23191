"""The groups of staff that `migrate` makes. Whoever runs the server changes them as they like, and fills them."""

from typing import Any

from django.apps import apps as installed
from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions

SEEN = {
    "auth": ["user"],
    "conversations": [
        "assistant",
        "connection",
        "fallback",
        "contextsnapshot",
        "message",
        "model",
        "modelprice",
        "reply",
        "thread",
    ],
    "artifacts": ["artifact", "preset"],
    "memory": ["consolidation", "dailysummary", "memory", "threadsummary", "topic"],
}
"""What support sees that there is; what people wrote takes more."""
EXISTENCE = {(app, f"view_{model}") for app, models in SEEN.items() for model in models}
CONTENT = {("conversations", name) for name in ("read_content", "export_content", "view_contentaccess")}
GROUPS = {"Support": EXISTENCE, "Support lead": EXISTENCE | CONTENT}


def make_groups(*, using: str, apps: Apps = installed, **kwargs: Any) -> None:
    """Make those that are missing, with their permissions; those that are there stay as they are."""
    try:
        groups = apps.get_model("auth", "Group")._default_manager.using(using)
        permissions = apps.get_model("auth", "Permission")._default_manager.using(using)
    except LookupError:  # migrated back to before there were any
        return
    missing = GROUPS.keys() - set(groups.filter(name__in=GROUPS).values_list("name", flat=True))
    if not missing:
        return
    for app in SEEN:  # Django makes them app by app, so those of a later one may not be there yet
        create_permissions(installed.get_app_config(app), verbosity=0, using=using, apps=apps)
    found = {
        (permission.content_type.app_label, permission.codename): permission
        for permission in permissions.filter(content_type__app_label__in=SEEN).select_related("content_type")
    }
    for name in sorted(missing):
        if found.keys() >= GROUPS[name]:  # else not all apps are migrated yet
            groups.create(name=name).permissions.set([found[each] for each in GROUPS[name]])
