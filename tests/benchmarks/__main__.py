"""``make bench``: a throw-away PostgreSQL, every benchmark, tables on standard output.

``inspection``, ``thinking``, ``endings``, ``notes``, ``whose``, ``signing_in``, ``thread_list``, ``branches``,
``project_files``, ``other_words``, ``message`` and ``streams`` can be run alone;
``audit_chain``, ``backup``, ``budgets``, ``connections``, ``directory``, ``doors``, ``processes``, ``metrics``, ``exchange``,
``growth``, ``lint``, ``replay``, ``webhooks``, ``files`` (of which ``file_answers`` and ``file_readers`` are parts),
``memory`` and ``local``, which take minutes, only are.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from psycopg.conninfo import make_conninfo

from tests.services import postgres


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", help="of one that is run alone; without it all that can be run together")
    parser.add_argument("sizes", nargs="*", type=int, help="whole numbers that some of them take")
    asked = parser.parse_args()
    with postgres(durable=True) as url:
        os.environ["DATABASE_URL"] = url
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        os.environ["OPENBOOK_TITLE_MODEL"] = "off"  # a call of a model beside those that are measured
        os.environ["OPENBOOK_LIMIT_REQUESTS_MINUTE"] = os.environ["OPENBOOK_LIMIT_RUNNING_REPLIES"] = (
            "0"  # many are left running, to be ended in blocks
        )
        run(url, asked.name, asked.sizes)


def run(url: str, name: str | None, sizes: Sequence[int]) -> None:
    # Django reads its settings when it is set up, so it and everything that needs it come only now.
    import django  # noqa: PLC0415

    django.setup()
    from tests.benchmarks import (  # noqa: PLC0415
        audit_chain,
        backup,
        branches,
        budget,
        budgets,
        cache,
        connections,
        context,
        corpus,
        directory,
        doors,
        endings,
        exchange,
        file_answers,
        files,
        inspection,
        inspection_map,
        lint,
        local_cache,
        message,
        metrics,
        notes,
        other_words,
        processes,
        project_files,
        recall,
        replay,
        replies,
        signing_in,
        standing,
        streams,
        thinking,
        thread_list,
        tokens,
        webhooks,
        whose,
    )
    from tests.benchmarks.growth import report  # noqa: PLC0415
    from tests.benchmarks.measuring import database  # noqa: PLC0415
    from tests.benchmarks.memory import evidence  # noqa: PLC0415

    alone = {
        "audit_chain": audit_chain.main,
        "budgets": budgets.main,
        "directory": directory.main,
        "inspection": inspection.main,
        "lint": lint.main,
        "thinking": thinking.main,
        "thread_list": thread_list.main,
        "project_files": project_files.main,
        "branches": branches.main,
        "endings": endings.main,
        "notes": notes.main,
        "other_words": other_words.main,
        "whose": whose.main,
        "memory": evidence.main,
        "local": local_cache.main,
        "recall": recall.main,
        "file_answers": file_answers.main,
    }
    in_database: dict[str, Callable[[str], None]] = {
        "growth": report.main,
        "metrics": metrics.main,
        "context": lambda here: context.main(here, corpus.fill()),
    }
    if name in in_database:
        with database() as its_name:
            in_database[name](make_conninfo(url, dbname=its_name))
        return
    if name in alone:
        with database():
            alone[name](*sizes)
        return
    servers: dict[str, Callable[..., None]] = {
        "backup": backup.main,
        "doors": doors.main,
        "signing_in": signing_in.main,
        "exchange": exchange.main,
        "files": files.main,
        "connections": connections.main,
        "message": message.main,
        "processes": processes.main,
        "replay": replay.main,
        "streams": streams.main,
        "webhooks": webhooks.main,
    }
    if name in servers:
        servers[name](*sizes)
        return
    if name:
        sys.exit(f"There is no benchmark {name}, but: {', '.join(sorted({*alone, *servers, *in_database}))}.")
    tokens.main()
    budget.main()
    cache.main()
    with database() as its_name:
        here = make_conninfo(url, dbname=its_name)
        threads = corpus.fill()
        context.main(here, threads)
        if find_spec("agents"):
            from tests.benchmarks.peers import reading  # noqa: PLC0415

            reading.main(here, threads, context.build_read_only)
        else:
            print("\n== no peers here: `make bench` installs them in an environment of its own")
        inspection_map.main(here)
        standing.main()
        recall.main()
        replies.main(here)
        thinking.main()
        endings.main()
        notes.main()
    signing_in.main()
    message.main()
    streams.main()
    for alone_in_it in (thread_list.main, branches.main, project_files.main, inspection.main):
        with database():  # of its own: a million rows would be in the others' way
            alone_in_it()


if __name__ == "__main__":
    main()
