"""An installation behind a proxy that ends TLS, set up as docs/configuration.md says."""

import os
import re
import subprocess
import sys

import pytest
from django.test import Client
from pytest_django import Settings

from tests.processes import ROOT, database_url

SETTINGS = re.compile(r"(?s)## Behind a proxy.*?```sh\n(.*?)make run")


def documented() -> dict[str, str]:
    """What the documentation sets."""
    block = SETTINGS.search((ROOT / "docs" / "configuration.md").read_text())
    assert block
    return dict(re.findall(r"(\w+)=(\S+)", block.group(1)))


@pytest.mark.wide
@pytest.mark.django_db
def test_django_has_nothing_to_warn_of() -> None:
    assert {"ALLOWED_HOSTS", "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS"} <= documented().keys()
    done = subprocess.run(
        [sys.executable, "-W", "error", "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={**os.environ, **documented(), "DATABASE_URL": database_url()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "System check identified no issues (3 silenced).\n")


@pytest.mark.django_db(transaction=True)
def test_https_is_insisted_on_but_where_the_process_is_watched(settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 3600
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    plain = Client().get("/accounts/login/")
    assert (plain.status_code, plain.headers["Location"]) == (301, "https://testserver/accounts/login/")
    secure = Client().get("/accounts/login/", headers={"X-Forwarded-Proto": "https"})
    assert (secure.status_code, secure.headers["Strict-Transport-Security"]) == (200, "max-age=3600")
    assert Client().get("/health/").json()["status"] == "ok"
