"""The one door through which stored turns and snapshots leave or lose their texts (requirement T3)."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def allow_deletion() -> Iterator[None]:
    """Open the guards of the database until the end of this transaction."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('openbook.door', 'open', true)")
        yield
        cursor.execute("SELECT set_config('openbook.door', '', true)")
