"""What stories have in common that Hypothesis tells of one person: rows that are gone afterwards, and a clock of their own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import ClassVar
from unittest.mock import patch

from django.db import transaction
from hypothesis.stateful import RuleBasedStateMachine

from tests.conversations.factories import make_user


class ToldStory(RuleBasedStateMachine):
    """``now`` is what the application takes for the time; a rule may move it."""

    start: ClassVar[datetime]

    def __init__(self) -> None:
        super().__init__()
        self.now = self.start
        self.rows = ExitStack()
        for place in ("django.utils.timezone.now", "conversations.runtime.clock.now"):
            self.rows.enter_context(patch(place, lambda: self.now))
        self.rows.enter_context(rolled_back())
        self.user = make_user()

    def teardown(self) -> None:
        self.rows.close()


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction whose rows are gone afterwards."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
