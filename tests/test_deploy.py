"""What deploy/ ships beside the proxies: each is valid, names only settings that are, and its own commands serve."""

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from artifacts.exporting import fonts
from tests.clients import ServerClient
from tests.processes import ROOT, started
from tests.services import free_port, fresh_database, program

DEPLOY = ROOT / "deploy"
UNITS = [f"openbook-{name}.service" for name in ("migrate", "serve@", "work", "backup", "drill")]
HELM = ROOT / ".local" / "helm"
SLIM = runpy.run_path(str(DEPLOY / "slim.py"))
CHART = DEPLOY / "helm" / "openbook"
PASSWORD = "correct-horse-battery-9"
EXPOSURE = 1.5
"""As `systemd-analyze security` reckons, of ten: what the units have now is 1.3."""
OF_PYTHON = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}

pytestmark = pytest.mark.timeout(180)


@dataclass(frozen=True)
class Installation:
    """The arguments for manage.py, by role, and the environment that all of them get."""

    commands: dict[str, list[str]]
    environment: dict[str, str]
    host: str


def by_compose() -> Installation:
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (DEPLOY / "compose.yaml").read_text())
    services = yaml.safe_load(text)["services"]
    roles = ("migrate", "serve", "work")
    assert {json.dumps(services[role]["environment"], sort_keys=True) for role in roles} == {
        json.dumps(services["serve"]["environment"], sort_keys=True)
    }
    return Installation(
        {role: services[role]["command"] for role in roles}, services["serve"]["environment"], "127.0.0.1"
    )


def by_systemd() -> Installation:
    units = {name: (DEPLOY / "systemd" / f"openbook-{name}.service").read_text() for name in ("migrate", "work")}
    units["serve"] = (DEPLOY / "systemd" / "openbook-serve@.service").read_text().replace("%i", "8000")
    commands, environment = {}, assignments((DEPLOY / "systemd" / "openbook.env").read_text().splitlines())
    for role, unit in units.items():
        (line,) = re.findall(r"(?m)^ExecStart=(.*)$", unit)
        python, script, *commands[role] = shlex.split(line)
        assert (python, script) == ("/opt/openbook/.venv/bin/python", "manage.py")
        environment |= assignments(shlex.split(" ".join(re.findall(r"(?m)^Environment=(.*)$", unit))))
    return Installation(commands, environment, "127.0.0.1")


def by_helm() -> Installation:
    manifests = rendered()
    (environment,) = [each["data"] for each in manifests if each["kind"] == "ConfigMap"]
    pods = [each["spec"]["template"]["spec"] for each in manifests if each["kind"] in {"Deployment", "Job"}]
    containers = [container for pod in pods for container in pod["containers"]]
    (serve,) = [each for each in containers if each["name"] == "serve"]
    (host,) = serve["readinessProbe"]["httpGet"]["httpHeaders"]
    return Installation({each["name"]: each["args"] for each in containers}, environment, host["value"])


INSTALLATIONS = {"compose": by_compose, "systemd": by_systemd, "helm": by_helm}


def assignments(lines: list[str]) -> dict[str, str]:
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def rendered(*options: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [HELM / "helm", "template", "openbook", CHART, *options],
        env={"HOME": str(HELM), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


@pytest.fixture(scope="module")
def database(migrated: str) -> Iterator[str]:
    with fresh_database(migrated) as url:
        yield url


@pytest.mark.wide
@pytest.mark.parametrize(
    "name", ["compose", *(pytest.param(name, marks=pytest.mark.operate) for name in ("systemd", "helm"))]
)
def test_its_commands_run_with_its_settings(name: str, database: str, redis_url: str, tmp_path: Path) -> None:
    given = INSTALLATIONS[name]()
    environment = here(given.environment, database, redis_url, tmp_path)
    port = str(free_port())
    commands = {
        role: [{"8000": port, "0.0.0.0": "127.0.0.1"}.get(each, each) for each in arguments]  # noqa: S104
        for role, arguments in given.commands.items()
    }
    with started(*commands["migrate"], **environment) as migrating:
        assert migrating.process.wait(60) == 0, migrating.output
    with started(*commands["work"], **environment) as working, started(*commands["serve"], **environment) as serving:
        serving.wait_until_ready()
        for path in ("live", "ready"):
            assert probe(f"{serving.url}health/{path}/", given.host) == 200
        if name == "compose":  # the others are behind TLS, as their settings say
            client = ServerClient.signed_in(serving.url, password=PASSWORD)
            answer = client.call("POST", "threads/new/messages/", {"content": "Hello"})
            assert answer["reply"]["status"] == "completed"
        assert working.process.poll() is None, working.output
        assert "Traceback" not in working.output + serving.output


def here(environment: Mapping[str, str], database: str, redis_url: str, folder: Path) -> dict[str, str]:
    """The same settings with this machine's services, and its secrets and data in this folder."""
    secrets = {
        "DATABASE_URL_FILE": database,
        "SECRET_KEY_FILE": "k" * 60,
        "DJANGO_SUPERUSER_PASSWORD_FILE": PASSWORD,
    }
    found = {"OPENBOOK_DATA_DIR": str(folder / "data"), "DATABASE_URL": "", **environment}
    for variable in found.keys() & secrets.keys():
        (folder / variable).write_text(secrets[variable])
        found[variable] = str(folder / variable)
    places = {"OPENBOOK_DATA_DIR": str(folder / "data"), "OPENBOOK_FILES_DIR": str(folder / "files")}
    return found | {"REDIS_URL": redis_url} | places


def probe(url: str, host: str) -> int:
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Host": host}), timeout=30) as response:  # noqa: S310
        return int(response.status)


@pytest.mark.parametrize("name", INSTALLATIONS)
def test_it_names_only_settings_that_are(name: str) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    names = {each.removesuffix("_FILE") for each in INSTALLATIONS[name]().environment} - OF_PYTHON
    assert {each for each in names if f"`{each}`" not in page} == set()


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_valid_and_shut_in(unit: str, tmp_path: Path) -> None:
    analyze = program("OPENBOOK_TEST_SYSTEMD_ANALYZE", "systemd-analyze")
    for each in UNITS:
        text = (DEPLOY / "systemd" / each).read_text().replace("/opt/openbook/.venv/bin/python", "/bin/true")
        (tmp_path / each).write_text(text)
    verified = subprocess.run(
        [analyze, "verify", "--man=no", "--generators=no", tmp_path / unit], capture_output=True, text=True, check=False
    )
    assert [line for line in verified.stderr.splitlines() if "openbook" in line] == []
    judged = subprocess.run(
        [analyze, "security", "--offline=true", "--no-pager", tmp_path / unit],
        capture_output=True,
        text=True,
        check=False,
    )
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", judged.stdout)
    assert exposure, judged.stderr
    assert float(exposure.group(1)) <= EXPOSURE


@pytest.mark.operate
def test_each_night_a_backup_is_made_and_each_month_one_is_drilled(database: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": database,
        "DJANGO_SETTINGS_MODULE": "tests.server_settings",
        "OPENBOOK_FILES_DIR": str(tmp_path / "files"),
        "OPENBOOK_ERASURE_LEDGER": str(tmp_path / "ledger"),
        "THIS_PYTHON": sys.executable,
    }
    (backups := tmp_path / "backups").mkdir()
    for name in ("2026-10-01T030000", "2026-11-01T030000", "2099-01-01T030000.partial"):
        (backups / name).mkdir()
    os.utime(backups / "2026-10-01T030000", (0, 0))
    for unit in ("backup", "drill"):
        for line in re.findall(
            r"(?m)^ExecStart(?:Post)?=(.*)$", (DEPLOY / "systemd" / f"openbook-{unit}.service").read_text()
        ):
            command = line.replace("$$", "$").replace("%%", "%").replace("/var/backups/openbook", str(backups))
            done = subprocess.run(
                shlex.split(command.replace(".venv/bin/python", '"$THIS_PYTHON"')),
                cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
    kept = sorted(path.name for path in backups.iterdir())
    assert (len(kept), kept[0], kept[-1]) == (3, "2026-11-01T030000", "2099-01-01T030000.partial")
    assert f"{backups / kept[1]} can be restored" in done.stdout
    for unit in ("backup", "drill"):
        timer = (DEPLOY / "systemd" / f"openbook-{unit}.timer").read_text()
        (when,) = re.findall(r"(?m)^OnCalendar=(.*)$", timer)
        analyze = program("OPENBOOK_TEST_SYSTEMD_ANALYZE", "systemd-analyze")
        subprocess.run([analyze, "calendar", when], check=True, capture_output=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes users")
def test_the_user_and_the_folders_of_the_units_are_made(tmp_path: Path) -> None:
    """In a root of its own."""
    (tmp_path / "etc").mkdir()
    for kind, options in {"sysusers": [], "tmpfiles": ["--create"]}.items():
        subprocess.run(
            [f"systemd-{kind}", f"--root={tmp_path}", *options, DEPLOY / "systemd" / f"{kind}.conf"], check=True
        )
    passwd = (tmp_path / "etc" / "passwd").read_text()
    assert re.search(r"(?m)^openbook:", passwd)
    folders = [tmp_path / "etc" / "openbook", tmp_path / "var" / "backups" / "openbook"]
    assert [oct(path.stat().st_mode & 0o777) for path in folders] == ["0o750", "0o700"]


def test_the_chart_is_what_kubernetes_takes() -> None:
    everything = rendered()
    scaled = rendered("--set", "serve.autoscaling.enabled=true,files.enabled=false,ingress.enabled=false")
    kinds = [sorted(each["kind"] for each in manifests) for manifests in (everything, scaled)]
    both = ["ConfigMap", "Deployment", "Deployment", "Job", "NetworkPolicy", "PodDisruptionBudget", "Service"]
    assert kinds == [
        sorted([*both, "Ingress", "PersistentVolumeClaim"]),
        sorted([*both, "HorizontalPodAutoscaler"]),
    ]
    checked = subprocess.run(
        [sys.executable, "-c", VALIDATE],
        input=json.dumps([*everything, *scaled]),
        env={**os.environ, "PYTHONPATH": str(HELM / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
    for each in everything:
        if each["kind"] in {"Deployment", "Job"}:
            pod = each["spec"]["template"]["spec"]
            assert pod["securityContext"]["runAsNonRoot"]
            assert [shut_in(container) for container in pod["containers"]] == [True]


VALIDATE = """
import json, sys, kubernetes_validate
for manifest in json.load(sys.stdin):
    kubernetes_validate.validate(manifest, "1.35", strict=True)
"""


def shut_in(container: dict[str, Any]) -> bool:
    return bool(
        container["securityContext"]
        == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    )


def test_the_image_has_all_that_runs_and_nothing_else() -> None:
    lines = re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", (DEPLOY / "Containerfile").read_text())
    copied = {path.relative_to(ROOT).as_posix() for line in lines for name in line.split() for path in ROOT.glob(name)}
    let_through = (ROOT / ".dockerignore").read_text().replace("!", "").splitlines()
    assert {name for name in copied if not any(fnmatch(name, each) for each in let_through[2:])} == set()
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    assert {name for name in copied if (ROOT / name / "__init__.py").exists()} == set(packages) == set(SLIM["PACKAGES"])
    assert {"manage.py", "templates", "requirements.txt", "requirements-s3.txt"} < copied


def test_the_image_keeps_the_fonts_of_documents_and_djangos_own_parts(tmp_path: Path) -> None:
    npm = ROOT / "node_modules"
    gone = set(SLIM["unread_npm"](npm, fonts.FOLDERS))
    left = {path.parent for path in npm.rglob("*.ttf") if path not in gone}
    assert left == {npm / SLIM["FONTS"] / name for name in fonts.FOLDERS}
    for path in (
        "django/test/a.py",
        "django/locale/en/LC_MESSAGES/a.mo",
        "django/locale/de/LC_MESSAGES/a.mo",
        "django/locale/pl/LC_MESSAGES/a.mo",
        "a/tests/a.py",
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    names = sorted(str(path.relative_to(tmp_path)) for path in SLIM["unread_python"](tmp_path))
    assert names == ["a/tests", "django/locale/pl"]


def test_compose_waits_for_what_it_needs_and_hands_over_the_secrets_that_are_made(tmp_path: Path) -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    for role in ("serve", "work"):
        assert services[role]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        assert services[role]["read_only"] is True
    waited_for = {
        name for each in services.values() for name, how in each.get("depends_on", {}).items() if "healthy" in str(how)
    }
    assert waited_for == {name for name in services if "healthcheck" in services[name]} - {"migrate", "work"}
    (tmp_path / "secrets.sh").write_text((DEPLOY / "secrets.sh").read_text())
    for _ in range(2):
        subprocess.run(["sh", tmp_path / "secrets.sh"], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert made.keys() == compose["secrets"].keys()
    assert {f"secrets/{name}" for name in made} == {each["file"] for each in compose["secrets"].values()}
    assert [name for name, value in made.items() if not re.fullmatch(r"\S{20,}\n", value)] == []
    assert len(set(made.values())) == 4
