import pytest
from django.contrib.auth.models import User

from tests.cloud_servers import bedrock, vertex
from tests.conversations.rest.client import Api

__all__ = ["bedrock", "vertex"]


@pytest.fixture
def api(user: User) -> Api:
    return Api(user)


@pytest.fixture
def others_api(other_user: User) -> Api:
    return Api(other_user)
