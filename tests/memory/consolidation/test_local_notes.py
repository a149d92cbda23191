"""Notes that the model on this machine proposes: asked by a worker, over HTTP, and kept only where they are no worse."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from conversations import schedule
from conversations.models import ContextSnapshot
from memory.consolidation.findings import RULES
from memory.consolidation.proposals import Refusal
from memory.models import Consolidation, Memory, ThreadSummary
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.local_model import engine_played_by
from tests.memory.sources.test_a_week import work_through
from tests.model_server import ModelServer

pytestmark = pytest.mark.django_db(transaction=True)

SAID = ["I live in Lisbon and I pay 900 a month to Bruno. My sister Ana visits me in May.", "How nice."]
SUMMARY = "The person lives in Lisbon, pays Bruno 900 a month, and the sister Ana visits in May."
ACCEPTED = {"summary": SUMMARY, "facts": [{"text": "The person pays 900 a month to Bruno.", "turns": [1]}]}
INVENTED = {"summary": SUMMARY.replace("900", "950")}


@pytest.fixture
def engine_server(model_server: ModelServer, settings: Settings, tmp_path: Path) -> Iterator[ModelServer]:
    """It is taken for the engine of this machine."""
    settings.LOCAL_DIR, settings.OPENBOOK_PROVIDER, settings.OPENBOOK_LOCAL_NOTES = tmp_path, "local", True
    model_server.claude.verbatim = True
    with engine_played_by(model_server.url, tmp_path) as key:
        model_server.api_key = key
        yield model_server


def noted(user: User) -> ThreadSummary:
    """Of a conversation that came to rest a while ago, by a worker."""
    at = timezone.now() - timedelta(hours=1)
    thread = make_thread(user, SAID, created_at=at, updated_at=at)
    schedule.consolidate_now([user.pk])
    work_through()
    return ThreadSummary.objects.get(thread=thread)


def facts(user: User) -> set[str]:
    return {*Memory.objects.filter(user=user).values_list("content", flat=True)}


def test_what_the_model_proposes_is_kept_where_it_is_no_worse(user: User, engine_server: ModelServer) -> None:
    engine_server.script(scripts.text(json.dumps(ACCEPTED)))
    part = noted(user)
    (request,) = ContextSnapshot.objects.all()
    assert (part.text, part.made_by) == (SUMMARY, request.model)
    assert facts(user) == {"The person pays 900 a month to Bruno."}
    assert (request.provider, request.purpose, request.status, request.error) == (
        "local",
        "consolidation",
        "completed",
        None,
    )


def test_what_is_refused_gives_way_to_the_rules_and_is_not_asked_again(user: User, engine_server: ModelServer) -> None:
    engine_server.script(scripts.text(json.dumps(INVENTED)))
    part = noted(user)
    (request,) = ContextSnapshot.objects.all()
    assert (part.made_by, "950" in part.text) == (RULES, False)
    assert "I live in Lisbon." in facts(user)
    assert request.error and Refusal.INVENTED in request.error["message"] and "950" not in json.dumps(request.error)
    schedule.consolidate_now([user.pk])
    work_through()
    assert len(engine_server.requests) == ContextSnapshot.objects.count() == 1


@pytest.mark.parametrize("how", ["away", "fails"])
def test_a_model_that_is_down_keeps_nothing_waiting(
    user: User, engine_server: ModelServer, settings: Settings, tmp_path: Path, how: str
) -> None:
    if how == "away":
        settings.LOCAL_DIR = tmp_path / "nobody is here"
    engine_server.script(*[scripts.error(529)] * 4)
    assert noted(user).made_by == RULES
    assert "I live in Lisbon." in facts(user)
    assert [request.status for request in ContextSnapshot.objects.all()] == ([] if how == "away" else ["failed"])
    assert Consolidation.objects.get(user=user).failures == 0
