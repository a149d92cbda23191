#!/usr/bin/env python
"""Django's commands. Without DATABASE_URL, the embedded PostgreSQL server runs while a command does."""

import gc
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from traceback import format_exception
from types import TracebackType

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from config.management.ending import end_on_signals
from config.postgres import embedded
from conversations.runtime.text import printable

WITHOUT_DATABASE = {"collectstatic", "doctor", "help", "translations", "version", "--help", "--version", "-h"}


@contextmanager
def database(command: str) -> Iterator[None]:
    """While the server starts, the applications are loaded."""
    if command in WITHOUT_DATABASE or not settings.DATABASE_IS_EMBEDDED:
        yield
        return
    threads = ThreadPoolExecutor(1)
    loading = threads.submit(django.setup)
    threads.shutdown(wait=False)
    with embedded.running(settings.LOCAL_DIR / "postgres"):
        loading.result()
        yield


def print_failure(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """As Python does, but without what a terminal would take for a command: an exception may quote anybody."""
    sys.stderr.write(printable("".join(format_exception(kind, error, traceback))))


def main() -> None:
    sys.excepthook = print_failure
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    gc.disable()  # until the applications are loaded
    end_on_signals()
    try:
        with database(sys.argv[1] if len(sys.argv) > 1 else "help"):
            execute_from_command_line(sys.argv)
    except (embedded.EmbeddedPostgresError, ImproperlyConfigured) as error:
        sys.exit(printable(str(error)))


if __name__ == "__main__":
    main()
