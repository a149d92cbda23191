import pytest
from django.contrib.auth.models import Group

from conversations.accounts import groups, service_accounts, tokens


@pytest.fixture
def token(transactional_db: None) -> str:
    """Of a directory, as `make_token --service` makes it."""
    groups.make_groups(using="default")
    held = list(Group.objects.filter(name=groups.DIRECTORY))
    user = service_accounts.make(username="directory", purpose="SCIM", groups=held)
    return tokens.issue(user=user, name="SCIM", scopes=["scim"])
