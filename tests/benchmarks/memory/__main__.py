"""The same as ``make bench ONLY=memory``, with options and a PostgreSQL of its own that doesn't wait for the disk."""

import os
import sys

from tests.services import postgres


def main() -> None:
    with postgres() as url:
        os.environ["DATABASE_URL"] = url
        os.environ.setdefault("OPENBOOK_PROVIDER", "offline")  # whatever is installed here
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        run()


def run() -> None:
    # Django reads its settings when it is set up, so it and everything that needs it come only now.
    import django  # noqa: PLC0415

    django.setup()
    from tests.benchmarks.measuring import database  # noqa: PLC0415
    from tests.benchmarks.memory import evidence  # noqa: PLC0415

    with database():
        evidence.main(sys.argv[1:])


if __name__ == "__main__":
    main()
