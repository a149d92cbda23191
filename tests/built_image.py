"""The image, as a container runtime starts it: nobody in particular, no rights, a root that nothing is written to.

`make image-test` builds it and runs this. The network is that of the machine.
"""

import json
import os
import subprocess
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests import parts
from tests.clients import Json, ServerClient
from tests.model_server import ModelServer
from tests.parts import Part
from tests.processes import ROOT
from tests.services import free_port
from tests.test_files import answer_to, ended, upload
from tests.test_processes import PASSWORD
from tests.waiting import until

IMAGE = os.environ.get("OPENBOOK_TEST_IMAGE", "openbook")
MOST_BYTES, MOST_BYTES_OF_EXTRAS = 400_000_000, 40_000_000
EXTRAS = {
    "opentelemetry/sdk": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
    "sentry_sdk": {"SENTRY_DSN": "http://key@127.0.0.1:9/1"},
    "boto3": {"OPENBOOK_FILES_S3_BUCKET": "files", "OPENBOOK_PROVIDER": "bedrock", "AWS_REGION": "eu-west-1"},
    "google/auth": {
        "OPENBOOK_PROVIDER": "vertex",
        "ANTHROPIC_VERTEX_PROJECT_ID": "openbook",
        "CLOUD_ML_REGION": "global",
    },
}
"""Packages that EXTRAS adds, and settings that need them."""
LEFT_OUT = ("bin/pip", "bin/apt-get", "bin/perl", "bin/node", "bin/gcc", "bin/strip", "bin/postgres")
WORKERS = "SELECT FROM conversations_lease WHERE starts_with(name, 'worker ') AND lease_until > now()"
SAMPLES_FOLDER = ROOT / "tests" / "artifacts" / "reading" / "samples"
SAMPLES = ["note.txt", "photo.heic", "report.pdf", "report.docx", "budget.xlsx", "page.html"]
NOTE = b"The ferry leaves at nine, and the harbour lies quiet until noon.\n"
ARTIFACT = {"kind": "document", "title": "Ferries", "content": "# Ferries\n\nThe first one leaves at *nine*.\n"}

pytestmark = pytest.mark.timeout(900)


@dataclass(frozen=True)
class Image:
    root: Path
    config: Json
    """Of the Docker format: ``User``, ``Env``, ``Entrypoint``, ``Cmd``, ``Healthcheck`` and more."""

    @property
    def user(self) -> list[int]:
        """Of the user, of the group."""
        return [int(each) for each in self.config["User"].split(":")]

    @property
    def extras(self) -> list[str]:
        installed = "opt/openbook/.venv/lib/python3*/site-packages"
        return [package for package in EXTRAS if any(self.root.glob(f"{installed}/{package}"))]


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    container = told("buildah", "from", "--pull-never", IMAGE)
    try:
        config = json.loads(told("buildah", "inspect", "--type", "image", IMAGE))["Docker"]["config"]
        yield Image(Path(told("buildah", "mount", container)), config)
    finally:
        told("buildah", "rm", container)


@dataclass(frozen=True)
class Containers:
    image: Image
    folder: Path
    environment: dict[str, str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of the image, to its end."""
        bundle = self.bundle(uuid.uuid4().hex, arguments)
        return subprocess.run(
            ["runc", "run", "--bundle", bundle, bundle.name], capture_output=True, text=True, check=False, timeout=300
        )

    @contextmanager
    def started(self, arguments: list[str], ready: Callable[[int], bool]) -> Iterator[Part]:
        bundle = self.bundle(uuid.uuid4().hex, arguments)
        name = arguments[0]
        part = Part(
            name, ["runc", "run", "--bundle", str(bundle), bundle.name], self.folder / f"{name}.log", ready,
        )  # fmt: skip
        try:
            part.start()
            yield part
        finally:
            subprocess.run(["runc", "kill", bundle.name, "KILL"], check=False, capture_output=True)
            part.end()
            subprocess.run(["runc", "delete", "--force", bundle.name], check=False, capture_output=True)

    def bundle(self, name: str, arguments: Any) -> Path:
        folder = self.folder / name
        folder.mkdir()
        (folder / "config.json").write_text(
            json.dumps(self.specification([*self.image.config["Entrypoint"], *arguments]))
        )
        return folder

    def specification(self, command: list[str]) -> Json:
        """Of the Open Container Initiative's runtimes."""
        user, group = self.image.user
        passing = ["nosuid", "nodev", "noexec"]
        return {
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": user, "gid": group},
                "args": command,
                "env": [*self.image.config["Env"], *(f"{name}={value}" for name, value in self.environment.items())],
                "cwd": self.image.config["WorkingDir"],
                "capabilities": {},
                "noNewPrivileges": True,
            },
            "root": {"path": str(self.image.root), "readonly": True},
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
                {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": [*passing, "mode=1777"]},  # noqa: S108
                {
                    "destination": "/data",
                    "type": "bind",
                    "source": str(self.folder / "data"),
                    "options": ["bind", *passing],
                },
            ],
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount", "ipc", "uts")]},
        }


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with parts.postgres() as (_, url):
        yield url


@pytest.fixture(scope="module")
def containers(
    image: Image, model: ModelServer, database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Containers]:
    folder = tmp_path_factory.mktemp("containers")
    (folder / "data").mkdir()
    os.chown(folder / "data", *image.user)
    yield Containers(
        image,
        folder,
        {
            "DATABASE_URL": database,
            "SECRET_KEY": "of-the-tests-of-the-image-and-of-nothing-else-at-all",
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "ALLOWED_HOSTS": "localhost,127.0.0.1",
            "PORT": str(free_port()),
            "OPENBOOK_WORKER": "off",
            "OPENBOOK_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key-of-the-tests",
            "ANTHROPIC_BASE_URL": model.url,
        },
    )


def test_it_is_small(image: Image) -> None:
    layers, packed = sizes(image.root)
    files = sum(path.lstat().st_size for path in image.root.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"{files / 1e6:.0f} MB of files, {layers / 1e6:.0f} MB as a layer, {packed / 1e6:.0f} MB by gzip")  # noqa: T201
    assert layers <= MOST_BYTES + (MOST_BYTES_OF_EXTRAS if image.extras else 0)
    found = [name for name in LEFT_OUT if any((image.root / place / name).exists() for place in ("usr", "usr/local"))]
    assert found == []


def sizes(root: Path) -> tuple[int, int]:
    """Bytes of the tree as one layer, as it is and as registries keep it."""
    packer = zlib.compressobj(6, wbits=31)
    whole = packed = 0
    with subprocess.Popen(
        ["tar", "--create", "--one-file-system", "--directory", root, "."], stdout=subprocess.PIPE
    ) as tar:
        assert tar.stdout
        while block := tar.stdout.read(1 << 20):
            whole += len(block)
            packed += len(packer.compress(block))
    return whole, packed + len(packer.flush())


def test_it_has_no_more_rights_than_nobody(image: Image) -> None:
    assert image.user == [65532, 65532]
    assert image.config["Volumes"] == {"/data": {}}
    modes = {path: path.lstat().st_mode for path in image.root.rglob("*") if path.is_file() and not path.is_symlink()}
    assert [str(path) for path, mode in modes.items() if mode & 0o6002] == []


def test_it_serves(containers: Containers, database: str, model: ModelServer) -> None:
    migrated = containers.run("migrate", "--noinput")
    assert migrated.returncode == 0, migrated.stderr
    port = int(containers.environment["PORT"])
    with ExitStack() as stack:
        server = stack.enter_context(containers.started(containers.image.config["Cmd"], parts.serves(port)))
        worker = stack.enter_context(containers.started(["work"], lambda pid: has_worker(database)))
        kind, *command = containers.image.config["Healthcheck"]["Test"]
        assert kind == "CMD"
        until(lambda: inside(server, *command).returncode == 0)
        client = ServerClient.signed_in(f"http://127.0.0.1:{port}/", password=PASSWORD)
        answer = client.call("POST", "threads/new/messages/", {"content": "Is the ferry late?"})
        assert answer["reply"]["status"] == "completed", server.output
        files = [read(client, name) for name in SAMPLES]
        told_files = {"content": "What do they say?", "files": [file["id"] for file in files]}
        assert client.call("POST", "threads/new/messages/", told_files)["reply"]["status"] == "completed"
        assert len(model.requests) >= 2
        assert any("ferry leaves at nine" in str(request.body) for request in model.requests)
        thread = answer["thread"]
        made = client.call("POST", f"threads/{thread}/artifacts/", ARTIFACT)
        for kind, start in {"pdf": b"%PDF", "docx": b"PK"}.items():
            with answer_to(client, "GET", f"artifacts/{made['id']}/export/?as={kind}") as exported:
                assert exported.read().startswith(start)
        for each in (server, worker):
            assert not each.has_ended, each.output
            assert "Traceback" not in each.output
        examined = containers.run("doctor", "--json")
        assert examined.returncode == 0, examined.stdout
        assert json.loads(examined.stdout)["well"] is True


def read(client: ServerClient, name: str) -> Json:
    content = NOTE if name == "note.txt" else (SAMPLES_FOLDER / name).read_bytes()
    file = ended(client, upload(client, content, name))
    assert (name, file["status"], file["error"]) == (name, "ready", None)
    return file


def test_what_extras_add_can_be_used(containers: Containers) -> None:
    """`make image-test options="--build-arg 'EXTRAS=otel s3 cloud sentry'"`"""
    for package in containers.image.extras:
        given = replace(containers, environment=containers.environment | EXTRAS[package])
        checked = given.run("check", "--fail-level", "WARNING")
        assert checked.returncode == 0, (package, checked.stderr)


def has_worker(database: str) -> bool:
    with psycopg.connect(database) as connection:
        return connection.execute(WORKERS).fetchone() is not None


def inside(part: Part, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in a container that runs, as the health check is."""
    name = part.command[-1]
    return subprocess.run(["runc", "exec", name, *command], capture_output=True, text=True, check=False, timeout=60)


def told(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
