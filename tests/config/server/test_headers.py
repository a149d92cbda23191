"""What every answer of a server behind HTTPS says to a browser: pages, calls, files, refusals; and its cookies."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from socket import create_connection
from urllib.parse import urlsplit

import httpx
import pytest

from config.server.middleware import PERMISSIONS
from tests.processes import ServerProcess, server
from tests.services import fresh_database

pytestmark = pytest.mark.process

PASSWORD = "correct-horse-battery-9"
YEAR = "max-age=31536000"
PAGES = (
    "/",
    "/accounts/login/",
    "/admin/login/",
    "/nothing",
    "/s/nothing/",
    "/offline/",
    "/accessibility/",
    "/static/nothing",
)
CALLS = ("/api/v1/threads/", "/api/v1/docs/", "/api/v1/nothing", "/v1/models", "/scim/v2/Users", "/health/", "/metrics")
FILES = ("/static/conversations/js/api.js", "/static/admin/css/base.css", "/static/admin/img/icon-yes.svg")


@dataclass(frozen=True)
class Running:
    process: ServerProcess
    client: httpx.Client
    """As the proxy that ends TLS hands requests on."""


@pytest.fixture(scope="module")
def running(migrated: str) -> Iterator[Running]:
    environment = {
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "ALLOWED_HOSTS": "book.example",
        "CSRF_TRUSTED_ORIGINS": "https://book.example",
        "OPENBOOK_TRUSTED_PROXIES": "127.0.0.1",
        "SECURE_SSL_REDIRECT": "on",
    }
    with fresh_database(migrated) as database, server(database, **environment) as process:
        headers = {"Host": "book.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
        with httpx.Client(base_url=process.url, headers=headers, timeout=60) as client:
            yield Running(process, client)


def test_every_answer_says_how_it_may_be_used(running: Running) -> None:
    wrong = []
    for path in (*PAGES, *CALLS, *FILES):
        headers = running.client.get(path).headers
        is_file = path in FILES
        expected = {
            "Strict-Transport-Security": YEAR,
            "X-Content-Type-Options": "nosniff",
            **({} if is_file else {"Referrer-Policy": "same-origin", "Permissions-Policy": PERMISSIONS}),
            **({} if is_file else {"Cross-Origin-Opener-Policy": "same-origin"}),
            **({} if is_file else {"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY"}),
        }
        wrong += [(path, name, headers.get(name)) for name, value in expected.items() if headers.get(name) != value]
        policy = headers["Content-Security-Policy"]
        wanted = ["frame-ancestors 'none'", *([] if is_file else ["object-src 'none'", "base-uri 'none'"])]
        wrong += [(path, directive, policy) for directive in wanted if directive not in policy]
        if not is_file and "no-store" not in headers["Cache-Control"]:
            wrong.append((path, "Cache-Control", headers["Cache-Control"]))
        if headers["Content-Type"].startswith("text/") and "charset" not in headers["Content-Type"]:
            wrong.append((path, "Content-Type", headers["Content-Type"]))
    assert wrong == []


def test_a_body_that_is_refused_before_django_says_so_too(running: Running) -> None:
    answer = running.client.post("/api/v1/threads/", content=b"x" * 100_000)
    assert (answer.status_code, answer.headers["X-Content-Type-Options"]) == (401, "nosniff")
    assert (answer.headers["Cache-Control"], answer.headers["Strict-Transport-Security"]) == ("no-store", YEAR)


def test_cookies_are_for_this_host_over_https_alone(running: Running) -> None:
    client = running.client
    page = client.get("/accounts/login/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token
    # The client itself would not send them over the plain line between proxy and server.
    sent = "; ".join(line.partition(";")[0] for line in page.headers.get_list("Set-Cookie"))
    form = {"csrfmiddlewaretoken": token[1], "username": "admin", "password": PASSWORD}
    headers = {"Cookie": sent, "Origin": "https://book.example", "Referer": "https://book.example/accounts/login/"}
    answer = client.post("/accounts/login/", data=form, headers=headers)
    assert answer.status_code == 302
    cookies = [*page.headers.get_list("Set-Cookie"), *answer.headers.get_list("Set-Cookie")]
    names = {line.partition("=")[0] for line in cookies}
    assert names == {f"__Host-{name}" for name in ("csrftoken", "sessionid", "openbook_device")}
    for line in cookies:
        attributes = {part.strip().lower() for part in line.split(";")[1:]}
        assert {"secure", "path=/", "samesite=lax"} <= attributes, line
        assert not any(part.startswith("domain") for part in attributes), line
        assert ("httponly" in attributes) is (not line.startswith("__Host-csrftoken")), line
        assert len(line.partition(";")[0]) < 4096


def test_pages_are_led_to_https_and_programs_are_told(running: Running) -> None:
    plain = {"X-Forwarded-Proto": "http", "Authorization": "Token abc"}
    page = running.client.get("/accounts/login/", headers=plain)
    assert (page.status_code, page.headers["Location"]) == (301, "https://book.example/accounts/login/")
    for path in ("/api/v1/threads/", "/v1/models", "/scim/v2/Users"):
        answer = running.client.get(path, headers=plain)
        assert (answer.status_code, "Location" in answer.headers) == (403, False)
        assert "over https" in answer.text
    assert running.client.get("/health/", headers=plain).status_code == 200


def test_a_refusal_is_in_the_log_by_ids(running: Running) -> None:
    running.client.get("/api/v1/threads/", headers={"X-Request-ID": "refused:1"})
    running.client.get("/s/secret-link/files/00000000-0000-0000-0000-000000000000/")
    [line] = [each for each in running.process.output.splitlines() if "refused:1" in each]
    told = json.loads(line)
    assert (told["logger"], told["message"], told["status"]) == ("openbook.access", "access refused", 401)
    assert (told["method"], told["address"], told["user_id"]) == ("GET", "192.0.2.7", None)
    assert told["route"].endswith("threads/")
    assert "secret-link" not in running.process.output


def test_methods_that_nobody_needs_are_refused(running: Running) -> None:
    for path in ("/accounts/login/", "/api/v1/threads/", "/health/live/"):
        assert running.client.request("TRACE", path).status_code == 405, path


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Content-Length: 4", "Content-Length: 40"],
        ["Content-Length: +4"],
        ["Transfer-Encoding: chunked, identity"],
    ],
)
def test_a_message_whose_end_is_not_plain_is_refused(running: Running, lines: list[str]) -> None:
    """Else a proxy and the server could take it for one request and for two."""
    address = urlsplit(running.process.url)
    head = [
        "POST /health/live/ HTTP/1.1",
        "Host: book.example",
        *lines,
        "",
        "0\r\n\r\nGET /accounts/login/ HTTP/1.1",
        "",
        "",
    ]
    with create_connection((str(address.hostname), int(address.port or 0)), timeout=30) as connection:
        connection.sendall("\r\n".join(head).encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 400")
