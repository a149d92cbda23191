import pytest
from django.contrib.auth.models import User

from tests.conversations.rest.client import Api


@pytest.fixture
def api(user: User) -> Api:
    return Api(user)
