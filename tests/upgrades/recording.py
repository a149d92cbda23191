"""`python -m tests.upgrades.recording NAME`: record the schema of now, with data, as one that is released."""

import gzip
import json
import os
import subprocess
import sys

from tests.services import postgres
from tests.upgrades import FOLDER, ROOT, dump, manage

TALK = ["I have two cats, Miso and Tofu.", "We are building a FastAPI app."]


def main(name: str) -> None:
    with postgres() as server:
        url = server
        manage(url, "migrate", "--verbosity", "0")
        manage(
            url,
            "createsuperuser",
            "--noinput",
            "--username",
            "ada",
            "--email",
            "",
            DJANGO_SUPERUSER_PASSWORD="a-pw-of-ada",
        )
        manage(url, "chat", "--user", "ada", TALK[0])
        for message in TALK[1:]:
            manage(url, "chat", "--user", "ada", "--thread", "last", message)
        manage(url, "consolidate", "ada")
        content = json.loads(held(url, "fill"))
        sql = dump(url)
    (FOLDER / f"{name}.sql.gz").write_bytes(gzip.compress(sql.encode(), mtime=0))
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def held(url: str, *arguments: str) -> str:
    """What ``tests.upgrades.holding`` prints for that database."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.upgrades.holding", *arguments],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    main(*sys.argv[1:])
