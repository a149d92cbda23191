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
        "feedback",
        "file",
        "lintfinding",
        "mcpcall",
        "mcpserver",
        "message",
        "model",
        "modelprice",
        "moderationfinding",
        "project",
        "replay",
        "reply",
        "share",
        "sharedprompt",
        "thread",
    ],
    "artifacts": ["artifact", "preset"],
    "memory": ["consolidation", "dailysummary", "memory", "threadsummary", "topic"],
}
"""What support sees that there is; what people wrote takes more."""
EXISTENCE = {(app, f"view_{model}") for app, models in SEEN.items() for model in models}
QUEUE = {("conversations", f"change_{queue}") for queue in ("feedback", "lintfinding")}
"""Support works through what people say of replies, and what the linter found."""
ASSISTANTS = {("conversations", "change_assistant")}
"""Leads draft versions of assistants and publish them."""
REPLAYS = {("conversations", "add_replay")}
"""Leads try drafts on past requests."""
EXPERIMENTS = {("conversations", f"{verb}_experiment") for verb in ("add", "view")}
"""Who may read content sees whether a context holds a text."""
CONTENT = {("conversations", name) for name in ("read_content", "export_content", "view_contentaccess")}
HAND_OVER = {("conversations", "hand_over_share")}
"""Leads give what people who have left share to somebody who is there. They can't take it themselves."""
AUDIT = {("conversations", "view_auditevent")}
"""Auditors see who did what, and no content: not even whose conversations there are."""
DIRECTORY = "Directory"
PEOPLE = {("auth", f"{verb}_{what}") for what in ("user", "group") for verb in ("view", "add", "change", "delete")}
"""What a directory needs to make and deactivate people and to fill groups by SCIM: those that hold none of staff's rights."""
LEGAL = {("conversations", f"{action}_legalhold") for action in ("add", "change", "view")} | {
    ("conversations", "view_heldrow"),
    ("conversations", "view_project"),
    ("auth", "view_user"),
}
"""Who begins and ends legal holds, and reads for a stated reason what they keep."""
GROUPS = {
    "Support": EXISTENCE | QUEUE,
    "Support lead": EXISTENCE | QUEUE | CONTENT | HAND_OVER | ASSISTANTS | REPLAYS | EXPERIMENTS,
    "Auditors": AUDIT,
    DIRECTORY: PEOPLE,
    "Legal": LEGAL | CONTENT,
}


def make_groups(*, using: str, apps: Apps = installed, **kwargs: Any) -> None:
    """Make those that are missing, and give each group the rights that came since: each right once, so that one which was
    taken away stays away."""
    try:
        groups = apps.get_model("auth", "Group")._default_manager.using(using)
        permissions = apps.get_model("auth", "Permission")._default_manager.using(using)
        given_rights = apps.get_model("conversations", "GivenRight")._default_manager.using(using)
    except LookupError:  # migrated back to before there were any
        return
    given = set(given_rights.values_list("group__name", "permission__content_type__app_label", "permission__codename"))
    due = {name: {right for right in rights if (name, *right) not in given} for name, rights in GROUPS.items()}
    made = set(groups.filter(name__in=GROUPS).values_list("name", flat=True))
    if made == GROUPS.keys() and not any(due.values()):
        return
    for app in SEEN:  # Django makes them app by app, so those of a later one may not be there yet
        create_permissions(installed.get_app_config(app), verbosity=0, using=using, apps=apps)
    found = {
        (permission.content_type.app_label, permission.codename): permission
        for permission in permissions.filter(content_type__app_label__in=SEEN).select_related("content_type")
    }
    for name, rights in sorted(due.items()):
        if found.keys() >= rights:  # else not all apps are migrated yet
            group, _ = groups.get_or_create(name=name)
            group.permissions.add(*(found[right] for right in rights))
            given_rights.bulk_create(
                [given_rights.model(group=group, permission=found[right]) for right in rights], ignore_conflicts=True
            )
