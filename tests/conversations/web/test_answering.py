"""The chat page says who answers where that is no model, or a very small one."""

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from conversations.models import Assistant, Connection, Fallback
from conversations.providers import connections
from conversations.runtime import local_engine
from tests.conversations.connections import make_connection
from tests.conversations.factories import make_thread

pytestmark = pytest.mark.django_db


def page_of(user: User, path: str = "/") -> tuple[str, dict[str, Any]]:
    (client := Client()).force_login(user)
    text = client.get(path).content.decode()
    found = re.search(r'<script id="page" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found
    return html.unescape(text), json.loads(found[1])


def test_the_first_page_offers_the_command_that_brings_a_model(
    user: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OPENBOOK_PROVIDER = "offline"
    for is_there, command in ((False, "make local"), (True, "")):
        monkeypatch.setattr(local_engine, "is_ready", lambda chosen, is_there=is_there: is_there)
        text, page = page_of(user)
        assert page["answers"]["companion"]["command"] == command
        assert '<p class="composer-model" id="answers">Offline responder: no language model' in text


def test_the_small_model_says_what_it_is(user: User, settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "local"
    text, page = page_of(user)
    assert "A very small model on this machine: fluent, often wrong." in text
    assert page["answers"]["companion"]["long"].startswith(
        "SmolLM2 135M answers: a very small model on this machine, fluent, often wrong"
    )


def test_a_window_that_is_too_small_is_said_before_anyone_sends(user: User, settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "local"
    sentence = "SmolLM2 135M takes in at most 4,096 tokens of a conversation, where Companion may use 6,150."
    text, page = page_of(user)
    assert [page["answers"]["companion"][name].endswith(sentence) for name in ("short", "long")] == [True, True]
    assert sentence in text
    settings.OPENBOOK_PROVIDER = "anthropic"
    Assistant.objects.filter(slug="companion").update(max_output_tokens=32_000, budget_share=99)
    assert page_of(user)[1]["answers"]["companion"]["short"].startswith("Claude ")
    Assistant.objects.filter(slug="companion").update(budget_share=12)
    assert page_of(user)[1]["answers"] == {}


def test_a_model_of_the_operators_is_named(user: User, settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER, settings.OPENBOOK_LOCAL_MODEL = "local", "/models/Mine 8B.gguf"
    assert "mine-8b, on this machine." in page_of(user)[0]


def test_nothing_is_said_of_others(user: User, settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "anthropic"
    text, page = page_of(user)
    assert (page["answers"], '<p class="composer-model" id="answers" hidden></p>' in text) == ({}, True)


def test_it_is_said_of_the_assistant_of_the_thread(user: User, settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "anthropic"
    Assistant.objects.filter(slug="analyst").update(provider="local")
    thread = make_thread(user, assistant=Assistant.objects.get(slug="analyst"))
    assert "A very small model on this machine" not in page_of(user)[0].partition("<script")[0]
    text, page = page_of(user, f"/threads/{thread.id}/")
    assert '<p class="composer-model" id="answers">A very small model on this machine' in text
    assert page["answers"].keys() == {"analyst"}


def test_who_asks_a_connection_that_cannot_answer_hears_it_before_writing(user: User, settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "team"
    assert page_of(user)[1]["answers"]["companion"]["long"].startswith(
        "Nobody can be asked at the moment. The provider “team” is not known."
    )
    row = make_connection("https://models.example")
    assert page_of(user)[1]["answers"] == {}
    Connection.objects.filter(pk=row.pk).update(is_active=False)
    connections.reread()
    assert "The connection “Team” is switched off." in page_of(user)[1]["answers"]["companion"]["long"]
    Fallback.objects.create(assistant=Assistant.objects.get(slug="companion"), provider="offline")
    assert page_of(user)[1]["answers"].keys() == {"analyst"}
