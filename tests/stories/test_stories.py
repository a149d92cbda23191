"""What the requests of each story hold is what was accepted by name, and each comes out again as it was sent."""

import pytest

from tests.stories.expectations import accepted, difference, expected, names, write
from tests.stories.story import play

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]


@pytest.mark.parametrize("name", names())
def test_a_story_is_given_the_contexts_that_were_accepted(name: str) -> None:
    requests = play(name)
    if name in accepted():
        write(name, requests)
    if told := difference(expected(name), requests):
        pytest.fail(
            f"The contexts of this story are others. If that is wanted, raise RULES in conversations/context/rules/number.py"
            f" and accept it: python -m tests.stories --accept {name}\n{told}",
            pytrace=False,
        )
