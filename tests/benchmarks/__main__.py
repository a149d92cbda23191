"""``make bench``: a throw-away PostgreSQL, every benchmark, tables on standard output."""

import os

from tests.services import postgres


def main() -> None:
    with postgres() as url:
        os.environ["DATABASE_URL"] = url
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        run()


def run() -> None:
    # Django reads its settings when it is set up, so it and everything that needs it come only now.
    import django  # noqa: PLC0415

    django.setup()
    from tests.benchmarks import cache, context, replies, tokens  # noqa: PLC0415
    from tests.benchmarks.measuring import database  # noqa: PLC0415

    tokens.main()
    cache.main()
    with database():
        context.main()
        replies.main()


if __name__ == "__main__":
    main()
