import pytest
from django.contrib.auth.models import User
from django.test import Client

from conversations.accounts import tokens


def signed_in(user: User) -> str:
    """The key of a session of this user."""
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


@pytest.fixture
def session(user: User) -> str:
    return signed_in(user)


@pytest.fixture
def others_session(other_user: User) -> str:
    return signed_in(other_user)


@pytest.fixture
def token(user: User) -> str:
    return tokens.issue(user=user, name="tests")
