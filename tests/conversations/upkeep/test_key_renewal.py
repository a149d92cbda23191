"""After SECRET_KEY was replaced, keys of connections are encrypted with the new one, so that the former one can go."""

import pytest
from pytest_django import Settings

from conversations.models import Connection
from conversations.models.connections import Secrets
from conversations.runtime.encryption import NotDecryptable
from conversations.tasks import retain
from conversations.upkeep import key_renewal
from tests.conversations.connections import CANARY, HEADER, make_connection

pytestmark = pytest.mark.django_db


def test_keys_are_encrypted_anew_once_and_the_former_secret_key_can_go(settings: Settings) -> None:
    row = make_connection("https://models.example")
    Connection.objects.create(slug="without-key", label="Without", base_url="http://models.example")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "the-new-one", [settings.SECRET_KEY]
    retain.call()
    settings.SECRET_KEY_FALLBACKS = []
    row.refresh_from_db()
    assert row.read_secrets() == Secrets(key=CANARY, headers={"X-Project": HEADER})
    assert key_renewal.renew() == 0


def test_a_key_that_cannot_be_read_stays_for_whoever_finds_the_former_secret_key(settings: Settings) -> None:
    row = make_connection("https://models.example")
    before, settings.SECRET_KEY = settings.SECRET_KEY, "the-new-one"
    assert key_renewal.renew() == 0
    row.refresh_from_db()
    with pytest.raises(NotDecryptable):
        row.read_secrets()
    settings.SECRET_KEY_FALLBACKS = [before]
    assert key_renewal.renew() == 1
