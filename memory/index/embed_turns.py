"""Indexed turns given the points that recall by meaning goes by, where `OPENBOOK_EMBEDDINGS` is on. Words are found without."""

import logging

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError

from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from memory.index import embeddings, vectors
from memory.index.embeddings import NoModel
from memory.index.vectors import NoVectors, UnembeddedTurn

log = logging.getLogger("openbook.recall")

BATCH = 500
MOST = 1_000
"""Turns that one reply or import gives points to; the next goes on, or `manage.py embed` with all."""

REMEDY = "Run `make embeddings`, with a PostgreSQL that has pgvector 0.8 or newer, or set OPENBOOK_EMBEDDINGS=off."

SQL = read_statements(__file__)


def catch_up(user_id: int, *, most: int | None = None) -> int:
    """Give points to so many of the user's turns that have none; how many that were. Raises ``NoModel``, ``DatabaseError``."""
    model = embeddings.model()
    done = 0
    while most is None or done < most:
        turns = [
            UnembeddedTurn(thread=thread, depth=depth, position=position, text=text)
            for thread, depth, position, text in run(SQL["unembedded"], user=user_id, most=BATCH)
        ]
        vectors.store(model, turns)
        done += len(turns)
        if len(turns) < BATCH:
            break
    return done


def catch_up_if_possible(user_id: int) -> None:
    """``catch_up`` with a part, where it is on; what fails is left to the next one."""
    if not settings.OPENBOOK_EMBEDDINGS:
        return
    try:
        catch_up(user_id, most=MOST)
    except (NoModel, DatabaseError) as error:
        log.warning("can't embed turns", extra={"user_id": user_id, "cause": type(error).__name__})


def obstacle() -> str:
    """What stands in the way of recall by meaning, for the operator; nothing where all is well. Writes nothing."""
    try:
        embeddings.folder()
        return vectors.missing()
    except (NoModel, DatabaseError) as error:
        return str(error) if isinstance(error, NoModel) else ""  # a database that is not there is told by others


def prepare() -> str:
    """Load the model and make its table. Gives what stands in the way, for the operator; nothing where all is well."""
    try:
        embeddings.model()
        vectors.prepare()
    except (NoModel, NoVectors) as error:
        return str(error)
    except DatabaseError as error:
        return f"PostgreSQL refuses the extension pgvector: {type(error.__cause__ or error).__name__}."
    return ""


def users() -> list[int]:
    return list(User.objects.order_by("pk").values_list("pk", flat=True))
