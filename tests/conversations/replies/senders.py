"""A process that opens replies at once, as a server would: ``python -m tests.conversations.replies.senders USER TOKEN COUNT``.

It writes a line when it could begin, waits for one, and then writes how many replies were stored, and how many refused.
"""

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import django

AT_ONCE = 8


def main(user_id: int, token_id: int, count: int) -> None:
    django.setup()
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415
    from django.db.backends.postgresql.base import DatabaseWrapper  # noqa: PLC0415

    from conversations.errors import RateLimited  # noqa: PLC0415
    from conversations.models import ApiToken, text_blocks  # noqa: PLC0415
    from conversations.replies import opening  # noqa: PLC0415
    from conversations.replies.user_content import NewMessage  # noqa: PLC0415

    user, token = User.objects.get(id=user_id), ApiToken.objects.get(id=token_id)

    def send(text: str) -> str:
        try:
            opening.open_turn(NewMessage(user=user, thread_id=None, blocks=text_blocks(text)), token=token)
        except RateLimited as error:
            return f"{error.details['whose']}'s {error.details['limit']}"
        finally:
            connection.close()
        return "stored"

    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = Counter(pool.map(send, ["Hello"] * count))
    sys.stdout.writelines(f"{times} {outcome}\n" for outcome, times in outcomes.items())
    cast(DatabaseWrapper, connection).close_pool()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
