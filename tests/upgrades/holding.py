"""`python -m tests.upgrades.holding [fill]`: what a database holds, as JSON; before that, with ``fill``, one row of everything.

A process of its own, as the database is not that of the tests.
"""

import json
import os
import sys
import time

FILLED_AS = "ben"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django  # noqa: PLC0415

    django.setup()
    if sys.argv[1:] == ["fill"]:
        fill()
    print(json.dumps(holding()))  # noqa: T201


def fill() -> None:
    from tests.belongings import belongings  # noqa: PLC0415
    from tests.conversations.factories import make_user  # noqa: PLC0415

    belongings(make_user(FILLED_AS, password="a-password-of-ben", is_staff=True, is_superuser=True))


def holding() -> dict[str, object]:
    """``rows`` by table, ``proven``: how many recorded requests are rebuilt byte for byte, ``pages``: the status of some."""
    from django.apps import apps  # noqa: PLC0415
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from conversations.context.record import snapshots  # noqa: PLC0415
    from conversations.models import ContextSnapshot, Thread  # noqa: PLC0415

    ours = [model for model in apps.get_models() if model._meta.app_label in ("artifacts", "conversations", "memory")]
    client = Client(headers={"Host": "localhost"})
    person = User.objects.get(username=FILLED_AS)
    client.force_login(person)
    session = client.session  # an export is for who has just proven who they are
    session["account_authentication_methods"] = [{"method": "password", "at": time.time(), "reauthenticated": True}]
    session["account_authentication_methods_user"] = str(person.pk)
    session.save()
    paths = ["/memory/", "/api/v1/export/", "/admin/conversations/contextsnapshot/"]
    paths += [f"/api/v1/threads/{thread.pk}/messages/" for thread in Thread.objects.filter(user__username=FILLED_AS)]
    return {
        "rows": {model._meta.db_table: model._default_manager.count() for model in ours},
        "proven": sum(snapshots.proof(snapshot) for snapshot in ContextSnapshot.objects.all()),
        "pages": sorted({client.get(path).status_code for path in paths}),
    }


if __name__ == "__main__":
    main()
