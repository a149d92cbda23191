"""What a site signs about its visitor, exchanged for a short token: for its own pages alone, and for the chat alone."""

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from conversations.accounts.embed_sites import embed_sites
from conversations.models import ApiToken
from conversations.runtime.db import in_database
from tests.browser.embedding_site import SECRET, assertion
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SHOP = "https://shop.example"


@pytest.fixture(autouse=True)
def sites(settings: Settings) -> None:
    Group.objects.create(name="Visitors")
    settings.OPENBOOK_EMBED_SITES = embed_sites(
        f'{{"shop": {{"secret": "{SECRET}", "origins": ["{SHOP}"], "group": "Visitors"}}}}'
    )


async def token_for(subject: str) -> Api:
    answer = await Api(Origin=SHOP).post("embed/token/", {"assertion": assertion(subject)})
    assert answer.status == 200
    return Api(Authorization=f"Token {answer.body['token']}")


async def test_a_visitor_chats_with_an_account_and_a_token_that_are_for_nothing_else(model: ModelServer) -> None:
    ada, again, eve = await token_for("ada"), await token_for("ada"), await token_for("eve")
    sent = await ada.post("threads/new/messages/", {"content": "Which rope?"})
    path = f"threads/{sent.body['thread']}/messages/"
    assert [turn["role"] for turn in (await again.get(path)).body["results"]] == ["user", "assistant"]
    assert (await eve.get(path)).code == (404, "not_found", "thread_not_found")
    for method, call in (("GET", "threads/"), ("POST", "webhooks/"), ("POST", "tokens/"), ("GET", "memories/")):
        assert (await ada.call(method, call, {} if method == "POST" else None)).code[2] == "insufficient_scope"
    visitors = User.objects.filter(groups__name="Visitors", service_account__purpose="Visitor of shop: ada")
    assert await visitors.acount() == 1 and not (await visitors.aget()).has_usable_password()
    token = await ApiToken.objects.filter(user__in=visitors).afirst()
    assert token and token.scopes == ["chat"] and (token.expires_at - token.created_at).total_seconds() < 901


@pytest.mark.parametrize(
    "made",
    [
        assertion("ada", secret="another secret that is as long as it must be"),
        assertion("ada", seconds=-60),
        assertion("ada", seconds=3_600),
        assertion("ada", aud="elsewhere"),
        assertion("ada", iss="stranger"),
        assertion(""),
        "no token",
        "eyJhbGciOiJub25lIn0.eyJpc3MiOiJzaG9wIiwic3ViIjoiYWRhIiwiYXVkIjoib3BlbmJvb2siLCJleHAiOjQwMDAwMDAwMDB9.",
    ],
)
async def test_what_the_site_did_not_sign_for_now_is_refused(made: str) -> None:
    answer = await Api(Origin=SHOP).post("embed/token/", {"assertion": made})
    assert answer.code == (403, "permission", "embedding_refused")


async def test_another_origin_and_an_account_that_is_shut_are_refused() -> None:
    for headers in ({}, {"Origin": "https://stranger.example"}):
        answer = await Api(None, **headers).post("embed/token/", {"assertion": assertion("ada")})
        assert answer.code == (403, "permission", "embedding_refused")
    await token_for("ada")
    await in_database(User.objects.filter(service_account__purpose__endswith=": ada").update)(is_active=False)
    answer = await Api(Origin=SHOP).post("embed/token/", {"assertion": assertion("ada")})
    assert answer.code == (403, "permission", "embedding_refused")


@pytest.mark.parametrize(
    "text",
    [
        "shop",
        "[]",
        '{"shop": {"secret": "short", "origins": ["https://shop.example"]}}',
        f'{{"shop": {{"secret": "{SECRET}", "origins": ["shop.example"]}}}}',
        f'{{"A shop": {{"secret": "{SECRET}", "origins": ["{SHOP}"]}}}}',
    ],
)
def test_a_setting_that_names_no_site_says_what_is_wrong(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="OPENBOOK_EMBED_SITES"):
        embed_sites(text)
