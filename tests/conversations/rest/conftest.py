import pytest
from django.contrib.auth.models import User

from tests.conversations.rest.client import Api


@pytest.fixture
def api(user: User) -> Api:
    return Api(user)


@pytest.fixture
def others_api(other_user: User) -> Api:
    return Api(other_user)
