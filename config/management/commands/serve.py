"""`manage.py serve`: bring the database up to date, then serve in this process until a signal ends it."""

import fcntl
import gc
import secrets
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from daphne.endpoints import build_endpoint_description_strings
from daphne.management.commands.runserver import get_default_application
from django.conf import settings
from django.contrib.auth.models import User
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.tasks import DEFAULT_TASK_QUEUE_NAME

from config.backups import runs
from config.local_model.supervision import engine_running
from config.management.output import NICENESS, PrintableCommand
from config.server.daphne import make_server
from config.server.draining import drain_on_signal
from config.server.lifespan import stop_on_signals
from config.worker.child_process import Child, stop_all
from conversations.checks import CONFIGURATION
from conversations.runtime.db import close_pool
from conversations.tasks import FILES

SUPERUSER = "DATABASE_URL names a superuser, who may read the server's files: use a role that owns its database alone."
SWITCH_SECONDS = 0.001
GARBAGE = 10_000
"""New objects after which garbage is looked for."""
CREATING = 0x75736572
"""PostgreSQL's advisory locks are known by number; this one spells "user". Another than that of ``migrate``: who waits for it
holds a connection, which a migration may need."""


class Command(PrintableCommand):
    help = "Serve Openbook: migrations, first superuser, then HTTP and WebSocket on one port, and workers beside it."
    # What an operator can have got wrong; the code itself is checked where it is changed.
    requires_system_checks = "__all__" if settings.DEBUG else [CONFIGURATION, Tags.security]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument(
            "--port", type=int, default=settings.PORT, help="0: one that is free (default: $PORT or 8000)"
        )
        parser.add_argument(
            "--attached", action="store_true", help="keep the worker in this group of processes, as a child of dev"
        )

    def handle(self, *args: Any, host: str, port: int, attached: bool, **options: Any) -> None:
        gc.disable()  # until `give_way`: what is loaded stays
        check_static_files()
        check_port(host, port)
        if warning := check_database():
            self.stderr.write(warning)
        check_restored()
        with count_servers(settings.LOCAL_DIR / "serve.lock") as alone:
            if not alone and not settings.REDIS_URL:
                self.stderr.write(
                    "Another server of this folder runs: set REDIS_URL for all, or they don't hear of each other."
                )
            call_command("migrate", interactive=False, verbosity=0)
            try:
                self.serve(host, port, attached)
            finally:
                close_pool()

    def serve(self, host: str, port: int, attached: bool) -> None:
        def ready() -> None:
            stop_on_signals()
            drain_on_signal(server)
            give_way()
            address = url(host, server.listening_addresses[0][1])
            self.stdout.write(f"Openbook is ready: {address} - sign in as {first_superuser()}")
            self.stdout.flush()
            if settings.OPENBOOK_WORKER:
                for worker in workers:
                    worker.start()

        # Nobody who waits for a file waits for notes first, and no reply or page for either.
        work = [sys.executable, str(settings.BASE_DIR / "manage.py"), "work", "--attached", "--skip-checks", "--queue"]
        workers = [
            Child(name, [*work, queue], apart=not attached, niceness=NICENESS)
            for name, queue in (("the worker", DEFAULT_TASK_QUEUE_NAME), ("the worker for files", FILES))
        ]
        server = make_server(
            application=get_default_application(),
            endpoints=build_endpoint_description_strings(host=host, port=port),
            websocket_max_message_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            websocket_max_frame_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            signal_handlers=False,
            ready_callable=ready,
            server_name="openbook",
            verbosity=0,
        )
        try:
            with engine_running(apart=not attached):
                server.run()
        finally:
            stop_all(workers)
        if not server.listening_addresses:
            raise CommandError(f"Cannot listen on {host} port {port}.")


def give_way() -> None:
    """Let streams not wait for what the process does beside them.

    A thread that comes back from the database waits for the event loop that long at most, and the other way round. What was
    imported stays for good, so that it is not looked through for garbage each time.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(GARBAGE)
    gc.enable()


def url(host: str, port: int) -> str:
    """What to type into a browser on this machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def check_static_files() -> None:
    if not settings.DEBUG and not (Path(settings.STATIC_ROOT) / "admin").is_dir():
        raise CommandError("The static files are missing. Run `make run`, or: python manage.py collectstatic --noinput")


def check_port(host: str, port: int) -> None:
    """Fail before anything is done, and in words."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen()
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {host} port {port}: {error.strerror}. "
            f"Choose another port, for example: make run PORT={port + 1}"
        ) from error


def check_database() -> str:
    """One connection without the pool, whose own error says why; the pool's would only say that it waited. Gives a warning."""
    try:
        with psycopg.connect(settings.DATABASE_URL, connect_timeout=5) as connected:
            is_superuser = connected.info.parameter_status("is_superuser") == "on"
    except psycopg.OperationalError as error:
        raise CommandError(f"PostgreSQL can't be reached: {error}\nStart it, or correct DATABASE_URL.") from error
    return SUPERUSER if is_superuser else ""


def check_restored() -> None:
    """Nobody is served what was forgotten since the backup."""
    if runs.is_being_restored():
        raise CommandError(
            "A restore into this database has not come to its end: what was forgotten since the backup may be there again. "
            "Wait for it, or run it once more: python manage.py restore DIR"
        )


@contextmanager
def count_servers(path: Path) -> Iterator[bool]:
    """Be known to the other servers of this folder while the block runs; tells whether this is the first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
        fcntl.flock(file, fcntl.LOCK_SH)
        yield alone


def first_superuser() -> str:
    """Create one where there is none. Gives the words that say how to sign in."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CREATING])
        if user := User.objects.filter(is_superuser=True).order_by("pk").first():
            return f"{user.username} (password set at the first start; change it with: make password)"
        username, password = settings.DJANGO_SUPERUSER_USERNAME, settings.DJANGO_SUPERUSER_PASSWORD
        if password:
            User.objects.create_superuser(username, password=password)
            return f"{username} with the password in DJANGO_SUPERUSER_PASSWORD"
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser(username, password=password)
        return f"{username} with password {password}"
