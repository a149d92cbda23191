"""Programs in pages of other sites: which origins may call which addresses, as a browser asks before it does."""

import httpx
import pytest
from django.conf import settings

from tests.clients import ServerClient
from tests.processes import server
from tests.services import fresh_database

pytestmark = pytest.mark.process

PASSWORD = "correct-horse-battery-9"
SHOP, STRANGER = "https://shop.example", "https://stranger.example"
ASKED = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key,x-stainless-lang"}


def allowed(response: httpx.Response) -> dict[str, str]:
    prefix = "access-control-"
    return {name.removeprefix(prefix): value for name, value in response.headers.items() if name.startswith(prefix)}


@pytest.mark.wide
def test_pages_of_named_origins_may_call_the_apis_with_a_token_and_nothing_else(migrated: str) -> None:
    environment = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "OPENBOOK_CORS_ORIGINS": SHOP}
    with (
        fresh_database(migrated) as database,
        server(database, **environment) as process,
        httpx.Client(base_url=process.url) as client,
    ):
        token = ServerClient.signed_in(process.url, password=PASSWORD).token
        for path in ("/v1/messages", "/api/v1/threads/"):
            preflight = client.options(path, headers={"Origin": SHOP, **ASKED})
            answer = allowed(preflight)
            assert (preflight.status_code, answer.pop("max-age")) == (200, "86400")
            assert "POST" in answer.pop("allow-methods")
            assert "x-openbook-thread" in answer.pop("expose-headers")
            assert answer == {"allow-origin": SHOP, "allow-headers": "*, authorization"}  # and no credentials
            assert allowed(client.options(path, headers={"Origin": STRANGER, **ASKED})) == {}
        for path in ("/", "/admin/login/", "/accounts/login/", "/health/", "/scim/v2/Users"):
            assert allowed(client.get(path, headers={"Origin": SHOP})) == {}
        answered = client.get("/v1/models", headers={"Origin": SHOP, "X-Api-Key": token})
        assert (answered.status_code, answered.headers["vary"].lower()) == (200, "origin")
        assert allowed(answered)["allow-origin"] == SHOP
        assert "x-openbook-thread" in allowed(answered)["expose-headers"]
        refused = client.get("/v1/models", headers={"Origin": SHOP})
        assert (refused.status_code, allowed(refused)["allow-origin"]) == (
            401,
            SHOP,
        )  # so that its program can read why


def test_without_the_setting_no_origin_may() -> None:
    assert [name for name in (*settings.INSTALLED_APPS, *settings.MIDDLEWARE) if "cors" in name] == []
