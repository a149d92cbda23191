"""No page shows a text that no language reaches: in a language that brackets all that is translated, nothing stands bare."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from artifacts.models import Preset
from conversations.models import Assistant, Connection, Model, ModerationFinding
from conversations.providers import PROVIDERS
from conversations.providers.errors import SENTENCES
from tests.belongings import NEEDLE, Row, belongings
from tests.config.languages.pseudo import CODE, bare_words, pseudo_language
from tests.conversations.factories import make_user
from tests.conversations.staff.conftest import REASON, open_content

OWN = ("artifacts", "conversations", "memory")
BESIDE = {
    "conversations_thread": ["map", "live"],
    "conversations_message": ["why"],
    "conversations_contextsnapshot": ["compare", "what_if", "prove"],
}
"""Pages of one row beside Django's own."""
NAMES = {
    *("Openbook", "Python", "Redis", "Django", "psycopg", "English", "Deutsch", "Pseudo", "ms"),
    *("ada", "kim", "root", "script", "brd", "test", "thread", "team"),
    *(
        "read",
        "write",
        "export",
        "adaptive",
        "budget",
        "high",
        "medium",
        "low",
        "refusal",
        "cyber",
        "text",
        "True",
        "False",
    ),
}
"""Of products, languages and units, of people and rows of the test; and values that are what they are in the API."""


def pages_of_people(rows: Row) -> list[str]:
    thread = f"/threads/{rows['conversations_thread']}/"
    own = ["/", "/memory/", "/prompts/", "/projects/", "/account/", "/account/tokens/", "/account/shares/"]
    return [*own, thread, f"{thread}print/", f"/projects/{rows['conversations_project']}/", "/account/delete/"]


def pages_of_staff(rows: Row) -> list[str]:
    found = ["/admin/", "/admin/system/", reverse("admin:conversations_contextsnapshot_overview")]
    for model in admin.site._registry:
        if model._meta.app_label not in OWN:
            continue
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        found += [reverse(f"admin:{name}_changelist"), reverse(f"admin:{name}_change", args=[rows[name]])]
        found += [reverse(f"admin:{name}_{page}", args=[rows[name]]) for page in BESIDE.get(name, ())]
    return found


def names() -> set[str]:
    """What rows are called: each word of it."""
    said = [*Assistant.objects.values_list("name", flat=True), *Preset.objects.values_list("name", flat=True)]
    said += [str(text) for row in Model.objects.values_list("label", "name", "provider") for text in row]
    said += [*PROVIDERS, *SENTENCES, *Assistant.objects.values_list("slug", flat=True)]
    said += [label for connection in Connection.objects.values_list("label", "slug") for label in connection]
    said += Group.objects.values_list("name", flat=True)
    said += [name for row in ModerationFinding.objects.all() for name in (row.moderator, *row.labels)]
    said += [
        REASON,
        "A lawsuit",
        "It was so",
        "A draft",
        "ping",
        "a program",
        "create",  # a tool
        "Ticket",
        f"{NEEDLE}s",
        f"Was a {NEEDLE}. Summary Sum up what",
    ]
    return NAMES | {word for text in said for word in re.findall(r"[A-Za-z]+", text)}


@pytest.fixture
def rows(user: User) -> Row:
    return belongings(user)


@pytest.mark.wide
@pytest.mark.django_db
def test_no_page_shows_a_text_that_no_language_reaches(user: User, rows: Row, settings: Settings) -> None:
    person, staff = (Client(headers={"accept-language": CODE}) for _ in range(2))
    person.force_login(user)
    staff.force_login(make_user("root", is_staff=True, is_superuser=True))
    open_content(staff)
    bare: dict[str, Any] = {}
    with pseudo_language(settings):
        for client, pages in ((person, pages_of_people(rows)), (staff, pages_of_staff(rows))):
            for page in pages:
                answer = client.get(page)
                assert (answer.status_code, answer["Content-Language"]) == (200, CODE), page
                if found := bare_words(answer.text, names()):
                    bare[page] = found
    assert bare == {}
