from collections.abc import Callable
from typing import Any, Self
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone

from conversations.staff import access
from tests.conversations.factories import make_user

REASON = "They asked where their dog went"

SignIn = Callable[..., Client]


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root")


class StaffReader(Client):
    """A browser of somebody who has stated a reason to read."""

    def opened(self) -> Self:
        """From now on it is shown what everybody wrote so far."""
        open_content(self)
        return self

    def read(self, url: str) -> Any:
        return self.opened().get(url)


def open_content(client: Client | AsyncClient) -> None:
    """A reason is stated to read what everybody wrote so far."""
    until = timezone.now() + access.OPEN_FOR
    session = client.session
    session[access.SESSION_KEY] = {
        str(user): [REASON, until.timestamp()] for user in User.objects.values_list("id", flat=True)
    }
    session.save()


@pytest.fixture
def staff(root: User) -> StaffReader:
    """A browser with a superuser signed in."""
    client = StaffReader()
    client.force_login(root)
    return client


@pytest.fixture
def signed_in(db: None) -> SignIn:
    """A browser with a new user signed in, who has the permissions named."""

    def sign_in(*permissions: str, is_staff: bool = True) -> Client:
        user = make_user(is_staff=is_staff)
        user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
        client = Client()
        client.force_login(user)
        return client

    return sign_in


MEMORY = ["consolidation", "memory", "threadsummary", "dailysummary", "topic"]
APPS = {"artifact": "artifacts", "preset": "artifacts"} | dict.fromkeys(MEMORY, "memory")


def list_url(model: str, /, **query: str) -> str:
    return reverse(f"admin:{APPS.get(model, 'conversations')}_{model}_changelist") + (
        f"?{urlencode(query)}" if query else ""
    )


def page_url(model: str, pk: object, page: str = "change") -> str:
    return reverse(f"admin:{APPS.get(model, 'conversations')}_{model}_{page}", args=[pk])
