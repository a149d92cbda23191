"""The index of a person's words can be thrown away: it is made of the turns."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection

from memory.index.index_turns import catch_up
from memory.models import IndexedPassage, Vocabulary
from tests.conversations.factories import make_thread

CHANGES = Path(__file__).parents[3] / "CHANGELOG.md"


@pytest.mark.django_db(transaction=True)
def test_the_index_is_the_same_when_it_was_emptied_as_operators_are_told(user: User) -> None:
    make_thread(user, ["The ferry to Orust leaves at nine.", "Noted.", "My boat is called Marigold."])
    catch_up(user.pk)
    passages = list(IndexedPassage.objects.order_by("pk").values())
    [vocabulary] = Vocabulary.objects.values("turns", "length", "common", "shares", "names")
    emptying = re.search(r"`psql -c '(.+)'`", CHANGES.read_text())
    assert emptying
    with connection.cursor() as cursor:
        cursor.execute(emptying[1])
    assert not IndexedPassage.objects.exists()
    catch_up(user.pk)
    assert list(IndexedPassage.objects.order_by("pk").values()) == passages
    assert list(Vocabulary.objects.values("turns", "length", "common", "shares", "names")) == [vocabulary]
    assert len(passages) == 3
