"""The page in the sandboxed frame: whose it is, how it is shut in, and that it is shown nowhere else."""

import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from artifacts.models import Artifact
from conversations.chat import frames
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread

pytestmark = pytest.mark.django_db

INSIDE = {"Sec-Fetch-Dest": "iframe"}
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; webrtc 'block'"


def shown(client: Client, artifact: Artifact, number: int = 1, headers: dict[str, str] | None = None) -> Any:
    address = f"/artifacts/{artifact.id}/versions/{number}/frame/"
    return client.get(address, headers=INSIDE if headers is None else headers)


@pytest.fixture
def page(user: User) -> Artifact:
    return make_artifact(make_thread(user), "<p>One", "<p>Two", kind="html")


@pytest.fixture
def reader(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        (
            "html",
            "sandbox allow-scripts; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
            "font-src data: blob:; media-src data: blob:",
        ),
        ("svg", "sandbox; style-src 'unsafe-inline'; img-src data:; font-src data:"),
        ("mermaid", "sandbox allow-scripts; script-src 'nonce-…'; style-src 'unsafe-inline'; img-src data:"),
    ],
)
def test_a_frame_has_no_origin_and_lets_nothing_in_or_out(reader: Client, user: User, kind: str, policy: str) -> None:
    response = shown(reader, make_artifact(make_thread(user), "<svg/>", kind=kind))
    headers = {name: response.headers[name] for name in (*frames.HEADERS, "Content-Security-Policy", "Cache-Control")}
    csp = re.sub("'nonce-[^']+'", "'nonce-…'", headers.pop("Content-Security-Policy"))
    assert (response.status_code, csp) == (200, f"{NOTHING}; {policy}")
    assert headers == {
        "X-Frame-Options": "SAMEORIGIN",
        "X-Content-Type-Options": "nosniff",
        "X-DNS-Prefetch-Control": "off",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "max-age=0, no-cache, no-store, must-revalidate, private",
    }


def test_each_version_has_a_frame_of_its_own(reader: Client, page: Artifact) -> None:
    pages = [shown(reader, page, number).content.decode() for number in (1, 2)]
    assert [text.rpartition("</script>")[2] for text in pages] == ["<p>One", "<p>Two"]


def test_a_frame_is_for_its_owner_and_for_a_frame_alone(
    reader: Client, other_user: User, page: Artifact, user: User
) -> None:
    stranger = Client()
    stranger.force_login(other_user)
    assert [
        shown(reader, page).status_code,
        shown(reader, page, headers={}).status_code,  # an old browser does not say
        shown(reader, page, headers={"Sec-Fetch-Dest": "document"}).status_code,
        shown(Client(), page).status_code,
        shown(stranger, page).status_code,
        shown(reader, page, 3).status_code,
        shown(reader, make_artifact(make_thread(user), kind="document")).status_code,
        reader.get(f"/artifacts/{uuid.uuid4()}/versions/1/frame/", headers=INSIDE).status_code,
        reader.post(f"/artifacts/{page.id}/versions/1/frame/", headers=INSIDE).status_code,
    ] == [200, 200, 403, 403, 404, 404, 404, 404, 405]
    Artifact.objects.update(deleted_at=timezone.now())
    assert shown(reader, page).status_code == 404


def test_a_diagram_can_t_leave_its_place_in_the_page(reader: Client, user: User) -> None:
    text = '</pre><script>parent.alert("</script>")'
    page = shown(reader, make_artifact(make_thread(user), text, kind="mermaid")).content.decode()
    assert "&lt;/pre&gt;&lt;script&gt;" in page
    assert page.count("<script") == 2  # Mermaid's and ours
