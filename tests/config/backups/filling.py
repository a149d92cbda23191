"""`python -m tests.config.backups.filling ACTION`, on the installation that the environment names; the actions: ``main``."""

import json
import os
import sys
from hashlib import sha256

WORDS = ("Quokka", "Axolotl", "Pangolin")


def main(action: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.server_settings")
    import django  # noqa: PLC0415

    django.setup()
    actions = {"fill": fill, "tell": tell, "add": add, "forget": forget, "hold": hold, "held": held, "release": release}
    print(json.dumps(actions[action]()))  # noqa: T201


def fill() -> dict[str, object]:
    from conversations.accounts import lifecycle  # noqa: PLC0415
    from tests.belongings import belongings  # noqa: PLC0415
    from tests.conversations.factories import make_file, make_share, make_thread, make_user  # noqa: PLC0415
    from tests.memory.factories import make_memory, make_topic  # noqa: PLC0415

    make_user("emil")
    lifecycle.ask_deletion(make_user("fritz"))
    belongings(make_user("belinda"))
    make_thread(make_user("carla"), ["Nobody knows.", "I see."])
    ada = make_user("ada")
    for title in WORDS:
        make_thread(
            ada, [f"I saw a {title}.\tIt said \\N and \n 'é'.", "Which one?", f"The {title} of the zoo."], title=title
        )
    make_memory(ada, "Likes an Axolotl.")
    make_file(ada, b"A list of the zoo")
    make_topic(ada, "A letter to the zoo")
    left = make_thread(ada, ["What is left?", "This."], title="Left")
    for book in (True, False):
        make_share(left, book=book)
    return {}


def tell() -> dict[str, object]:
    from django.contrib.auth.models import User  # noqa: PLC0415

    from conversations.context.record import snapshots  # noqa: PLC0415
    from conversations.files import storage  # noqa: PLC0415
    from conversations.models import AccountDeletion, ContextSnapshot, File, Message, Share, Thread  # noqa: PLC0415
    from memory.models import Memory, Topic  # noqa: PLC0415

    return {
        "users": sorted(User.objects.values_list("username", flat=True)),
        "leaving": sorted(AccountDeletion.objects.values_list("user__username", flat=True)),
        "topics": sorted(Topic.objects.values_list("title", flat=True)),
        "links": sorted(
            f"{share.shows_book} until {share.expires_at.isoformat()}"
            for share in Share.objects.filter(revoked_at=None)
        ),
        "threads": sorted(Thread.objects.values_list("title", flat=True)),
        "texts": sorted(Message.objects.values_list("text", flat=True)),
        "memories": sorted(Memory.objects.values_list("content", flat=True)),
        "files": [
            sha256(storage.open_bytes(place).read()).hexdigest()
            for place in File.objects.values_list("place", flat=True)
        ],
        "proven": sum(snapshots.proof(snapshot) for snapshot in ContextSnapshot.objects.all()),
    }


def add() -> dict[str, object]:
    """Rows of tables that are numbered by sequences."""
    from tests.belongings import belongings  # noqa: PLC0415
    from tests.conversations.factories import make_user  # noqa: PLC0415

    user = make_user("dora")
    return {"rows": len(belongings(user))}


def forget() -> dict[str, object]:
    """One of each kind."""
    from django.contrib.auth.models import User  # noqa: PLC0415

    from conversations.accounts import lifecycle  # noqa: PLC0415
    from conversations.models import File, Message, Reply, Share, Thread  # noqa: PLC0415
    from conversations.sharing import shares  # noqa: PLC0415
    from conversations.threads import deletion  # noqa: PLC0415
    from memory import forgetting  # noqa: PLC0415
    from memory.models import Memory, Topic  # noqa: PLC0415

    Reply.objects.filter(status="running").update(status="failed")
    ada, belinda = (User.objects.get(username=name) for name in ("ada", "belinda"))
    deletion.delete_user(User.objects.get(username="carla"))
    deletion.delete_thread(Thread.objects.get(title="Quokka"))
    deletion.delete_file(File.objects.filter(user=belinda).earliest("id"))
    deletion.clear_thread(Thread.objects.get(title="Axolotl"))
    forgetting.forget_memory(ada, Memory.objects.get(user=ada).id)
    forgetting.forget_turn(ada, Message.objects.get(thread__title="Pangolin", position=1).id)
    forgetting.forget_topic(Topic.objects.get(user=ada))
    shares.revoke(Share.objects.filter(user=ada, shows_book=True))
    forgetting.forget_all(belinda)
    for name, last in (("emil", lifecycle.ask_deletion), ("fritz", lifecycle.keep)):
        person = User.objects.get(username=name)
        for say in (lifecycle.keep, lifecycle.ask_deletion, last):
            say(person)
    return {"count": 9}


def hold() -> dict[str, object]:
    """Begun on one person, who then deletes a conversation; another one deletes theirs without a hold."""
    from django.contrib.auth.models import User  # noqa: PLC0415

    from conversations.holds import actions  # noqa: PLC0415
    from conversations.holds.actions import HoldSubject  # noqa: PLC0415
    from conversations.models import Thread  # noqa: PLC0415
    from conversations.threads import deletion  # noqa: PLC0415

    actions.begin(HoldSubject(user=User.objects.get(username="ada")), reason="A lawsuit", by="root")
    deletion.delete_thread(Thread.objects.get(title="Pangolin"))
    deletion.delete_thread(Thread.objects.get(user__username="carla"))
    return {}


def held() -> dict[str, object]:
    """In how many rows of conversations, and of those that a hold keeps, the words of what was deleted stand."""
    from conversations.models import HeldRow, LegalHold, Message  # noqa: PLC0415

    words = ("Pangolin", "Nobody knows")
    return {
        "turns": [Message.objects.filter(text__contains=word).count() for word in words],
        "held": [HeldRow.objects.filter(kind="conversations.Message", data__icontains=word).count() for word in words],
        "holds": LegalHold.objects.filter(ended_at=None).count(),
    }


def release() -> dict[str, object]:
    from conversations.holds import actions, release  # noqa: PLC0415
    from conversations.models import LegalHold  # noqa: PLC0415

    for lasting in LegalHold.objects.filter(ended_at=None):
        actions.end(lasting, by="root")
    release.release_due()
    return held()


if __name__ == "__main__":
    main(sys.argv[1])
