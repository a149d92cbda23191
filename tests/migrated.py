"""A database as `migrate` leaves it, which others are copied from. What made it once is kept as SQL, as long as it holds."""

import hashlib
from collections.abc import Callable
from datetime import date
from pathlib import Path

import psycopg

from config.postgres import embedded
from tests.upgrades import dump, load

ROOT = Path(__file__).resolve().parent.parent
MADE_OF = (
    *("requirements-dev.txt", "*/migrations/*.py", "*/models/indexes.py", "*/models/tokens.py", "*/runtime/ids.py"),
    *("conversations/upkeep/partitions.py", "conversations/accounts/groups.py", "tests/migrated.py"),
)
"""All that migrations import of ours, and what follows them; Django and the other applications by their versions."""
ANALYZE = """DO $$ DECLARE name regclass; BEGIN
FOR name IN SELECT oid FROM pg_class WHERE relkind = 'p' LOOP EXECUTE format('ANALYZE %s', name); END LOOP; END $$"""


def fill(url: str, kept: Path, migrate: Callable[[], None]) -> None:
    """The empty database of this URL: from what is kept in the folder, or by `migrate`, which is then kept."""
    with psycopg.connect(url, autocommit=True) as connection:
        file = kept / f"{key(connection.info.server_version)}.sql"
        if not file.exists():
            migrate()
            for outdated in kept.glob("*.sql"):
                outdated.unlink(missing_ok=True)
            written = file.with_suffix(".part")
            written.write_text(dump(url))
            written.replace(file)
            return
        load(file.read_text(), url)
        connection.execute(ANALYZE)


def fill_embedded(data: Path, database: str) -> None:
    """The application's own PostgreSQL in this folder, as if it had been used before: with a copy of the database."""
    with embedded.running(data / "postgres", options={"fsync": "off"}, initdb=["--no-sync"]) as url:
        load(dump(database), url)


def key(server: int) -> str:
    """Another for another schema, another version of PostgreSQL, and another day, for which there are other partitions."""
    digest = hashlib.sha256(f"{server} {date.today()}".encode())
    for path in sorted({path for pattern in MADE_OF for path in ROOT.glob(pattern)}):
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:32]
