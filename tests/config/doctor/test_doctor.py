"""`manage.py doctor` in installations where something is wrong, and where all is well."""

import json
import os
import re
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.utils.translation import gettext, override
from pytest_django import Settings

from config.backups import runs
from config.doctor import checklist, database
from config.doctor.examination import Check, examine, hung
from config.doctor.findings import Finding, FindingRow, Status, ok
from config.management.commands.doctor import process_language
from config.postgres import embedded
from config.settings import mailers
from tests import services
from tests.commands import Commands
from tests.model_server import ModelServer
from tests.other_services import elsewhere
from tests.pooler import pgbouncer
from tests.processes import ROOT, database_url
from tests.volumes import mounted, read_only
from tests.waiting import until

STARTED = [sys.executable, "-W", "error", "manage.py", "doctor"]


def doctor(*arguments: str, **environment: str) -> tuple[int, dict[str, FindingRow], str]:
    """In a process of its own."""
    done = subprocess.run(
        [*STARTED, "--json", *arguments], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return findings(done)


def findings(done: subprocess.CompletedProcess[str]) -> tuple[int, dict[str, FindingRow], str]:
    """The doctor's exit code, and the last finding of each check; what it wrote beside them."""
    assert done.stdout, done.stderr
    return done.returncode, {row["check"]: row for row in json.loads(done.stdout)["checks"]}, done.stderr


def looked(name: str) -> Sequence[Finding]:
    """By one check, here."""
    check = next(check for check in checklist.checks() if check.name == name)
    return next(iter(examine([check]))).findings


def told(name: str) -> list[tuple[str, str]]:
    return [(each.status.value, each.words) for each in looked(name)]


@contextmanager
def mail_server(greeting: str) -> Iterator[str]:
    """Says this to whoever comes, and offers nothing."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(f"{greeting}\r\n".encode())
            for line in self.rfile:
                self.wfile.write(b"221 bye\r\n" if line.upper().startswith(b"QUIT") else b"250 mail.example\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def powerless_url(empty_database: str) -> Iterator[str]:
    """Of a role that may do nothing in a database without tables."""
    superuser = empty_database.replace(f"//{embedded.ROLE}@", f"//{embedded.SUPERUSER}@")
    with psycopg.connect(superuser, autocommit=True) as administration:
        administration.execute("CREATE ROLE powerless LOGIN CONNECTION LIMIT 9")
        administration.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO powerless")
        yield empty_database.replace(f"//{embedded.ROLE}@", "//powerless@")
        administration.execute("DROP OWNED BY powerless; DROP ROLE powerless")
        session = administration.info.backend_pid
    with services.administration() as ours:  # who may not end a superuser's session to drop the database
        until(lambda: not ours.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [session]).fetchone())


@pytest.mark.wide
def test_much_is_wrong_and_all_of_it_is_told(powerless_url: str, tmp_path: Path, closed_port: int) -> None:
    (files := tmp_path / "files").mkdir(mode=0o755)
    with mail_server("554 go away") as mail:
        code, found, errors = doctor(
            DATABASE_URL=powerless_url,
            REDIS_URL=f"redis://127.0.0.1:{closed_port}/0",
            OPENBOOK_MAIL_URL=f"smtp://{mail}",
            OPENBOOK_FILES_DIR=str(files),
            SECRET_KEY="short",
            DEBUG="on",
            ALLOWED_HOSTS="book.example",
            CSRF_TRUSTED_ORIGINS="https://other.example",
            OPENBOOK_TRUSTED_PROXIES="0.0.0.0/0",
        )
    assert (code, errors) == (1, "")
    wrong = {name for name, row in found.items() if row["status"] == "wrong"}
    assert wrong >= {"secret key", "debug", "hosts", "schema", "redis", "mail"}
    assert found["rights"]["words"] == "the role may make no tables: migrations and partitions fail"
    assert found["workers"] == {
        "group": "work", "check": "workers", "status": "skipped", "words": "not looked at: see schema", "advice": "",
    }  # fmt: skip
    assert "23" in found["connections"]["words"]
    assert found["mail"]["words"].endswith("refuses: 554 go away")


def test_without_a_database_it_says_so_and_looks_at_the_rest(forks: Commands, closed_port: int) -> None:
    url = f"postgresql://openbook@127.0.0.1:{closed_port}/openbook"
    code, found, errors = findings(forks.run("manage.py", "doctor", "--json", DATABASE_URL=url))
    assert (code, errors) == (1, "")
    assert "Connection refused" in found["reachable"]["words"]
    assert found["reachable"]["advice"].endswith("docs/operate/database-down.md.")
    skipped = {name for name, row in found.items() if row["status"] == "skipped"}
    assert skipped >= {"schema", "clock", "partitions", "workers", "models", "django"}
    assert found["redis"]["status"] == found["mail"]["status"] == "ok"


@pytest.mark.django_db(transaction=True)
def test_an_installation_that_is_well(forks: Commands) -> None:
    for kind in (runs.KIND.BACKUP, runs.KIND.DRILL):
        with runs.recorded(kind):
            pass
    groups = ("database", "services", "disk", "backups")
    code, found, errors = findings(
        forks.run("manage.py", "doctor", "--json", *groups, "--servers", "2", DATABASE_URL=database_url())
    )
    assert (code, errors) == (0, "")
    warnings = {name: row["words"] for name, row in found.items() if row["status"] != "ok"}
    assert warnings == {
        # The tests' own server forgets what it was told when it crashes, and no model answers.
        "durability": "fsync, full_page_writes, synchronous_commit is off: what was acknowledged can be lost in a crash",
        "models": "offline: no model stands behind it, replies are made up by rules",
    }
    assert re.fullmatch(r"the last was made \d+ s ago", found["backup"]["words"])
    assert re.fullmatch(r"a backup was last proven \d+ s ago", found["drill"]["words"])
    assert "2 `serve` with pools of 16 may take 46" in found["connections"]["words"]


@pytest.mark.django_db(transaction=True)
def test_warnings_fail_only_where_they_are_to_and_are_told_with_what_to_do(settings: Settings) -> None:
    settings.DATABASE_URL = database_url()
    out = StringIO()
    call_command("doctor", "services", stdout=out, no_color=True)
    assert re.search("warning +models +offline: no model stands behind it", out.getvalue())
    assert "-> Set a key, such as ANTHROPIC_API_KEY" in out.getvalue()
    assert out.getvalue().endswith("0 wrong, 1 to look at, 0 not looked at.\n")
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "services", strict=True, stdout=out)
    assert ended.value.code == 1


def test_what_hangs_is_given_up_and_what_fails_is_told() -> None:
    never = threading.Event()

    def fails() -> Sequence[Finding]:
        raise OSError("the disk is on fire\nand more")

    def hangs() -> Sequence[Finding]:
        never.wait(60)
        return []

    checks = [
        Check(group="a", name="base", look=lambda: [ok("there")]),
        Check(group="a", name="fails", look=fails),
        Check(group="a", name="hangs", look=hangs, needs="base"),
        Check(group="a", name="after it", look=hangs, needs="base"),
        Check(group="a", name="nothing", look=list),
        Check(group="a", name="well", look=lambda: [ok("fine")]),
    ]
    results = {result.check: result.findings for result in examine(checks, seconds=0.1)}
    never.set()
    assert results.keys() == {"base", "fails", "hangs", "after it", "well"}
    assert results["fails"][0].words == "the check itself failed: OSError: the disk is on fire"
    assert list(results["hangs"]) == [hung()]
    assert results["after it"][0].status is Status.SKIPPED


def test_findings_are_told_in_the_language_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """For programs in English, whatever that is."""
    told: list[str] = []
    for variable, value in (("LANG", "en_GB.UTF-8"), ("LC_ALL", "de_DE.UTF-8"), ("LC_ALL", "xx_XX")):
        monkeypatch.setenv(variable, value)
        with override(process_language()):
            (result,) = examine([Check(group="a", name="b", look=lambda: [ok(gettext("none in front"))])])
        told.append(result.findings[0].words)
    assert told == ["none in front", "keiner davor", "none in front"]
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    out = StringIO()
    with suppress(SystemExit):
        call_command("doctor", "machine", json=True, stdout=out)
    assert '"words": "off: pages and pictures without text are given as pictures"' in out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_a_provider_is_asked_whether_it_takes_the_key(settings: Settings, model_server: ModelServer) -> None:
    settings.OPENBOOK_PROVIDER, settings.ANTHROPIC_API_KEY = "anthropic", "sk-local"
    settings.ANTHROPIC_BASE_URL = model_server.url
    ((status, words),) = told("models")
    assert (status, words.split(":")[0], "the key is accepted" in words) == ("ok", "anthropic", True)
    with elsewhere({"*": (401, {}, "{}")}) as refusing:
        settings.ANTHROPIC_BASE_URL = refusing.url
        ((status, words),) = told("models")
    assert (status, "ANTHROPIC_API_KEY" in words) == ("wrong", True)


@pytest.mark.django_db(transaction=True)
def test_connections_that_are_too_few(settings: Settings) -> None:
    settings.DATABASE_URL = database_url()
    name = connection.settings_dict["NAME"]
    with connection.cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT 20')
    try:
        ((status, words),) = told("connections")
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT -1')
    assert (status, words.endswith("of 20 are used; 1 `serve` with pools of 16 may take 23")) == ("warning", True)
    full = database.connections([(280, 270), (20, 3)], 16, 1, is_pooled=False)
    assert (full.status.value, full.words.split(";")[0]) == ("wrong", "270 of 280 are used")


def test_a_pooler_in_between_is_seen(settings: Settings, empty_database: str) -> None:
    with pgbouncer(empty_database) as between:
        settings.DATABASE_URL = between.url
        before, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], urlsplit(between.url).path[1:]
        try:
            ((_, words),) = told("pooler")
        finally:
            connection.settings_dict["NAME"] = before
    assert "prepared statements" in words
    assert "none in between" not in words


def test_redis_that_is_there(settings: Settings, redis_url: str) -> None:
    settings.REDIS_URL = redis_url
    ((status, words),) = told("redis")
    assert (status, "policy noeviction" in words) == ("ok", True)


@pytest.mark.parametrize(
    ("greeting", "words"), [("554 go away", "refuses: 554 go away"), ("220 hello", "offers no STARTTLS or no sign-in")]
)
def test_mail_servers_that_take_nothing(settings: Settings, greeting: str, words: str) -> None:
    with mail_server(greeting) as place:
        settings.MAILERS = mailers(f"smtp://{place}")
        assert told("mail") == [("wrong", f"{place} {words}")]
        if greeting.startswith("220"):
            settings.MAILERS, settings.DEFAULT_FROM_EMAIL = mailers(f"smtp://{place}?tls=off"), "book@example.org"
            assert told("mail") == [("ok", f"{place} answers; nothing was sent")]


@pytest.mark.django_db(transaction=True)
def test_a_backup_that_failed_after_one_that_did_not() -> None:
    with runs.recorded(runs.KIND.BACKUP):
        pass
    assert [status for status, _ in told("backup")] == ["ok"]
    with pytest.raises(OSError, match="full"), runs.recorded(runs.KIND.BACKUP):
        raise OSError("full")
    ((status, words),) = told("backup")
    assert (status, words.endswith(" ago; one has failed since")) == ("warning", True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_disk_that_is_nearly_full(settings: Settings, tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "2m"):
        settings.OPENBOOK_FILES_DIR = tmp_path / "small"
        ((status, words),) = told("files")
    assert (status, words) == ("wrong", f"{tmp_path / 'small'} can be written, 2 MiB free")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_folder_that_can_not_be_written(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with read_only(tmp_path / "kept", tmp_path / "held"):
        settings.OPENBOOK_FILES_DIR = tmp_path / "held"
        assert told("files") == [("wrong", f"{tmp_path / 'held'} can't be written: Read-only file system")]
        settings.OPENBOOK_FILES_DIR = tmp_path / "held" / "files"
        assert told("files") == [("wrong", f"{tmp_path / 'held' / 'files'} can't be made: Read-only file system")]
    settings.OPENBOOK_FILES_DIR = tmp_path / "open"
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    assert told("files") == [("wrong", f"others may write to {tmp_path / 'open'}")]


def test_static_files_that_were_not_collected(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    assert told("static files") == [("wrong", f"{tmp_path} holds none: pages have neither styles nor scripts")]
