"""The page in the sandboxed frame: whose it is, how it is shut in, and that it is shown nowhere else."""

import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from artifacts.models import Artifact
from artifacts.web import frames
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread

pytestmark = pytest.mark.django_db(transaction=True)

INSIDE = {"Sec-Fetch-Dest": "iframe"}
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; webrtc 'block'"


def show_frame(client: Client, artifact: Artifact, number: int = 1, headers: dict[str, str] | None = None) -> Any:
    address = f"/artifacts/{artifact.id}/versions/{number}/frame/"
    return client.get(address, headers=INSIDE if headers is None else headers)


@pytest.fixture
def page(user: User) -> Artifact:
    return make_artifact(make_thread(user), "<p>One", "<p>Two", kind="html")


@pytest.fixture
def reader(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


@pytest.mark.parametrize("kind", ["html", "svg"])
def test_a_frame_runs_nothing_and_lets_nothing_in_or_out(reader: Client, user: User, kind: str) -> None:
    response = show_frame(reader, make_artifact(make_thread(user), "<svg/>", kind=kind))
    headers = {name: response.headers[name] for name in (*frames.HEADERS, "Content-Security-Policy", "Cache-Control")}
    csp = headers.pop("Content-Security-Policy")
    policy = f"{NOTHING}; sandbox; style-src 'unsafe-inline'; img-src data:; font-src data:"
    assert (response.status_code, csp) == (200, policy)
    assert headers == {
        "X-Frame-Options": "SAMEORIGIN",
        "X-Content-Type-Options": "nosniff",
        "X-DNS-Prefetch-Control": "off",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "max-age=0, no-cache, no-store, must-revalidate, private",
    }


def test_each_version_has_a_frame_of_its_own(reader: Client, page: Artifact) -> None:
    pages = [show_frame(reader, page, number).content.decode() for number in (1, 2)]
    assert [re.findall("<body>\n(.*)\n</body>", text) for text in pages] == [["<p>One</p>"], ["<p>Two</p>"]]


def test_a_frame_is_for_its_owner_and_for_a_frame_alone(
    reader: Client, other_user: User, page: Artifact, user: User
) -> None:
    stranger = Client()
    stranger.force_login(other_user)
    assert [
        show_frame(reader, page).status_code,
        show_frame(reader, page, headers={}).status_code,  # an old browser does not say
        show_frame(reader, page, headers={"Sec-Fetch-Dest": "document"}).status_code,
        show_frame(Client(), page).status_code,
        show_frame(stranger, page).status_code,
        show_frame(reader, page, 3).status_code,
        show_frame(reader, make_artifact(make_thread(user), kind="document")).status_code,
        show_frame(reader, make_artifact(make_thread(user), kind="mermaid")).status_code,
        reader.get(f"/artifacts/{uuid.uuid4()}/versions/1/frame/", headers=INSIDE).status_code,
        reader.put(f"/artifacts/{page.id}/versions/1/frame/", headers=INSIDE).status_code,
    ] == [200, 200, 403, 403, 404, 404, 404, 404, 404, 405]
    Artifact.objects.update(deleted_at=timezone.now())
    assert show_frame(reader, page).status_code == 404


@pytest.mark.wide
def test_what_takes_too_long_to_read_is_not_shown_and_holds_up_nobody(reader: Client, user: User) -> None:
    deep = show_frame(reader, make_artifact(make_thread(user), "<div>" * 100_000, kind="html"))
    assert (deep.status_code, "too involved" in deep.content.decode()) == (200, True)


RUNS = """<!doctype html><html><head><meta http-equiv=refresh content="0; url=//x"><base href=//x>
<LINK rel=preconnect href=//x>
<title>Plan</title></head><body><iframe src=//x></iframe><object data=//x></object><embed src=//x>
<script>document.title = "<iframe>"</script><p onclick="go()">Text</p><frames></body></html>"""
GUARDED = """<!doctype html><html><head><basefont http-equiv=refresh content="0; url=//x"><basefont href=//x>
<basefont rel=preconnect href=//x>
<title>Plan</title></head><body><x-iframe src=//x></x-iframe><x-object data=//x></x-object><basefont src=//x>
<script>document.title = "<x-iframe>"</script><p onclick="go()">Text</p><frames></body></html>"""


def run(client: Client, artifact: Artifact, token: str = "") -> Any:
    address = f"/artifacts/{artifact.id}/versions/1/frame/"
    return client.post(address, {"csrfmiddlewaretoken": token}, headers=INSIDE)


def test_a_click_runs_the_scripts_of_a_page_behind_the_guard(reader: Client, user: User) -> None:
    response = run(reader, make_artifact(make_thread(user), RUNS, kind="html"))
    guard = f"<!doctype html><script>{frames.GUARD.read_text()}</script>"
    assert response.content.decode() == guard + GUARDED
    assert response.headers["Content-Security-Policy"] == (
        f"{NOTHING}; sandbox allow-scripts; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
        "font-src data: blob:; media-src data: blob:; require-trusted-types-for 'script'; trusted-types default"
    )


def test_only_the_owner_s_own_page_can_run_them_and_only_where_that_is_allowed(
    user: User, other_user: User, page: Artifact, settings: Any
) -> None:
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(user)
    careful.get("/")
    token = careful.cookies["csrftoken"].value
    stranger = Client()
    stranger.force_login(other_user)
    assert [
        run(careful, page, token).status_code,
        run(careful, page).status_code,
        run(Client(), page).status_code,
        run(stranger, page).status_code,
        run(careful, make_artifact(make_thread(user), "<svg/>", kind="svg"), token).status_code,
        careful.post(f"/artifacts/{page.id}/versions/1/frame/", {"csrfmiddlewaretoken": token}).status_code,
    ] == [200, 403, 403, 404, 404, 200]
    settings.OPENBOOK_RUN_SCRIPTS = False
    refused = run(careful, page, token)
    assert (refused.status_code, "switched off" in refused.content.decode()) == (403, True)
    assert "data-run-scripts" not in careful.get("/").content.decode()


def test_diagrams_are_drawn_in_a_frame_that_holds_no_content_and_runs_our_scripts_alone(reader: Client) -> None:
    response = reader.get("/artifacts/drawing/", headers=INSIDE)
    csp = response.headers["Content-Security-Policy"]
    nonce = re.findall("'nonce-([^']+)'", csp)[0]
    assert (
        csp == f"{NOTHING}; sandbox allow-scripts; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:"
    )
    assert re.findall('<script nonce=.([^"]+). src=.(/static/[^"]+).>', response.content.decode()) == [
        (nonce, "/static/vendor/mermaid/mermaid.tiny.js"),
        (nonce, "/static/artifacts/js/drawing-frame.js"),
    ]
    assert [
        Client().get("/artifacts/drawing/", headers=INSIDE).status_code,
        reader.get("/artifacts/drawing/", headers={"Sec-Fetch-Dest": "document"}).status_code,
        reader.post("/artifacts/drawing/", headers=INSIDE).status_code,
    ] == [200, 403, 405]
