"""`python -m tests.postgres [--durable] [FOLDER OF THE PROGRAMS]`: a PostgreSQL server that ends with its standard input.

It is a process of its own so that a killed test run leaves neither a server nor a folder behind.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import psycopg

from config.postgres import embedded

# Nothing of a test has to survive a power failure, and all processes of a run work here.
VOLATILE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "300"}
# A benchmark pays for durability as the application does, on a server with the memory of a small machine. It measures with and
# without full_page_writes, which it could not change if it stood here.
DURABLE = {
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "512MB",
    "effective_cache_size": "2GB",
    "max_wal_size": "4GB",
    "random_page_cost": "1.1",
}

# The tests work as the role that the application has, with two things more: a database for each, and to empty it.
FOR_TESTS = "ALTER ROLE openbook CREATEDB; GRANT SET ON PARAMETER session_replication_role TO openbook"
# What is measured is the same; how the server writes its log is changed meanwhile.
FOR_BENCHMARKS = "ALTER ROLE openbook SUPERUSER"


def main() -> None:
    arguments = sys.argv[1:]
    options = DURABLE if arguments[:1] == ["--durable"] else VOLATILE
    programs = arguments[1:] if options is DURABLE else arguments
    binaries = Path(programs[0]) if programs else None
    folder = Path(tempfile.mkdtemp(prefix="openbook-test-"))
    try:
        folder.chmod(0o711)  # as most checkouts are: PostgreSQL's own user reaches its data
        place = folder / "postgres"
        with embedded.running(place, binaries=binaries, options=options, initdb=["--no-sync"]) as url:
            with psycopg.connect(embedded.url(place, role=embedded.SUPERUSER)) as connection:
                connection.execute(FOR_BENCHMARKS if options is DURABLE else FOR_TESTS)
            print(url, flush=True)  # noqa: T201
            sys.stdin.read()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
