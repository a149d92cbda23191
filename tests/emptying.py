"""How the database is emptied after a test that commits."""

import atexit
from functools import cache

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper

from conversations.accounts.groups import GROUPS
from tests.services import url_of

SHIPPED = (
    "artifacts_preset",
    "artifacts_preset_assistants",
    "conversations_assistant",
    "conversations_assistantversion",
    "conversations_model",
    "conversations_modelprice",
)
"""Into which the migrations put rows."""

# Nobody but `migrate` writes them, but for groups of others.
KEPT = {"django_content_type", "auth_permission", "auth_group", "auth_group_permissions", "conversations_givenright"}


def prepare() -> None:
    """Of a database as the migrations leave it: keep what they shipped, and how all else is deleted."""
    tables = [f'"{name}"' for name in sorted({*connection.introspection.django_table_names()} - KEPT)]
    statements = [f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE"]
    statements += [f"DELETE FROM {table}" for table in tables]  # noqa: S608
    names = ", ".join(f"'{name}'" for name in GROUPS)
    made = f"NOT IN (SELECT id FROM auth_group WHERE name IN ({names}))"  # noqa: S608
    statements += [
        f"DELETE FROM auth_group_permissions WHERE group_id {made}",  # noqa: S608
        f"DELETE FROM auth_group WHERE id {made}",  # noqa: S608
    ]
    statements += [f"INSERT INTO {table} SELECT * FROM shipped.{table}" for table in SHIPPED]  # noqa: S608
    body = f"BEGIN {'; '.join(statements)}; END"
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA shipped")
        for table in SHIPPED:
            cursor.execute(f"CREATE TABLE shipped.{table} AS TABLE {table}")
        cursor.execute(f"CREATE PROCEDURE shipped.restore() LANGUAGE plpgsql AS $${body}$$")


def unguarded(cursor: CursorWrapper) -> None:
    """In this transaction triggers and guards are aside."""
    cursor.execute("SET LOCAL session_replication_role = replica")


def empty() -> None:
    """Delete the rows of all tables but what was shipped, triggers and guards aside, once whoever still writes has ended.

    Django's flush truncates all tables, which takes ten times as long as deleting a few rows, and then makes each content
    type and permission anew, under new ids.
    """
    try:
        _session().execute("CALL shipped.restore()")
    except psycopg.OperationalError:  # a test ended all sessions but its own
        _session.cache_clear()
        _session().execute("CALL shipped.restore()")


@cache
def _session() -> psycopg.Connection:
    """One that plans the hundred statements once. Wherever triggers are put aside, the plans that are there are given up."""
    session = psycopg.connect(url_of(connection.settings_dict["NAME"]), autocommit=True)
    atexit.register(session.close)
    session.execute("SET session_replication_role = replica")
    return session
