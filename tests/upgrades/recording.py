"""`python -m tests.upgrades.recording NAME`: record the schema of now, with data, as one that is released."""

import gzip
import json
import sys

from tests.commands import commands
from tests.services import postgres
from tests.upgrades import FOLDER, contents_of, dump, manage

TALK = ["I have two cats, Miso and Tofu.", "We are building a FastAPI app."]


def main(name: str) -> None:
    with postgres() as url:
        forks = commands()
        manage(forks, url, "migrate", "--verbosity", "0")
        ada = ("--noinput", "--username", "ada", "--email", "")
        manage(forks, url, "createsuperuser", *ada, DJANGO_SUPERUSER_PASSWORD="a-pw-of-ada")
        manage(forks, url, "chat", "--user", "ada", TALK[0])
        for message in TALK[1:]:
            manage(forks, url, "chat", "--user", "ada", "--thread", "last", message)
        manage(forks, url, "consolidate", "ada")
        content = contents_of(forks, url, "fill")
        sql = dump(url)
    (FOLDER / f"{name}.sql.gz").write_bytes(gzip.compress(sql.encode(), mtime=0))
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
