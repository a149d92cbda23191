"""`manage.py consolidate USERNAME…`, as whoever runs a server calls it."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memory.models import Consolidation, DailySummary, Memory, Preferences
from tests.conversations.factories import make_thread, make_user

pytestmark = pytest.mark.django_db


def consolidated(*usernames: str) -> str:
    answer = StringIO()
    call_command("consolidate", *usernames, stdout=answer)
    return answer.getvalue()


def test_what_was_just_said_is_noted_at_once_and_once() -> None:
    ada, ben = make_user("ada"), make_user("ben")
    make_thread(ada, ["I have two cats, Miso and Tofu.", "How nice."])
    make_thread(ben, ["I live in Porto.", "Lovely."])
    Consolidation.objects.create(user=ada, failures=2, not_before=timezone.now() + timedelta(days=1))
    lines = consolidated("ada", "ben", "ada").splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "ada: 1 part of conversations consolidated",
        "ben: 1 part of conversations consolidated",
    ]
    assert "cats" in " ".join(Memory.objects.filter(user=ada).values_list("content", flat=True))
    notes, days = Memory.objects.count(), DailySummary.objects.count()
    assert days == 2
    assert "ada: 0 parts of conversations consolidated" in consolidated("ada")
    assert (Memory.objects.count(), DailySummary.objects.count()) == (notes, days)


def test_a_name_that_nobody_has_is_said_before_anything_is_done() -> None:
    make_thread(make_user("ada"), ["I have two cats.", "How nice."])
    with pytest.raises(CommandError, match="Nobody here is called bob or eve"):
        consolidated("ada", "bob", "eve")
    assert not Memory.objects.exists()


def test_whose_memory_is_off_is_left_in_peace() -> None:
    ada = make_user("ada")
    make_thread(ada, ["I have two cats.", "How nice."])
    Preferences.objects.create(user=ada, remembers=False)
    assert consolidated("ada") == "ada: memory is switched off, so nothing is noted.\n"
    assert not Memory.objects.exists()
